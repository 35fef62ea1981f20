// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/content.h"
#include "device_fixtures.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

using namespace kvw;
using kvw::test::pick;
using kvw::test::Random;
using kvw::test::scaled;

namespace {

using ByteVector = std::vector<std::byte>;

ByteVector entry(const EntryTag& tag, std::uint32_t layer, std::uint32_t tensor, std::size_t size)
{
    ByteVector bytes(size, std::byte {0x5a});
    writeEntry(tag, layer, tensor, bytes);
    return bytes;
}

EntryTag randomTag(Random& random)
{
    return {random(), static_cast<std::uint16_t>(random()), static_cast<std::uint8_t>(random()),
        static_cast<std::uint32_t>(random()) & 0xffffff};
}

// The element types decoded from their definitions, bit by bit.
double decoded(unsigned bits, int exponentBits, int mantissaBits, bool infinities)
{
    const int top = (1 << exponentBits) - 1;
    const int bias = top >> 1;
    const int exponent = static_cast<int>(bits >> mantissaBits) & top;
    const unsigned mantissa = bits & ((1U << mantissaBits) - 1);
    const bool allOnes = exponent == top && mantissa == (1U << mantissaBits) - 1;
    if (infinities ? exponent == top : allOnes)
        return std::numeric_limits<double>::quiet_NaN(); // or infinite: not a number to store
    const double fraction = std::ldexp(mantissa, -mantissaBits);
    const double value = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
    return (bits >> (exponentBits + mantissaBits)) != 0 ? -value : value;
}

template <typename Word>
bool allFinite(const ByteVector& bytes, int exponentBits, int mantissaBits, bool infinities)
{
    for (std::size_t at = 0; at + sizeof(Word) <= bytes.size(); at += sizeof(Word)) {
        Word word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof(Word));
        if (!std::isfinite(decoded(word, exponentBits, mantissaBits, infinities)))
            return false;
    }
    return true;
}

} // namespace

class ContentTest : public QObject
{
    Q_OBJECT
private slots:
    void bytesAreNeverPoison();
    void valuesAreFinite();
    void decoderKnowsNonFinite();
    void tagRoundTrip();
    void tagRefusesForeignBytes();
    void positionKeeps24Bits();
    void genuineTagNeedsItsContent();
    void everyBitCounts();
    void lengthsShareAPrefix();
    void writesNothingOutside();
    void argumentsMatter();
    void distribution();
    void chains();
    void nonPoison();
    void offsetsAre64Bit();
};

void ContentTest::bytesAreNeverPoison()
{
    Random random(1);
    for (int i = 0; i < scaled(2000); ++i) {
        const ByteVector bytes = entry(randomTag(random), static_cast<std::uint32_t>(random()),
            static_cast<std::uint32_t>(random()), static_cast<std::size_t>(pick(random, 16, 700)));
        for (const std::byte b : bytes) {
            QVERIFY((b & std::byte {0x40}) == std::byte {0});
            QVERIFY(b != poisonByte);
        }
        QCOMPARE(countNonPoison(bytes), static_cast<std::int64_t>(bytes.size()));
    }
}

void ContentTest::valuesAreFinite()
{
    Random random(2);
    for (int i = 0; i < scaled(300); ++i) {
        const ByteVector bytes = entry(randomTag(random), 3, 1, 1024);
        QVERIFY(allFinite<std::uint32_t>(bytes, 8, 23, true)); // fp32
        QVERIFY(allFinite<std::uint16_t>(bytes, 8, 7, true)); // bf16
        QVERIFY(allFinite<std::uint16_t>(bytes, 5, 10, true)); // fp16
        QVERIFY(allFinite<std::uint8_t>(bytes, 4, 3, false)); // fp8 e4m3: only 0x7F and 0xFF are no numbers
        QVERIFY(allFinite<std::uint8_t>(bytes, 5, 2, true)); // fp8 e5m2
    }
}

