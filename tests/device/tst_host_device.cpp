// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/host_device.h"
#include "device_fixtures.h"
#include "naive_pools.h"

#include <QTest>

#include <algorithm>
#include <vector>

using namespace kvw;
using namespace kvw::test;

class HostDeviceTest : public QObject
{
    Q_OBJECT
private slots:
    void startsPoisonedAndCountsNothing();
    void spansTakeEffectInOrder();
    void fullBlocks();
    void copies();
    void verifyFindsEveryByte();
    void foreignNeedsAGenuineTag();
    void spansLongerThanAChunk();
    void refusesSpans_data();
    void refusesSpans();
    void refusesCopiesAndReads();
    void groupsWithoutState();
    void reserveAgainAndRelease();
    void rates();
};

void HostDeviceTest::startsPoisonedAndCountsNothing()
{
    HostDevice device;
    QVERIFY(device.holdsBytes());
    QVERIFY(device.reserve(smallLayout(9)));
    QCOMPARE(countNonPoison(device.poolBytes(0)), 0);
    QVERIFY(device.poolBytes(1).empty());
    QCOMPARE(device.counts().nonPoisonBytes, 0);
    const Sequence sequence(1, 1, 16);
    const EntrySpan span = sequence.span(0, 3, 0, 0, 16);
    const Result<VerifyCount> found = device.verify({&span, 1});
    QVERIFY(found);
    QCOMPARE(found->entries, 16);
    QCOMPARE(found->mismatched, 16);
    QCOMPARE(found->foreign, 0);
    QCOMPARE(found->blocksRead, 1);
}

/// One call may begin a block, go on in it and begin it again.
void HostDeviceTest::spansTakeEffectInOrder()
{
    const PoolLayout layout = smallLayout(4);
    const std::int64_t entry = layout.groups[0].bytesPerToken();
    const Sequence one(1, 1, 40);
    const Sequence two(2, 2, 40);
    for (int threads = 1; threads <= 2; ++threads) {
        HostDevice device(HostDeviceOptions {.threads = threads});
        QVERIFY(device.reserve(layout));
        const std::vector<EntrySpan> spans {one.span(0, 1, 0, 0, 10), one.span(0, 2, 0, 10, 16),
            one.span(0, 1, 10, 26, 6), two.span(0, 1, 0, 0, 3), two.span(0, 1, 3, 3, 2), two.span(0, 1, 4, 20, 1)};
        QVERIFY(device.append(spans));
        QCOMPARE(device.counts().nonPoisonBytes, 16 * entry);
        QCOMPARE(device.counts().fullBlocksOverwritten, 1);
        const std::vector<EntrySpan> expected {
            two.span(0, 1, 0, 0, 4), two.span(0, 1, 4, 20, 1), one.span(0, 2, 0, 10, 16)};
        QCOMPARE(device.verify(expected)->mismatched, 0);
        QVERIFY(device.countAndPoisonAll());
        QCOMPARE(device.counts().nonPoisonBytes, (16 + 5 + 16) * entry);
    }
}

/// A block is full by its tags, whichever group of a shared pool it belonged to.
void HostDeviceTest::fullBlocks()
{
    PoolLayout layout = smallLayout(6);
    layout.groups.push_back(group(0, 2, 4, {tensor("latent", ElementType::Bf16, 1, 576)}, 64));
    layout.groups[1].tensors[0].pageOffset = 40; // so that the other group's tags are not where this one's are
    const Sequence sequence(3, 1, 64);
    HostDevice device;
    QVERIFY(device.reserve(layout));
    const auto append = [&](const EntrySpan& span) { QVERIFY(device.append({&span, 1})); };
    append(sequence.span(0, 0, 0, 0, 16));
    append(sequence.span(1, 1, 0, 0, 4));
    append(sequence.span(0, 2, 0, 0, 15));
    append(sequence.span(0, 3, 1, 0, 15)); // the last slot is written, the first is not
    append(sequence.span(1, 4, 0, 0, 3));
    QCOMPARE(device.counts().fullBlocksOverwritten, 0);
    append(sequence.span(1, 0, 0, 0, 1));
    QCOMPARE(device.counts().fullBlocksOverwritten, 1);
    append(sequence.span(0, 1, 0, 0, 1));
    QCOMPARE(device.counts().fullBlocksOverwritten, 2);
    append(sequence.span(0, 2, 0, 0, 1));
    append(sequence.span(1, 3, 0, 0, 1));
    append(sequence.span(0, 4, 0, 0, 1));
    append(sequence.span(0, 5, 0, 0, 1));
    QCOMPARE(device.counts().fullBlocksOverwritten, 2);
}

