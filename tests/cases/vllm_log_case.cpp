// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "case_verdict.h"
#include "log_model.h"

#include "engines/vllm_sizing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>

namespace cases {

namespace {

using namespace kvw;
using namespace kvw::vllm;

constexpr double gib = 1073741824.0;

/// What the log printed of the memory: the bytes that print so, or nothing.
struct Available
{
    std::optional<std::int64_t> low {};
    std::int64_t high = 0;
    std::string approximate {}; ///< the text, when it is no figure
};

Available availableOf(const JsonView& line)
{
    Available out;
    const std::optional<JsonView> value = line.findValue("available_kv_gib");
    if (!value)
        return out;
    if (value->isNumber()) {
        const double printed = *value->real();
        out.low = static_cast<std::int64_t>(std::ceil((printed - 0.005) * gib));
        out.high = static_cast<std::int64_t>(std::floor((printed + 0.005) * gib));
        return out;
    }
    const std::string text = *value->string();
    const std::size_t at = text.find("bytes=");
    if (at == std::string::npos) {
        out.approximate = text;
        return out;
    }
    std::int64_t bytes = 0;
    for (const char c : text.substr(at)) {
        if (c >= '0' && c <= '9')
            bytes = bytes * 10 + (c - '0');
    }
    out.low = out.high = bytes;
    return out;
}

/// "1.30"; a number is read as the log prints it.
std::string printedConcurrency(const JsonView& line)
{
    const std::optional<JsonView> value = line.findValue("max_concurrency");
    if (!value)
        return {};
    return value->isNumber() ? fmt::format("{:.2f}", *value->real()) : textOr(line, "max_concurrency");
}

/// One case: its inputs, and what is tried where one is absent.
class LogCase
{
public:
    LogCase(const JsonView& line, LogModel model)
        : m_line(line)
        , m_model(std::move(model))
        , m_available(availableOf(line))
        , m_length(wholeOr(line, "max_model_len", 0))
        , m_concurrency(printedConcurrency(line))
    {
        if (const std::optional<JsonView> tokens = line.findValue("tokens"); tokens && tokens->isNumber())
            m_tokens = wholeOr(line, "tokens", 0);
    }

    Verdict verdict()
    {
        if (const std::string why = missing(); !why.empty())
            return explained(why);
        if (!m_model.windowed || m_line.findValue("max_num_batched_tokens"))
            return compare(wholeOr(m_line, "max_num_batched_tokens", 0));
        // The defaults of the server on devices of three sizes, and of offline use.
        for (const std::int64_t batch : {2048, 8192, 16384}) {
            if (compare(batch).kind == Verdict::Kind::Agrees)
                return explained(fmt::format(
                    "max_num_batched_tokens is not in the case; with the default of {} all figures agree", batch));
        }
        return explained("max_num_batched_tokens is not in the case; with none of the defaults do all figures agree");
    }

private:
    std::string missing() const
    {
        if (!m_available.approximate.empty())
            return "available_kv_gib is not exact in the case: " + m_available.approximate;
        for (const char* key : {"tokens", "max_model_len"}) {
            if (const std::optional<JsonView> value = m_line.findValue(key); value && value->isString())
                return std::string(key) + " is not exact in the case: " + *value->string();
        }
        if (!m_model.missing.empty())
            return m_model.missing;
        if (!m_concurrency.empty() && !std::regex_match(m_concurrency, std::regex(R"(\d+\.\d\d)")))
            return "max_concurrency is not exact in the case: " + m_concurrency;
        if (m_length == 0 && (m_model.input.rules.tokensFromConcurrency || !m_tokens))
            return "max_model_len is not in the case";
        if (!m_available.low && (!m_tokens || m_concurrency.empty()))
            return "available_kv_gib is not in the case, and the figures that would stand in for it are not either";
        return {};
    }

    SizingInput inputFor(std::int64_t batch) const
    {
        SizingInput out = m_model.input;
        out.maxModelLen = m_length > 0 ? m_length : out.specs.front().blockTokens;
        out.request.inFlightTokens = batch * batchesInFlight(out.rules, m_model.stages, true, false);
        return out;
    }

    Verdict compare(std::int64_t batch) const
    {
        const SizingInput input = inputFor(batch);
        const Sizing request = sizeRequest(input);
        if (request.refusal.kind != StartRefusal::Kind::None)
            return {Verdict::Kind::Differs, request.refusal.text};
        if (const std::string block = blockDiffers(request); !block.empty())
            return {Verdict::Kind::Differs, block};
        if (const std::optional<JsonView> printed = m_line.findValue("printed"))
            return compareRefusal(input, request, *printed);
        if (!m_available.low)
            return compareRatio(input, request);
        return comparePool(input, request);
    }

    /// The block that the log printed is among those of the groups.
    std::string blockDiffers(const Sizing& sizing) const
    {
        const std::optional<JsonView> printed = m_line.findValue("block_size");
        if (!printed || !printed->isNumber())
            return {};
        const std::int64_t block = *printed->integer();
        const bool found = std::any_of(sizing.groups.begin(), sizing.groups.end(),
            [block](const SizedGroup& group) { return group.blockTokens == block; });
        return found ? "" : fmt::format("block_size: expected {}, got {}", block, sizing.groups.front().blockTokens);
    }

