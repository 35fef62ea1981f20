// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/prefix_index.h"
#include "cache/seen_identities.h"

#include <QTest>

#include <map>
#include <random>

using namespace kvw;

class PrefixIndexTest : public QObject
{
    Q_OBJECT
private slots:
    void equalsAMap_data();
    void equalsAMap();
    void manyDuplicatesStayCheap();
    void seenIdentitiesAreBounded();
};

/// Keys whose low halves are drawn from few values crowd into few runs of slots, across the table's end too.
void PrefixIndexTest::equalsAMap_data()
{
    QTest::addColumn<int>("capacity");
    QTest::addColumn<int>("homes");
    QTest::addColumn<int>("keys");
    QTest::newRow("one block") << 1 << 1 << 3;
    QTest::newRow("one run") << 24 << 1 << 40;
    QTest::newRow("across the end") << 24 << 3 << 40;
    QTest::newRow("few keys, many duplicates") << 60 << 4 << 6;
    QTest::newRow("spread") << 200 << 1000 << 1000;
}

void PrefixIndexTest::equalsAMap()
{
    QFETCH(int, capacity);
    QFETCH(int, homes);
    QFETCH(int, keys);
    PrefixIndex index(capacity);
    std::map<std::pair<BlockKey, int>, std::vector<BlockId>> expected;
    std::map<BlockId, std::pair<BlockKey, int>> indexed;
    std::mt19937_64 random(static_cast<std::uint64_t>(capacity + keys));
    for (int i = 0; i < 40'000; ++i) {
        const auto block = static_cast<BlockId>(random() % static_cast<std::uint64_t>(capacity));
        if (const auto found = indexed.find(block); found != indexed.end()) {
            std::vector<BlockId>& same = expected[found->second];
            same.erase(std::find(same.begin(), same.end(), block));
            if (same.empty())
                expected.erase(found->second);
            indexed.erase(found);
            index.remove(block);
        } else {
            const std::uint64_t number = random() % static_cast<std::uint64_t>(keys);
            const BlockKey key {number, ~std::uint64_t {0} - number % static_cast<std::uint64_t>(homes)};
            const int group = static_cast<int>(random() % 3);
            index.insert(key, static_cast<std::uint8_t>(group), block);
            expected[{key, group}].push_back(block);
            indexed[block] = {key, group};
        }
        QCOMPARE(index.size(), static_cast<std::int64_t>(indexed.size()));
        QCOMPARE(index.identities(), static_cast<std::int64_t>(expected.size()));
        if (i % 16 != 0)
            continue;
        for (int number = 0; number < keys; ++number) {
            const auto n = static_cast<std::uint64_t>(number);
            const BlockKey key {n, ~std::uint64_t {0} - n % static_cast<std::uint64_t>(homes)};
            const auto found = expected.find({key, i % 3});
            QCOMPARE(index.find(key, static_cast<std::uint8_t>(i % 3)),
                found == expected.end() ? noBlock : found->second.front());
        }
        for (BlockId b = 0; b < static_cast<BlockId>(capacity); ++b)
            QCOMPARE(index.contains(b), indexed.count(b) > 0);
    }
}

/// A prompt of whole blocks that many requests repeat leaves a duplicate of its last block for each: the list of one
/// key.
void PrefixIndexTest::manyDuplicatesStayCheap()
{
    const BlockId count = 200'000;
    PrefixIndex index(count);
    const BlockKey key {1, 2};
    for (BlockId block = 0; block < count; ++block)
        index.insert(key, 0, block);
    QCOMPARE(index.identities(), 1);
    for (BlockId block = 0; block < count; ++block) {
        QCOMPARE(index.find(key, 0), block);
        index.remove(block);
    }
    QCOMPARE(index.find(key, 0), noBlock);
    QCOMPARE(index.size(), 0);
}

void PrefixIndexTest::seenIdentitiesAreBounded()
{
    SeenIdentities seen(100);
    std::mt19937_64 random(1);
    std::vector<BlockKey> keys;
    for (int i = 0; i < 1'000'000; ++i) {
        keys.push_back({random(), random()});
        seen.add(keys.back(), 1);
        QVERIFY(seen.contains(keys.back(), 1));
    }
    // The table holds 65,536: of the last 30,000 nearly all are remembered, of the first 30,000 nearly none.
    const auto remembered = [&](std::size_t first) {
        return std::count_if(keys.begin() + static_cast<std::ptrdiff_t>(first),
            keys.begin() + static_cast<std::ptrdiff_t>(first) + 30'000,
            [&](const BlockKey& key) { return seen.contains(key, 1); });
    };
    QVERIFY(remembered(970'000) > 20'000);
    QVERIFY(remembered(0) < 100);
    QVERIFY(!seen.contains(keys.back(), 0));
    SeenIdentities none(0);
    none.add({1, 1}, 0);
    QVERIFY(!none.contains({1, 1}, 0));
}

QTEST_APPLESS_MAIN(PrefixIndexTest)
#include "tst_prefix_index.moc"
