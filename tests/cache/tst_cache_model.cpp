// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache_scenario.h"

#include <QTest>

using namespace kvw;

namespace {

constexpr int requestCount = Scenario::requestCount;
constexpr int operationsEach = 4000;

EventLogHeader headerFor(const Scenario& scenario)
{
    EventLogHeader header;
    header.source = "test";
    header.layout = scenario.layout;
    return header;
}

/// What differs between a pool and the naive one, or "".
std::string comparePool(const BlockPool& pool, const std::vector<naive::Block>& blocks, const std::list<int>& queue)
{
    std::int64_t active = 0;
    std::int64_t cached = 0;
    std::int64_t held = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto id = static_cast<BlockId>(i);
        const naive::Block& block = blocks[i];
        const bool inUse = block.references > 0 || block.hasIdentity;
        active += block.references > 0;
        cached += block.references == 0 && block.hasIdentity;
        held += block.held;
        if (pool.references(id) != static_cast<std::uint32_t>(block.references)
            || pool.isIndexed(id) != block.hasIdentity || pool.isHeld(id) != block.held)
            return "block " + std::to_string(i) + " has another state";
        if (inUse
            && (pool.group(id) != block.group || pool.tenant(id) != block.tenant || pool.domain(id) != block.domain))
            return "block " + std::to_string(i) + " has another owner";
    }
    if (pool.active() != active || pool.cached() != cached || pool.held() != held
        || pool.free() + active + cached + held != static_cast<std::int64_t>(blocks.size()))
        return "the counts differ";
    BlockId expected = pool.head();
    if (queue.empty() ? expected != noBlock : expected != static_cast<BlockId>(queue.front()))
        return "the next victim differs";
    const std::vector<BlockId> ids = pool.queue();
    return std::equal(ids.begin(), ids.end(), queue.begin(), queue.end(),
               [](BlockId a, int b) { return a == static_cast<BlockId>(b); })
        ? ""
        : "the queue differs";
}

bool sameBlocks(const std::vector<std::vector<BlockId>>& ours, const std::vector<std::vector<int>>& naive)
{
    return std::equal(ours.begin(), ours.end(), naive.begin(), naive.end(),
        [](const std::vector<BlockId>& a, const std::vector<int>& b) {
            return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                [](BlockId x, int y) { return y < 0 ? x == noBlock : x == static_cast<BlockId>(y); });
        });
}

/// What differs between the state rebuilt from events and the pools, or "".
std::string compareMap(const BlockMap& map, const CacheManager& manager)
{
    for (std::size_t p = 0; p < manager.poolCount(); ++p) {
        const BlockPool& pool = manager.pool(p);
        for (std::size_t i = 0; i < map.blocks()[p].size(); ++i) {
            const auto id = static_cast<BlockId>(i);
            const BlockSnapshot& block = map.blocks()[p][i];
            const BlockState state = pool.isHeld(id) ? BlockState::Held
                : pool.references(id) > 0            ? BlockState::Active
                : pool.isIndexed(id)                 ? BlockState::Cached
                                                     : BlockState::Free;
            const bool inUse = state == BlockState::Active || state == BlockState::Cached;
            if (block.state != state || block.indexed != pool.isIndexed(id) || block.references != pool.references(id)
                || (inUse && (block.group != pool.group(id) || block.tenant != pool.tenant(id))))
                return "the events give another state of block " + std::to_string(i);
        }
    }
    return "";
}

/// Runs one scenario against the reference.
class Check
{
public:
    explicit Check(std::uint64_t seed)
        : m_random(seed)
        , m_scenario(m_random)
        , m_log(headerFor(m_scenario))
        , m_cache(m_scenario.layout, m_scenario.behaviour, &m_log)
        , m_naive(m_scenario.rules)
        , m_map(m_scenario.layout)
        , m_computed(requestCount, -1)
    {}

