// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/cache_manager.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// Runs a step-by-step record of vLLM's cache manager through CacheManager. Block 0 is the null block: dropped
/// positions.
namespace oracle {

using Ids = std::vector<int>;
using Tables = std::vector<Ids>;

struct Item
{
    std::string digest;
    int position = 0;
    int tokens = 0;
};

/// What is done, and what the state is afterwards. Expectations that are absent are not checked.
struct Step
{
    std::string op; ///< admit, append, continue_prefill, sample_only, lookup, free, preempt
    std::string request;
    Ids tokens {};
    std::string salt {};
    std::string adapter {};
    std::vector<Item> items {};
    int budget = 0; ///< most tokens in the step; 0: no limit
    bool skipLookup = false;

    std::optional<bool> ok {};
    std::optional<int> hitTokens {};
    std::optional<Tables> hitBlocks {};
    std::optional<Tables> blocks {};
    std::optional<int> computed {};
    std::optional<int> scheduled {};
    std::optional<Ids> queue {};
    std::optional<int> cachedHashes {};
    std::optional<int> evicted {};
    std::optional<std::map<int, int>> references {};
};

struct GroupRule
{
    int blockTokens = 4;
    int window = 0;
};

struct Case
{
    std::string id;
    std::vector<GroupRule> groups {{}};
    int blocks = 0;
    bool caching = true;
    bool reserveWhole = true;
    double watermark = 0;
    int inFlightTokens = 100000;
    std::vector<Step> steps {};
};

class Runner
{
public:
    explicit Runner(const Case& record)
        : m_case(record)
        , m_cache(layoutOf(record), behaviourOf(record), nullptr)
    {}

    /// "" or the first difference.
    std::string run()
    {
        for (std::size_t i = 0; i < m_case.steps.size(); ++i) {
            std::string wrong = step(m_case.steps[i]);
            if (!wrong.empty())
                return m_case.id + ", step " + std::to_string(i + 1) + " (" + m_case.steps[i].op + " "
                    + m_case.steps[i].request + "): " + wrong;
        }
        return {};
    }

private:
    struct Known
    {
        kvw::Request request;
        kvw::SharingDomain domain;
        std::int64_t computed = 0;
        bool running = false;
    };

    static kvw::PoolLayout layoutOf(const Case& record)
    {
        kvw::PoolLayout layout;
        layout.pools.push_back({kvw::Bytes(1), kvw::Blocks(record.blocks), kvw::Blocks(1)});
        for (const GroupRule& rule : record.groups) {
            kvw::GroupLayout group;
            group.id = "group";
            group.blockTokens = rule.blockTokens;
            if (rule.window > 0)
                group.window = rule.window;
            layout.groups.push_back(std::move(group));
        }
        return layout;
    }

    static kvw::CacheBehaviour behaviourOf(const Case& record)
    {
        kvw::CacheBehaviour behaviour;
        behaviour.prefixCaching = record.caching;
        return behaviour;
    }

    /// The record's tokens are numbers; ours are the first tokens of as many streams.
    static void addToken(kvw::Request& request, int token)
    {
        request.prompt.push_back({static_cast<std::uint64_t>(token), 0, 1});
    }

    Known make(const Step& step)
    {
        Known known;
        known.request.id = m_nextId++;
        for (const int token : step.tokens)
            addToken(known.request, token);
        known.request.adapter = step.adapter;
        for (const Item& item : step.items) {
            known.request.multimodal.push_back(
                {item.digest, static_cast<std::uint64_t>(item.position), static_cast<std::uint64_t>(item.tokens)});
        }
        if (!step.salt.empty()) {
            const auto id
                = static_cast<std::uint32_t>(m_domains.try_emplace(step.salt, m_domains.size() + 1).first->second);
            known.domain = {id, step.salt};
        }
        return known;
    }

    std::string step(const Step& step)
    {
        const std::int64_t evictions = m_cache.evictions();
        std::string wrong;
        if (step.op == "lookup") {
            const Known known = make(step);
            wrong = lookup(step, known);
        } else if (step.op == "admit") {
            wrong = admit(step);
        } else if (step.op == "append") {
            wrong = append(step);
        } else if (step.op == "continue_prefill") {
            Known& known = m_known.at(step.request);
            wrong = expect("ok", step.ok, schedule(known, step.budget));
        } else if (step.op == "sample_only") {
            for (const int token : step.tokens)
                addToken(m_known.at(step.request).request, token);
        } else {
            Known& known = m_known.at(step.request);
            m_cache.release(known.request.id);
            known.computed = 0;
            known.running = false;
            if (step.op == "free")
                m_known.erase(step.request);
        }
        if (wrong.empty())
            wrong = expect("evicted", step.evicted, static_cast<int>(m_cache.evictions() - evictions));
        return wrong.empty() ? compare(step) : wrong;
    }

