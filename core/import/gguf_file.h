// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/gguf_reader.h"
#include "model/model_spec.h"

namespace kvw {

/// A GGUF model file as layer groups and weight bytes, as llama.cpp reads it (August 2026): keys and values of the
/// cache's type, f16 unless something else is asked for, recurrent state in f32. Of a split model any part may be
/// named; all parts are read, the metadata of the first counts.
///
/// Every number carries the file, the SHA-256 of its header and the key in ModelSpec::provenance. An architecture that
/// is not known is read as plain attention, with a warning, where no key stands for other state. Errors: those of
/// readGguf(); import.unsupported, import.no_state, import.missing_field, import.inconsistent, import.split (a part
/// that is absent or of another model), gguf.value_*.
Result<ModelSpec> importGguf(const std::string& path);
/// The same from one file's bytes, without looking for other parts.
Result<ModelSpec> importGguf(ByteReader& reader);

/// Whether the file starts as GGUF files do. False too when it cannot be read.
bool looksLikeGguf(const std::string& path);

} // namespace kvw
