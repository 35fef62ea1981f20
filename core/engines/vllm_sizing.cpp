// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/vllm_sizing.h"

#include "engines/vllm_need.h"
#include "units/amount.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace kvw::vllm {

namespace {

std::string gib(std::int64_t bytes)
{
    return fmt::format("{:.2f}", static_cast<double>(bytes) / static_cast<double>(std::int64_t {1} << 30));
}

/// Sizes one model on its workers.
class Sizer
{
public:
    Sizer(const SizingInput& input, bool prefixCaching)
        : m_input(input)
        , m_prefixCaching(prefixCaching)
    {}

    /// Without `pool`: the groups and one entry for each stage, and no memory.
    Sizing size(bool pool)
    {
        group();
        if (!m_out.grouping.refusal.empty())
            return refuse(StartRefusal::Kind::Layout, m_out.grouping.refusal);
        if (const std::string why = contextRefusal(); !why.empty())
            return refuse(StartRefusal::Kind::Layout, why);
        m_out.groupSize = groupSizeOn(m_input, m_out.grouping, -1);
        sizeBlocks();
        if (pool && !fitLength())
            return std::move(m_out);
        if (!pool)
            m_out.length = m_input.maxModelLen;
        if (!sizeGroups() || !measureWorkers(pool))
            return refuse(StartRefusal::Kind::Overflow, "a figure is beyond 64 bits");
        if (pool && check())
            report();
        return std::move(m_out);
    }

private:
    Sizing refuse(StartRefusal::Kind kind, std::string text)
    {
        m_out.refusal.kind = kind;
        m_out.refusal.text = std::move(text);
        return std::move(m_out);
    }

    void group()
    {
        std::vector<LayerSpec> specs = m_input.specs;
        for (LayerSpec& spec : specs) {
            if (isSlidingKind(spec.kind) && m_input.rules.retainsDraftTokens && m_input.draftModuleTokens > 0)
                spec.retained = m_input.draftModuleTokens - 1;
        }
        m_out.grouping = groupLayers(m_input.rules, std::move(specs), m_input.layers, m_input.hybridManagerOff);
    }

    /// Ranks that share the tokens of a sequence cannot share a window, and beside full layers only recurrent state.
    std::string contextRefusal() const
    {
        if (m_input.request.contextRanks <= 1)
            return {};
        for (const std::size_t spec : m_out.grouping.specOf) {
            const SpecKind kind = m_out.grouping.specs[spec].kind;
            if (isSlidingKind(kind))
                return "decode context parallelism has no sliding windows";
            if (m_out.grouping.groups.size() > 1 && !isFullKind(kind) && kind != SpecKind::Mamba)
                return "decode context parallelism has full and recurrent groups alone";
        }
        return {};
    }

    void sizeBlocks()
    {
        std::int64_t all = 1;
        std::int64_t common = 0;
        for (const CacheGroup& group : m_out.grouping.groups) {
            const LayerSpec& spec = m_out.grouping.specAt(group.layers.front());
            const std::int64_t ranks = spec.kind == SpecKind::Mamba ? 1 : m_input.request.contextRanks;
            const std::int64_t block = checkedMultiply(spec.blockTokens, ranks).value_or(INT64_MAX);
            common = std::gcd(common, block);
            all = checkedMultiply(all / std::gcd(all, block), block).value_or(INT64_MAX);
        }
        m_out.schedulerBlockTokens = all;
        m_out.hashBlockTokens = m_prefixCaching && m_out.grouping.groups.size() > 1 ? common : all;
    }

    std::vector<std::int64_t> stages() const
    {
        std::set<std::int64_t> out;
        for (const CacheLayer& layer : m_input.layers)
            out.insert(layer.stage);
        return {out.begin(), out.end()};
    }

    std::int64_t stageOf(const Worker& worker) const { return m_input.rules.checksByStage ? worker.stage : -1; }

    /// What the checks take for available: an override of the blocks replaces it.
    std::int64_t availableTo(const Worker& worker) const
    {
        if (!m_input.blocksOverride || m_out.grouping.groups.empty())
            return worker.availableBytes;
        const Whole bytes = multiply(bytesPerBlock(m_input, m_out.grouping, worker.stage), *m_input.blocksOverride);
        return bytes.value_or(INT64_MAX);
    }

    /// The configured maximum, or the longest that fits on every worker. False with a refusal.
    bool fitLength()
    {
        m_out.length = m_input.maxModelLen;
        if (m_input.maxModelLen != -1)
            return true;
        m_out.length = m_input.derivedMaxModelLen;
        if (m_out.grouping.groups.empty())
            return true;
        for (const Worker& worker : m_input.workers)
            m_out.length = std::min(m_out.length,
                largestLength(
                    m_input, m_out.grouping, stageOf(worker), availableTo(worker), m_input.derivedMaxModelLen));
        if (m_out.length > 0)
            return true;
        refuse(StartRefusal::Kind::NotOneToken, "not even one token fits");
        return false;
    }

