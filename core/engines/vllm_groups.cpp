// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/vllm_groups.h"

#include "units/amount.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace kvw::vllm {

namespace {

using SpecPointers = std::vector<const LayerSpec*>;

/// Forms the groups of one model, step by step.
class Grouper
{
public:
    Grouper(const Rules& rules, std::vector<LayerSpec> specs, const std::vector<CacheLayer>& layers)
        : m_rules(rules)
    {
        m_out.specs = std::move(specs);
        for (const CacheLayer& layer : layers)
            m_out.specOf.push_back(layer.spec);
    }

    Grouping form(bool hybridManagerOff)
    {
        if (m_out.specOf.empty())
            return std::move(m_out);
        if (!measure())
            return std::move(m_out);
        if (hybridManagerOff && !allocateAsFull()) {
            m_out.refusal = "the hybrid cache manager is off, and the layers cannot be allocated as one kind";
            return std::move(m_out);
        }
        if (areMergeable(used()))
            m_out.groups.push_back(everyLayer(false));
        else if (areUniform(used()))
            m_out.groups.push_back(everyLayer(true));
        else if (hasTuples())
            formTupleGroups();
        else
            formEqualGroups();
        return std::move(m_out);
    }

private:
    /// The page of every spec; false, and a refusal, where one is beyond 64 bits.
    bool measure()
    {
        m_out.pages.clear();
        for (const LayerSpec& spec : m_out.specs) {
            const std::optional<std::int64_t> page = pageBytes(spec, m_rules);
            if (!page || *page <= 0) {
                m_out.refusal = page ? "a layer has an empty page" : "a page is larger than 2^63 bytes";
                return false;
            }
            m_out.pages.push_back(*page);
        }
        return true;
    }

    /// The specs that layers use, in the order of first use.
    SpecPointers used() const
    {
        SpecPointers out;
        for (const std::size_t spec : usedIndices())
            out.push_back(&m_out.specs[spec]);
        return out;
    }

    std::vector<std::size_t> usedIndices() const
    {
        std::vector<std::size_t> out;
        std::vector<bool> seen(m_out.specs.size(), false);
        for (const std::size_t spec : m_out.specOf) {
            if (!seen[spec])
                out.push_back(spec);
            seen[spec] = true;
        }
        return out;
    }

    CacheGroup everyLayer(bool ownPages) const
    {
        CacheGroup out;
        out.layers.resize(m_out.specOf.size());
        std::iota(out.layers.begin(), out.layers.end(), std::size_t {0});
        out.ownPages = ownPages;
        return out;
    }

    bool hasKind(SpecKind kind) const
    {
        const SpecPointers specs = used();
        return std::any_of(specs.begin(), specs.end(), [kind](const LayerSpec* spec) { return spec->kind == kind; });
    }

    /// Windowed and chunked layers as full ones, with the block of the full layers where these agree on one. False, and
    /// nothing changed, when the result is not one kind.
    bool allocateAsFull()
    {
        if (areMergeable(used()) || areUniform(used()))
            return true;
        const SpecPointers specs = used();
        std::set<std::int64_t> blocks;
        for (const LayerSpec* spec : specs) {
            if (isFullKind(spec->kind))
                blocks.insert(spec->blockTokens);
        }
        if (blocks.empty())
            return false;
        const std::vector<LayerSpec> before = m_out.specs;
        for (LayerSpec& spec : m_out.specs) {
            if (!isSlidingKind(spec.kind) && spec.kind != SpecKind::ChunkedLocal)
                continue;
            const std::int64_t block = blocks.size() == 1 ? *blocks.begin() : spec.blockTokens;
            if (spec.paddedPage) {
                const std::int64_t page = unpaddedPageBytes(spec, m_rules).value_or(0);
                spec.paddedPage
                    = std::max(*spec.paddedPage, checkedMultiply(page, block).value_or(INT64_MAX) / spec.blockTokens);
            }
            spec.blockTokens = block;
            spec.retained = 0;
            spec.stridedPages = false;
            spec.kind = spec.kind == SpecKind::SlidingMla ? SpecKind::Mla : SpecKind::Full;
        }
        if (measure() && (areMergeable(used()) || areUniform(used()))) {
            m_out.allocatedAsFull = true;
            return true;
        }
        m_out.specs = before;
        measure();
        return false;
    }

    bool hasTuples() const
    {
        if (!hasKind(SpecKind::SlidingMla))
            return false;
        std::set<std::int64_t> pages;
        for (const std::size_t spec : usedIndices())
            pages.insert(m_out.pages[spec]);
        return pages.size() > 1;
    }

