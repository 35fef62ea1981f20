// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/map_legend.h"
#include "cache/replay.h"
#include "evidence/runs.h"
#include "small_run.h"
#include "support/example_plans.h"

#include <QTest>

#include <random>
#include <set>

using namespace kvw;

namespace {

/// The prediction's log of a small plan whose pool is too small for its workload: hits, evictions, preemptions.
std::unique_ptr<EventLog> crowdedLog()
{
    const Plan plan = test::with(test::smallPlan(), {{"budget.kvBytesPerRank", "1MiB"}, {"engine.maxSequences", "12"}});
    const Result<RunSetup> setup = setUpStatedRun(plan, 1);
    std::unique_ptr<EventLog> log;
    if (!setup || !predict(*setup, {}, &log))
        throw std::runtime_error("no prediction");
    return log;
}

std::unique_ptr<EventLog> smallLog()
{
    auto log = std::make_unique<EventLog>(SmallRun::header());
    SmallRun::play(*log, 6);
    return log;
}

std::int64_t count(const EventLog& log, EventKind kind)
{
    return std::count_if(log.events().begin(), log.events().end(), [kind](const Event& e) { return e.kind == kind; });
}

/// Tables by the plainest reading of the events: who named which block at which position, to the end of a step.
std::map<std::tuple<std::uint32_t, int, std::uint32_t>, std::uint32_t> plainTables(
    const EventLog& log, std::uint32_t step)
{
    std::map<std::tuple<std::uint32_t, int, std::uint32_t>, std::uint32_t> out;
    for (const Event& event : log.events()) {
        if (event.step > step)
            break;
        const std::tuple key {event.request, int(event.group), event.position};
        if (event.kind == EventKind::Allocate || event.kind == EventKind::Reference)
            out[key] = event.block;
        else if (event.kind == EventKind::Release || event.kind == EventKind::Drop)
            out.erase(key);
    }
    return out;
}

} // namespace

class ReplayTest : public QObject
{
    Q_OBJECT

private slots:
    void blocksAreThoseOfTheLog_data();
    void blocksAreThoseOfTheLog();
    void tablesFollowTheEvents();
    void legendAddsUp();
    void stepCountsAreTheMaps();
    void preemptedRequestsKnowWhatTheyHeld();
    void findsEvents();
    void storyOfAHandMadeBlock();
    void stopsBeforeAContradiction();
    void hugePositionsAreRefused();
    void domains();
};

void ReplayTest::blocksAreThoseOfTheLog_data()
{
    QTest::addColumn<bool>("small");
    QTest::newRow("small run, two groups") << true;
    QTest::newRow("crowded prediction") << false;
}

void ReplayTest::blocksAreThoseOfTheLog()
{
    QFETCH(bool, small);
    const std::unique_ptr<EventLog> log = small ? smallLog() : crowdedLog();
    Replay replay(log->header(), log->events());
    QVERIFY(!replay.error());
    QCOMPARE(replay.lastStep(), log->events().back().step);
    std::mt19937 dice(7);
    for (int i = 0; i < 60; ++i) {
        const std::uint32_t step = std::uniform_int_distribution<std::uint32_t>(0, replay.lastStep() + 3)(dice);
        replay.seek(step);
        const Result<BlockMap> wanted = log->stateAfter(step);
        QVERIFY(wanted);
        QVERIFY2(replay.state().map == *wanted, qPrintable(QStringLiteral("step %1").arg(step)));
        // The same from a replay that has been nowhere else.
        ReplayState fresh(log->header());
        for (const Event& event : log->events()) {
            if (event.step <= step)
                QVERIFY(fresh.apply(log->header(), event));
        }
        QVERIFY(replay.state() == fresh);
    }
}

void ReplayTest::tablesFollowTheEvents()
{
    const std::unique_ptr<EventLog> log = crowdedLog();
    Replay replay(log->header(), log->events());
    for (std::uint32_t step = 0; step <= replay.lastStep(); step += 7) {
        replay.seek(step);
        auto wanted = plainTables(*log, step);
        std::size_t found = 0;
        for (const auto& [id, request] : replay.state().requests) {
            for (std::size_t g = 0; g < request.tables.size(); ++g) {
                for (std::size_t p = 0; p < request.tables[g].size(); ++p) {
                    if (request.tables[g][p] == noTableBlock)
                        continue;
                    ++found;
                    const auto at = wanted.find({id, int(g), static_cast<std::uint32_t>(p)});
                    QVERIFY(at != wanted.end());
                    QCOMPARE(request.tables[g][p], at->second);
                }
            }
        }
        QCOMPARE(found, wanted.size());
        // As many tables name a block as it has references.
        std::map<std::uint32_t, std::uint32_t> named;
        for (const auto& [key, block] : wanted)
            ++named[block];
        const std::vector<BlockSnapshot>& pool = replay.state().map.blocks().front();
        for (std::uint32_t b = 0; b < pool.size(); ++b) {
            QCOMPARE(pool[b].references, named[b]);
            QCOMPARE(usesOf(log->header(), replay.state(), 0, b).size(), named[b]);
        }
    }
}

