// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/json.h"
#include "import/model_file.h"
#include "model/model_spec.h"

namespace kvw {

/// A Hugging Face config.json as layer groups.
///
/// Understood: dense and mixture-of-experts full attention (MHA, GQA, MQA), sliding-window layers (gpt-oss, Gemma 3 and
/// every model whose text config carries layer_types or a window that its class uses), MLA (DeepSeek-V2/V3/R1,
/// Kimi-K2). Every default that was applied is in ModelSpec::assumptions; every number carries the file, its SHA-256
/// and its JSON pointer in ModelSpec::provenance.
///
/// Anything else is refused with the field that made it so (import.unsupported). A model_type that is not known is read
/// as plain attention, with a warning, where no field stands for other state. Other errors: import.not_a_config,
/// import.missing_field, import.inconsistent, json.type, json.range.
Result<ModelSpec> importHuggingFaceConfig(const JsonDocument& document);

/// The same from a file; one named config.json may have hf_quant_config.json beside it, whose hint for the cache's
/// element type is noted too. Errors: also those of readJsonFile().
Result<ModelSpec> importHuggingFaceFile(const std::string& path);

} // namespace kvw
