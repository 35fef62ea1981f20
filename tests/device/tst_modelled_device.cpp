// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/host_device.h"
#include "device/modelled_device.h"
#include "device_fixtures.h"

#include <QTest>

#include <functional>
#include <limits>
#include <vector>

using namespace kvw;
using namespace kvw::test;

using Change = std::function<void(PoolLayout&)>;
Q_DECLARE_METATYPE(Change)

class ModelledDeviceTest : public QObject
{
    Q_OBJECT
private slots:
    void countsNothing();
    void refusesWhatTheHostRefuses();
    void refusesLayouts_data();
    void refusesLayouts();
    void takesWhatOnlyContentForbids_data();
    void takesWhatOnlyContentForbids();
    void takesRandomLayouts();
    void takesPoolsOfAnySize();
};

void ModelledDeviceTest::countsNothing()
{
    ModelledDevice device;
    QVERIFY(!device.holdsBytes());
    QCOMPARE(device.info().id, std::string("modelled"));
    QCOMPARE(device.info().totalBytes, 0);
    QVERIFY(device.reserve(smallLayout(4)));
    const Sequence sequence(1, 1, 16);
    const EntrySpan span = sequence.span(0, 1, 0, 0, 16);
    QVERIFY(device.append({&span, 1}));
    const Result<VerifyCount> found = device.verify({&span, 1});
    QVERIFY(found);
    QCOMPARE(found->entries, 0);
    QCOMPARE(found->mismatched, 0);
    QCOMPARE(found->bytesRead, 0);
    QVERIFY(device.countAndPoisonAll());
    QCOMPARE(device.counts().nonPoisonBytes, 0);
    QCOMPARE(device.appendRate().perSecond(), 0.0);
    QCOMPARE(device.verifyRate().seconds, 0.0);
    QCOMPARE(device.memory().error().code, std::string("device.no_bytes"));
    QCOMPARE(device.readTags(0, 1).error().code, std::string("device.no_bytes"));
}

void ModelledDeviceTest::refusesWhatTheHostRefuses()
{
    Random random(1);
    ModelledDevice modelled;
    HostDevice host;
    const PoolLayout layout = smallLayout(6, 1);
    const Sequence sequence(1, 1, 64);
    EntrySpan span = sequence.span(0, 2, 0, 0, 1);
    QVERIFY(!modelled.append({&span, 1})); // nothing is reserved
    QVERIFY(modelled.reserve(layout));
    QVERIFY(host.reserve(layout));
    int refused = 0;
    for (int i = 0; i < scaled(3000); ++i) {
        span = sequence.span(static_cast<std::uint32_t>(pick(random, 0, 9) / 9),
            static_cast<std::uint32_t>(pick(random, 0, 7)), static_cast<std::int32_t>(pick(random, -1, 17)),
            pick(random, 0, 30), static_cast<std::int32_t>(pick(random, 0, 17)));
        const Result<void> byModelled = modelled.append({&span, 1});
        const Result<void> byHost = host.append({&span, 1});
        QCOMPARE(byModelled.ok(), byHost.ok());
        refused += byHost ? 0 : 1;
        if (!byHost) {
            QCOMPARE(byModelled.error().code, std::string("device.range"));
            QCOMPARE(byModelled.error().text(), byHost.error().text());
        }
        QCOMPARE(modelled.verify({&span, 1}).ok(), byHost.ok());
        const std::pair<std::uint32_t, std::uint32_t> pair(span.block, static_cast<std::uint32_t>(pick(random, 0, 7)));
        QCOMPARE(modelled.copyBlocks(0, {&pair, 1}).ok(), host.copyBlocks(0, {&pair, 1}).ok());
    }
    QVERIFY(refused > scaled(300) && refused < scaled(2990));
    modelled.release();
    span = sequence.span(0, 2, 0, 0, 1);
    QVERIFY(!modelled.append({&span, 1}));
}