void ReplayTest::legendAddsUp()
{
    for (const bool small : {true, false}) {
        const std::unique_ptr<EventLog> log = small ? smallLog() : crowdedLog();
        Replay replay(log->header(), log->events());
        std::int64_t blocks = 0;
        std::int64_t bytes = 0;
        for (const PoolSpec& pool : log->header().layout.pools) {
            blocks += pool.blocks.value;
            bytes += pool.blocks.value * pool.blockBytes.value;
        }
        for (std::uint32_t step = 0; step <= replay.lastStep(); step += small ? 1 : 11) {
            replay.seek(step);
            std::map<std::string, std::int64_t> states;
            for (const BlockCount& row : countBlocks(log->header(), replay.state().map))
                states[row.state] += row.blocks;
            std::int64_t active = 0;
            const Legend byState = legendByState(log->header(), replay.state());
            for (const LegendCount& row : byState.rows) {
                if (row.what == BlockClass::Shared || row.what == BlockClass::Private)
                    active += row.blocks;
                else
                    QCOMPARE(row.blocks, states[blockClassName(row.what)]);
            }
            QCOMPARE(active, states["active"]);
            for (const Legend& legend : {byState, legendByTenant(log->header(), replay.state())}) {
                QCOMPARE(legend.blocks, blocks);
                QCOMPARE(legend.bytes, bytes);
                std::int64_t sum = 0;
                for (const LegendCount& row : legend.rows)
                    sum += row.blocks;
                QCOMPARE(sum, blocks);
            }
        }
    }
}

void ReplayTest::stepCountsAreTheMaps()
{
    const std::unique_ptr<EventLog> log = crowdedLog();
    Replay replay(log->header(), log->events());
    std::int64_t evictions = 0;
    std::int64_t preemptions = 0;
    std::int64_t hits = 0;
    std::int64_t ended = 0;
    for (const StepCounts& counts : replay.steps()) {
        evictions += counts.evictions;
        preemptions += counts.preemptions;
        hits += counts.hits;
        ended += counts.ended;
        QCOMPARE(counts.evictionsSoFar, evictions);
        QCOMPARE(counts.preemptionsSoFar, preemptions);
        if (counts.step % 13 != 0)
            continue;
        replay.seek(counts.step);
        const Legend legend = legendByState(log->header(), replay.state());
        QCOMPARE(counts.shared, legend.rows[0].blocks);
        QCOMPARE(counts.active, legend.rows[0].blocks + legend.rows[1].blocks);
        QCOMPARE(counts.cached, legend.rows[2].blocks);
        QCOMPARE(counts.free, legend.rows[3].blocks);
        QCOMPARE(counts.held, legend.rows[4].blocks);
    }
    QCOMPARE(evictions, count(*log, EventKind::Evict));
    QCOMPARE(preemptions, count(*log, EventKind::Preempt));
    QCOMPARE(hits, count(*log, EventKind::Reference));
    QCOMPARE(ended, 40); // the workload's requests
    QVERIFY(evictions > 0 && preemptions > 0 && hits > 0);
}

void ReplayTest::preemptedRequestsKnowWhatTheyHeld()
{
    const std::unique_ptr<EventLog> log = crowdedLog();
    Replay replay(log->header(), log->events());
    int seen = 0;
    for (const Event& event : log->events()) {
        if (event.kind != EventKind::Preempt || event.step == 0)
            continue;
        replay.seek(event.step - 1);
        const auto before = replay.state().requests.find(event.request);
        QVERIFY(before != replay.state().requests.end());
        const std::int64_t held = before->second.held;
        replay.seek(event.step);
        const RequestTrace& after = replay.state().requests.at(event.request);
        if (after.phase != RequestPhase::Preempted)
            continue;
        ++seen;
        const FormerBlocks former = formerBlocks(log->header(), replay.state(), after);
        // It may have taken a few blocks in the step itself, before it lost all.
        QVERIFY(former.here + former.lost >= held);
        QCOMPARE(after.held, 0U);
        // Lost are those that other events gave to somebody else since.
        std::set<std::uint32_t> gone;
        for (const RequestTrace::Former& was : after.former.front()) {
            const BlockSnapshot& now = replay.state().map.blocks().front()[was.block];
            if (now.state == BlockState::Free || replay.state().uses.front()[was.block] != was.use)
                gone.insert(was.block);
        }
        QCOMPARE(former.lost, static_cast<std::int64_t>(gone.size()));
    }
    QVERIFY(seen > 0);
}