    /// The check at the start failed: the need, and the largest length that some memory that prints so gives.
    Verdict compareRefusal(const SizingInput& input, const Sizing& request, const JsonView& printed) const
    {
        Comparison out;
        const std::int64_t stage = input.rules.checksByStage ? 0 : -1;
        const std::int64_t need = needBytes(input, request.grouping, stage, m_length).value_or(0);
        if (const std::optional<JsonView> needed = printed.findValue("needed_gib")) {
            const double expected = *needed->real();
            if (std::abs(static_cast<double>(need) / gib - expected) > 0.005)
                out.differ(
                    "needed_gib", fmt::format("{}", expected), fmt::format("{:.4f}", static_cast<double>(need) / gib));
            else
                out.expect("needed_gib", true, true);
        }
        if (const std::int64_t largest = wholeOr(printed, "estimated_max_model_len", 0); largest > 0) {
            const std::int64_t low = largestLength(input, request.grouping, stage, *m_available.low, m_length);
            const std::int64_t high = largestLength(input, request.grouping, stage, m_available.high, m_length);
            const std::optional<std::int64_t> next = needBytes(input, request.grouping, stage, largest + 1);
            const std::optional<std::int64_t> its = needBytes(input, request.grouping, stage, largest);
            if (largest < low || largest > high || !its || !next || *next <= *its)
                out.differ("estimated_max_model_len", fmt::format("{}", largest), fmt::format("{} to {}", low, high));
            else
                out.expect("estimated_max_model_len", true, true);
        }
        return out.verdict();
    }

    Sizing withBlocks(SizingInput input, std::int64_t blocks) const
    {
        input.blocksOverride = blocks;
        input.workers = {{1, 0}};
        if (m_length == 0)
            input.request.inFlightTokens = 0;
        return sizeCache(input);
    }

    bool printsSo(const Sizing& sizing) const
    {
        if (sizing.refusal.kind != StartRefusal::Kind::None)
            return false;
        return (!m_tokens || sizing.reportedTokens == *m_tokens)
            && (m_concurrency.empty() || m_length == 0
                || fmt::format("{:.2f}", sizing.maxConcurrency) == m_concurrency);
    }

    Verdict comparePool(const SizingInput& input, const Sizing& request) const
    {
        const std::int64_t bytes = request.workers.front().bytesPerBlock;
        const std::int64_t low = *m_available.low / bytes;
        const std::int64_t high = m_available.high / bytes;
        for (std::int64_t blocks = low; blocks <= high; ++blocks) {
            if (printsSo(figures(input, request, blocks)))
                return {Verdict::Kind::Agrees,
                    fmt::format("{} blocks, one of {} that the printed GiB allow", blocks, high - low + 1)};
        }
        if (m_model.ranks > 1) {
            for (std::int64_t blocks = low - 1; blocks > 0 && blocks > low / 2; --blocks) {
                if (printsSo(figures(input, request, blocks)))
                    return explained(
                        fmt::format("the memory of the other ranks is not in the case: the printed {:.2f} GiB "
                                    "are one rank's, and the printed tokens are {} blocks, {:.3f} GiB on "
                                    "the smallest",
                            static_cast<double>(*m_available.low + m_available.high) / 2 / gib, blocks,
                            static_cast<double>(blocks * bytes) / gib));
            }
        }
        const Sizing least = figures(input, request, low);
        const Sizing most = figures(input, request, high);
        return {Verdict::Kind::Differs,
            fmt::format("tokens: expected {}, got {} to {}; concurrency: expected {}, got {:.2f} to {:.2f}",
                m_tokens.value_or(0), least.reportedTokens, most.reportedTokens, m_concurrency, least.maxConcurrency,
                most.maxConcurrency)};
    }

    /// What is printed of a pool of so many blocks, whether or not it would pass the check at the start: releases
    /// before 0.8 printed it of pools that do not.
    Sizing figures(const SizingInput& input, const Sizing& request, std::int64_t blocks) const
    {
        Sizing out = withBlocks(input, blocks);
        if (out.refusal.kind != StartRefusal::Kind::TooLong || input.rules.boundsChunks)
            return out;
        SizingInput shorter = input;
        shorter.maxModelLen = request.groups.front().blockTokens;
        Sizing printed = withBlocks(shorter, blocks);
        printed.maxConcurrency = static_cast<double>(blocks) / static_cast<double>(request.blocksPerRequest);
        return printed;
    }

    /// The memory is not in the case: some number of blocks prints both figures.
    Verdict compareRatio(const SizingInput& input, const Sizing& request) const
    {
        const double each = static_cast<double>(request.blocksPerRequest);
        const double guess = std::stod(m_concurrency) * each;
        const std::int64_t low = static_cast<std::int64_t>(guess - 0.006 * each) - 1;
        const std::int64_t high = static_cast<std::int64_t>(guess + 0.006 * each) + 1;
        for (std::int64_t blocks = std::max<std::int64_t>(low, 1); blocks <= high; ++blocks) {
            if (printsSo(withBlocks(input, blocks)))
                return {Verdict::Kind::Agrees, fmt::format("both printed figures are those of {} blocks", blocks)};
        }
        return {Verdict::Kind::Differs,
            fmt::format("tokens {} and concurrency {} are those of no number of blocks, {} a request", *m_tokens,
                m_concurrency, request.blocksPerRequest)};
    }

    const JsonView& m_line;
    LogModel m_model;
    Available m_available;
    std::int64_t m_length;
    std::string m_concurrency;
    std::optional<std::int64_t> m_tokens;
};

} // namespace

Verdict vllmLog(const JsonView& line)
{
    return LogCase(line, logModel(line)).verdict();
}

} // namespace cases