void HostDeviceTest::copies()
{
    const PoolLayout layout = smallLayout(6);
    const std::int64_t entry = layout.groups[0].bytesPerToken();
    const Sequence one(1, 1, 16);
    const Sequence two(2, 2, 16);
    HostDevice device;
    QVERIFY(device.reserve(layout));
    const std::vector<EntrySpan> spans {one.span(0, 0, 0, 0, 16), two.span(0, 1, 0, 0, 5)};
    QVERIFY(device.append(spans));
    const std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs {
        {1, 2}, {0, 1}, {2, 0}}; // a swap by way of block 2
    QVERIFY(device.copyBlocks(0, pairs));
    QCOMPARE(device.counts().nonPoisonBytes, (5 + 16) * entry);
    QCOMPARE(device.counts().fullBlocksOverwritten, 1);
    const std::vector<EntrySpan> expected {two.span(0, 0, 0, 0, 5), one.span(0, 1, 0, 0, 16), two.span(0, 2, 0, 0, 5)};
    QCOMPARE(device.verify(expected)->mismatched, 0);
    const Result<std::vector<std::optional<EntryTag>>> tags = device.readTags(0, 0);
    QVERIFY(tags);
    QCOMPARE(std::count_if(tags->begin(), tags->end(), [](const auto& tag) { return tag && tag->domain == 2; }), 5);
    QVERIFY(!(*tags)[5]);
}

/// Whichever byte of an entry changes, exactly that entry is found.
void HostDeviceTest::verifyFindsEveryByte()
{
    const PoolLayout layout = smallLayout(2);
    const Sequence sequence(1, 1, 16);
    const EntrySpan span = sequence.span(0, 1, 0, 0, 16);
    HostDevice device;
    QVERIFY(device.reserve(layout));
    QVERIFY(device.append({&span, 1}));
    Random random(3);
    const std::span<std::byte> bytes = device.poolBytes(0);
    for (int i = 0; i < scaled(500); ++i) {
        const auto at = bytes.size() / 2
            + static_cast<std::size_t>(pick(random, 0, static_cast<std::int64_t>(bytes.size() / 2) - 1));
        const std::byte kept = bytes[at];
        bytes[at] ^= static_cast<std::byte>(pick(random, 1, 255));
        const Result<VerifyCount> found = device.verify({&span, 1});
        QCOMPARE(found->mismatched, 1);
        QCOMPARE(found->foreign, 0); // damage is not another tenant's state
        bytes[at] = kept;
    }
    QCOMPARE(device.verify({&span, 1})->mismatched, 0);
}

void HostDeviceTest::foreignNeedsAGenuineTag()
{
    const PoolLayout layout = smallLayout(4);
    const Sequence mine(1, 1, 16);
    const Sequence shared(0, 2, 16);
    const Sequence theirs(2, 3, 16);
    HostDevice device;
    QVERIFY(device.reserve(layout));
    const std::vector<EntrySpan> spans {
        mine.span(0, 0, 0, 0, 16), shared.span(0, 1, 0, 0, 16), theirs.span(0, 2, 0, 0, 7)};
    QVERIFY(device.append(spans));
    const auto verified = [&](const EntrySpan& span) { return *device.verify({&span, 1}); };
    QCOMPARE(verified(mine.span(0, 2, 0, 0, 16)).mismatched, 16);
    QCOMPARE(verified(mine.span(0, 2, 0, 0, 16)).foreign, 7);
    QCOMPARE(verified(mine.span(0, 1, 0, 0, 16)).mismatched, 16); // public, but not what was asked for
    QCOMPARE(verified(mine.span(0, 1, 0, 0, 16)).foreign, 0);
    QCOMPARE(verified(shared.span(0, 0, 0, 0, 16)).foreign, 16); // a tenant's state where public state should be
    QCOMPARE(verified(mine.span(0, 0, 0, 0, 15)).mismatched, 0);
    QCOMPARE(verified(mine.span(0, 0, 0, 1, 15)).foreign, 0); // its own, at the wrong place
    // A tag that was damaged into another domain's is damage.
    EntryTag tag = *(*device.readTags(0, 0))[4];
    tag.domain = 9;
    const std::int64_t offset = 4 * layout.groups[0].tensors[0].entryBytes;
    writeTag(tag, device.poolBytes(0).subspan(static_cast<std::size_t>(offset)).first<tagBytes>());
    QCOMPARE(verified(mine.span(0, 0, 0, 0, 16)).mismatched, 1);
    QCOMPARE(verified(mine.span(0, 0, 0, 0, 16)).foreign, 0);
}

