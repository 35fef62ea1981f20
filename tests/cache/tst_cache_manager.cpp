// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/cache_manager.h"

#include <QTest>

using namespace kvw;

namespace {

GroupLayout group(
    const char* id, std::int64_t blockTokens, std::optional<std::int64_t> window = {}, std::uint32_t pool = 0)
{
    GroupLayout out;
    out.id = id;
    out.blockTokens = blockTokens;
    out.window = window;
    out.pool = pool;
    return out;
}

PoolLayout layout(std::vector<std::int64_t> blocks, std::vector<GroupLayout> groups)
{
    PoolLayout out;
    for (const std::int64_t count : blocks)
        out.pools.push_back({Bytes(1), Blocks(count), Blocks(1)});
    out.groups = std::move(groups);
    return out;
}

/// A request of `tokens` tokens: the first `shared` of a common text, the others its own.
Request request(std::uint32_t id, std::uint64_t tokens, std::uint64_t shared = 0)
{
    Request out;
    out.id = id;
    out.tenant = static_cast<std::uint16_t>(id);
    out.prompt = {{1, 0, shared}, {100 + id, 0, tokens - shared}};
    return out;
}

bool run(CacheManager& cache, const Request& request, const SharingDomain& domain = {})
{
    const Sequence sequence {&request, domain};
    const Hit hit = cache.lookup(sequence, request.promptTokens());
    return cache.allocate(sequence, &hit, hit.tokens, request.promptTokens() - hit.tokens);
}

MissCause causeOf(CacheManager& cache, const Request& request, const SharingDomain& domain = {})
{
    return cache.lookup({&request, domain}, request.promptTokens()).cause;
}

Event made(EventKind kind, std::uint32_t block, std::uint32_t request, std::uint32_t position, std::uint32_t value = 0)
{
    Event event;
    event.kind = kind;
    event.tenant = static_cast<std::uint16_t>(request);
    event.block = block;
    event.request = request;
    event.position = position;
    event.step = request;
    event.value = value;
    return event;
}

} // namespace

class CacheManagerTest : public QObject
{
    Q_OBJECT
private slots:
    void missCauses();
    void causeLooksAtTheGroupThatCannotServe();
    void noCachingNoIndex();
    void keepsTheWatermark();
    void capsWindowedGroups();
    void refusalChangesNothing();
    void refusalMayDropWhatLeftTheWindow();
    void staleHitIsRefused();
    void identityIsOfContentNotOfNumbers();
    void writesEveryChange();
    void hitNeedsEveryGroup();
    void oversizedUnitNeverHits();
};

void CacheManagerTest::missCauses()
{
    CacheManager cache(layout({9}, {group("full", 4)}), {}, nullptr);
    const SharingDomain other {1, "other"};
    const Request first = request(0, 13, 12);
    QCOMPARE(causeOf(cache, request(1, 4)), MissCause::BelowUnit); // its only block is recomputed
    QCOMPARE(causeOf(cache, first), MissCause::NeverSeen);
    QVERIFY(run(cache, first));
    QCOMPARE(causeOf(cache, request(2, 13, 12)), MissCause::None);
    QCOMPARE(causeOf(cache, request(2, 13, 8)), MissCause::NeverSeen);
    QCOMPARE(causeOf(cache, first, other), MissCause::IdentityDiffers);
    Request adapted = first;
    adapted.id = 3;
    adapted.adapter = "adapter";
    QCOMPARE(causeOf(cache, adapted), MissCause::IdentityDiffers);
    Request pictured = first;
    pictured.id = 4;
    pictured.multimodal = {{"image", 0, 4}};
    QCOMPARE(causeOf(cache, pictured), MissCause::NeverSeen); // an image is content, not eligibility
    cache.release(0);
    QVERIFY(run(cache, request(5, 29))); // needs all eight blocks
    QCOMPARE(cache.evictions(), 3);
    QCOMPARE(causeOf(cache, request(2, 13, 12)), MissCause::Evicted);
    QCOMPARE(causeOf(cache, first, other), MissCause::NeverSeen); // sharing would not have helped: it is gone
    for (const auto& [cause, name] : {std::pair {MissCause::None, "none"},
             std::pair {MissCause::NeverSeen, "never seen"}, std::pair {MissCause::Evicted, "evicted"},
             std::pair {MissCause::IdentityDiffers, "not eligible"}, std::pair {MissCause::BelowUnit, "below unit"}})
        QCOMPARE(missCauseName(cause), name);
}

