// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

namespace kvw::vllm {

/// Date of the engine's code that these rules were checked against: vllm-project/vllm, main, at 017e9f44.
constexpr const char* published = "2026-08-17";
/// When they were: the day on which that code was executed on the cases.
constexpr const char* verified = "2026-11-30";

/// Generations whose figures differ.
enum class Generation {
    UpTo020, ///< token line from blocks
    From021, ///< token line from concurrency
    From025, ///< several batches in flight
};

/// What a release does where releases differ. Sources: vllm/v1/core/kv_cache_utils.py and vllm/v1/kv_cache_interface.py
/// at 001cabc1 (up to 0.20) and at 017e9f44 (2026-08-17: 0.25 and later), public start-up logs, and threads as named.
///
/// | what | before | from |
/// |---|---|---|
/// | chunked layers | charged at full length (0.8.3 prints it) | 0.10: chunk and tokens in flight (#19351) |
/// | start-up check with pipeline stages | the whole model against one stage (0.15 prints it, #34076) | 0.16: by stage
/// | | token line | ⌊blocks ÷ groups⌋ × smallest block × DCP | 0.21: trunc(concurrency × length) (#40691, #43308) | |
/// tokens in flight | one batch | 0.25: batches in flight × batch | | V width of windowed layers | taken for the K
/// width | 0.25: its own | | pages that do not divide one another | refused | 0.25: padded; windowed beside MLA
/// allocated as full | | specs that differ in the window alone | groups of their own | 0.25: one group | | block of
/// DeepSeek-V4 | slots of each page size side by side, small pages padded | 0.25: the largest group's pages | | tokens
/// kept for several draft modules | none | 0.25: draft tokens − 1 |
struct Rules
{
    Generation generation = Generation::From025;
    bool boundsChunks = true;
    bool checksByStage = true;
    bool tokensFromConcurrency = true;
    bool countsBatches = true;
    bool windowsHaveValueWidth = true;
    bool padsPages = true;
    bool mergesSpecs = true;
    bool overlaysGroups = true;
    bool retainsDraftTokens = true;
};

struct Version
{
    Generation generation = Generation::From025;
    bool known = false; ///< false: the newest is taken
    Rules rules {};
};

/// "0.11.0", "v0.25", "~0.9-0.10 (2025-07)": the first two numbers that look like a version.
Version versionOf(const std::string& text);

/// Batches that are computed or about to be at one time: one for each pipeline stage; one more with asynchronous
/// scheduling where there is one stage, or where the second model runner runs (VllmConfig.max_concurrent_batches).
/// 1 before 0.25, whatever the rest.
std::int64_t batchesInFlight(const Rules& rules, std::int64_t stages, bool asyncScheduling, bool secondRunner);

} // namespace kvw::vllm