    /// "" or the first difference.
    std::string run(int operations)
    {
        for (m_turn = 0; m_operation < operations; ++m_turn) {
            m_cache.setStep(m_turn / 4);
            const std::size_t request = pick();
            std::string wrong = m_computed[request] < 0 ? (m_random.chance(40) ? lookup(request) : admit(request))
                : m_random.chance(15)                   ? release(request)
                                                        : grow(request);
            if (wrong.empty()
                && (m_cache.tables(static_cast<std::uint32_t>(request)) != nullptr) != (m_computed[request] >= 0))
                wrong = "a request holds blocks and should not, or should and does not";
            if (wrong.empty())
                wrong = compare();
            if (!wrong.empty())
                return wrong;
        }
        for (std::size_t request = 0; request < requestCount; ++request)
            (void)release(request); // also of those that hold nothing
        for (std::size_t p = 0; p < m_cache.poolCount(); ++p) {
            if (m_cache.pool(p).active() != 0
                || m_cache.pool(p).available() + m_cache.pool(p).held() != m_cache.pool(p).total())
                return "not every block came back";
        }
        return compare();
    }

    int operation() const { return m_operation; }
    const std::vector<Event>& events() const { return m_log.events(); }
    std::int64_t hits() const { return m_hits; }
    std::int64_t evictions() const { return m_cache.evictions(); }

private:
    /// Any request, or more often one that holds blocks: growing is what makes room run out.
    std::size_t pick()
    {
        const auto& holders = m_naive.holders();
        if (!holders.empty() && m_random.chance(60))
            return std::next(holders.begin(), m_random.below(static_cast<int>(holders.size())))->first;
        return static_cast<std::size_t>(m_random.below(requestCount));
    }

    std::string lookup(std::size_t request)
    {
        ++m_operation;
        const Request& r = m_scenario.requests[request];
        const int tokens = m_random.between(1, static_cast<int>(r.promptTokens() + r.outputTokens));
        m_hit = m_cache.lookup(m_scenario.sequence(request), tokens);
        m_naiveHit = m_naive.lookup(m_scenario.asker(request), tokens);
        m_hits += m_hit.tokens > 0;
        if (m_hit.tokens != m_naiveHit.tokens)
            return "hit of " + std::to_string(m_hit.tokens) + " tokens, not " + std::to_string(m_naiveHit.tokens);
        if (m_naiveHit.cause != missCauseName(m_hit.cause))
            return std::string("cause ") + missCauseName(m_hit.cause) + ", not " + m_naiveHit.cause;
        return sameBlocks(m_hit.blocks, m_naiveHit.blocks) ? "" : "the hit has other blocks";
    }

    std::string admit(std::size_t request)
    {
        if (std::string wrong = lookup(request); !wrong.empty())
            return wrong;
        const Request& r = m_scenario.requests[request];
        const int computed = m_random.chance(90) ? static_cast<int>(m_hit.tokens) : 0;
        if (computed == 0) { // as a request that may not read the cache
            m_hit = Hit {};
            m_hit.blocks.resize(m_scenario.layout.groups.size());
            m_naiveHit.blocks.assign(m_scenario.layout.groups.size(), {});
        }
        const int rest = static_cast<int>(r.promptTokens() + r.outputTokens) - computed;
        const int added = rest == 0 ? 0 : m_random.between(1, m_random.chance(20) ? rest : std::min(rest, 12));
        return allocate(request, computed, added, m_random.chance(30) ? m_random.below(6) : 0);
    }

    std::string grow(std::size_t request)
    {
        const Request& r = m_scenario.requests[request];
        const int rest = static_cast<int>(r.promptTokens() + r.outputTokens) - m_computed[request];
        if (rest == 0)
            return release(request);
        m_hit = Hit {};
        const int added = m_random.chance(75) ? 1 : m_random.between(1, m_random.chance(20) ? rest : std::min(rest, 6));
        return allocate(request, m_computed[request], added, 0);
    }

    std::string allocate(std::size_t request, int computed, int added, int keepFree)
    {
        ++m_operation;
        const Sequence sequence = m_scenario.sequence(request);
        const naive::Asker asker = m_scenario.asker(request);
        const std::vector<std::int64_t> needed = m_cache.blocksNeeded(sequence, m_hit, computed + added);
        const std::vector<int> expected = m_naive.needed(asker, m_naiveHit, computed + added);
        if (!std::equal(needed.begin(), needed.end(), expected.begin(), expected.end()))
            return "other blocks needed";
        const bool done = m_cache.allocate(sequence, computed > 0 ? &m_hit : nullptr, computed, added, keepFree);
        if (done != m_naive.allocate(asker, m_naiveHit, computed, added, keepFree))
            return done ? "there was room" : "there was no room";
        if (done)
            m_computed[request] = computed + added;
        else if (m_computed[request] >= 0 && m_random.chance(50))
            return release(request); // preempted
        return "";
    }

