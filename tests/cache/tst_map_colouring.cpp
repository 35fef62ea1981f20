// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/map_colouring.h"
#include "evidence/runs.h"
#include "small_run.h"
#include "support/example_plans.h"

#include <QTest>

#include <functional>
#include <map>
#include <set>

using namespace kvw;

namespace {

/// A run of a small plan whose pool is too small for its workload, of two tenants that share or do not.
struct Run
{
    std::unique_ptr<EventLog> log;
    std::vector<SharingDomain> domains;
};

Run crowdedRun(bool sharing)
{
    Plan plan = test::with(test::smallPlan(), {{"budget.kvBytesPerRank", "1MiB"}, {"engine.maxSequences", "12"}});
    if (sharing)
        plan = test::with(plan, {{"tenants.birch.sharingGroup", "group-1"}});
    const Result<RunSetup> setup = setUpStatedRun(plan, 1);
    Run out;
    if (!setup || !predict(*setup, {}, &out.log))
        throw std::runtime_error("no prediction");
    out.domains = setup->domains;
    return out;
}

Run smallRun()
{
    Run out {std::make_unique<EventLog>(SmallRun::header()), {{1, "group:a"}, {2, "group:b"}}};
    SmallRun::play(*out.log, 6);
    return out;
}

/// One block by the plainest reading of the events.
struct PlainBlock
{
    bool held = false;
    bool indexed = false;
    int group = 0;
    int owner = 0;
    std::uint32_t allocated = 0;
    std::map<std::tuple<std::uint32_t, int, std::uint32_t>, int> tables; ///< request, group, position: tenant

    bool active() const { return !tables.empty(); }
    bool owned() const { return active() || indexed; }
};

/// [pool][block], to the end of a step.
std::vector<std::map<std::uint32_t, PlainBlock>> plainBlocks(const EventLog& log, std::uint32_t step)
{
    const PoolLayout& layout = log.header().layout;
    std::vector<std::map<std::uint32_t, PlainBlock>> out(layout.pools.size());
    for (std::size_t p = 0; p < out.size(); ++p) {
        for (std::uint32_t b = 0; b < layout.pools[p].blocks.value; ++b)
            out[p][b] = {};
    }
    for (const Event& event : log.events()) {
        if (event.step > step)
            break;
        if (event.group >= layout.groups.size())
            continue;
        PlainBlock& block = out[layout.groups[event.group].pool][event.block];
        const std::tuple place {event.request, int(event.group), event.position};
        switch (event.kind) {
        case EventKind::Hold:
            block.held = true;
            break;
        case EventKind::Allocate:
            block = {};
            block.group = event.group;
            block.owner = event.tenant;
            block.allocated = event.step;
            block.tables[place] = event.tenant;
            break;
        case EventKind::Reference:
            block.tables[place] = event.tenant;
            break;
        case EventKind::Index:
            block.indexed = true;
            break;
        case EventKind::Release:
        case EventKind::Drop:
            block.tables.erase(place);
            break;
        case EventKind::Evict:
            block = {};
            break;
        default:
            break;
        }
    }
    return out;
}

/// A line's name in the terms of both counts.
using LineName = std::pair<std::string, std::int64_t>;
using Counts = std::map<LineName, std::pair<std::int64_t, std::int64_t>>; ///< blocks, bytes

Counts recount(const Run& run, std::uint32_t step, const std::function<LineName(const PlainBlock&)>& name)
{
    Counts out;
    const auto pools = plainBlocks(*run.log, step);
    for (std::size_t p = 0; p < pools.size(); ++p) {
        for (const auto& [number, block] : pools[p]) {
            auto& [blocks, bytes] = out[block.held ? LineName {"held", -1}
                    : !block.owned()               ? LineName {"free", -1}
                                                   : name(block)];
            ++blocks;
            bytes += run.log->header().layout.pools[p].blockBytes.value;
        }
    }
    return out;
}

Counts counted(const Legend& legend)
{
    Counts out;
    for (const LegendCount& line : legend.rows) {
        if (line.blocks > 0)
            out[{blockClassName(line.what), line.index}] = {line.blocks, line.bytes};
    }
    return out;
}

/// Number of the last limit that the value reaches.
std::int64_t stepOf(const std::vector<std::int64_t>& limits, std::int64_t value)
{
    std::int64_t out = 0;
    while (out + 1 < static_cast<std::int64_t>(limits.size()) && value >= limits[static_cast<std::size_t>(out) + 1])
        ++out;
    return out;
}

} // namespace