    std::string lookup(const Step& step, const Known& known)
    {
        m_hit = {};
        m_hit.blocks.resize(m_case.groups.size());
        if (!step.skipLookup)
            m_hit = m_cache.lookup({&known.request, known.domain}, known.request.promptTokens());
        std::string wrong = expect("hit tokens", step.hitTokens, static_cast<int>(m_hit.tokens));
        return wrong.empty() ? expect("hit blocks", step.hitBlocks, numbers(m_hit.blocks)) : wrong;
    }

    std::string admit(const Step& step)
    {
        Known& known = m_known.count(step.request) ? m_known.at(step.request)
                                                   : m_known.emplace(step.request, make(step)).first->second;
        std::string wrong = lookup(step, known);
        if (!wrong.empty())
            return wrong;
        const std::int64_t total = known.request.promptTokens();
        const bool others = std::any_of(m_known.begin(), m_known.end(), [](const auto& k) { return k.second.running; });
        const std::int64_t keepFree = others ? static_cast<std::int64_t>(m_case.watermark * m_case.blocks) : 0;
        const kvw::Sequence sequence {&known.request, known.domain};
        const std::int64_t whole = m_cache.blocksNeeded(sequence, m_hit, total, m_case.inFlightTokens)[0];
        bool ok = !m_case.reserveWhole || whole + keepFree <= m_cache.pool(0).available();
        const std::int64_t added = limited(total - m_hit.tokens, step.budget);
        ok = ok && m_cache.allocate(sequence, &m_hit, m_hit.tokens, added, keepFree);
        if (ok) {
            known.running = true;
            known.computed = m_hit.tokens + added;
            wrong = expect("scheduled", step.scheduled, static_cast<int>(added));
        }
        return wrong.empty() ? expect("ok", step.ok, ok) : wrong;
    }

    std::string append(const Step& step)
    {
        Known& known = m_known.at(step.request);
        bool ok = true;
        for (const int token : step.tokens) {
            addToken(known.request, token);
            ok = schedule(known, 0);
            if (!ok)
                break;
        }
        std::string wrong = expect("ok", step.ok, ok);
        return wrong.empty() ? expect("computed", step.computed, static_cast<int>(known.computed)) : wrong;
    }

    bool schedule(Known& known, int budget)
    {
        const std::int64_t added = limited(known.request.promptTokens() - known.computed, budget);
        if (!m_cache.allocate({&known.request, known.domain}, nullptr, known.computed, added))
            return false;
        known.computed += added;
        return true;
    }

    std::string compare(const Step& step)
    {
        const kvw::BlockPool& pool = m_cache.pool(0);
        const std::vector<kvw::BlockId> queue = pool.queue();
        std::string wrong = expect("queue", step.queue, Ids(queue.begin(), queue.end()));
        if (wrong.empty() && step.blocks) {
            const kvw::BlockTables* tables = m_cache.tables(m_known.at(step.request).request.id);
            wrong = tables ? expect("blocks", step.blocks, numbers(tables->groups)) : "the request holds nothing";
        }
        std::set<std::pair<int, kvw::BlockKey>> hashes;
        std::map<int, int> references;
        for (int i = 0; i < m_case.blocks; ++i) {
            const auto block = static_cast<kvw::BlockId>(i);
            if (pool.isIndexed(block))
                hashes.insert({pool.group(block), pool.key(block)});
            if (pool.references(block) > 0)
                references[i] = static_cast<int>(pool.references(block));
        }
        if (wrong.empty())
            wrong = expect("cached hashes", step.cachedHashes, static_cast<int>(hashes.size()));
        if (wrong.empty() && step.references && *step.references != references)
            wrong = "the reference counts differ";
        if (wrong.empty()) {
            if (kvw::Result<void> holds = m_cache.checkInvariants(); !holds)
                wrong = holds.error().text();
        }
        return wrong;
    }

    static std::int64_t limited(std::int64_t tokens, int budget)
    {
        return budget > 0 ? std::min<std::int64_t>(tokens, budget) : tokens;
    }

    static Tables numbers(const std::vector<std::vector<kvw::BlockId>>& tables)
    {
        Tables out;
        for (const std::vector<kvw::BlockId>& table : tables) {
            out.emplace_back();
            for (const kvw::BlockId block : table)
                out.back().push_back(block == kvw::noBlock ? 0 : static_cast<int>(block));
        }
        return out;
    }

    static std::string print(int value) { return std::to_string(value); }
    static std::string print(const Ids& values)
    {
        std::string out = "[";
        for (const int value : values)
            out += (out.size() > 1 ? " " : "") + std::to_string(value);
        return out + "]";
    }
    static std::string print(const Tables& values)
    {
        std::string out;
        for (const Ids& value : values)
            out += print(value);
        return out;
    }

    template <typename T>
    static std::string expect(const char* what, const std::optional<T>& expected, const T& found)
    {
        if (!expected || *expected == found)
            return {};
        return std::string(what) + ": " + print(found) + ", not " + print(*expected);
    }

    const Case& m_case;
    kvw::CacheManager m_cache;
    std::map<std::string, Known> m_known;
    std::map<std::string, std::size_t> m_domains;
    kvw::Hit m_hit;
    std::uint32_t m_nextId = 0;
};

} // namespace oracle