void CacheManagerTest::causeLooksAtTheGroupThatCannotServe()
{
    // Pool 0 keeps everything; pool 1 is so small that the sliding group loses its blocks.
    CacheManager cache(layout({40, 7}, {group("full", 4), group("sliding", 4, 5, 1)}), {}, nullptr);
    const Request first = request(0, 17, 17);
    QVERIFY(run(cache, first));
    cache.release(0);
    QCOMPARE(cache.lookup({&first, {}}, 17).tokens, 16);
    const Request second = request(1, 21);
    QVERIFY(run(cache, second));
    const Hit hit = cache.lookup({&first, {}}, 17);
    QCOMPARE(hit.tokens, 0);
    QCOMPARE(hit.cause, MissCause::Evicted);
    QVERIFY(cache.checkInvariants().ok());
}

void CacheManagerTest::noCachingNoIndex()
{
    CacheBehaviour behaviour;
    behaviour.prefixCaching = false;
    CacheManager cache(layout({9}, {group("full", 4)}), behaviour, nullptr);
    const Request first = request(0, 12, 12);
    QVERIFY(run(cache, first));
    const Request second = request(1, 12, 12);
    const Hit hit = cache.lookup({&second, {}}, 12);
    QCOMPARE(hit.tokens, 0);
    QCOMPARE(hit.cause, MissCause::None);
    cache.release(0);
    QCOMPARE(cache.pool(0).cached(), 0);
    QCOMPARE(cache.pool(0).queue(), (std::vector<BlockId> {3, 2, 1, 4, 5, 6, 7, 8}));
    QVERIFY(cache.checkInvariants().ok());
}

void CacheManagerTest::keepsTheWatermark()
{
    CacheManager cache(layout({9}, {group("full", 4)}), {}, nullptr);
    const Request first = request(0, 20);
    QVERIFY(!cache.allocate({&first, {}}, nullptr, 0, 20, 4)); // 5 of 8, and 4 to spare
    QVERIFY(cache.allocate({&first, {}}, nullptr, 0, 20, 3));
    QCOMPARE(cache.pool(0).available(), 3);
    QVERIFY(cache.allocate({&first, {}}, nullptr, 20, 0, 3));
    QVERIFY(!cache.allocate({&first, {}}, nullptr, 20, 1, 3));
    QVERIFY(cache.allocate({&first, {}}, nullptr, 20, 12));
    QCOMPARE(cache.pool(0).available(), 0);
    QVERIFY(!cache.allocate({&first, {}}, nullptr, 32, 1));
}

void CacheManagerTest::capsWindowedGroups()
{
    using Counts = std::vector<std::int64_t>;
    CacheManager cache(layout({40, 40}, {group("full", 4), group("sliding", 4, 6, 1)}), {}, nullptr);
    const Request first = request(0, 64);
    const Sequence sequence {&first, {}};
    QCOMPARE(cache.blocksNeeded(sequence, {}, 60), (Counts {15, 15}));
    QCOMPARE(cache.blocksNeeded(sequence, {}, 60, 8), (Counts {15, 5})); // ⌈(6 − 1 + 8) ÷ 4⌉ + 1
    QCOMPARE(cache.blocksNeeded(sequence, {}, 9, 8), (Counts {3, 3}));
    QVERIFY(cache.allocate(sequence, nullptr, 0, 17));
    QCOMPARE(cache.blocksNeeded(sequence, {}, 20), (Counts {0, 0}));
    QCOMPARE(cache.blocksNeeded(sequence, {}, 21), (Counts {1, 1}));
    cache.release(0);
    // Hit blocks that nobody holds leave the queue, so they count.
    const Request second = request(0, 20);
    const Hit hit = cache.lookup({&second, {}}, 17);
    QCOMPARE(hit.tokens, 16);
    QCOMPARE(cache.blocksNeeded(sequence, hit, 17), (Counts {5, 3}));
}

