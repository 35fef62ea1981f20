// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/host_device.h"
#include "device_fixtures.h"
#include "support/sabotage_device.h"

#include <QTest>

#include <vector>

using namespace kvw;
using namespace kvw::test;

using Kind = Sabotage::Kind;
Q_DECLARE_METATYPE(kvw::test::Sabotage::Kind)

/// Each fault is found with the exact count, by the bytes alone. Two requests of two domains write 40 tokens each:
/// blocks 1-3 and 4-6, 16 + 16 + 8 entries, as spans 0-2 and 3-5; then each one token more (spans 6 and 7, slot 8 of
/// blocks 3 and 6).
class SabotageTest : public QObject
{
    Q_OBJECT
private slots:
    void found_data();
    void found();
    void wrongSlotAtTheEndWraps();
    void passesThrough();
};

namespace {

constexpr std::int64_t spansOfOne = 3;

std::vector<EntrySpan> prefill(const Sequence& sequence, std::uint32_t firstBlock)
{
    return {sequence.span(0, firstBlock, 0, 0, 16), sequence.span(0, firstBlock + 1, 0, 16, 16),
        sequence.span(0, firstBlock + 2, 0, 32, 8)};
}

} // namespace

void SabotageTest::found_data()
{
    QTest::addColumn<Kind>("kind");
    QTest::addColumn<int>("after"); // the span that is hit
    QTest::addColumn<int>("block");
    QTest::addColumn<int>("domain");
    QTest::addColumn<int>("mismatched");
    QTest::addColumn<int>("foreign");
    QTest::addColumn<int>("entries"); // that the poison counts; 82 are right
    QTest::addColumn<int>("fullOverwritten");
    QTest::newRow("none") << Kind::None << 0 << 0 << 0 << 0 << 0 << 82 << 0;
    QTest::newRow("never reached") << Kind::SkippedAppend << 8 << 0 << 0 << 0 << 0 << 82 << 0;
    QTest::newRow("wrong slot, full block") << Kind::WrongSlot << 1 << 0 << 0 << 16 << 0 << 82 << 0;
    // Lands in slots 1-8; the next token then writes over slot 8.
    QTest::newRow("wrong slot, part of a block") << Kind::WrongSlot << 2 << 0 << 0 << 8 << 0 << 81 << 0;
    QTest::newRow("wrong slot, one token") << Kind::WrongSlot << 7 << 0 << 0 << 1 << 0 << 82 << 0;
    // Block 1 is begun anew by the other's 8 entries: 16 gone, 8 of the other domain there.
    QTest::newRow("written twice, into a tenant's block") << Kind::AppendTwice << 5 << 1 << 0 << 16 << 8 << 90 << 1;
    QTest::newRow("written twice, token into a tenant's block")
        << Kind::AppendTwice << 7 << 1 << 0 << 1 << 1 << 82 << 0;
    QTest::newRow("written twice, into a free block") << Kind::AppendTwice << 3 << 7 << 0 << 0 << 0 << 98 << 0;
    QTest::newRow("written twice, before its owner writes") << Kind::AppendTwice << 0 << 5 << 0 << 0 << 0 << 98 << 1;
    QTest::newRow("repeated") << Kind::RepeatedAppend << 5 << 0 << 0 << 0 << 0 << 90 << 0;
    QTest::newRow("repeated, full block") << Kind::RepeatedAppend << 4 << 0 << 0 << 0 << 0 << 98 << 1;
    QTest::newRow("repeated, one token") << Kind::RepeatedAppend << 6 << 0 << 0 << 0 << 0 << 82 << 0;
    QTest::newRow("another tenant's content") << Kind::ForeignDomain << 0 << 0 << 2 << 16 << 16 << 82 << 0;
    QTest::newRow("another tenant's token") << Kind::ForeignDomain << 6 << 0 << 9 << 1 << 1 << 82 << 0;
    QTest::newRow("public content") << Kind::ForeignDomain << 4 << 0 << 0 << 16 << 0 << 82 << 0;
    QTest::newRow("skipped, full block") << Kind::SkippedAppend << 1 << 0 << 0 << 16 << 0 << 66 << 0;
    QTest::newRow("skipped, part of a block") << Kind::SkippedAppend << 5 << 0 << 0 << 8 << 0 << 74 << 0;
    QTest::newRow("skipped, one token") << Kind::SkippedAppend << 6 << 0 << 0 << 1 << 0 << 81 << 0;
}