class MapColouringTest : public QObject
{
    Q_OBJECT

private slots:
    void countsAreTheEvents_data();
    void countsAreTheEvents();
    void linesAreOfTheirBlocks();
    void agesFillTheLog();
    void domainsInOrderOfTenants();
    void severalDomainsStandAlone();
    void setsAreKeptOnce();
};

void MapColouringTest::countsAreTheEvents_data()
{
    QTest::addColumn<int>("which");
    QTest::newRow("two pools, two groups") << 0;
    QTest::newRow("crowded, tenants apart") << 1;
    QTest::newRow("crowded, tenants together") << 2;
}

void MapColouringTest::countsAreTheEvents()
{
    QFETCH(int, which);
    const Run run = which == 0 ? smallRun() : crowdedRun(which == 2);
    const EventLogHeader& header = run.log->header();
    Replay replay(header, run.log->events());
    const std::uint32_t last = replay.lastStep();
    // A log scale by hand: the smallest base whose sixth power is past the last step.
    std::vector<std::int64_t> ages;
    for (std::int64_t base = 2; ages.empty(); ++base) {
        if (base * base * base * base * base * base > last)
            ages = {
                0, base, base * base, base * base * base, base * base * base * base, base * base * base * base * base};
    }
    const std::vector<std::int64_t> references {1, 2, 3, 5, 9, 17};
    std::set<std::string> seen;
    for (std::uint32_t step = 0; step <= last; step += std::max(1U, last / 9)) {
        replay.seek(step);
        const TenantSets tenants = tenantSets(header, replay.state());
        const auto with = [&](Colouring colouring) {
            return colourMap(header, replay.state(), colouring, tenants, run.domains, {step, last}).legend;
        };
        const auto state = [](const PlainBlock& b) { return b.active() ? "private tail" : "cached"; };
        const Counts group = recount(run, step, [&](const PlainBlock& b) { return LineName {state(b), b.group}; });
        QCOMPARE(counted(with(Colouring::Group)), group);
        const Counts age = recount(run, step, [&](const PlainBlock& b) {
            return LineName {"private tail", stepOf(ages, std::int64_t {step} - b.allocated)};
        });
        QCOMPARE(counted(with(Colouring::Age)), age);
        const Counts tables = recount(run, step, [&](const PlainBlock& b) {
            return b.active() ? LineName {"private tail", stepOf(references, std::int64_t(b.tables.size()))}
                              : LineName {"cached", -1};
        });
        QCOMPARE(counted(with(Colouring::References)), tables);
        // Tenants are of domain 0 and 1, or of one: nobody hits across.
        const Counts domain = recount(run, step, [&](const PlainBlock& b) {
            const int tenant = b.active() ? b.tables.begin()->second : b.owner;
            return LineName {state(b), run.domains[0].id == run.domains[1].id ? 0 : tenant};
        });
        QCOMPARE(counted(with(Colouring::Domain)), domain);
        for (const Counts& counts : {group, age, tables, domain}) {
            for (const auto& [name, count] : counts)
                seen.insert(name.first + std::to_string(name.second));
        }
        for (std::size_t c = 0; c < colouringCount; ++c) {
            const Legend legend = with(static_cast<Colouring>(c));
            std::int64_t blocks = 0;
            std::int64_t bytes = 0;
            for (const LegendCount& line : legend.rows) {
                blocks += line.blocks;
                bytes += line.bytes;
            }
            std::int64_t wanted = 0;
            std::int64_t wantedBytes = 0;
            for (const PoolSpec& pool : header.layout.pools) {
                wanted += pool.blocks.value;
                wantedBytes += pool.blocks.value * pool.blockBytes.value;
            }
            QCOMPARE(blocks, wanted);
            QCOMPARE(legend.blocks, wanted);
            QCOMPARE(bytes, wantedBytes);
            QCOMPARE(legend.bytes, wantedBytes);
        }
    }
    QVERIFY(seen.size() >= 6); // several steps of age and references among them
}

void MapColouringTest::linesAreOfTheirBlocks()
{
    const Run run = crowdedRun(true);
    const EventLogHeader& header = run.log->header();
    Replay replay(header, run.log->events());
    replay.seek(replay.lastStep() / 2);
    const TenantSets tenants = tenantSets(header, replay.state());
    for (std::size_t c = 0; c < colouringCount; ++c) {
        const ColouredMap map = colourMap(
            header, replay.state(), static_cast<Colouring>(c), tenants, run.domains, {replay.lastStep() / 2, 1000});
        std::vector<std::int64_t> counts(map.legend.rows.size());
        for (const std::vector<std::uint32_t>& pool : map.lines) {
            for (const std::uint32_t line : pool)
                ++counts.at(line);
        }
        for (std::size_t i = 0; i < counts.size(); ++i)
            QCOMPARE(counts[i], map.legend.rows[i].blocks);
    }
}

