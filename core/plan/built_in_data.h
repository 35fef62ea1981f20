// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

namespace kvw {

/// resources/models/models.json as it was when the program was built.
std::string_view builtInModelsJson();
/// resources/models/gpus.json.
std::string_view builtInGpusJson();

} // namespace kvw
