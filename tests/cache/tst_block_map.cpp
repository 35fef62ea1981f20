// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/event_log.h"

#include <QTest>

#include <map>

using namespace kvw;

namespace {

EventLogHeader header()
{
    EventLogHeader out;
    out.tenants = {"red", "blue"};
    out.layout.pools = {{Bytes(1), Blocks(4), Blocks(1)}, {Bytes(1), Blocks(3), Blocks(0)}};
    GroupLayout group;
    group.id = "full";
    group.blockTokens = 4;
    out.layout.groups = {group, group, group};
    out.layout.groups[1].id = "sliding";
    out.layout.groups[2].id = "other pool";
    out.layout.groups[2].pool = 1;
    return out;
}

Event make(EventKind kind, std::uint32_t block = 1, int group = 0, std::uint32_t value = 0, int tenant = 0)
{
    Event out;
    out.kind = kind;
    out.group = static_cast<std::uint8_t>(group);
    out.tenant = static_cast<std::uint16_t>(tenant);
    out.block = block;
    out.request = 7;
    out.position = 5;
    out.value = value;
    return out;
}

/// The events that bring block 1 of the first pool into each situation.
const std::map<QByteArray, std::vector<Event>> situations {
    {"free", {}},
    {"held", {make(EventKind::Hold)}},
    {"active", {make(EventKind::Allocate)}},
    {"half full", {make(EventKind::Allocate), make(EventKind::Append, 1, 0, 2)}},
    {"indexed", {make(EventKind::Allocate), make(EventKind::Index)}},
    {"cached", {make(EventKind::Allocate), make(EventKind::Index), make(EventKind::Release)}},
};

} // namespace

class BlockMapTest : public QObject
{
    Q_OBJECT
private slots:
    void takesOnlyWhatCanHappen_data();
    void takesOnlyWhatCanHappen();
    void refusesWhatIsNotThere();
    void followsABlock();
    void countsByOwner();
};

void BlockMapTest::takesOnlyWhatCanHappen_data()
{
    QTest::addColumn<QByteArray>("situation");
    QTest::addColumn<int>("kind");
    QTest::addColumn<bool>("allowed");
    const std::map<EventKind, QList<QByteArray>> allowed {
        {EventKind::Hold, {"free"}},
        {EventKind::Allocate, {"free"}},
        {EventKind::Append, {"active", "half full", "indexed"}},
        {EventKind::Index, {"active", "half full"}},
        {EventKind::Reference, {"indexed", "cached"}},
        {EventKind::Release, {"active", "half full", "indexed"}},
        {EventKind::Drop, {"active", "half full", "indexed"}},
        {EventKind::Evict, {"cached"}},
    };
    for (const auto& [kind, where] : allowed) {
        for (const auto& [situation, events] : situations) {
            QTest::addRow("%d when %s", static_cast<int>(kind), situation.constData())
                << situation << static_cast<int>(kind) << where.contains(situation);
        }
    }
}

void BlockMapTest::takesOnlyWhatCanHappen()
{
    QFETCH(QByteArray, situation);
    QFETCH(int, kind);
    QFETCH(bool, allowed);
    BlockMap map(header().layout);
    for (const Event& before : situations.at(situation))
        QVERIFY(map.apply(before).ok());
    const BlockMap untouched = map;
    const auto what = static_cast<EventKind>(kind);
    const std::uint32_t value = what == EventKind::Append ? 3 : 0;
    const Result<void> applied = map.apply(make(what, 1, 0, value));
    QCOMPARE(applied.ok(), allowed);
    QCOMPARE(map == untouched, !allowed);
    if (!allowed)
        QCOMPARE(applied.error().code, std::string("events.inconsistent"));
    // What may happen to a block may not happen to it in the name of another group, except that a free one has none.
    BlockMap other = untouched;
    const bool ownGroup = what != EventKind::Hold && what != EventKind::Allocate;
    QCOMPARE(other.apply(make(what, 1, 1, value)).ok(), allowed && !ownGroup);
}

