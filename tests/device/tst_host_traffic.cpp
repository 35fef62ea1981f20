// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/host_device.h"
#include "device_fixtures.h"
#include "naive_pools.h"

#include <QTest>

#include <algorithm>
#include <cstring>
#include <vector>

using namespace kvw;
using namespace kvw::test;

namespace {

// One after another on the device and on the plain model: what a cache would do with blocks of several requests.
class Traffic
{
public:
    Traffic(const PoolLayout& layout, std::uint64_t seed, int threads)
        : m_layout(layout)
        , m_random(seed)
        , m_device(HostDeviceOptions {.threads = threads})
        , m_model(layout)
    {
        for (std::uint16_t domain = 0; domain < 4; ++domain)
            m_sequences.emplace_back(domain, seed + domain, 200);
    }

    HostDevice& device() { return m_device; }
    NaivePools& model() { return m_model; }

    void append(int spans)
    {
        std::vector<EntrySpan> batch;
        for (int i = 0; i < spans; ++i) {
            batch.push_back(randomSpan());
            m_model.append(batch.back());
        }
        const Result<void> done = m_device.append(batch);
        QVERIFY2(done, done ? "" : done.error().text().c_str());
    }

    void copy()
    {
        const auto pool
            = static_cast<std::uint32_t>(pick(m_random, 0, static_cast<std::int64_t>(m_layout.pools.size()) - 1));
        const std::uint32_t from = randomBlock(pool);
        const std::uint32_t to = randomBlock(pool);
        if (from == to)
            return;
        const std::pair<std::uint32_t, std::uint32_t> pair(from, to);
        QVERIFY(m_device.copyBlocks(pool, {&pair, 1}));
        m_model.copy(pool, from, to);
    }

    // Each stretch of entries in each block: bytes, tags and verify() must agree with the model.
    void compare()
    {
        for (std::uint32_t pool = 0; pool < m_layout.pools.size(); ++pool) {
            const std::span<std::byte> bytes = m_device.poolBytes(pool);
            QCOMPARE(bytes.size(), m_model.bytes(pool).size());
            QVERIFY(std::equal(bytes.begin(), bytes.end(), m_model.bytes(pool).begin()));
        }
        QCOMPARE(m_device.counts().nonPoisonBytes, m_model.counts().nonPoisonBytes);
        QCOMPARE(m_device.counts().fullBlocksOverwritten, m_model.counts().fullBlocksOverwritten);
        for (std::uint32_t group = 0; group < m_layout.groups.size(); ++group) {
            const PoolSpec& pool = m_layout.pools[m_layout.groups[group].pool];
            for (std::int64_t block = 0; block < pool.blocks.value; ++block)
                compareBlock(group, static_cast<std::uint32_t>(block));
        }
    }

private:
    std::uint32_t randomBlock(std::uint32_t pool)
    {
        const PoolSpec& spec = m_layout.pools[pool];
        return static_cast<std::uint32_t>(pick(m_random, spec.held.value, spec.blocks.value - 1));
    }

    // Begins a block anew, or goes on in one that is its group's or empty.
    EntrySpan randomSpan()
    {
        const auto group
            = static_cast<std::uint32_t>(pick(m_random, 0, static_cast<std::int64_t>(m_layout.groups.size()) - 1));
        const GroupLayout& layout = m_layout.groups[group];
        const std::uint32_t block = randomBlock(layout.pool);
        const std::int64_t owner = m_model.block(layout.pool, block).group;
        const bool goOn = (owner < 0 || owner == group) && pick(m_random, 0, 2) != 0;
        const auto slot = static_cast<std::int32_t>(goOn ? pick(m_random, 0, layout.blockTokens - 1) : 0);
        const std::int64_t room = layout.blockTokens - slot;
        const auto count = static_cast<std::int32_t>(pick(m_random, 0, 1) == 0 ? room : pick(m_random, 1, room));
        const Sequence& sequence = m_sequences[static_cast<std::size_t>(pick(m_random, 0, 3))];
        return sequence.span(group, block, slot, pick(m_random, 0, 200 - count), count);
    }

    void compareBlock(std::uint32_t group, std::uint32_t block)
    {
        const NaivePools::Block& expected = m_model.block(m_layout.groups[group].pool, block);
        const Result<std::vector<std::optional<EntryTag>>> tags = m_device.readTags(group, block);
        QVERIFY(tags);
        QCOMPARE(static_cast<std::int64_t>(tags->size()), m_layout.groups[group].blockTokens);
        for (std::size_t slot = 0; slot < tags->size(); ++slot) {
            const std::optional<EntryTag>& tag = (*tags)[slot];
            const bool present = expected.group == group && expected.entries[slot].present;
            QCOMPARE(tag.has_value(), present);
            if (!present)
                continue;
            const NaivePools::Written& written = expected.entries[slot];
            QVERIFY((*tag
                == EntryTag {written.chain, written.domain, static_cast<std::uint8_t>(group),
                    static_cast<std::uint32_t>(written.position)}));
            EntrySpan span {
                group, block, static_cast<std::int32_t>(slot), 1, 0, written.domain, written.position, &written.chain};
            const Result<VerifyCount> found = m_device.verify({&span, 1});
            QVERIFY(found);
            QCOMPARE(found->entries, 1);
            QCOMPARE(found->mismatched, 0);
            QCOMPARE(found->foreign, 0);
            QCOMPARE(found->bytesRead, NaivePools::bytesOfToken(m_layout.groups[group]));
            span.position += 1;
            QCOMPARE(m_device.verify({&span, 1})->mismatched, 1);
        }
    }