/// Guards the test above: its decoder must call what is not finite so.
void ContentTest::decoderKnowsNonFinite()
{
    QVERIFY(!std::isfinite(decoded(0x7f800000U, 8, 23, true)));
    QVERIFY(!std::isfinite(decoded(0xffc0U, 8, 7, true)));
    QVERIFY(!std::isfinite(decoded(0x7c00U, 5, 10, true)));
    QVERIFY(!std::isfinite(decoded(0xffU, 4, 3, false)));
    QVERIFY(!std::isfinite(decoded(0x7eU, 5, 2, true)));
    QCOMPARE(decoded(0x3f80U, 8, 7, true), 1.0);
    QCOMPARE(decoded(0xc000U, 5, 10, true), -2.0);
    QCOMPARE(decoded(0x7eU, 4, 3, false), 448.0);
    QCOMPARE(decoded(0x7bU, 5, 2, true), 57344.0);
    QCOMPARE(decoded(0x0001U, 5, 10, true), std::ldexp(1.0, -24));
}

void ContentTest::tagRoundTrip()
{
    Random random(3);
    for (int i = 0; i < scaled(20000); ++i) {
        EntryTag tag = randomTag(random);
        if (i < 8) // the corners
            tag = {i & 1 ? ~std::uint64_t {0} : 0, static_cast<std::uint16_t>(i & 2 ? 0xffff : 0),
                static_cast<std::uint8_t>(i & 4 ? 0xff : 0), i & 1 ? 0xffffffU : 0};
        std::array<std::byte, tagBytes> bytes {};
        writeTag(tag, bytes);
        const std::optional<EntryTag> back = readTag(bytes);
        QVERIFY(back.has_value());
        QVERIFY(*back == tag);
        QVERIFY(genuineTag(7, 2, entry(tag, 7, 2, 90)) == tag);
    }
}

void ContentTest::tagRefusesForeignBytes()
{
    Random random(4);
    for (int i = 0; i < scaled(300); ++i) {
        std::array<std::byte, tagBytes> bytes {};
        writeTag(randomTag(random), bytes);
        for (std::byte& b : bytes) {
            const std::byte kept = b;
            b = poisonByte;
            QVERIFY(!readTag(bytes));
            b = kept | std::byte {0x40};
            QVERIFY(!readTag(bytes));
            b = kept;
        }
        QVERIFY(readTag(bytes));
    }
}

void ContentTest::positionKeeps24Bits()
{
    const EntryTag low {9, 1, 2, 0x123456};
    const EntryTag high {9, 1, 2, 0xab123456};
    QVERIFY(entry(low, 1, 1, 64) == entry(high, 1, 1, 64));
    QVERIFY(genuineTag(1, 1, entry(high, 1, 1, 64)) == low);
}

void ContentTest::genuineTagNeedsItsContent()
{
    Random random(5);
    int looksLikeOne = 0;
    for (int i = 0; i < scaled(2000); ++i) {
        const EntryTag tag = randomTag(random);
        const ByteVector bytes = entry(tag, 4, 1, 256);
        QVERIFY(genuineTag(4, 1, bytes) == tag);
        QVERIFY(!genuineTag(4, 0, bytes));
        QVERIFY(!genuineTag(5, 1, bytes));
        const std::span<const std::byte> middle
            = std::span(bytes).subspan(static_cast<std::size_t>(pick(random, 1, 200)));
        looksLikeOne += readTag(middle.first<tagBytes>()) ? 1 : 0;
        QVERIFY(!genuineTag(4, 1, middle));
    }
    QCOMPARE(looksLikeOne, scaled(2000)); // which is why readTag() alone is not enough
}

void ContentTest::everyBitCounts()
{
    Random random(6);
    for (const std::size_t size : {16, 17, 23, 24, 25, 31, 32, 40, 257, 1152}) {
        const EntryTag tag = randomTag(random);
        ByteVector bytes = entry(tag, 11, 1, size);
        QVERIFY(entryMatches(tag, 11, 1, bytes));
        for (std::size_t bit = 0; bit < size * 8; ++bit) {
            const std::byte mask = std::byte {1} << static_cast<int>(bit % 8);
            bytes[bit / 8] ^= mask;
            QVERIFY2(!entryMatches(tag, 11, 1, bytes), qPrintable(QString::number(bit)));
            bytes[bit / 8] ^= mask;
        }
        QVERIFY(entryMatches(tag, 11, 1, bytes));
    }
}