void CacheManagerTest::refusalChangesNothing()
{
    EventLog log {EventLogHeader {}};
    CacheManager cache(layout({9}, {group("full", 4)}), {}, &log);
    const Request first = request(0, 12, 8);
    QVERIFY(run(cache, first));
    cache.release(0);
    const std::vector<BlockId> queue = cache.pool(0).queue();
    const std::size_t events = log.events().size();
    const Request second = request(1, 40, 8);
    const Hit hit = cache.lookup({&second, {}}, 40);
    QCOMPARE(hit.tokens, 8);
    QVERIFY(!cache.allocate({&second, {}}, &hit, 8, 32));
    QVERIFY(cache.tables(1) == nullptr);
    QCOMPARE(cache.pool(0).queue(), queue);
    QCOMPARE(log.events().size(), events);
    cache.release(1); // holds nothing
    cache.release(77);
    QCOMPARE(log.events().size(), events);
}

void CacheManagerTest::refusalMayDropWhatLeftTheWindow()
{
    CacheManager cache(layout({8}, {group("sliding", 4, 4)}), {}, nullptr);
    const Request first = request(0, 60);
    QVERIFY(cache.allocate({&first, {}}, nullptr, 0, 16));
    QVERIFY(!cache.allocate({&first, {}}, nullptr, 16, 40));
    QCOMPARE(cache.tables(0)->groups[0], (std::vector<BlockId> {noBlock, noBlock, noBlock, 4}));
    QCOMPARE(cache.pool(0).available(), 6);
    QVERIFY(cache.allocate({&first, {}}, nullptr, 16, 24));
    QVERIFY(cache.checkInvariants().ok());
}

void CacheManagerTest::staleHitIsRefused()
{
    CacheManager cache(layout({9}, {group("full", 4)}), {}, nullptr);
    QVERIFY(run(cache, request(0, 12, 12)));
    cache.release(0);
    const Request late = request(1, 13, 12);
    const Hit hit = cache.lookup({&late, {}}, 13);
    QCOMPARE(hit.tokens, 12);
    QVERIFY(run(cache, request(2, 32)));
    cache.release(2);
    QVERIFY(!cache.allocate({&late, {}}, &hit, 12, 1));
    QVERIFY(cache.tables(1) == nullptr);
    // The blocks are indexed again, under other identities: still not the hit's.
    QVERIFY(run(cache, request(3, 32)));
    QVERIFY(!cache.allocate({&late, {}}, &hit, 12, 1));
    QVERIFY(cache.checkInvariants().ok());
}

/// Identities are remembered between calls; a number that comes again with another text must not find them.
void CacheManagerTest::identityIsOfContentNotOfNumbers()
{
    CacheManager cache(layout({20}, {group("full", 4)}), {}, nullptr);
    QVERIFY(run(cache, request(0, 13, 13)));
    Request probe = request(1, 13, 13);
    QCOMPARE(cache.lookup({&probe, {}}, 13).tokens, 12);
    probe.prompt[0].stream = 2;
    QCOMPARE(cache.lookup({&probe, {}}, 13).tokens, 0);
    probe.prompt[0].stream = 1;
    QCOMPARE(cache.lookup({&probe, {}}, 13).tokens, 12);
    QCOMPARE(cache.lookup({&probe, {5, "domain"}}, 13).tokens, 0);
}

