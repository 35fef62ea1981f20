// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "model/element_type.h"

#include <QTest>

#include <algorithm>
#include <limits>
#include <random>
#include <set>

using namespace kvw;

namespace {

constexpr ElementType allTypes[] {ElementType::Fp32, ElementType::Fp16, ElementType::Bf16, ElementType::Fp8E4M3,
    ElementType::Fp8E5M2, ElementType::Int8, ElementType::NvFp4, ElementType::Q8_0};

/// llama.cpp's block_q8_0 as its header declares it: a half-precision scale and 32 signed bytes.
struct BlockQ8
{
    std::uint16_t scale;
    std::int8_t values[32];
};

/// NVFP4 as its vendor describes it: 16 values of 4 bits, two in a byte, and one E4M3 scale of a byte.
struct BlockNvFp4
{
    std::uint8_t pairs[8];
    std::uint8_t scale;
};

/// Byte by byte: a new byte when the last one is full, a new scale at the first element of each block.
std::int64_t countedBytes(std::int64_t width, int bits, std::int64_t block, std::int64_t scaleBytes)
{
    std::int64_t bytes = 0;
    int room = 0;
    for (std::int64_t i = 0; i < width; ++i) {
        if (block > 0 && i % block == 0)
            bytes += scaleBytes;
        for (int bit = 0; bit < bits; ++bit) {
            if (room == 0) {
                ++bytes;
                room = 8;
            }
            --room;
        }
    }
    return bytes;
}

} // namespace

class ElementTypeTest : public QObject
{
    Q_OBJECT
private slots:
    void published_data();
    void published();
    void everyWidth_data();
    void everyWidth();
    void asADerivation();
    void names();
};

void ElementTypeTest::published_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<qint64>("width");
    QTest::addColumn<qint64>("bytes");
    const auto row = [](const char* name, qint64 width, qint64 bytes) {
        QTest::addRow("%s, %lld", name, static_cast<long long>(width)) << QString::fromUtf8(name) << width << bytes;
    };
    row("fp32", 128, 512);
    row("fp16", 128, 256);
    row("bf16", 128, 256);
    row("bf16", 576, 1152); // a DeepSeek-V2 latent with its rotary part
    row("fp8_e4m3", 128, 128);
    row("fp8_e5m2", 128, 128);
    row("int8", 128, 128);
    row("q8_0", 32, sizeof(BlockQ8));
    row("q8_0", 128, 4 * sizeof(BlockQ8));
    row("q8_0", 32, 34);
    row("nvfp4", 16, sizeof(BlockNvFp4));
    row("nvfp4", 128, 8 * sizeof(BlockNvFp4));
    row("nvfp4", 16, 9);
    row("nvfp4", 576, 324);
}

void ElementTypeTest::published()
{
    QFETCH(QString, name);
    QFETCH(qint64, width);
    QFETCH(qint64, bytes);
    const std::optional<ElementType> type = elementTypeFromName(name.toStdString());
    QVERIFY(type);
    QCOMPARE(qint64 {rowBytes(*type, width)}, bytes);
}

void ElementTypeTest::everyWidth_data()
{
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("bits");
    QTest::addColumn<int>("block");
    QTest::addColumn<int>("scaleBytes");
    const auto row = [](ElementType type, int bits, int block, int scaleBytes) {
        QTest::newRow(factsOf(type).name.data()) << static_cast<int>(type) << bits << block << scaleBytes;
    };
    row(ElementType::Fp32, 32, 0, 0);
    row(ElementType::Fp16, 16, 0, 0);
    row(ElementType::Bf16, 16, 0, 0);
    row(ElementType::Fp8E4M3, 8, 0, 0);
    row(ElementType::Fp8E5M2, 8, 0, 0);
    row(ElementType::Int8, 8, 0, 0);
    row(ElementType::NvFp4, 4, 16, 1);
    row(ElementType::Q8_0, 8, 32, 2);
}

void ElementTypeTest::everyWidth()
{
    QFETCH(int, type);
    QFETCH(int, bits);
    QFETCH(int, block);
    QFETCH(int, scaleBytes);
    for (std::int64_t width = 0; width <= 1'100; ++width)
        QCOMPARE(rowBytes(static_cast<ElementType>(type), width), countedBytes(width, bits, block, scaleBytes));
}

void ElementTypeTest::asADerivation()
{
    std::mt19937_64 random(1);
    const auto source = std::make_shared<const Source>(Source {Source::Kind::File, "config.json", "/dtype"});
    for (const ElementType type : allTypes) {
        for (int i = 0; i < 300; ++i) {
            const auto width = static_cast<std::int64_t>(random() % 1'000'000 + 1);
            const Quantity bytes = rowBytes(type, input("width", width, Unit::Element, Source {}), source);
            QVERIFY(bytes.ok() && bytes.isInteger());
            QCOMPARE(bytes.integer(), rowBytes(type, width));
        }
        // What the element type contributes carries the source that was given.
        const Quantity bytes = rowBytes(type, input("width", std::int64_t {128}, Unit::Element, Source {}), source);
        int fromTheType = 0;
        for (const Derivation& leaf : inputsOf(bytes.derivation())) {
            if (leaf->name == "width" || leaf->name.empty())
                continue;
            QVERIFY(leaf->source == source);
            QVERIFY2(leaf->name.find(factsOf(type).name) != std::string::npos, leaf->name.c_str());
            ++fromTheType;
        }
        QVERIFY(fromTheType >= 1);
    }
    const Quantity huge = input("width", std::numeric_limits<std::int64_t>::max(), Unit::Element, Source {});
    QVERIFY(!rowBytes(ElementType::Bf16, huge, source).ok());
    QVERIFY(!rowBytes(ElementType::NvFp4, huge, source).ok());
}

void ElementTypeTest::names()
{
    std::set<std::string_view> seen;
    for (const ElementType type : allTypes) {
        const ElementTypeFacts& facts = factsOf(type);
        QVERIFY(facts.type == type);
        QVERIFY(elementTypeFromName(facts.name) == type);
        QCOMPARE(elementTypeNames()[static_cast<std::size_t>(type)], facts.name);
        seen.insert(facts.name);
    }
    QCOMPARE(seen.size(), std::size(allTypes));
    QCOMPARE(elementTypeNames().size(), std::size(allTypes) + 1);
    QVERIFY(elementTypeNames().front().empty());
    for (const char* bad : {"", "BF16", "bf16 ", "fp4", "float16"})
        QVERIFY2(!elementTypeFromName(bad), bad);
}

QTEST_APPLESS_MAIN(ElementTypeTest)
#include "tst_element_type.moc"