    std::string release(std::size_t request)
    {
        ++m_operation;
        m_cache.release(static_cast<std::uint32_t>(request));
        m_naive.release(static_cast<std::uint32_t>(request));
        m_computed[request] = -1;
        return "";
    }

    std::string compare()
    {
        for (std::size_t p = 0; p < m_cache.poolCount(); ++p) {
            std::string wrong = comparePool(m_cache.pool(p), m_naive.blocks()[p], m_naive.queues()[p]);
            if (!wrong.empty())
                return wrong;
        }
        if (m_cache.evictions() != m_naive.evictions())
            return "the number of evictions differs";
        for (const auto& [request, holder] : m_naive.holders()) {
            const BlockTables* tables = m_cache.tables(request);
            if (!tables || !sameBlocks(tables->groups, holder.tables))
                return "a table differs";
        }
        if (m_turn % 32 == 0) {
            if (Result<void> holds = m_cache.checkInvariants(); !holds)
                return holds.error().text();
        }
        return m_random.chance(3) ? replay() : "";
    }

    std::string replay()
    {
        for (; m_replayed < m_log.events().size(); ++m_replayed) {
            if (Result<void> applied = m_map.apply(m_log.events()[m_replayed]); !applied)
                return applied.error().text();
        }
        return compareMap(m_map, m_cache);
    }

    Random m_random;
    Scenario m_scenario;
    EventLog m_log;
    CacheManager m_cache;
    naive::Cache m_naive;
    BlockMap m_map;
    std::size_t m_replayed = 0;
    std::vector<int> m_computed; ///< by request; −1: holds nothing
    Hit m_hit;
    naive::Hit m_naiveHit;
    int m_operation = 0; ///< lookups, allocations and releases
    int m_turn = 0;
    std::int64_t m_hits = 0;
};

} // namespace

class CacheModelTest : public QObject
{
    Q_OBJECT
private slots:
    void equalsTheReference();
};

/// A million random operations. KVW_TEST_SCALE multiplies the number; KVW_TEST_SEED runs one scenario again.
void CacheModelTest::equalsTheReference()
{
    bool scaled = false;
    double scale = qEnvironmentVariable("KVW_TEST_SCALE").toDouble(&scaled);
    if (!scaled || scale <= 0)
        scale = 1;
    bool chosen = false;
    const quint64 first = qEnvironmentVariable("KVW_TEST_SEED").toULongLong(&chosen);
    const int scenarios = chosen ? 1 : std::max(1, static_cast<int>(scale * 1'000'000 / operationsEach));
    std::int64_t hits = 0;
    std::int64_t evictions = 0;
    std::size_t events = 0;
    for (int i = 0; i < scenarios; ++i) {
        const std::uint64_t seed = chosen ? first : 1 + static_cast<std::uint64_t>(i);
        Check check(seed);
        const std::string wrong = check.run(operationsEach);
        if (!wrong.empty())
            QFAIL(qPrintable(QStringLiteral("KVW_TEST_SEED=%1, operation %2: %3")
                                 .arg(seed)
                                 .arg(check.operation())
                                 .arg(wrong.c_str())));
        hits += check.hits();
        evictions += check.evictions();
        events += check.events().size();
        if (i % 10 == 0) {
            Check again(seed);
            (void)again.run(operationsEach);
            QVERIFY2(check.events() == again.events(), "the same seed gave other events");
        }
    }
    qInfo("%d scenarios of %d operations: %lld hits, %lld evictions, %zu events", scenarios, operationsEach,
        static_cast<long long>(hits), static_cast<long long>(evictions), events);
    QVERIFY(chosen || (hits > 0 && evictions > 0));
}

QTEST_APPLESS_MAIN(CacheModelTest)
#include "tst_cache_model.moc"