    using LayersByPage = std::vector<std::pair<std::int64_t, std::vector<std::size_t>>>;

    /// Layers by page size, in the order in which the sizes appear.
    LayersByPage byPage(const std::vector<std::size_t>& layers) const
    {
        LayersByPage out;
        for (const std::size_t layer : layers) {
            const std::int64_t page = m_out.pageAt(layer);
            auto at = std::find_if(out.begin(), out.end(), [page](const auto& entry) { return entry.first == page; });
            if (at == out.end())
                at = out.insert(out.end(), {page, {}});
            at->second.push_back(layer);
        }
        return out;
    }

    std::int64_t tuplesOf(const std::vector<std::size_t>& layers) const
    {
        std::size_t most = 0;
        for (const auto& [page, same] : byPage(layers))
            most = std::max(most, same.size());
        return static_cast<std::int64_t>(most);
    }

    /// The number of tuples a group that pads least, not below `least`; the larger of two that pad alike.
    static std::int64_t evenTuples(const std::vector<std::int64_t>& counts, std::int64_t least)
    {
        std::int64_t best = least;
        std::optional<std::int64_t> fewest;
        for (std::int64_t size = least; size <= *std::max_element(counts.begin(), counts.end()); ++size) {
            std::int64_t padding = 0;
            for (const std::int64_t count : counts)
                padding += (size - count % size) % size;
            if (!fewest || padding <= *fewest) {
                fewest = padding;
                best = size;
            }
        }
        return best;
    }

    void formTupleGroups()
    {
        std::vector<std::size_t> full;
        std::vector<std::size_t> rest;
        std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>>> windows;
        for (std::size_t layer = 0; layer < m_out.specOf.size(); ++layer) {
            const LayerSpec& spec = m_out.specAt(layer);
            if (spec.kind == SpecKind::SlidingMla) {
                const std::pair key {spec.blockTokens, spec.window.value_or(0)};
                auto at = std::find_if(
                    windows.begin(), windows.end(), [&](const auto& entry) { return entry.first == key; });
                if (at == windows.end())
                    at = windows.insert(windows.end(), {key, {}});
                at->second.push_back(layer);
            } else if (spec.kind == SpecKind::Mla) {
                full.push_back(layer);
            } else {
                rest.push_back(layer);
            }
        }
        if (full.empty() || !areUniformLayers(full) || (!rest.empty() && !areUniformLayers(rest))) {
            m_out.refusal = "windows of one vector a token need full latent layers of one block size beside them";
            return;
        }
        std::vector<std::int64_t> counts {tuplesOf(full)};
        for (const auto& [key, layers] : windows)
            counts.push_back(tuplesOf(layers));
        const std::int64_t tuples = evenTuples(counts, counts.front());
        if (!m_rules.overlaysGroups)
            padToFullPages(full);
        m_out.groups.push_back({full, true});
        for (const auto& [key, layers] : windows) {
            if (!dealTuples(layers, tuples))
                return;
        }
        if (!rest.empty())
            m_out.groups.push_back({rest, true});
    }

    bool areUniformLayers(const std::vector<std::size_t>& layers) const
    {
        SpecPointers specs;
        for (const std::size_t layer : layers)
            specs.push_back(&m_out.specAt(layer));
        return areUniform(specs);
    }

    /// Before 0.25: the pages of windows take the next larger page of the full group.
    void padToFullPages(const std::vector<std::size_t>& full)
    {
        std::set<std::int64_t> pages;
        for (const std::size_t layer : full)
            pages.insert(m_out.pageAt(layer));
        for (std::size_t i = 0; i < m_out.specs.size(); ++i) {
            if (m_out.specs[i].kind != SpecKind::SlidingMla)
                continue;
            const auto next = pages.lower_bound(m_out.pages[i]);
            if (next == pages.end() || *next == m_out.pages[i])
                continue;
            m_out.specs[i].paddedPage = *next;
            m_out.pages[i] = *next;
        }
    }

    bool dealTuples(const std::vector<std::size_t>& layers, std::int64_t tuples)
    {
        const LayersByPage sizes = byPage(layers);
        const std::size_t count = sizes.front().second.size();
        for (const auto& [page, same] : sizes) {
            if (same.size() != count) {
                m_out.refusal = "windows of one vector a token must have as many layers of each page size";
                return false;
            }
        }
        const std::size_t size = static_cast<std::size_t>(tuples);
        const std::size_t groups = (count + size - 1) / size;
        for (std::size_t g = 0; g < groups; ++g) {
            CacheGroup group {{}, true};
            for (std::size_t i = g; i < count; i += groups) {
                for (const auto& [page, same] : sizes)
                    group.layers.push_back(same[i]);
            }
            m_out.groups.push_back(std::move(group));
        }
        return true;
    }