void CacheManagerTest::writesEveryChange()
{
    EventLog log {EventLogHeader {}};
    CacheManager cache(layout({5}, {group("full", 4)}), {}, &log);
    cache.setStep(1);
    const Request first = request(1, 6, 4);
    QVERIFY(run(cache, first));
    cache.release(1);
    cache.setStep(2);
    const Request second = request(2, 5, 4);
    QVERIFY(run(cache, second));
    cache.release(2);
    cache.setStep(3);
    const Request third = request(3, 15);
    QVERIFY(run(cache, third));
    const auto of = [](EventKind kind, std::uint32_t block) {
        Event event = made(kind, block, 0, 0);
        return event;
    };
    const std::vector<Event> expected {
        of(EventKind::Hold, 0),
        made(EventKind::Allocate, 1, 1, 0),
        made(EventKind::Allocate, 2, 1, 1),
        made(EventKind::Append, 1, 1, 0, 4),
        made(EventKind::Append, 2, 1, 1, 2),
        made(EventKind::Index, 1, 1, 0, 0),
        made(EventKind::Release, 2, 1, 1), // queue: 2 3 4 1
        made(EventKind::Release, 1, 1, 0),
        made(EventKind::Reference, 1, 2, 0),
        made(EventKind::Allocate, 2, 2, 1),
        made(EventKind::Append, 2, 2, 1, 1),
        made(EventKind::Release, 2, 2, 1),
        made(EventKind::Release, 1, 2, 0),
        made(EventKind::Allocate, 2, 3, 0),
        made(EventKind::Allocate, 3, 3, 1),
        made(EventKind::Allocate, 4, 3, 2),
        made(EventKind::Evict, 1, 3, 0),
        made(EventKind::Allocate, 1, 3, 3),
        made(EventKind::Append, 2, 3, 0, 4),
        made(EventKind::Append, 3, 3, 1, 4),
        made(EventKind::Append, 4, 3, 2, 4),
        made(EventKind::Append, 1, 3, 3, 3),
        made(EventKind::Index, 2, 3, 0, 1),
        made(EventKind::Index, 3, 3, 1, 2),
        made(EventKind::Index, 4, 3, 2, 3),
    };
    QVERIFY(log.events() == expected);
    QCOMPARE(log.digests().size(), std::size_t {4});
    QVERIFY(log.digests()[1] == cache.pool(0).key(2));
}

/// Left to right for the one, right to left for the other, and a length that both can serve.
void CacheManagerTest::hitNeedsEveryGroup()
{
    CacheManager cache(layout({30, 30}, {group("full", 8), group("sliding", 4, 8, 1)}), {}, nullptr);
    QVERIFY(run(cache, request(0, 30, 30)));
    const Request same = request(1, 30, 30);
    const Hit hit = cache.lookup({&same, {}}, 30);
    QCOMPARE(hit.tokens, 24);
    QCOMPARE(hit.blocks[0], (std::vector<BlockId> {1, 2, 3}));
    QCOMPARE(hit.blocks[1], (std::vector<BlockId> {noBlock, noBlock, noBlock, noBlock, 5, 6}));
    const Request part = request(2, 30, 14);
    const Hit shorter = cache.lookup({&part, {}}, 30);
    QCOMPARE(shorter.tokens, 8); // 12 would do for the sliding group alone
    QCOMPARE(shorter.blocks[1], (std::vector<BlockId> {1, 2}));
}

void CacheManagerTest::oversizedUnitNeverHits()
{
    const std::int64_t huge = (std::int64_t {1} << 40) + 1;
    CacheManager cache(layout({9}, {group("a", huge), group("b", huge + 1), group("c", huge + 2)}), {}, nullptr);
    QVERIFY(run(cache, request(0, 100, 100)));
    QCOMPARE(causeOf(cache, request(1, 100, 100)), MissCause::BelowUnit);
    QVERIFY(cache.checkInvariants().ok());
}

QTEST_APPLESS_MAIN(CacheManagerTest)
#include "tst_cache_manager.moc"