void SabotageTest::found()
{
    QFETCH(Kind, kind);
    QFETCH(int, after);
    QFETCH(int, block);
    QFETCH(int, domain);
    const PoolLayout layout = smallLayout(8, 1);
    const Sequence one(1, 10, 41);
    const Sequence two(2, 20, 41);
    HostDevice host;
    SabotageDevice device(host, {kind, after, static_cast<std::uint32_t>(block), static_cast<std::uint16_t>(domain)});
    QVERIFY(device.reserve(layout));
    std::vector<EntrySpan> all = prefill(one, 1);
    QVERIFY(device.append(all));
    const std::vector<EntrySpan> second = prefill(two, 4);
    QVERIFY(device.append(second));
    const std::vector<EntrySpan> step {one.span(0, 3, 8, 40, 1), two.span(0, 6, 8, 40, 1)};
    QVERIFY(device.append(step));
    all.insert(all.end(), second.begin(), second.end());
    all.insert(all.end(), step.begin(), step.end());
    QCOMPARE(device.hit().has_value(), kind != Kind::None && after < 8);
    if (device.hit()) {
        QCOMPARE(device.hit()->block, all[static_cast<std::size_t>(after)].block);
        QCOMPARE(device.hit()->domain, after / spansOfOne % 2 == 1 || after == 7 ? 2 : 1);
    }

    const Result<VerifyCount> verified = device.verify(all);
    QVERIFY(verified);
    QCOMPARE(verified->entries, 82);
    QTEST(static_cast<int>(verified->mismatched), "mismatched");
    QTEST(static_cast<int>(verified->foreign), "foreign");
    QVERIFY(device.countAndPoisonAll());
    QFETCH(int, entries);
    QCOMPARE(device.counts().nonPoisonBytes, entries * layout.groups[0].bytesPerToken());
    QTEST(static_cast<int>(device.counts().fullBlocksOverwritten), "fullOverwritten");
}

/// The last slot's entry lands in slot 0, where the block begins anew: all of it is lost, and the count shows what was
/// there.
void SabotageTest::wrongSlotAtTheEndWraps()
{
    const PoolLayout layout = smallLayout(4);
    const Sequence sequence(1, 1, 16);
    HostDevice host;
    SabotageDevice device(host, {Kind::WrongSlot, 1});
    QVERIFY(device.reserve(layout));
    const std::vector<EntrySpan> spans {sequence.span(0, 2, 0, 0, 15), sequence.span(0, 2, 15, 15, 1)};
    QVERIFY(device.append(spans));
    QCOMPARE(device.verify(spans)->mismatched, 16);
    QCOMPARE(device.counts().nonPoisonBytes, 15 * layout.groups[0].bytesPerToken());
    const EntrySpan whereItIs = sequence.span(0, 2, 0, 15, 1);
    QCOMPARE(device.verify({&whereItIs, 1})->mismatched, 0);
}

void SabotageTest::passesThrough()
{
    HostDevice host;
    SabotageDevice device(host, {Kind::WrongSlot, 0});
    QCOMPARE(device.info().id, std::string("host"));
    QVERIFY(device.holdsBytes());
    QVERIFY(device.reserve(smallLayout(4)));
    QCOMPARE(device.memory()->poolBytes, host.memory()->poolBytes);
    EntrySpan bad;
    bad.group = 3;
    QCOMPARE(device.append({&bad, 1}).error().code, std::string("device.range"));
    const std::pair<std::uint32_t, std::uint32_t> pair(0, 1);
    QVERIFY(device.copyBlocks(0, {&pair, 1}));
    QCOMPARE(device.readTags(0, 1)->size(), std::size_t {16});
    QCOMPARE(device.appendRate().bytes, 0.0);
    QCOMPARE(device.verifyRate().bytes, 0.0);
    device.release();
    QVERIFY(host.poolBytes(0).empty());
}

QTEST_GUILESS_MAIN(SabotageTest)
#include "tst_sabotage.moc"