void ContentTest::lengthsShareAPrefix()
{
    const EntryTag tag {1, 2, 3, 4};
    const ByteVector longest = entry(tag, 0, 0, 100);
    for (std::size_t size = tagBytes; size < longest.size(); ++size) {
        const ByteVector bytes = entry(tag, 0, 0, size);
        QVERIFY(std::equal(bytes.begin(), bytes.end(), longest.begin()));
    }
}

void ContentTest::writesNothingOutside()
{
    for (std::size_t offset = 0; offset < 8; ++offset) {
        for (std::size_t size = tagBytes; size < 60; ++size) {
            ByteVector bytes(offset + size + 16, poisonByte);
            writeEntry({1, 2, 3, 4}, 5, 6, std::span(bytes).subspan(offset, size));
            for (std::size_t i = 0; i < bytes.size(); ++i)
                QCOMPARE(bytes[i] == poisonByte, i < offset || i >= offset + size);
            QVERIFY(entryMatches({1, 2, 3, 4}, 5, 6, std::span(bytes).subspan(offset, size)));
        }
    }
}

/// Entries that differ in one argument differ after the tag as well, in every word.
void ContentTest::argumentsMatter()
{
    Random random(7);
    constexpr std::size_t size = 64;
    for (int i = 0; i < scaled(300); ++i) {
        const EntryTag tag = randomTag(random);
        const auto layer = static_cast<std::uint32_t>(pick(random, 0, 200));
        const auto tensor = static_cast<std::uint32_t>(pick(random, 0, 5));
        std::vector<ByteVector> variants {entry(tag, layer, tensor, size), entry(tag, layer + 1, tensor, size),
            entry(tag, layer, tensor + 1, size), entry(tag, tensor, layer + 300, size)};
        for (int bit = 0; bit < 64; ++bit) {
            EntryTag other = tag;
            other.chain ^= std::uint64_t {1} << bit;
            variants.push_back(entry(other, layer, tensor, size));
        }
        for (int bit = 0; bit < 24; ++bit) {
            EntryTag other = tag;
            other.position ^= 1U << bit;
            variants.push_back(entry(other, layer, tensor, size));
            other = tag;
            other.domain = static_cast<std::uint16_t>(tag.domain ^ (1U << (bit % 16)));
            if (bit < 16)
                variants.push_back(entry(other, layer, tensor, size));
            other = tag;
            other.group = static_cast<std::uint8_t>(tag.group ^ (1U << (bit % 8)));
            if (bit < 8)
                variants.push_back(entry(other, layer, tensor, size));
        }
        for (std::size_t word = tagBytes; word < size; word += 8) {
            std::set<std::string> seen;
            for (const ByteVector& bytes : variants)
                seen.emplace(reinterpret_cast<const char*>(bytes.data()) + word, 8);
            QCOMPARE(seen.size(), variants.size());
        }
    }
}

/// Not proof of randomness; it catches a word or bit that does not vary.
void ContentTest::distribution()
{
    constexpr std::size_t size = 1040;
    constexpr int entries = 4096;
    std::vector<std::int64_t> counts(256);
    std::set<std::uint64_t> words;
    for (int i = 0; i < entries; ++i) {
        const ByteVector bytes
            = entry({static_cast<std::uint64_t>(i / 64), 1, 0, static_cast<std::uint32_t>(i)}, 0, 0, size);
        for (std::size_t at = tagBytes; at < size; ++at)
            ++counts[static_cast<std::size_t>(bytes[at])];
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + tagBytes + 8 * static_cast<std::size_t>(i % 128), 8);
        words.insert(word);
    }
    QCOMPARE(words.size(), static_cast<std::size_t>(entries));
    const double expected = (size - tagBytes) * entries / 128.0; // each value with bit 6 clear
    double chiSquare = 0;
    for (std::size_t value = 0; value < counts.size(); ++value) {
        if ((value & 0x40) != 0)
            QCOMPARE(counts[value], 0);
        else
            chiSquare += (counts[value] - expected) * (counts[value] - expected) / expected;
    }
    QVERIFY2(chiSquare < 127 + 6 * std::sqrt(2 * 127.0), qPrintable(QString::number(chiSquare)));
}