void MapColouringTest::agesFillTheLog()
{
    // By hand: 2⁶ = 64, 3⁶ = 729, 4⁶ = 4,096, 10⁶.
    const std::vector<std::pair<std::uint32_t, StepLimits>> wanted {{0, {0, 2, 4, 8, 16, 32}},
        {63, {0, 2, 4, 8, 16, 32}}, {64, {0, 3, 9, 27, 81, 243}}, {728, {0, 3, 9, 27, 81, 243}},
        {729, {0, 4, 16, 64, 256, 1024}}, {999'999, {0, 10, 100, 1000, 10'000, 100'000}}};
    for (const auto& [last, limits] : wanted)
        QCOMPARE(ageLimits(last), limits);
    (void)ageLimits(0xffffffff); // ends, without an overflow
}

void MapColouringTest::domainsInOrderOfTenants()
{
    EventLogHeader header;
    header.tenants = {"a", "b", "c", "d"};
    const std::vector<MapDomain> domains
        = mapDomains(header, {{7, "group:x"}, {3, "tenant:b"}, {7, "group:x"}}); // nobody gave d one
    QCOMPARE(domains.size(), std::size_t {3});
    QCOMPARE(domains[0].tenants, TenantSet {0b0101});
    QCOMPARE(domains[1].tenants, TenantSet {0b0010});
    QCOMPARE(domains[2].tenants, TenantSet {0b1000});
    QCOMPARE(domains[0].domain.key, std::string("group:x"));
    QCOMPARE(mapDomains(header, {}).size(), std::size_t {1}); // not known: one
}

void MapColouringTest::severalDomainsStandAlone()
{
    EventLogHeader header;
    header.tenants = {"a", "b"};
    header.layout.pools = {{Bytes(1024), Blocks(4), Blocks(0)}};
    GroupLayout group;
    group.id = "full";
    header.layout.groups = {group};
    ReplayState state(header);
    for (const Event& event : {Event {EventKind::Allocate, 0, 0, 2, 1, 0, 1, 0},
             Event {EventKind::Append, 0, 0, 2, 1, 0, 1, 16}, Event {EventKind::Index, 0, 0, 2, 1, 0, 1, 0},
             Event {EventKind::Reference, 0, 1, 2, 2, 0, 1, 0}, Event {EventKind::Allocate, 0, 1, 3, 2, 1, 1, 0}})
        QVERIFY(state.apply(header, event));
    const Legend legend = colourMap(
        header, state, Colouring::Domain, tenantSets(header, state), {{1, "group:a"}, {2, "group:b"}}, {1, 1})
                              .legend;
    QCOMPARE(legend.rows.size(), std::size_t {3}); // the second domain, several, free
    QCOMPARE(legend.rows[0].index, 1);
    QCOMPARE(legend.rows[0].blocks, 1);
    QCOMPARE(legend.rows[1].index, -1);
    QCOMPARE(legend.rows[1].blocks, 1);
    QCOMPARE(legend.rows[2].blocks, 2);
}

void MapColouringTest::setsAreKeptOnce()
{
    const Run run = crowdedRun(true);
    Replay replay(run.log->header(), run.log->events());
    for (std::uint32_t step = 0; step <= replay.lastStep(); step += 17) {
        replay.seek(step);
        const TenantSets sets = tenantSets(run.log->header(), replay.state());
        QCOMPARE(std::set<TenantSet>(sets.distinct.begin(), sets.distinct.end()).size(), sets.distinct.size());
        QCOMPARE(sets.distinct.front(), TenantSet {0});
        const auto plain = plainBlocks(*run.log, step);
        for (std::uint32_t b = 0; b < sets.numbers.front().size(); ++b) {
            TenantSet wanted = 0;
            const PlainBlock& block = plain.front().at(b);
            for (const auto& [place, tenant] : block.tables)
                wanted |= TenantSet {1} << tenant;
            if (!block.active() && block.indexed)
                wanted = TenantSet {1} << block.owner;
            QCOMPARE(sets.of(0, b), wanted);
        }
    }
}

QTEST_GUILESS_MAIN(MapColouringTest)
#include "tst_map_colouring.moc"