void ReplayTest::findsEvents()
{
    const std::unique_ptr<EventLog> log = crowdedLog();
    const Replay replay(log->header(), log->events());
    for (const EventKind kind : {EventKind::Evict, EventKind::Preempt, EventKind::Complete, EventKind::Cancel}) {
        std::set<std::uint32_t> steps;
        for (const Event& event : log->events()) {
            if (event.kind == kind)
                steps.insert(event.step);
        }
        for (std::uint32_t step = 0; step <= replay.lastStep(); ++step) {
            const auto after = steps.upper_bound(step);
            QCOMPARE(replay.nextStep(step, kind), after == steps.end() ? std::nullopt : std::optional(*after));
            const auto from = steps.lower_bound(step);
            QCOMPARE(replay.previousStep(step, kind),
                from == steps.begin() ? std::nullopt : std::optional(*std::prev(from)));
        }
    }
}

void ReplayTest::storyOfAHandMadeBlock()
{
    EventLogHeader header = SmallRun::header();
    EventLog log(header);
    const auto add = [&](EventKind kind, std::uint32_t step, std::uint32_t request, std::uint16_t tenant,
                         std::uint32_t value = 0) {
        log.add({kind, 0, tenant, 5, request, 2, step, value});
    };
    (void)log.addDigest({1, 2});
    add(EventKind::Allocate, 3, 7, 0);
    add(EventKind::Append, 4, 7, 0, 4);
    add(EventKind::Index, 4, 7, 0, 0);
    add(EventKind::Reference, 6, 8, 0);
    add(EventKind::Reference, 9, 9, 1);
    add(EventKind::Release, 10, 7, 0);
    add(EventKind::Release, 11, 8, 0);
    add(EventKind::Release, 12, 9, 1);
    add(EventKind::Evict, 20, 11, 1);
    add(EventKind::Allocate, 20, 11, 1);
    QVERIFY(log.finalState());
    const auto at = [&](std::uint32_t step) { return blockStory(log.header(), log.events(), 0, 5, step); };
    QCOMPARE(at(2).uses, 0U);
    QCOMPARE(at(2).next->step, 3U);
    const BlockStory running = at(9);
    QCOMPARE(running.allocated->request, 7U);
    QCOMPARE(running.full, std::optional<std::uint32_t>(4));
    QCOMPARE(running.indexed, std::optional<std::uint32_t>(4));
    QCOMPARE(running.hits, 2);
    QCOMPARE(running.hitsByTenant.at(0), 1);
    QCOMPARE(running.hitsByTenant.at(1), 1);
    QCOMPARE(running.firstHit->request, 8U);
    QCOMPARE(running.firstForeignHit->request, 9U);
    QVERIFY(!running.left);
    QCOMPARE(running.next->kind, EventKind::Release);
    QCOMPARE(at(15).left->request, 9U);
    QCOMPARE(at(15).next->kind, EventKind::Evict);
    const BlockStory second = at(20);
    QCOMPARE(second.uses, 2U);
    QCOMPARE(second.allocated->request, 11U);
    QCOMPARE(second.hits, 0);
    QVERIFY(!second.next);
    // The block of the same number in the other pool is another block.
    QCOMPARE(blockStory(log.header(), log.events(), 1, 5, 20).uses, 0U);
}

void ReplayTest::stopsBeforeAContradiction()
{
    const std::unique_ptr<EventLog> log = crowdedLog();
    std::vector<Event> events = log->events();
    const std::size_t bad = events.size() / 2;
    events[bad] = {EventKind::Evict, 0, 0, 0, 0, 0, events[bad].step, 0}; // the null block is never evicted
    Replay replay(log->header(), events);
    QVERIFY(replay.error());
    QCOMPARE(QString::fromStdString(replay.error()->code), QStringLiteral("events.inconsistent"));
    QCOMPARE(replay.events().size(), bad);
    replay.seek(0);
    QVERIFY(replay.state().map == *log->stateAfter(0));
}

void ReplayTest::hugePositionsAreRefused()
{
    const EventLogHeader header = SmallRun::header();
    ReplayState state(header);
    Event event {EventKind::Allocate, 0, 0, 5, 1, 0xfffffff0, 1, 0};
    QVERIFY(!state.apply(header, event));
    QVERIFY(state == ReplayState(header));
}

void ReplayTest::domains()
{
    const std::vector<SharingDomain> domains {{1, "group:a"}, {1, "group:a"}, {2, "group:b"}};
    QVERIFY(!crossesDomains(0b000, domains));
    QVERIFY(!crossesDomains(0b100, domains));
    QVERIFY(!crossesDomains(0b011, domains));
    QVERIFY(crossesDomains(0b101, domains));
    QVERIFY(crossesDomains(0b1001, domains)); // a tenant that nobody gave a domain
    // Blocks of the sets 011, 101 and nobody's in one pool, of 110 in the other.
    const TenantSets sets {{0b000, 0b011, 0b101, 0b110}, {{1, 2, 0}, {3}}};
    QCOMPARE(crossDomainBlocks(sets, domains), 2);
}

QTEST_MAIN(ReplayTest)
#include "tst_replay.moc"