void HostDeviceTest::spansLongerThanAChunk()
{
    PoolLayout layout;
    layout.groups.push_back(group(0, 2, 1000, {tensor("latent", ElementType::Fp8E4M3, 1, 40)}));
    layout.pools.push_back(PoolSpec {Bytes(2 * layout.groups[0].pageBytes), Blocks(2), Blocks(0)});
    const Sequence sequence(1, 1, 1000);
    const EntrySpan span = sequence.span(0, 1, 0, 0, 1000);
    HostDevice device;
    NaivePools model(layout);
    QVERIFY(device.reserve(layout));
    QVERIFY(device.append({&span, 1}));
    model.append(span);
    QVERIFY(std::equal(model.bytes(0).begin(), model.bytes(0).end(), device.poolBytes(0).begin()));
    device.poolBytes(0)[80000 + 700 * 40 + 30] = std::byte {1};
    device.poolBytes(0)[80000 + 200 * 40 + 39] = std::byte {1};
    const Result<VerifyCount> found = device.verify({&span, 1});
    QCOMPARE(found->entries, 1000);
    QCOMPARE(found->mismatched, 2);
    QCOMPARE(found->bytesRead, 80000);
    QCOMPARE(found->blocksRead, 1);
}

void HostDeviceTest::refusesSpans_data()
{
    QTest::addColumn<int>("group");
    QTest::addColumn<qint64>("block");
    QTest::addColumn<int>("slot");
    QTest::addColumn<int>("count");
    QTest::addColumn<qint64>("position");
    QTest::newRow("group") << 1 << qint64 {3} << 0 << 1 << qint64 {0};
    QTest::newRow("block behind the last") << 0 << qint64 {8} << 0 << 1 << qint64 {0};
    QTest::newRow("block far away") << 0 << qint64 {0xffffffff} << 0 << 1 << qint64 {0};
    QTest::newRow("held block") << 0 << qint64 {1} << 0 << 1 << qint64 {0};
    QTest::newRow("negative slot") << 0 << qint64 {3} << -1 << 1 << qint64 {0};
    QTest::newRow("slot behind the last") << 0 << qint64 {3} << 16 << 1 << qint64 {0};
    QTest::newRow("no entry") << 0 << qint64 {3} << 0 << 0 << qint64 {0};
    QTest::newRow("negative count") << 0 << qint64 {3} << 4 << -3 << qint64 {0};
    QTest::newRow("one entry too many") << 0 << qint64 {3} << 4 << 13 << qint64 {0};
    QTest::newRow("sum beyond 31 bits") << 0 << qint64 {3} << 15 << 2147483647 << qint64 {0};
    QTest::newRow("negative position") << 0 << qint64 {3} << 0 << 1 << qint64 {-1};
    QTest::newRow("position beyond 63 bits") << 0 << qint64 {3} << 0 << 2 << qint64 {9223372036854775807};
}

void HostDeviceTest::refusesSpans()
{
    QFETCH(int, group);
    QFETCH(qint64, block);
    QFETCH(int, slot);
    QFETCH(int, count);
    QFETCH(qint64, position);
    HostDevice device;
    QVERIFY(device.reserve(smallLayout(8, 2)));
    const Sequence sequence(1, 1, 16);
    EntrySpan bad = sequence.span(static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(block), slot, 0, count);
    bad.position = position;
    const std::vector<EntrySpan> spans {sequence.span(0, 4, 0, 0, 16), bad};
    const Result<void> appended = device.append(spans);
    QVERIFY(!appended);
    QCOMPARE(appended.error().code, std::string("device.range"));
    QCOMPARE(countNonPoison(device.poolBytes(0)), 0); // not even the good one
    const Result<VerifyCount> verified = device.verify(spans);
    QVERIFY(!verified);
    QCOMPARE(verified.error().code, std::string("device.range"));
    QCOMPARE(device.verifyRate().bytes, 0.0);
}

