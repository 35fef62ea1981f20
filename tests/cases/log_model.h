// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/vllm_sizing.h"
#include "import/json.h"

#include <string>

namespace cases {

/// What a case of a public log says of the model and the deployment, as vLLM's input.
struct LogModel
{
    kvw::vllm::SizingInput input; ///< rules, specs, layers; no memory, no length
    bool windowed = false; ///< its blocks depend on the tokens in flight
    std::int64_t stages = 1;
    std::int64_t ranks = 1;
    std::string missing; ///< what the case lacks; empty when it is complete
};

/// Reads `model_facts`, the KV type, the parallelism and the engine's version of a line of vllm.jsonl.
LogModel logModel(const kvw::JsonView& line);

} // namespace cases