void BlockMapTest::refusesWhatIsNotThere()
{
    BlockMap map(header().layout);
    const BlockMap untouched = map;
    QVERIFY(!map.apply(make(EventKind::Allocate, 4)).ok());
    QVERIFY(!map.apply(make(EventKind::Allocate, 3, 2)).ok()); // the other pool has three
    QVERIFY(!map.apply(make(EventKind::Allocate, 0xffffffff)).ok());
    QVERIFY(!map.apply(make(EventKind::Allocate, 1, 3)).ok());
    QVERIFY(!map.apply(make(static_cast<EventKind>(0))).ok());
    QVERIFY(!map.apply(make(static_cast<EventKind>(17))).ok());
    QVERIFY(map == untouched);
    QVERIFY(map.apply(make(EventKind::Complete, 999, 200)).ok()); // names no block
    Event late = make(EventKind::Step);
    late.step = 3;
    QVERIFY(map.apply(late).ok());
    QVERIFY(!map.apply(make(EventKind::Step)).ok()); // back in time
    QCOMPARE(map.step(), 3U);
    QVERIFY(map.apply([&] {
                   late.kind = EventKind::Allocate;
                   return late;
               }())
                .ok());
    Event append = late;
    append.kind = EventKind::Append;
    append.value = 5;
    QVERIFY(!map.apply(append).ok()); // more than fit
    append.value = 4;
    QVERIFY(map.apply(append).ok());
    append.value = 3;
    QVERIFY(!map.apply(append).ok()); // fewer than before
}

void BlockMapTest::followsABlock()
{
    BlockMap map(header().layout);
    const auto block = [&map] { return map.blocks()[0][1]; };
    QVERIFY(map.apply(make(EventKind::Allocate, 1, 1, 0, 1)).ok());
    QVERIFY(map.apply(make(EventKind::Append, 1, 1, 4)).ok());
    QVERIFY(map.apply(make(EventKind::Index, 1, 1)).ok());
    QVERIFY((block() == BlockSnapshot {BlockState::Active, true, 1, 1, 1, 7, 5, 4}));
    Event hit = make(EventKind::Reference, 1, 1);
    hit.request = 8;
    hit.position = 0;
    QVERIFY(map.apply(hit).ok());
    QVERIFY((block() == BlockSnapshot {BlockState::Active, true, 1, 1, 2, 7, 5, 4})); // it stays whose it was
    QVERIFY(map.apply(make(EventKind::Drop, 1, 1)).ok());
    QVERIFY(map.apply(make(EventKind::Release, 1, 1)).ok());
    QVERIFY((block() == BlockSnapshot {BlockState::Cached, true, 1, 1, 0, 7, 5, 4}));
    QVERIFY(map.apply(make(EventKind::Evict, 1, 1)).ok());
    QVERIFY(block() == BlockSnapshot());
    QVERIFY(map.apply(make(EventKind::Allocate)).ok());
    QVERIFY(map.apply(make(EventKind::Release)).ok());
    QVERIFY(block() == BlockSnapshot()); // without an identity it is free at once
    for (const BlockState state : {BlockState::Free, BlockState::Active, BlockState::Cached, BlockState::Held})
        QVERIFY(*blockStateName(state) != 0);
}

void BlockMapTest::countsByOwner()
{
    BlockMap map(header().layout);
    for (const Event& step : {make(EventKind::Hold, 0), make(EventKind::Allocate, 1), make(EventKind::Append, 1, 0, 3),
             make(EventKind::Allocate, 2, 1, 0, 1), make(EventKind::Allocate, 0, 2, 0, 9),
             make(EventKind::Append, 0, 2, 4), make(EventKind::Index, 0, 2), make(EventKind::Release, 0, 2)})
        QVERIFY(map.apply(step).ok());
    QStringList rows;
    for (const BlockCount& row : countBlocks(header(), map)) {
        rows << QStringLiteral("%1 %2 %3 %4 %5 %6")
                    .arg(row.pool.c_str(), row.state.c_str(), row.tenant.c_str(), row.group.c_str())
                    .arg(row.blocks)
                    .arg(row.tokens);
    }
    const QStringList expected {"0 free   1 0", "0 active red full 1 3", "0 active blue sliding 1 0", "0 held   1 0",
        "1 free   2 0", "1 cached #9 other pool 1 4"};
    QCOMPARE(rows, expected);
}

QTEST_APPLESS_MAIN(BlockMapTest)
#include "tst_block_map.moc"
