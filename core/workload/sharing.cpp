// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "workload/sharing.h"

#include <algorithm>
#include <map>

namespace kvw {

namespace {

/// A place in a prompt, moved run by run.
struct Cursor
{
    std::span<const TokenRun> runs;
    std::size_t run = 0;
    std::uint64_t used = 0; ///< tokens of the run that lie behind

    void skipEmpty()
    {
        while (run < runs.size() && used >= runs[run].count) {
            ++run;
            used = 0;
        }
    }
    bool atEnd() const { return run >= runs.size(); }
    std::uint64_t left() const { return runs[run].count - used; }
    std::pair<std::uint64_t, std::uint64_t> token() const { return {runs[run].stream, runs[run].offset + used}; }
};

/// Moves both cursors to where the prompts part, and counts what they have in common until then.
std::int64_t advanceTogether(Cursor& a, Cursor& b)
{
    std::int64_t common = 0;
    for (;;) {
        a.skipEmpty();
        b.skipEmpty();
        if (a.atEnd() || b.atEnd() || a.token() != b.token())
            return common;
        const std::uint64_t step = std::min(a.left(), b.left());
        a.used += step;
        b.used += step;
        common += static_cast<std::int64_t>(step);
    }
}

/// An order in which prompts of a common prefix stand beside each other, the more they have in common the nearer.
bool before(std::span<const TokenRun> first, std::span<const TokenRun> second)
{
    Cursor a {first};
    Cursor b {second};
    advanceTogether(a, b);
    if (a.atEnd() || b.atEnd())
        return a.atEnd() && !b.atEnd();
    return a.token() < b.token();
}

} // namespace

std::int64_t commonPromptTokens(std::span<const TokenRun> a, std::span<const TokenRun> b)
{
    Cursor first {a};
    Cursor second {b};
    return advanceTogether(first, second);
}

std::int64_t shareablePromptTokens(const Workload& workload, std::span<const std::uint32_t> domains)
{
    std::map<std::uint32_t, std::vector<const Request*>> byDomain;
    for (const Request& request : workload.requests)
        byDomain[request.tenant < domains.size() ? domains[request.tenant] : 0].push_back(&request);
    // The tree of prefixes has as many tokens as all prompts less what neighbours in that order have in common.
    std::int64_t out = 0;
    for (auto& [domain, requests] : byDomain) {
        std::sort(requests.begin(), requests.end(),
            [](const Request* a, const Request* b) { return before(a->prompt, b->prompt); });
        for (std::size_t i = 1; i < requests.size(); ++i)
            out += commonPromptTokens(requests[i - 1]->prompt, requests[i]->prompt);
    }
    return out;
}

std::int64_t promptTokensOf(const Workload& workload)
{
    std::int64_t out = 0;
    for (const Request& request : workload.requests)
        out += request.promptTokens();
    return out;
}

Histogram histogramOf(std::span<const std::int64_t> values, std::int64_t bins)
{
    Histogram out;
    if (values.empty())
        return out;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    out.least = *least;
    out.most = *most;
    const auto binsFor = [&](std::int64_t width) { return out.most / width - out.least / width + 1; };
    for (std::int64_t power = 1;; power *= 10) {
        const auto fits = [&](std::int64_t factor) { return binsFor(factor * power) <= bins; };
        const std::int64_t factor = fits(1) ? 1 : fits(2) ? 2 : fits(5) ? 5 : 0;
        if (factor == 0 && power < INT64_MAX / 100)
            continue;
        out.width = std::max<std::int64_t>(1, factor) * power;
        break;
    }
    out.first = *least / out.width * out.width;
    out.counts.resize(static_cast<std::size_t>(binsFor(out.width)));
    for (const std::int64_t value : values)
        ++out.counts[static_cast<std::size_t>((value - out.first) / out.width)];
    return out;
}

} // namespace kvw
