// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// One safetensors file: types, offsets, and files that lie about themselves.

#include "import/safetensors.h"
#include "spec_text.h"
#include "support/safetensors_writer.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <random>

using namespace kvw;
using namespace kvw::test;

namespace {

Result<SafetensorsHeader> read(const std::string& bytes, const SafetensorsLimits& limits = {})
{
    ByteReader reader(bytes, "t.safetensors");
    return readSafetensors(
        reader, [](const SafetensorsTensor&) { return Result<void> {}; }, limits);
}

QString failureOf(const std::string& bytes, const SafetensorsLimits& limits = {})
{
    const auto header = read(bytes, limits);
    return header ? QStringLiteral("read") : q(header.error().code) + u' ' + q(header.error().where.at);
}

/// One tensor "x", described as given.
std::string described(const std::string& fields)
{
    return SafetensorsWriter().raw("\"x\":{" + fields + "}").header();
}

} // namespace

class SafetensorsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void types_data();
    void types();
    void tensors();
    void anyOrder();
    void hostile_data();
    void hostile();
    void everyTruncation();
    void changedBytes();
    void caps();
};

void SafetensorsTest::types_data()
{
    QTest::addColumn<int>("bits");
    const std::pair<const char*, int> table[] = {{"BOOL", 8}, {"U8", 8}, {"I8", 8}, {"F8_E4M3", 8}, {"F8_E5M2", 8},
        {"F8_E8M0", 8}, {"I16", 16}, {"U16", 16}, {"F16", 16}, {"BF16", 16}, {"I32", 32}, {"U32", 32}, {"F32", 32},
        {"F64", 64}, {"I64", 64}, {"U64", 64}, {"C64", 64}, {"F4", 4}, {"F6_E2M3", 6}, {"F6_E3M2", 6}};
    for (const auto& [name, bits] : table)
        QTest::newRow(name) << bits;
}

void SafetensorsTest::types()
{
    QFETCH(int, bits);
    const std::string type = QTest::currentDataTag();
    const std::int64_t bytes = std::int64_t {16} * 5 * bits / 8;
    QCOMPARE(failureOf(SafetensorsWriter().tensor("x", type, {16, 5}, bytes).header()), QStringLiteral("read"));
    QCOMPARE(failureOf(SafetensorsWriter().tensor("x", type, {16, 5}, bytes + 1).header()),
        QStringLiteral("safetensors.bytes byte 9"));
}

void SafetensorsTest::tensors()
{
    SafetensorsWriter writer;
    writer.raw(R"("__metadata__":{"format":"pt","a":"{\"b\":[1,2]}"})");
    writer.tensor("model.layers.0.self_attn.k_proj.weight", "BF16", {1024, 4096}, 8'388'608);
    writer.tensor("scalar", "F32", {}, 4).tensor("nothing", "F32", {0, 7}, 0);
    writer.raw(
        R"("\u0061\u00e9\ud83d\ude00" : { "data_offsets" : [8388612 , 8388614], "more" : [null, {"x": -1.5e3}], )"
        R"("shape" : [ 2 ], "dtype" : "U8" } )");
    const std::string header = writer.header() + "   "; // bytes of the data are not looked at
    ByteReader reader(header, "t.safetensors");
    QStringList found;
    const auto result = readSafetensors(reader, [&](const SafetensorsTensor& tensor) -> Result<void> {
        found
            += QStringLiteral("%1 %2 %3 %4").arg(q(tensor.name), q(tensor.type)).arg(tensor.elements).arg(tensor.bytes);
        return {};
    });
    QVERIFY2(result.ok(), result ? "" : result.error().text().c_str());
    QCOMPARE(found.join(u';'),
        QStringLiteral("model.layers.0.self_attn.k_proj.weight BF16 4194304 8388608;scalar F32 1 4;nothing F32 0 0;"
                       "aé😀 U8 2 2"));
    QCOMPARE(result->tensorBytes, std::int64_t {8'388'614});
    QCOMPARE(result->dataEnd, writer.header().size() + 8'388'614);
    QCOMPARE(result->sha256, Sha256::hex(writer.header()));
    // A header may end with spaces.
    QCOMPARE(failureOf(SafetensorsWriter::framed(writer.json() + "      ")), QStringLiteral("read"));
}

