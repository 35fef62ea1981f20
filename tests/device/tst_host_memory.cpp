// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/host_device.h"
#include "device/host_memory.h"
#include "device/pool_mapping.h"
#include "device_fixtures.h"
#include "units/format.h"

#include <QTest>

#include <csignal>
#include <fstream>
#include <functional>
#include <sstream>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kvw;
using namespace kvw::test;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KVW_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KVW_SANITIZED 1
#endif
#endif

namespace {

#ifdef KVW_SANITIZED
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

// Address space of this process: the first figure of /proc/self/statm, in pages.
std::int64_t addressSpaceBytes()
{
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * memoryPageBytes();
}

// True when `access` ends a child process by SIGSEGV.
bool faults(const std::function<void()>& access)
{
    const pid_t child = fork();
    if (child == 0) {
        const rlimit none {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        std::signal(SIGSEGV, SIG_DFL); // Qt Test has a handler of its own
        access();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

void touch(std::uintptr_t address)
{
    *reinterpret_cast<volatile char*>(address) = 1; // NOLINT(performance-no-int-to-ptr)
}

// A usable page of another owner.
class Neighbour
{
public:
    Neighbour()
        : m_page(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    {}
    Neighbour(const Neighbour&) = delete;
    Neighbour& operator=(const Neighbour&) = delete;
    ~Neighbour() { munmap(m_page, 4096); }

private:
    void* m_page;
};

// Blocks of one page and a bit, so that the pool does not end with a page.
PoolLayout oddLayout(std::int64_t blocks)
{
    PoolLayout layout;
    layout.groups.push_back(group(0, 1, 16, {tensor("latent", ElementType::Fp8E4M3, 1, 256 + 7)}));
    layout.pools.push_back(PoolSpec {Bytes(layout.groups[0].pageBytes), Blocks(blocks), Blocks(0)});
    return layout;
}

} // namespace

class HostMemoryTest : public QObject
{
    Q_OBJECT
private slots:
    void readsMemInfo();
    void readsSmaps();
    void infoNamesItsSources();
    void residentIsWhatWasReserved();
    void onePageShort();
    void shortPoolRefusesItsLastBlocks();
    void limits();
    void failedMappingLeavesNothing();
    void guardPages();
    void mappingSizes_data();
    void mappingSizes();
    void mappingMoves();
};

void HostMemoryTest::readsMemInfo()
{
    std::istringstream good(
        "MemTotal:       24589312 kB\nMemFree:  1 kB\nMemAvailable:   23000000 kB\nBuffers: 3 kB\n");
    const Result<MemInfo> read = readMemInfo(good);
    QVERIFY(read);
    QCOMPARE(read->totalBytes, 24589312LL * 1024);
    QCOMPARE(read->availableBytes, 23000000LL * 1024);
    for (const char* text :
        {"", "MemTotal: 1 kB\n", "MemTotal: 1 kB\nMemAvailable: x kB\n", "MemTotal: 1 kB\nMemAvailable: 5 MB\n",
            "MemTotal: 1 kB\nMemAvailable: -5 kB\n", "MemTotal: 1 kB\nMemAvailable: 99999999999999999999 kB\n"}) {
        std::istringstream bad(text);
        QCOMPARE(readMemInfo(bad).error().code, std::string("device.memory"));
    }
    QVERIFY(readMemInfo()->availableBytes <= readMemInfo()->totalBytes);
}

void HostMemoryTest::readsSmaps()
{
    const std::string text
        = "00400000-00500000 r-xp 00000000 08:01 12 /usr/bin/a b\nSize: 1024 kB\nRss: 800 kB\nPss: 1 kB\n"
          "7f0000000000-7f0000002000 rw-p 00000000 00:00 0 \nSize: 8 kB\nRss:                 8 kB\nVmFlags: rd wr\n"
          "7f0000002000-7f0000003000 ---p 00000000 00:00 0 \nSize: 4 kB\nRss: 0 kB\n"
          "7f0000003000-7f0000005000 rw-p 00000000 00:00 0 \nSize: 8 kB\nRss: 4 kB\nAnonHugePages: 0 kB\n";
    const auto resident = [&](std::vector<AddressRange> ranges) {
        std::istringstream stream(text);
        return residentBytes(stream, ranges);
    };
    QCOMPARE(*resident({}), 0);
    QCOMPARE(*resident({{0x7f0000000000, 0x7f0000002000}}), 8 * 1024);
    QCOMPARE(*resident({{0x7f0000000000, 0x7f0000002000}, {0x7f0000003000, 0x7f0000005000}}), 12 * 1024);
    QCOMPARE(*resident({{0x7f0000000000, 0x7f0000005000}}), 12 * 1024);
    QCOMPARE(*resident({{0x100, 0x200}}), 0);
    QCOMPARE(*resident({{0x7f0000001000, 0x7f0000001000}}), 0); // an empty pool's
    QCOMPARE(resident({{0x7f0000000000, 0x7f0000001000}}).error().code, std::string("device.memory"));
    QCOMPARE(resident({{0x450000, 0x460000}}).error().code, std::string("device.memory"));
    std::istringstream none("not smaps\n");
    QCOMPARE(residentBytes(none, {}).error().code, std::string("device.memory"));
}

void HostMemoryTest::infoNamesItsSources()
{
    const DeviceInfo info = HostDevice().info();
    QCOMPARE(info.id, std::string("host"));
    QVERIFY(!info.name.empty());
    QVERIFY(info.availableBytes > 0 && info.availableBytes <= info.totalBytes);
    QVERIFY(info.memorySource.find("/proc/meminfo") != std::string::npos);
}

void HostMemoryTest::residentIsWhatWasReserved()
{
    PoolLayout layout = oddLayout(1000);
    layout.pools.push_back(PoolSpec {Bytes(4096), Blocks(1), Blocks(0)});
    layout.pools.push_back(PoolSpec {Bytes(100), Blocks(0), Blocks(0)}); // an empty pool is nothing
    layout.pools.push_back(PoolSpec {Bytes(std::int64_t {3} << 20), Blocks(3), Blocks(1)});
    layout.pools.push_back(PoolSpec {Bytes(1), Blocks(1), Blocks(0)});
    std::int64_t expected = 0;
    for (const PoolSpec& pool : layout.pools)
        expected += roundUpToPages(pool.blockBytes.value * pool.blocks.value);
    for (const bool hugePages : {true, false}) {
        HostDevice device(HostDeviceOptions {.hugePages = hugePages});
        QVERIFY(device.reserve(layout));
        const Result<MemoryReading> reading = device.memory();
        QVERIFY(reading);
        QCOMPARE(reading->poolBytes, expected);
        QCOMPARE(reading->pageBytes, memoryPageBytes());
        QVERIFY(reading->instrument.find("/proc/self/smaps") != std::string::npos);
    }
}

void HostMemoryTest::onePageShort()
{
    const std::int64_t page = memoryPageBytes();
    HostDevice whole;
    QVERIFY(whole.reserve(oddLayout(1000)));
    HostDevice shortened(HostDeviceOptions {.unmappedTailBytes = page});
    QVERIFY(shortened.reserve(oddLayout(1000)));
    QCOMPARE(whole.memory()->poolBytes, roundUpToPages(oddLayout(1000).totalBytes()->value));
    QCOMPARE(shortened.memory()->poolBytes, whole.memory()->poolBytes - page);
    HostDevice without(HostDeviceOptions {.unmappedTailBytes = std::int64_t {1} << 40});
    QVERIFY(without.reserve(oddLayout(1000)));
    QCOMPARE(without.memory()->poolBytes, 0);
}

void HostMemoryTest::shortPoolRefusesItsLastBlocks()
{
    HostDevice device(HostDeviceOptions {.unmappedTailBytes = memoryPageBytes()});
    QVERIFY(device.reserve(oddLayout(1000)));
    const Sequence sequence(1, 1, 16);
    EntrySpan span = sequence.span(0, 997, 0, 0, 16);
    QVERIFY(device.append({&span, 1}));
    QCOMPARE(device.verify({&span, 1})->mismatched, 0);
    span.block = 999;
    QCOMPARE(device.append({&span, 1}).error().code, std::string("device.range"));
    QCOMPARE(device.verify({&span, 1}).error().code, std::string("device.range"));
    QCOMPARE(device.readTags(0, 999).error().code, std::string("device.range"));
    for (const std::pair<std::uint32_t, std::uint32_t>& pair : {std::pair {999U, 1U}, std::pair {1U, 999U}})
        QCOMPARE(device.copyBlocks(0, {&pair, 1}).error().code, std::string("device.range"));
    QVERIFY(device.countAndPoisonAll());
    QCOMPARE(device.counts().nonPoisonBytes, 16 * oddLayout(1).groups[0].bytesPerToken());
}

void HostMemoryTest::limits()
{
    const PoolLayout layout = oddLayout(50);
    const std::int64_t need = layout.totalBytes()->value;
    QVERIFY(HostDevice(HostDeviceOptions {.limitBytes = need}).reserve(layout));
    HostDevice device(HostDeviceOptions {.limitBytes = need - 1});
    const Result<void> refused = device.reserve(layout);
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, std::string("device.memory"));
    const std::string text = refused.error().text();
    QVERIFY2(text.find(grouped(need)) != std::string::npos, text.c_str());
    QVERIFY2(text.find(grouped(need - 1)) != std::string::npos, text.c_str());
    QVERIFY2(text.find("available") != std::string::npos, text.c_str());
    QCOMPARE(device.memory()->poolBytes, 0);
    // A third of what is available is more than the quarter that is allowed when nothing is said.
    const std::int64_t third = readMemInfo()->availableBytes / 3;
    QCOMPARE(HostDevice().reserve(oddLayout(third / layout.pools[0].blockBytes.value)).error().code,
        std::string("device.memory"));
    // Even who allows it cannot have more than there is.
    HostDevice greedy(HostDeviceOptions {.limitBytes = std::int64_t {1} << 60});
    const std::int64_t twice = readMemInfo()->availableBytes * 2;
    QCOMPARE(
        greedy.reserve(oddLayout(twice / layout.pools[0].blockBytes.value)).error().code, std::string("device.memory"));
}

void HostMemoryTest::failedMappingLeavesNothing()
{
    if (sanitized)
        QSKIP("sanitizers need the address space that this test takes away");
    constexpr std::int64_t mebibyte = std::int64_t {1} << 20;
    if (readMemInfo()->availableBytes < 2048 * mebibyte)
        QSKIP("less than 2 GiB of memory are available");
    PoolLayout layout = oddLayout(10);
    layout.pools.push_back(PoolSpec {Bytes(mebibyte), Blocks(16), Blocks(0)});
    layout.pools.push_back(PoolSpec {Bytes(mebibyte), Blocks(1024), Blocks(0)});
    HostDevice device(HostDeviceOptions {.limitBytes = 4096 * mebibyte});
    rlimit before {};
    QCOMPARE(getrlimit(RLIMIT_AS, &before), 0);
    const std::int64_t bytesBefore = addressSpaceBytes();
    const rlimit tight {static_cast<rlim_t>(bytesBefore + 64 * mebibyte), before.rlim_max};
    QCOMPARE(setrlimit(RLIMIT_AS, &tight), 0);
    const Result<void> reserved = device.reserve(layout);
    setrlimit(RLIMIT_AS, &before);
    QVERIFY(!reserved);
    QCOMPARE(reserved.error().code, std::string("device.memory"));
    QVERIFY(reserved.error().message.find("1,073,741,824") != std::string::npos);
    QVERIFY(addressSpaceBytes() < bytesBefore + 8 * mebibyte);
    QCOMPARE(device.memory()->poolBytes, 0);
    const Sequence sequence(1, 1, 16);
    const EntrySpan span = sequence.span(0, 1, 0, 0, 16);
    QCOMPARE(device.append({&span, 1}).error().code, std::string("device.range"));
    layout.pools.pop_back();
    QVERIFY(device.reserve(layout));
}

void HostMemoryTest::guardPages()
{
    if (sanitized)
        QSKIP("a sanitizer handles the fault in its own way");
    for (const std::int64_t bytes : {std::int64_t {4096}, std::int64_t {10000}, std::int64_t {5} << 20}) {
        // Usable pages wherever the system likes to put them, which is next to the last mapping.
        const std::vector<Neighbour> before(4);
        const Result<PoolMapping> mapping = PoolMapping::create(bytes, true);
        QVERIFY(mapping);
        const AddressRange pages = mapping->pages();
        const std::vector<Neighbour> after(4);
        QVERIFY(!faults([&] { touch(pages.begin); }));
        QVERIFY(!faults([&] { touch(pages.end - 1); }));
        QVERIFY(faults([&] { touch(pages.end); }));
        QVERIFY(faults([&] { touch(pages.begin - 1); }));
        QCOMPARE(residentBytes({&pages, 1}).ok(), true);
    }
    const Result<PoolMapping> shortened = PoolMapping::create(5 * memoryPageBytes(), false, memoryPageBytes());
    QVERIFY(!faults([&] { touch(shortened->pages().begin + static_cast<std::uintptr_t>(4 * memoryPageBytes()) - 1); }));
    QVERIFY(faults([&] { touch(shortened->pages().begin + static_cast<std::uintptr_t>(4 * memoryPageBytes())); }));
}

void HostMemoryTest::mappingSizes_data()
{
    QTest::addColumn<qint64>("asked");
    QTest::addColumn<qint64>("tail");
    QTest::addColumn<qint64>("bytes");
    QTest::addColumn<qint64>("pages");
    const qint64 page = memoryPageBytes();
    QTest::newRow("nothing") << qint64 {0} << qint64 {0} << qint64 {0} << qint64 {0};
    QTest::newRow("a byte") << qint64 {1} << qint64 {0} << qint64 {1} << qint64 {1};
    QTest::newRow("a page") << page << qint64 {0} << page << qint64 {1};
    QTest::newRow("a byte more") << page + 1 << qint64 {0} << page + 1 << qint64 {2};
    QTest::newRow("tail of a byte is a page") << 3 * page << qint64 {1} << 2 * page << qint64 {2};
    QTest::newRow("tail of a page, odd end") << 3 * page - 5 << page << 2 * page << qint64 {2};
    QTest::newRow("tail of everything") << 3 * page << 3 * page << qint64 {0} << qint64 {0};
    QTest::newRow("tail of more") << 3 * page << 9 * page << qint64 {0} << qint64 {0};
    QTest::newRow("no negative tail") << 3 * page << qint64 {-5} << 3 * page << qint64 {3};
}

void HostMemoryTest::mappingSizes()
{
    QFETCH(qint64, asked);
    QFETCH(qint64, tail);
    QFETCH(qint64, bytes);
    QFETCH(qint64, pages);
    const Result<PoolMapping> mapping = PoolMapping::create(asked, true, tail);
    QVERIFY(mapping);
    QCOMPARE(static_cast<qint64>(mapping->bytes().size()), bytes);
    QCOMPARE(static_cast<qint64>(mapping->pages().end - mapping->pages().begin), pages * memoryPageBytes());
    QVERIFY(!PoolMapping::create(-1, true));
    QCOMPARE(PoolMapping::create(std::int64_t {1} << 62, true).error().code, std::string("device.memory"));
}

void HostMemoryTest::mappingMoves()
{
    PoolMapping first = PoolMapping::create(8192, false).value();
    first.bytes()[0] = std::byte {7};
    PoolMapping second = std::move(first);
    QCOMPARE(second.bytes()[0], std::byte {7});
    QVERIFY(first.bytes().empty()); // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move): it must be empty
    second = PoolMapping::create(4096, false).value();
    QCOMPARE(second.bytes().size(), std::size_t {4096});
    const AddressRange pages = second.pages();
    second = PoolMapping();
    QCOMPARE(*residentBytes({&pages, 1}), 0);
}

QTEST_GUILESS_MAIN(HostMemoryTest)
#include "tst_host_memory.moc"
