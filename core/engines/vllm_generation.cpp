// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/vllm_generation.h"

#include <cctype>
#include <charconv>
#include <string_view>

namespace kvw::vllm {

namespace {

/// "", "v", "~", "vLLM ", "vllm==": what may stand before the numbers of a release.
bool isReleasePrefix(std::string_view text)
{
    std::string letters;
    for (const char c : text) {
        if (std::string_view(" ~=-_").find(c) == std::string_view::npos)
            letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return letters.empty() || letters == "v" || letters == "vllm" || letters == "vllmv";
}

Rules rulesOf(int minor)
{
    Rules out;
    out.generation = minor >= 25 ? Generation::From025 : minor >= 21 ? Generation::From021 : Generation::UpTo020;
    out.boundsChunks = minor >= 10;
    out.checksByStage = minor >= 16;
    out.tokensFromConcurrency = minor >= 21;
    out.countsBatches = out.windowsHaveValueWidth = out.padsPages = out.mergesSpecs = out.overlaysGroups
        = out.retainsDraftTokens = minor >= 25;
    return out;
}

} // namespace

Version versionOf(const std::string& text)
{
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] < '0' || text[i] > '9')
            continue;
        if (!isReleasePrefix(std::string_view(text).substr(0, i)))
            return {};
        int major = 0;
        int minor = 0;
        const char* const end = text.data() + text.size();
        const auto [dot, first] = std::from_chars(text.data() + i, end, major);
        if (first != std::errc {} || dot == end || *dot != '.')
            return {};
        const auto [rest, second] = std::from_chars(dot + 1, end, minor);
        if (second != std::errc {})
            return {};
        if (major > 0) // none of those that the rules were compared with
            return {};
        if (minor == 1 && std::string_view(rest, static_cast<std::size_t>(end - rest)).starts_with(".dev"))
            return {}; // a build of a clone without release tags: of any date
        const Rules rules = rulesOf(minor);
        return {rules.generation, true, rules};
    }
    return {};
}

std::int64_t batchesInFlight(const Rules& rules, std::int64_t stages, bool asyncScheduling, bool secondRunner)
{
    if (!rules.countsBatches)
        return 1;
    if (asyncScheduling && (stages == 1 || secondRunner))
        return stages + 1;
    return stages;
}

} // namespace kvw::vllm