    PoolLayout m_layout;
    Random m_random;
    HostDevice m_device;
    NaivePools m_model;
    std::vector<Sequence> m_sequences;
};

} // namespace

class HostTrafficTest : public QObject
{
    Q_OBJECT
private slots:
    void randomTraffic_data();
    void randomTraffic();
    void appendedBytesAreTokensTimesBytes();
    void threadsWriteTheSameBytes();
};

void HostTrafficTest::randomTraffic_data()
{
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < scaled(24); ++seed)
        QTest::addRow("layout %d", seed) << seed;
}

void HostTrafficTest::randomTraffic()
{
    QFETCH(int, seed);
    Random random(static_cast<std::uint64_t>(seed));
    const PoolLayout layout = randomLayout(random);
    Traffic traffic(layout, static_cast<std::uint64_t>(seed) * 1000, seed % 2 + 1);
    const Result<void> reserved = traffic.device().reserve(layout);
    QVERIFY2(reserved, reserved ? "" : reserved.error().text().c_str());
    for (int step = 0; step < 12; ++step) {
        traffic.append(static_cast<int>(pick(random, 0, 12)));
        if (step % 3 == 1)
            traffic.copy();
        if (step % 4 == 3)
            traffic.compare();
    }
    QVERIFY(traffic.device().countAndPoisonAll());
    traffic.model().countAndPoisonAll();
    traffic.compare();
    QCOMPARE(static_cast<std::int64_t>(traffic.device().appendRate().bytes), traffic.model().entryBytes());
}

/// What the poison counts is what the layout's arithmetic says, for every group alone and all together.
void HostTrafficTest::appendedBytesAreTokensTimesBytes()
{
    Random random(77);
    for (int i = 0; i < scaled(20); ++i) {
        const PoolLayout layout = randomLayout(random);
        HostDevice device;
        QVERIFY(device.reserve(layout));
        const Sequence sequence(1, 5, 64);
        std::vector<std::uint32_t> next;
        for (const PoolSpec& pool : layout.pools)
            next.push_back(static_cast<std::uint32_t>(pool.held.value));
        std::int64_t expected = 0;
        for (std::uint32_t group = 0; group < layout.groups.size(); ++group) {
            const GroupLayout& each = layout.groups[group];
            std::uint32_t& block = next[each.pool];
            const auto count = static_cast<std::int32_t>(pick(random, 1, each.blockTokens));
            if (block >= layout.pools[each.pool].blocks.value)
                continue;
            const EntrySpan span = sequence.span(group, block++, 0, 0, count);
            QVERIFY(device.append({&span, 1}));
            expected += count * each.bytesPerToken();
        }
        QCOMPARE(device.counts().nonPoisonBytes, 0);
        QVERIFY(device.countAndPoisonAll());
        QCOMPARE(device.counts().nonPoisonBytes, expected);
        QCOMPARE(device.counts().fullBlocksOverwritten, 0);
        QVERIFY(device.countAndPoisonAll());
        QCOMPARE(device.counts().nonPoisonBytes, expected);
    }
}

void HostTrafficTest::threadsWriteTheSameBytes()
{
    const PoolLayout layout = smallLayout(400); // enough for the threads to be used
    const Sequence one(1, 1, 6400);
    const Sequence two(2, 2, 6400);
    std::vector<EntrySpan> spans;
    for (std::uint32_t block = 0; block < 400; ++block)
        spans.push_back(
            (block % 3 == 0 ? one : two)
                .span(0, block * 7 % 400, 0, std::int64_t {block} * 16, static_cast<std::int32_t>(block % 16 + 1)));
    HostDevice first(HostDeviceOptions {.threads = 1});
    HostDevice second(HostDeviceOptions {.threads = 2});
    for (HostDevice* const device : {&first, &second}) {
        QVERIFY(device->reserve(layout));
        QVERIFY(device->append(spans));
        std::reverse(spans.begin(), spans.end());
        QVERIFY(device->append(spans));
        std::reverse(spans.begin(), spans.end());
        const Result<VerifyCount> found = device->verify(spans);
        QVERIFY(found);
        QCOMPARE(found->mismatched, 0);
        QCOMPARE(found->blocksRead, 400);
    }
    QCOMPARE(first.threads(), 1);
    QCOMPARE(first.poolBytes(0).size(), second.poolBytes(0).size());
    QVERIFY(std::memcmp(first.poolBytes(0).data(), second.poolBytes(0).data(), first.poolBytes(0).size()) == 0);
    QCOMPARE(first.counts().nonPoisonBytes, second.counts().nonPoisonBytes);
    QCOMPARE(first.counts().fullBlocksOverwritten, second.counts().fullBlocksOverwritten);
    QCOMPARE(first.counts().fullBlocksOverwritten, 25);
}

QTEST_GUILESS_MAIN(HostTrafficTest)
#include "tst_host_traffic.moc"
