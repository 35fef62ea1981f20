// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/json.h"
#include "import/model_file.h"
#include "model/model_spec.h"

namespace kvw {

/// A Hugging Face config.json as layer groups.
///
/// Understood: full, sliding, chunked and block-sparse attention with shapes by kind of layer or by layer; layers that
/// read the state of others; latents, with and without sparse indexers; compressed caches; recurrent and convolution
/// state; cross attention to an encoder or to images; draft layers, as groups that count while speculation is on. The
/// families are in hf_family.cpp, one table; what a kind of layer keeps is read by one file each. Every default that
/// was applied is in ModelSpec::assumptions; every number carries the file, its SHA-256 and its JSON pointer in
/// ModelSpec::provenance.
///
/// Anything else is refused with the field that made it so (import.unsupported). A model_type that is not known is read
/// as plain attention, with a warning, where no field stands for other state. Other errors: import.not_a_config,
/// import.missing_field, import.inconsistent, json.type, json.range.
Result<ModelSpec> importHuggingFaceConfig(const JsonDocument& document);

/// The same from a file; one named config.json may have hf_quant_config.json and generation_config.json beside it,
/// whose hints for the cache's element type and the length of outputs are noted too. Errors: also those of
/// readJsonFile().
Result<ModelSpec> importHuggingFaceFile(const std::string& path);

} // namespace kvw
