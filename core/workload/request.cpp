// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "workload/request.h"

#include "units/sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <limits>

namespace kvw {

namespace {

/// A bijection of 64-bit words in which each input bit reaches every output bit (the finaliser of SplitMix64).
constexpr std::uint64_t mix(std::uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ULL;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebULL;
    x ^= x >> 31;
    return x;
}

/// Streams are numbered 0, 1, 2 …; mixed first, so that neighbours have nothing in common.
constexpr std::uint64_t streamSeed(std::uint64_t stream)
{
    return mix(stream + 0x9e3779b97f4a7c15ULL);
}

constexpr TokenId tokenFromSeed(std::uint64_t seed, std::uint64_t position)
{
    return static_cast<TokenId>(mix(seed + position * 0xd1342543de82ef95ULL) >> 32);
}

/// The numbers and texts of a workload, each with its name and each text with its length: two workloads that differ
/// give different texts. Goes to the hash piece by piece, since a workload may hold millions of requests.
class CanonicalText
{
public:
    void number(const char* name, std::int64_t value)
    {
        fmt::format_to(std::back_inserter(m_pending), "{} {}\n", name, value);
    }
    void naturals(const char* name, std::initializer_list<std::uint64_t> values)
    {
        fmt::format_to(std::back_inserter(m_pending), "{} {}\n", name, fmt::join(values, " "));
    }
    void text(const char* name, const std::string& value)
    {
        fmt::format_to(std::back_inserter(m_pending), "{} {}:{}\n", name, value.size(), value);
    }
    void pass(Sha256& sha)
    {
        sha.update(m_pending);
        m_pending.clear();
    }

private:
    std::string m_pending;
};

void addRequest(CanonicalText& out, const Request& request)
{
    out.number("request", request.id);
    out.number("tenant", request.tenant);
    out.number("arrival", request.arrivalStep);
    out.number("runs", static_cast<std::int64_t>(request.prompt.size()));
    for (const TokenRun& run : request.prompt)
        out.naturals("run", {run.stream, run.offset, run.count});
    out.number("output", request.outputTokens);
    out.naturals("output_stream", {request.outputStream});
    out.number("samples", request.samples);
    out.number("priority", request.priority);
    out.text("adapter", request.adapter);
    out.number("items", static_cast<std::int64_t>(request.multimodal.size()));
    for (const MultimodalItem& item : request.multimodal) {
        out.text("digest", item.digest);
        out.naturals("covers", {item.position, item.tokens});
    }
    if (request.cancelStep)
        out.number("cancel", *request.cancelStep);
    else
        out.text("no_cancel", {});
}

} // namespace

TokenId streamToken(std::uint64_t stream, std::uint64_t position)
{
    return tokenFromSeed(streamSeed(stream), position);
}

std::int64_t Request::promptTokens() const
{
    std::uint64_t total = 0;
    for (const TokenRun& run : prompt) {
        if (run.count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) - total)
            return std::numeric_limits<std::int64_t>::max();
        total += run.count;
    }
    return static_cast<std::int64_t>(total);
}

TokenId Request::token(std::int64_t position) const
{
    TokenId out = 0;
    tokens(position, {&out, 1});
    return out;
}

void Request::tokens(std::int64_t first, std::span<TokenId> out) const
{
    auto skip = static_cast<std::uint64_t>(first);
    std::size_t done = 0;
    for (const TokenRun& run : prompt) {
        if (done == out.size())
            return;
        if (skip >= run.count) {
            skip -= run.count;
            continue;
        }
        const std::uint64_t seed = streamSeed(run.stream);
        const std::uint64_t here = std::min<std::uint64_t>(run.count - skip, out.size() - done);
        for (std::uint64_t i = 0; i < here; ++i)
            out[done + i] = tokenFromSeed(seed, run.offset + skip + i);
        done += here;
        skip = 0;
    }
    const std::uint64_t seed = streamSeed(outputStream);
    for (; done < out.size(); ++done, ++skip)
        out[done] = tokenFromSeed(seed, skip);
}

std::string Workload::sha256() const
{
    Sha256 sha;
    CanonicalText out;
    out.text("workload", "1");
    out.text("name", name);
    out.number("tenants", static_cast<std::int64_t>(tenants.size()));
    for (const std::string& tenant : tenants)
        out.text("tenant", tenant);
    out.number("requests", static_cast<std::int64_t>(requests.size()));
    for (const Request& request : requests) {
        addRequest(out, request);
        out.pass(sha);
    }
    out.pass(sha);
    return Sha256::hex(sha.digest());
}

} // namespace kvw