    /// All pages as large as the largest. False when that cannot be.
    bool unifyPages()
    {
        const std::vector<std::size_t> indices = usedIndices();
        std::int64_t largest = 0;
        for (const std::size_t i : indices)
            largest = std::max(largest, m_out.pages[i]);
        for (const std::size_t i : indices) {
            LayerSpec& spec = m_out.specs[i];
            const std::int64_t page = m_out.pages[i];
            if (page == largest)
                continue;
            const bool attention = isAttentionKind(spec.kind);
            if (attention && largest % page == 0 && (!spec.paddedPage || !m_rules.padsPages)) {
                const std::optional<std::int64_t> block = checkedMultiply(spec.blockTokens, largest / page);
                if (!block)
                    return false;
                spec.blockTokens = *block;
            } else if (m_rules.padsPages && (!attention || spec.stridedPages)) {
                spec.paddedPage = largest;
            } else {
                return false;
            }
        }
        return measure()
            && std::all_of(indices.begin(), indices.end(), [&](std::size_t i) { return m_out.pages[i] == largest; });
    }

    void formEqualGroups()
    {
        const std::vector<LayerSpec> before = m_out.specs;
        if (!unifyPages()) {
            m_out.specs = before;
            measure();
            const bool mayFallBack = m_rules.padsPages && hasKind(SpecKind::Mla) && hasKind(SpecKind::Sliding)
                && !hasKind(SpecKind::SlidingMla) && !hasKind(SpecKind::ChunkedLocal);
            if (mayFallBack && allocateAsFull())
                m_out.groups.push_back(everyLayer(true));
            else
                m_out.refusal = "page sizes that do not divide one another cannot be made equal";
            return;
        }
        dealLayers(buckets());
    }

    /// Layers of the same spec, from 0.25 on of mergeable specs, in the order of first use.
    std::vector<std::vector<std::size_t>> buckets() const
    {
        std::vector<SpecPointers> specs;
        std::vector<std::vector<std::size_t>> out;
        std::map<std::size_t, std::size_t> bucketOf;
        for (const std::size_t i : usedIndices()) {
            const LayerSpec& spec = m_out.specs[i];
            std::size_t at = 0;
            for (; at < specs.size(); ++at) {
                SpecPointers together = specs[at];
                together.push_back(&spec);
                if (m_rules.mergesSpecs ? areMergeable(together) : spec == *specs[at].front())
                    break;
            }
            if (at == specs.size()) {
                specs.emplace_back();
                out.emplace_back();
            }
            specs[at].push_back(&spec);
            bucketOf[i] = at;
            for (std::size_t layer = 0; layer < m_out.specOf.size(); ++layer) {
                if (m_out.specOf[layer] == i)
                    out[at].push_back(layer);
            }
        }
        return out;
    }

    void dealLayers(const std::vector<std::vector<std::size_t>>& buckets)
    {
        std::size_t fewest = m_out.specOf.size();
        std::size_t most = 0;
        for (const std::vector<std::size_t>& bucket : buckets) {
            fewest = std::min(fewest, bucket.size());
            most = std::max(most, bucket.size());
        }
        const std::size_t size = 2 * most < 3 * fewest ? most : fewest;
        for (const std::vector<std::size_t>& bucket : buckets) {
            const std::size_t groups = (bucket.size() + size - 1) / size;
            m_out.paddingLayers += static_cast<std::int64_t>(groups * size - bucket.size());
            for (std::size_t g = 0; g < groups; ++g) {
                CacheGroup group;
                for (std::size_t i = g; i < bucket.size(); i += groups)
                    group.layers.push_back(bucket[i]);
                m_out.groups.push_back(std::move(group));
            }
        }
    }

    const Rules& m_rules;
    Grouping m_out;
};

} // namespace

bool Grouping::packed() const
{
    return groups.size() > 1
        && std::all_of(groups.begin(), groups.end(), [](const CacheGroup& group) { return group.ownPages; });
}

Grouping groupLayers(
    const Rules& rules, std::vector<LayerSpec> specs, const std::vector<CacheLayer>& layers, bool hybridManagerOff)
{
    return Grouper(rules, std::move(specs), layers).form(hybridManagerOff);
}

} // namespace kvw::vllm