void ModelledDeviceTest::refusesLayouts_data()
{
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    QTest::addColumn<Change>("change");
    QTest::addColumn<QString>("at");
    const auto row = [](const char* name, const char* at, const Change& change) {
        QTest::newRow(name) << change << QString::fromUtf8(at);
    };
    row("a tensor beyond its page", "/groups/0/tensors/1", [](PoolLayout& l) { ++l.groups[0].tensors[1].pageOffset; });
    row("too many entries", "/groups/0/tensors/1", [](PoolLayout& l) { ++l.groups[0].tensors[1].entriesPerBlock; });
    row("entry times entries wraps", "/groups/0/tensors/0",
        [](PoolLayout& l) { l.groups[0].tensors[0].entryBytes = most / 8; });
    row("offset plus size wraps", "/groups/0/tensors/0",
        [](PoolLayout& l) { l.groups[0].tensors[0].pageOffset = most - 3; });
    row("negative offset", "/groups/0/tensors/0", [](PoolLayout& l) { l.groups[0].tensors[0].pageOffset = -1; });
    row("negative entry", "/groups/0/tensors/0", [](PoolLayout& l) { l.groups[0].tensors[0].entryBytes = -16; });
    row("tensors overlap", "/groups/0/tensors", [](PoolLayout& l) { --l.groups[0].tensors[1].pageOffset; });
    row("a layer too many", "/groups/0", [](PoolLayout& l) { ++l.groups[0].layers; });
    row("pages wrap", "/groups/0", [](PoolLayout& l) { l.groups[0].pageBytes = most / 2; });
    row("negative layers", "/groups/0", [](PoolLayout& l) { l.groups[0].layers = -1; });
    row("no tokens in a block", "/groups/0", [](PoolLayout& l) { l.groups[0].blockTokens = 0; });
    row("no such pool", "/groups/0", [](PoolLayout& l) { l.groups[0].pool = 1; });
    row("blocks times bytes wraps", "/pools", [](PoolLayout& l) {
        l.pools[0].blocks.value = std::int64_t {1} << 32;
        l.pools[0].blockBytes.value = std::int64_t {1} << 31;
    });
    row("pools together wrap", "/pools", [](PoolLayout& l) {
        l.pools.resize(3, PoolSpec {Bytes(std::int64_t {1} << 31), Blocks((std::int64_t {1} << 32) - 1), Blocks(0)});
    });
    row("block numbers beyond 32 bits", "/pools/0",
        [](PoolLayout& l) { l.pools[0].blocks.value = (std::int64_t {1} << 32) + 1; });
    row("negative blocks", "/pools/0", [](PoolLayout& l) { l.pools[0].blocks.value = -1; });
    row("blocks without bytes", "/pools/0", [](PoolLayout& l) { l.pools[0].blockBytes.value = 0; });
    row("more held than there are", "/pools/0", [](PoolLayout& l) { l.pools[0].held.value = 5; });
    row("the second group", "/groups/1/tensors/0", [](PoolLayout& l) {
        l.groups.push_back(l.groups[0]);
        l.groups[1].tensors[0].entryBytes *= 100;
    });
}

void ModelledDeviceTest::refusesLayouts()
{
    QFETCH(Change, change);
    QFETCH(QString, at);
    PoolLayout layout = smallLayout(4);
    change(layout);
    ModelledDevice modelled;
    HostDevice host;
    for (Device* const device : std::initializer_list<Device*> {&modelled, &host}) {
        QVERIFY(device->reserve(smallLayout(4)));
        const Result<void> reserved = device->reserve(layout);
        QVERIFY(!reserved);
        QCOMPARE(reserved.error().code, std::string("device.layout"));
        QCOMPARE(QString::fromStdString(reserved.error().where.at), at);
        const Sequence sequence(1, 1, 16);
        const EntrySpan span = sequence.span(0, 1, 0, 0, 16);
        QVERIFY(!device->append({&span, 1})); // the earlier one is gone too
    }
    QCOMPARE(host.memory()->poolBytes, 0);
}

void ModelledDeviceTest::takesWhatOnlyContentForbids_data()
{
    QTest::addColumn<Change>("change");
    const auto row = [](const char* name, const Change& change) { QTest::newRow(name) << change; };
    row("an entry shorter than its tag", [](PoolLayout& l) { l.groups[0].tensors[1].entryBytes = 15; });
    row("one entry in a block", [](PoolLayout& l) { l.groups[0].tensors[1].entriesPerBlock = 1; });
    row("one entry for four tokens", [](PoolLayout& l) { l.groups[0].tensors[0].entriesPerBlock = 4; });
    row("257 groups", [](PoolLayout& l) { l.groups.resize(257, l.groups[0]); });
}

void ModelledDeviceTest::takesWhatOnlyContentForbids()
{
    QFETCH(Change, change);
    PoolLayout layout = smallLayout(4);
    change(layout);
    QVERIFY(ModelledDevice().reserve(layout));
    HostDevice host;
    const Result<void> reserved = host.reserve(layout);
    QVERIFY(!reserved);
    QCOMPARE(reserved.error().code, std::string("device.layout"));
    layout = smallLayout(4);
    layout.groups.resize(256, layout.groups[0]);
    layout.groups[0].tensors[1].entryBytes = 16;
    QVERIFY(host.reserve(layout));
}

void ModelledDeviceTest::takesRandomLayouts()
{
    Random random(5);
    for (int i = 0; i < scaled(500); ++i) {
        ModelledDevice device;
        const Result<void> reserved = device.reserve(randomLayout(random));
        QVERIFY2(reserved, reserved ? "" : reserved.error().text().c_str());
    }
}

/// A prediction is about machines larger than this one.
void ModelledDeviceTest::takesPoolsOfAnySize()
{
    PoolLayout layout = smallLayout(std::int64_t {1} << 32);
    ModelledDevice modelled;
    QVERIFY(modelled.reserve(layout));
    const Sequence sequence(1, 1, 16);
    const EntrySpan span = sequence.span(0, 0xffffffff, 0, 0, 16);
    QVERIFY(modelled.append({&span, 1}));
    HostDevice host;
    QCOMPARE(host.reserve(layout).error().code, std::string("device.memory"));
}

QTEST_GUILESS_MAIN(ModelledDeviceTest)
#include "tst_modelled_device.moc"