void ContentTest::chains()
{
    Random random(8);
    std::set<std::uint64_t> seen;
    for (std::uint32_t domain = 0; domain < 1000; ++domain)
        seen.insert(chainStart(domain));
    QCOMPARE(seen.size(), std::size_t {1000});
    // Order, length and every token matter.
    const auto chain = [](std::uint32_t domain, const std::vector<TokenId>& tokens) {
        std::uint64_t value = chainStart(domain);
        for (const TokenId token : tokens)
            value = chainNext(value, token);
        return value;
    };
    QVERIFY(chain(1, {1, 2}) != chain(1, {2, 1}));
    QVERIFY(chain(1, {0}) != chain(1, {0, 0}));
    QVERIFY(chain(1, {}) != chain(1, {0}));
    QVERIFY(chain(1, {5, 6, 7}) != chain(2, {5, 6, 7}));
    QVERIFY(chain(1, {5, 6, 7}) == chain(1, {5, 6, 7}));
    QVERIFY(chainNext(0, 0) != 0); // zeros do not stay
    seen.clear();
    const std::uint64_t before = random();
    for (TokenId token = 0; token < 50000; ++token)
        seen.insert(chainNext(before, token));
    seen.insert(chainNext(before, 0xffffffff));
    QCOMPARE(seen.size(), std::size_t {50001});
}

void ContentTest::nonPoison()
{
    Random random(9);
    for (int i = 0; i < scaled(600); ++i) {
        const auto size = static_cast<std::size_t>(pick(random, 0, i % 10 == 0 ? 40000 : 500));
        const auto offset = static_cast<std::size_t>(pick(random, 0, 9));
        const std::int64_t density = pick(random, 0, 8);
        ByteVector bytes(offset + size);
        std::int64_t expected = 0;
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            bytes[at] = pick(random, 1, 8) <= density ? poisonByte : static_cast<std::byte>(random());
            expected += at >= offset && bytes[at] != poisonByte ? 1 : 0;
        }
        QCOMPARE(countNonPoison(std::span(bytes).subspan(offset)), expected);
    }
    for (int value = 0; value < 256; ++value) { // no neighbour disturbs a byte
        ByteVector bytes(64, static_cast<std::byte>(value));
        QCOMPARE(countNonPoison(bytes), value == 0xff ? 0 : 64);
        bytes[9] = poisonByte;
        QCOMPARE(countNonPoison(bytes), value == 0xff ? 0 : 63);
        bytes.assign(64, poisonByte);
        bytes[9] = static_cast<std::byte>(value);
        QCOMPARE(countNonPoison(bytes), value == 0xff ? 0 : 1);
    }
}

void ContentTest::offsetsAre64Bit()
{
    const EntryGeometry crossLayer {1039680, 8192, 4096, 256}; // wraps at block 2066 where 31 bits are kept
    QCOMPARE(entryOffset(crossLayer, 2065, 0, 0), 2146939200 + 4096);
    QCOMPARE(entryOffset(crossLayer, 2066, 1, 3), std::int64_t {2147978880} + 8192 + 4096 + 768);
    const EntryGeometry wide {16384LL * 64, 16384, 0, 1024}; // 2^32 blocks are the most
    QCOMPARE(entryOffset(wide, 0xffffffffLL, 63, 15), 0xffffffffLL * 1048576 + 63LL * 16384 + 15LL * 1024);
}

QTEST_GUILESS_MAIN(ContentTest)
#include "tst_content.moc"
