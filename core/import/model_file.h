// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "model/model_spec.h"
#include "units/result.h"

#include <string>

namespace kvw {

/// A model by path, whatever form it has:
///   - a config.json of Hugging Face;
///   - a folder that holds one, and the safetensors of its weights: their bytes by component and type come from the
///     headers, which layers and heads are held against. The hint for the cache's element type in hf_quant_config.json
///     is noted. A .safetensors file stands for its folder;
///   - a GGUF file, or any part of a split one, or a folder with one of them and no config.json.
/// Errors: those of readJsonFile() and of the importers; import.several_models for a folder with more than one GGUF
/// model.
Result<ModelSpec> importModel(const std::string& path);

/// Whether importModel() reads the file as something else than JSON.
bool isBinaryModel(const std::string& path);

} // namespace kvw