void SafetensorsTest::anyOrder()
{
    std::mt19937 dice(11);
    for (int round = 0; round < 50; ++round) {
        std::vector<std::int64_t> sizes;
        for (int i = 0; i < 20; ++i)
            sizes.push_back(static_cast<std::int64_t>(dice() % 100));
        std::vector<std::pair<std::int64_t, std::int64_t>> spans;
        std::int64_t at = 0;
        for (const std::int64_t size : sizes) {
            spans.emplace_back(at, at + size);
            at += size;
        }
        std::shuffle(spans.begin(), spans.end(), dice);
        SafetensorsWriter writer;
        for (std::size_t i = 0; i < spans.size(); ++i)
            writer.tensorAt(
                "t" + std::to_string(i), "U8", {spans[i].second - spans[i].first}, spans[i].first, spans[i].second);
        const auto header = read(writer.header());
        QVERIFY2(header.ok(), header ? "" : header.error().text().c_str());
        QCOMPARE(header->tensorBytes, at);
    }
}

void SafetensorsTest::hostile_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("failure");
    const auto add = [](const char* name, const std::string& bytes, const char* failure) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes) << QString::fromUtf8(failure);
    };
    const auto length = [](std::uint64_t value) { return SafetensorsWriter::lengthOf(value); };
    add("empty", {}, "file.truncated byte 0");
    add("7 bytes", std::string(7, '\0'), "file.truncated byte 0");
    add("header longer than the file", length(100) + "{}", "safetensors.header_length byte 0");
    add("header of 2^63 bytes", length(std::uint64_t {1} << 63) + "{}", "safetensors.header_length byte 0");
    add("header of 2^64 - 1 bytes", length(UINT64_MAX) + "{}", "safetensors.header_length byte 0");
    add("header of 0 bytes", length(0), "safetensors.header_length byte 0");
    add("no object", length(2) + "[]", "safetensors.header byte 8");
    add("space before the object", length(3) + " {}", "safetensors.header byte 8");
    add("more after the object", length(4) + "{}{}", "json.syntax byte 10");
    add("object not closed", length(2) + "{ ", "json.syntax byte 10");
    add("string without end", length(6) + "{\"abcd", "json.syntax byte 14");
    add("control character", length(8) + "{\"a\nb\":1", "json.syntax byte 11");
    add("bad escape", length(8) + "{\"a\\qb\":", "json.syntax byte 13");
    add("half of a pair", length(11) + "{\"\\ud800x\":", "json.syntax byte 17");
    add("no UTF-8",
        length(8)
            + "{\"a\xff"
              "b\":1",
        "json.syntax byte 9");
    add("tensor that is no object", SafetensorsWriter().raw("\"x\":5").header(), "json.syntax byte 13");
    add("no type", described(R"("shape":[1],"data_offsets":[0,1])"), "safetensors.header byte 9");
    add("a field twice", described(R"("dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1])"),
        "json.duplicate_key byte 27");
    add("unknown type", SafetensorsWriter().tensor("x", "F7", {1}, 1).header(), "safetensors.type byte 9");
    add("negative dimension", described(R"("dtype":"U8","shape":[-1],"data_offsets":[0,1])"), "json.syntax byte 36");
    add("dimension that is no whole number", described(R"("dtype":"U8","shape":[1.5],"data_offsets":[0,1])"),
        "json.syntax byte 37");
    add("dimension of 10^30",
        described(R"("dtype":"U8","shape":[1000000000000000000000000000000],"data_offsets":[0,1])"),
        "json.range byte 36");
    add("NaN", described(R"("dtype":"U8","shape":[NaN],"data_offsets":[0,1])"), "json.syntax byte 36");
    add("product of dimensions overflows",
        SafetensorsWriter().tensor("x", "U8", {std::int64_t {1} << 32, std::int64_t {1} << 32}, 1).header(),
        "safetensors.shape byte 9");
    add("half bytes", SafetensorsWriter().tensor("x", "F4", {3}, 1).header(), "safetensors.shape byte 9");
    add("end before start", SafetensorsWriter().tensorAt("x", "U8", {1}, 1, 0).header(), "safetensors.bytes byte 9");
    const SafetensorsWriter two = SafetensorsWriter().tensor("x", "U8", {4}, 4);
    add("overlap", SafetensorsWriter(two).tensorAt("y", "U8", {4}, 2, 6).header(), "safetensors.overlap byte 61");
    add("same place", SafetensorsWriter(two).tensorAt("y", "U8", {4}, 0, 4).header(), "safetensors.overlap byte 61");
    add("hole", SafetensorsWriter(two).tensorAt("y", "U8", {4}, 5, 9).header(), "safetensors.hole byte 61");
    add("hole at the start", SafetensorsWriter().tensorAt("x", "U8", {1}, 1, 2).header(), "safetensors.hole byte 9");
    add("same name twice", SafetensorsWriter(two).tensor("x", "U8", {4}, 4).header(),
        "safetensors.duplicate_tensor byte 61");
    add("10^5 arrays inside one another",
        SafetensorsWriter().raw("\"__metadata__\":" + std::string(100'000, '[')).header(), "json.depth byte 88");
    add("a pointer of Git LFS", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n",
        "safetensors.header_length byte 0");
}

void SafetensorsTest::hostile()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QString, failure);
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(failureOf(bytes.toStdString()), failure);
    QVERIFY(timer.elapsed() < 200);
}

void SafetensorsTest::everyTruncation()
{
    SafetensorsWriter writer;
    writer.raw(R"("__metadata__":{"a":"b"})").tensor("x", "F32", {4, 4}, 64).tensor("y", "U8", {3}, 3);
    const std::string json = writer.json();
    for (std::size_t size = 0; size < json.size(); ++size)
        QVERIFY2(
            failureOf(SafetensorsWriter::framed(json.substr(0, size))) != u"read", qPrintable(QString::number(size)));
    const std::string whole = writer.header();
    for (std::size_t size = 0; size < whole.size(); ++size)
        QVERIFY(failureOf(whole.substr(0, size)) != u"read");
}

void SafetensorsTest::changedBytes()
{
    SafetensorsWriter writer;
    writer.raw(R"("__metadata__":{"a":"b"})").tensor("x", "F32", {4, 4}, 64).tensor("y", "U8", {3}, 3);
    const std::string whole = writer.header();
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (int byte = 0; byte < 256; ++byte) {
            std::string changed = whole;
            changed[at] = static_cast<char>(byte);
            const auto header = read(changed);
            if (!header)
                QVERIFY(!header.error().code.empty() && header.error().where.at.starts_with("byte "));
        }
    }
}

void SafetensorsTest::caps()
{
    SafetensorsWriter writer;
    writer.tensor("x", "U8", {4}, 4).tensor("yy", "U8", {4, 1, 1}, 4);
    SafetensorsLimits limits;
    limits.tensors = 1;
    QCOMPARE(failureOf(writer.header(), limits), QStringLiteral("safetensors.count byte 61"));
    limits = {};
    limits.headerBytes = writer.json().size() - 1;
    QCOMPARE(failureOf(writer.header(), limits), QStringLiteral("safetensors.header_length byte 0"));
    limits = {};
    limits.dimensions = 2;
    QVERIFY(failureOf(writer.header(), limits).startsWith(QStringLiteral("safetensors.shape")));
    limits = {};
    limits.nameBytes = 13;
    QCOMPARE(failureOf(writer.header(), limits), QStringLiteral("read"));
    QVERIFY(failureOf(SafetensorsWriter().tensor(std::string(14, 'x'), "U8", {1}, 1).header(), limits)
                .startsWith(QStringLiteral("json.size byte 9")));
}

QTEST_APPLESS_MAIN(SafetensorsTest)
#include "tst_safetensors.moc"