    bool sizeGroups()
    {
        for (const CacheGroup& group : m_out.grouping.groups) {
            SizedGroup sized;
            sized.group = group;
            sized.blockTokens = m_out.grouping.specAt(group.layers.front()).blockTokens;
            const Whole page = group.ownPages ? pagesOf(m_out.grouping, group.layers)
                                              : Whole(m_out.grouping.pageAt(group.layers.front()));
            if (!page)
                return false;
            sized.pageBytes = *page;
            sized.blocksPerRequest = groupBlocks(m_input, m_out.grouping, group, m_out.length);
            m_out.groups.push_back(std::move(sized));
        }
        const Whole blocks = requestBlocks(m_input, m_out.grouping, m_out.length);
        m_out.blocksPerRequest = blocks.value_or(0);
        return blocks.has_value();
    }

    bool measureWorkers(bool pool)
    {
        std::vector<Worker> workers = m_input.workers;
        if (!pool) {
            workers.clear();
            for (const std::int64_t stage : stages())
                workers.push_back({0, stage});
        }
        m_out.blocks = workers.empty() ? 0 : INT64_MAX;
        for (const Worker& worker : workers) {
            if (m_out.grouping.groups.empty()) {
                m_out.blocks = 1; // for the null block
                continue;
            }
            SizedWorker sized;
            const Whole block = bytesPerBlock(m_input, m_out.grouping, worker.stage);
            const Whole need = needBytes(m_input, m_out.grouping, stageOf(worker), m_out.length);
            if (!block || !need)
                return false;
            sized.bytesPerBlock = *block;
            sized.needBytes = *need;
            sized.availableBytes = availableTo(worker);
            if (*block > 0) {
                sized.blocks
                    = m_input.blocksOverride.value_or(std::max<std::int64_t>(sized.availableBytes, 0) / *block);
                m_out.blocks = std::min(m_out.blocks, sized.blocks);
            }
            m_out.workers.push_back(sized);
        }
        return true;
    }

    /// The start-up check, worker by worker. False with a refusal.
    bool check()
    {
        for (std::size_t i = 0; i < m_out.workers.size(); ++i) {
            const SizedWorker& worker = m_out.workers[i];
            m_out.refusal.needBytes = worker.needBytes;
            m_out.refusal.availableBytes = worker.availableBytes;
            if (worker.availableBytes <= 0) {
                refuseStart(StartRefusal::Kind::NoMemory, "no memory is available for the cache");
                return false;
            }
            if (worker.needBytes <= worker.availableBytes)
                continue;
            m_out.refusal.largestLength = largestLength(
                m_input, m_out.grouping, stageOf(m_input.workers[i]), worker.availableBytes, m_out.length);
            refuseStart(StartRefusal::Kind::TooLong,
                fmt::format("one request of {} tokens needs {} GiB, and {} GiB are available", m_out.length,
                    gib(worker.needBytes), gib(worker.availableBytes)));
            return false;
        }
        m_out.refusal = {};
        return true;
    }

    void refuseStart(StartRefusal::Kind kind, std::string text)
    {
        m_out.refusal.kind = kind;
        m_out.refusal.text = std::move(text);
    }

    /// The two figures of the log.
    void report()
    {
        if (m_out.groups.empty() || m_out.blocksPerRequest <= 0)
            return;
        m_out.maxConcurrency = static_cast<double>(m_out.blocks) / static_cast<double>(concurrencyBlocks());
        if (m_input.rules.tokensFromConcurrency) {
            m_out.reportedTokens = static_cast<std::int64_t>(m_out.maxConcurrency * static_cast<double>(m_out.length));
            return;
        }
        std::int64_t smallest = m_out.groups.front().blockTokens;
        for (const SizedGroup& group : m_out.groups)
            smallest = std::min(smallest, group.blockTokens);
        m_out.reportedTokens
            = multiply(multiply(m_out.blocks / static_cast<std::int64_t>(m_out.groups.size()), smallest),
                m_input.request.contextRanks)
                  .value_or(INT64_MAX);
    }

    /// Before 0.25 the bytes of all groups are summed and divided by the first group's page.
    std::int64_t concurrencyBlocks() const
    {
        if (m_input.rules.countsBatches)
            return m_out.blocksPerRequest;
        Whole bytes = 0;
        for (const SizedGroup& group : m_out.groups)
            bytes = add(bytes, multiply(group.pageBytes, group.blocksPerRequest));
        if (!bytes)
            return m_out.blocksPerRequest;
        return ceilDivide(*bytes, m_out.groups.front().pageBytes).value_or(m_out.blocksPerRequest);
    }

    const SizingInput& m_input;
    bool m_prefixCaching;
    Sizing m_out;
};

} // namespace

Sizing sizeCache(const SizingInput& input, bool prefixCaching)
{
    return Sizer(input, prefixCaching).size(true);
}

Sizing sizeRequest(const SizingInput& input)
{
    return Sizer(input, true).size(false);
}

} // namespace kvw::vllm