void HostDeviceTest::refusesCopiesAndReads()
{
    HostDevice device;
    EntrySpan span;
    QCOMPARE(device.append({&span, 1}).error().code, std::string("device.range")); // nothing is reserved
    QCOMPARE(device.readTags(0, 0).error().code, std::string("device.range"));
    QVERIFY(device.reserve(smallLayout(8, 2)));
    span.block = 3;
    span.count = 1;
    QCOMPARE(device.append({&span, 1}).error().code, std::string("device.range")); // no chains
    using Pair = std::pair<std::uint32_t, std::uint32_t>;
    for (const Pair& pair : {Pair {2, 8}, Pair {8, 2}, Pair {2, 1}, Pair {1, 2}, Pair {3, 3}}) {
        const std::vector<Pair> pairs {{5, 6}, pair};
        QCOMPARE(device.copyBlocks(0, pairs).error().code, std::string("device.range"));
    }
    const Pair good {2, 3};
    QCOMPARE(device.copyBlocks(1, {&good, 1}).error().code, std::string("device.range"));
    QVERIFY(device.copyBlocks(0, {&good, 1}));
    QVERIFY(device.readTags(0, 1)); // held blocks may be looked at
    QCOMPARE(device.readTags(0, 8).error().code, std::string("device.range"));
    QCOMPARE(device.readTags(1, 3).error().code, std::string("device.range"));
}

/// A group that keeps nothing on this rank does not disturb the blocks of its pool's other groups.
void HostDeviceTest::groupsWithoutState()
{
    PoolLayout layout = smallLayout(4);
    layout.groups.push_back(
        group(0, 0, 16, {tensor("k", ElementType::Bf16, 1, 4)})); // too small for a tag, but never written
    const Sequence sequence(1, 1, 16);
    HostDevice device;
    QVERIFY(device.reserve(layout));
    const std::vector<EntrySpan> spans {sequence.span(0, 1, 0, 0, 16), sequence.span(1, 1, 0, 0, 16)};
    QVERIFY(device.append(spans));
    const Result<VerifyCount> found = device.verify(spans);
    QCOMPARE(found->entries, 32);
    QCOMPARE(found->mismatched, 0);
    QCOMPARE(found->bytesRead, 16 * layout.groups[0].bytesPerToken());
    const Result<std::vector<std::optional<EntryTag>>> tags = device.readTags(1, 1);
    QCOMPARE(tags->size(), std::size_t {16});
    QVERIFY(!(*tags)[0]);
}

void HostDeviceTest::reserveAgainAndRelease()
{
    const Sequence sequence(1, 1, 16);
    const EntrySpan span = sequence.span(0, 1, 0, 0, 16);
    HostDevice device;
    QVERIFY(device.reserve(smallLayout(4)));
    QVERIFY(device.append({&span, 1}));
    QVERIFY(device.countAndPoisonAll());
    QVERIFY(device.reserve(smallLayout(2)));
    QCOMPARE(device.counts().nonPoisonBytes, 0);
    QCOMPARE(device.appendRate().bytes, 0.0);
    QVERIFY(device.append({&span, 1}));
    QVERIFY(device.countAndPoisonAll());
    device.release();
    QCOMPARE(device.counts().nonPoisonBytes, 16 * smallLayout(1).groups[0].bytesPerToken());
    QVERIFY(device.poolBytes(0).empty());
    QVERIFY(!device.append({&span, 1}));
    QVERIFY(device.countAndPoisonAll());
    device.release();
    const Result<MemoryReading> memory = device.memory();
    QVERIFY(memory);
    QCOMPARE(memory->poolBytes, 0);
}

void HostDeviceTest::rates()
{
    QCOMPARE(Rate {}.perSecond(), 0.0);
    QCOMPARE((Rate {6, 2}.perSecond()), 3.0);
    const PoolLayout layout = smallLayout(64);
    const Sequence sequence(1, 1, 1024);
    HostDevice device;
    QVERIFY(device.reserve(layout));
    QCOMPARE(device.appendRate().seconds, 0.0);
    std::vector<EntrySpan> spans;
    for (std::uint32_t block = 0; block < 64; ++block)
        spans.push_back(sequence.span(0, block, 0, std::int64_t {block} * 16, 16));
    QVERIFY(device.append(spans));
    QVERIFY(device.verify(spans));
    const double bytes = 64.0 * 16 * static_cast<double>(layout.groups[0].bytesPerToken());
    QCOMPARE(device.appendRate().bytes, bytes);
    QCOMPARE(device.verifyRate().bytes, bytes);
    QVERIFY(device.appendRate().seconds > 0);
    QVERIFY(device.verifyRate().seconds > 0);
    QCOMPARE(device.instrumentRate().bytes, static_cast<double>(device.poolBytes(0).size()));
    QVERIFY(device.instrumentRate().seconds > 0);
}

QTEST_GUILESS_MAIN(HostDeviceTest)
#include "tst_host_device.moc"
