// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// The container alone: values, tensor table, byte orders, caps, and files that lie about themselves.

#include "import/gguf_file.h"
#include "spec_text.h"
#include "support/gguf_writer.h"
#include "support/peak_memory.h"

#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <functional>

using namespace kvw;
using namespace kvw::test;

namespace {

struct Read
{
    Result<GgufHeader> header;
    std::vector<std::pair<std::string, std::int64_t>> tensors; ///< names and bytes
};

Read read(const std::string& bytes, const GgufLimits& limits = {})
{
    ByteReader reader(bytes, "t.gguf");
    Read out {GgufHeader {}, {}};
    out.header = readGguf(
        reader,
        [&](const GgufTensor& tensor, const GgufHeader&) -> Result<void> {
            out.tensors.emplace_back(tensor.name, tensor.bytes);
            return {};
        },
        limits);
    return out;
}

QString failureOf(const std::string& bytes, const GgufLimits& limits = {})
{
    const Read out = read(bytes, limits);
    return out.header ? QStringLiteral("read") : q(out.header.error().code) + u' ' + q(out.header.error().where.at);
}

/// A file of its own bytes and then a hole.
bool writeSparse(const QString& path, const std::string& start, std::uint64_t size)
{
    QFile file(path);
    return file.open(QIODevice::WriteOnly)
        && file.write(start.data(), static_cast<qint64>(start.size())) == static_cast<qint64>(start.size())
        && file.resize(static_cast<qint64>(size));
}

GgufWriter smallModel(bool bigEndian = false)
{
    GgufWriter out("llama", bigEndian);
    out.u32("block_count", 2).u32("embedding_length", 64).u32("attention.head_count", 8);
    return out;
}

} // namespace

class GgufReaderTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void values();
    void tensorTypes_data();
    void tensorTypes();
    void hostile_data();
    void hostile();
    void everyTruncation();
    void changedBytes();
    void caps();
    void tokenizer();
    void doesNotReadTensors();
    void split();
    void splitRefused_data();
    void splitRefused();
};

void GgufReaderTest::values()
{
    for (const bool bigEndian : {false, true}) {
        GgufWriter writer("llama", bigEndian);
        writer.u16("a", 65'535).u32("b", 4'000'000'000U).i32("c", -7).f32("d", 1.5F).boolean("e", true);
        writer.u64("f", UINT64_MAX).u64("g", INT64_MAX).u32s("h", {1, 2, 3}).bools("i", {0, 1}).texts("j", {"x", "yz"});
        writer.text("k", "text").text("l", std::string(5000, 'x')).u32s("m", std::vector<std::uint32_t>(20'000, 1));
        writer.u32s("tokenizer.ggml.token_type", {1, 2});
        const Read out = read(writer.header());
        QVERIFY2(out.header.ok(), out.header ? "" : out.header.error().text().c_str());
        const auto& values = out.header->values;
        QCOMPARE(out.header->isBigEndian, bigEndian);
        QCOMPARE(out.header->version, 3U);
        QCOMPARE(values.at("llama.a").integers, std::vector<std::int64_t> {65'535});
        QCOMPARE(values.at("llama.b").integers, std::vector<std::int64_t> {4'000'000'000});
        QCOMPARE(values.at("llama.c").integers, std::vector<std::int64_t> {-7});
        QCOMPARE(values.at("llama.d").reals, std::vector<double> {1.5});
        QCOMPARE(values.at("llama.e").integers, std::vector<std::int64_t> {1});
        QVERIFY(values.at("llama.f").integers.empty()); // does not fit
        QCOMPARE(values.at("llama.g").integers, std::vector<std::int64_t> {INT64_MAX});
        QCOMPARE(values.at("llama.h").integers, (std::vector<std::int64_t> {1, 2, 3}));
        QCOMPARE(values.at("llama.i").integers, (std::vector<std::int64_t> {0, 1}));
        QVERIFY(values.at("llama.j").count == 2 && !values.at("llama.j").isKept);
        QCOMPARE(values.at("llama.k").text, std::string("text"));
        QVERIFY(!values.at("llama.l").isKept && values.at("llama.l").text.empty());
        QVERIFY(!values.at("llama.m").isKept && values.at("llama.m").count == 20'000);
        QVERIFY(!values.at("tokenizer.ggml.token_type").isKept);
    }
}

void GgufReaderTest::tensorTypes_data()
{
    QTest::addColumn<std::uint32_t>("id");
    QTest::addColumn<int>("bits1000"); // of an element, times 1000 ÷ 8, by the published bits per weight
    const std::pair<std::uint32_t, double> table[]
        = {{0, 32}, {1, 16}, {30, 16}, {28, 64}, {24, 8}, {25, 16}, {26, 32}, {27, 64}, {2, 4.5}, {3, 5}, {6, 5.5},
            {7, 6}, {8, 8.5}, {9, 9}, {10, 2.625}, {11, 3.4375}, {12, 4.5}, {13, 5.5}, {14, 6.5625}, {15, 9.125},
            {16, 2.0625}, {17, 2.3125}, {18, 3.0625}, {19, 1.5625}, {20, 4.5}, {21, 3.4375}, {22, 2.5625}, {23, 4.25},
            {29, 1.75}, {34, 1.6875}, {35, 2.0625}, {39, 4.25}, {40, 4.5}, {41, 1.125}, {42, 2.25}};
    for (const auto& [id, bits] : table)
        QTest::addRow("%u", id) << id << static_cast<int>(bits * 10'000);
}

void GgufReaderTest::tensorTypes()
{
    QFETCH(std::uint32_t, id);
    QFETCH(int, bits1000);
    GgufWriter writer = smallModel();
    writer.tensor("x", {512, 5, 3}, id, 0);
    const Read out = read(writer.header());
    QVERIFY2(out.header.ok(), out.header ? "" : out.header.error().text().c_str());
    QCOMPARE(out.tensors.at(0).second * 80'000, std::int64_t {512} * 5 * 3 * bits1000);
    QCOMPARE(out.header->tensorBytes, out.tensors.at(0).second);
}

void GgufReaderTest::hostile_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("failure");
    const auto add = [](const char* name, const std::string& bytes, const char* failure) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes) << QString::fromUtf8(failure);
    };
    add("empty", {}, "file.truncated byte 0");
    add("other magic", "GGML" + std::string(60, '\0'), "gguf.magic byte 0");
    add("version 1", GgufWriter("llama", false, 1).header(), "gguf.version byte 4");
    add("version 4, big endian", GgufWriter("llama", true, 4).header(), "gguf.version byte 4");
    add("version 0", GgufWriter("llama", false, 0).header(), "gguf.version byte 4");
    GgufWriter many = smallModel();
    many.claim(std::uint64_t {1} << 63, 4);
    add("2^63 tensors", many.header(), "gguf.count byte 8");
    many.claim(0, std::uint64_t {1} << 63);
    add("2^63 values", many.header(), "gguf.count byte 16");
    many.claim(0, 5);
    add("a value more than there is", many.header(), "file.truncated byte 182");
    many.claim(1, 4);
    add("a tensor more than there is", many.header(), "gguf.count byte 8");
    const auto number = [](std::uint64_t value) {
        std::string out;
        GgufWriter("").put(out, value);
        return out;
    };
    const auto half = [](std::uint32_t value) {
        std::string out;
        GgufWriter("").put(out, value);
        return out;
    };
    // The first value after general.architecture: its key starts at byte 24 + 8 + 20 + 4 + 8 + 5 = 69 and its
    // value at 69 + 8 + 7 + 4 = 88.
    const auto value
        = [&](std::uint32_t type, const std::string& raw) { return GgufWriter("llama").raw("x", type, raw).header(); };
    add("type 13", value(13, half(0)), "gguf.type byte 84");
    add("string beyond the file", value(8, number(1000) + "abc"), "gguf.string byte 88");
    add("string of 2^64 - 1", value(8, number(UINT64_MAX) + "abc"), "gguf.string byte 88");
    add("array of arrays", value(9, half(9) + number(1) + half(4) + number(0)), "gguf.nested_array byte 88");
    add("array of 2^62 numbers", value(9, half(4) + number(std::uint64_t {1} << 62)), "gguf.count byte 92");
    add("array of 2^61 strings", value(9, half(8) + number(std::uint64_t {1} << 61)), "gguf.count byte 92");
    add("array with a string beyond the file", value(9, half(8) + number(1) + number(99)), "gguf.string byte 100");
    add("array of type 99", value(9, half(99) + number(1)), "gguf.type byte 88");
    add("same key twice", GgufWriter("llama").u32("x", 1).u32("x", 2).header(), "gguf.duplicate_key byte 92");
    add("empty key", std::string(GgufWriter("llama").header()).replace(16, 1, 1, 2) + number(0) + half(4) + half(1),
        "gguf.key byte 69");
    add("key of 2^63",
        std::string(GgufWriter("llama").header()).replace(16, 1, 1, 2) + number(std::uint64_t {1} << 63) + half(4)
            + half(1),
        "gguf.key byte 69");
    add("alignment 0", GgufWriter("llama").u32("general.alignment", 0).header(), "gguf.alignment byte 98");
    add("alignment 24", GgufWriter("llama").u32("general.alignment", 24).header(), "gguf.alignment byte 98");
    const auto tensor = [](const std::string& name, const std::vector<std::int64_t>& dims, std::uint32_t type) {
        return GgufWriter("llama").tensorAt(name, dims, type, 0).header();
    };
    add("name of 64 bytes", tensor(std::string(64, 'x'), {32}, 0), "gguf.tensor_name byte 69");
    add("5 dimensions", tensor("x", {1, 1, 1, 1, 1}, 0), "gguf.dimensions byte 78");
    add("negative dimension", tensor("x", {-4, 4}, 0), "gguf.dimensions byte 78");
    add("product of dimensions overflows", tensor("x", {std::int64_t {1} << 32, std::int64_t {1} << 32}, 0),
        "gguf.dimensions byte 78");
    add("bytes overflow", tensor("x", {std::int64_t {1} << 62}, 0), "gguf.dimensions byte 69");
    add("type 4, given up", tensor("x", {32}, 4), "gguf.tensor_type byte 90");
    add("type 1000", tensor("x", {32}, 1000), "gguf.tensor_type byte 90");
    add("row of no whole blocks", tensor("x", {33}, 2), "gguf.row byte 69");
    add("offset", GgufWriter("llama").tensorAt("x", {32}, 0, 32).header(), "gguf.offset byte 94");
    add("overlap", GgufWriter("llama").tensor("x", {32}, 0, 128).tensorAt("y", {32}, 0, 64).header(),
        "gguf.offset byte 127");
}

void GgufReaderTest::hostile()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QString, failure);
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(failureOf(bytes.toStdString()), failure);
    QVERIFY(timer.elapsed() < 100);
}

void GgufReaderTest::everyTruncation()
{
    GgufWriter writer = smallModel();
    writer.texts("tokenizer.ggml.tokens", {"a", "b"}).u32s("x", {1, 2, 3});
    writer.tensor("blk.0.attn_k.weight", {64, 64}, 1, 8192).tensor("output.weight", {64, 100}, 0, 25'600);
    const std::string whole = writer.header();
    QCOMPARE(failureOf(whole), QStringLiteral("read"));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const QString failure = failureOf(whole.substr(0, size));
        QVERIFY2(failure != u"read", qPrintable(QString::number(size)));
        QVERIFY(failure.section(QStringLiteral("byte "), 1).toULongLong() <= size);
    }
}

void GgufReaderTest::changedBytes()
{
    GgufWriter writer = smallModel();
    writer.texts("tokenizer.ggml.tokens", {"a", "b"}).u32s("x", {1, 2, 3}).bools("y", {0, 1});
    writer.tensor("blk.0.attn_k.weight", {64, 64}, 1, 8192).tensor("output.weight", {64, 100}, 0, 25'600);
    const std::string whole = writer.header();
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const unsigned char byte : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
            std::string changed = whole;
            changed[at] = static_cast<char>(byte);
            ByteReader reader(changed, "t.gguf");
            const auto model = importGguf(reader); // an outcome, and soon
            QVERIFY(model.ok() || !model.error().code.empty());
        }
    }
}

void GgufReaderTest::caps()
{
    GgufWriter writer = smallModel();
    writer.tensor("x", {64}, 0, 256).tensor("y", {64}, 0, 256);
    GgufLimits limits;
    limits.tensors = 1;
    QCOMPARE(failureOf(writer.header(), limits), QStringLiteral("gguf.count byte 8"));
    limits = {};
    limits.values = 3;
    QCOMPARE(failureOf(writer.header(), limits), QStringLiteral("gguf.count byte 16"));
    limits = {};
    limits.headerBytes = writer.header().size() - 1;
    QVERIFY(failureOf(writer.header(), limits).startsWith(QStringLiteral("gguf.size")));
    limits.headerBytes += 1;
    QCOMPARE(failureOf(writer.header(), limits), QStringLiteral("read"));
}

// A vocabulary of 12 MiB goes by without being kept.
void GgufReaderTest::tokenizer()
{
    QTemporaryDir folder;
    std::string header;
    {
        GgufWriter writer = smallModel();
        writer.texts("tokenizer.ggml.tokens", std::vector<std::string>(600'000, "a token of it"));
        writer.tensor("output.weight", {64, 100}, 0, 25'600);
        header = writer.header();
        QVERIFY(header.size() > 12'000'000);
        QVERIFY(writeSparse(folder.filePath(QStringLiteral("m.gguf")), header, writer.fileBytes()));
    }
    const std::string path = folder.filePath(QStringLiteral("m.gguf")).toStdString();
    const PeakMemory memory;
    const auto model = importGguf(path);
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    QVERIFY2(!memory.works() || memory.kibibytesMore() < 2000, qPrintable(QString::number(memory.kibibytesMore())));
    QCOMPARE(model->vocabulary.value_or(0), std::int64_t {600'000});
    QCOMPARE(model->weightBytes.value_or(0), std::int64_t {25'600});
    QCOMPARE(model->provenance.find("weightBytes")->sha256, Sha256::hex(header));
}

// Tensors of 700 GB that are not there: the header alone is read.
void GgufReaderTest::doesNotReadTensors()
{
    QTemporaryDir folder;
    GgufWriter writer = smallModel();
    for (int i = 0; i < 2; ++i)
        writer.tensor("blk." + std::to_string(i) + ".ffn_up.weight", {1'000'000, 175'000}, 1, 350'000'000'000);
    const QString path = folder.filePath(QStringLiteral("m.gguf"));
    if (!writeSparse(path, writer.header(), writer.fileBytes()))
        QSKIP("no sparse file of 700 GB can be made here");
    QElapsedTimer timer;
    timer.start();
    const auto model = importGguf(path.toStdString());
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    QVERIFY(timer.elapsed() < 1000);
    QCOMPARE(model->weightBytes.value_or(0), std::int64_t {700'000'000'000});
    QVERIFY(!diagnosticIds(*model).contains(QStringLiteral("import.file_incomplete")));
}

namespace {

/// A model in `count` parts, two tensors in each.
bool writeParts(const QTemporaryDir& folder, int count, const std::function<void(int, GgufWriter&)>& change = {})
{
    for (int part = 0; part < count; ++part) {
        GgufWriter writer = part == 0 ? smallModel() : GgufWriter("");
        writer.u16("split.no", static_cast<std::uint16_t>(part)).u16("split.count", static_cast<std::uint16_t>(count));
        writer.i32("split.tensors.count", 2 * count);
        const std::string prefix = "blk." + std::to_string(part % 2);
        writer.tensor(prefix + ".attn_k.weight", {64, 64}, 1, 8192)
            .tensor(prefix + ".ffn_up.weight", {64, 64}, 0, 16'384);
        if (change)
            change(part, writer);
        const QString name = QStringLiteral("m-%1-of-%2.gguf")
                                 .arg(part + 1, 5, 10, QLatin1Char('0'))
                                 .arg(count, 5, 10, QLatin1Char('0'));
        if (!writeSparse(folder.filePath(name), writer.header(), writer.fileBytes()))
            return false;
    }
    return true;
}

} // namespace

void GgufReaderTest::split()
{
    QTemporaryDir folder;
    QVERIFY(writeParts(folder, 3));
    QString first;
    for (const char* part : {"m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf", ""}) {
        const auto model = importModel(folder.filePath(QString::fromLatin1(part)).toStdString());
        QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
        QCOMPARE(model->weightBytes.value_or(0), std::int64_t {3 * (8192 + 16'384)});
        const QString groups = groupsText(*model);
        QCOMPARE(groups, QStringLiteral("full 2 [0-1] k 8x8 v 8x8"));
        const QString digest = q(model->provenance.find("weightBytes")->sha256);
        QVERIFY(first.isEmpty() || digest == first);
        first = digest;
    }
}

void GgufReaderTest::splitRefused_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("failure");
    QTest::newRow("a part is absent") << 0 << "import.split m-00002-of-00003.gguf";
    QTest::newRow("a part of another place") << 1 << "import.split m-00002-of-00003.gguf";
    QTest::newRow("other number of tensors") << 2 << "import.split m-00001-of-00003.gguf";
    QTest::newRow("no place stated") << 3 << "import.split m-00001-of-00003.gguf";
    QTest::newRow("a part is damaged") << 4 << "gguf.magic m-00003-of-00003.gguf";
}

void GgufReaderTest::splitRefused()
{
    QFETCH(int, kind);
    QFETCH(QString, failure);
    QTemporaryDir folder;
    QVERIFY(writeParts(folder, 3, [&](int part, GgufWriter& writer) {
        if (kind == 1 && part == 1)
            writer = GgufWriter("").u16("split.no", 2).u16("split.count", 3);
        if (kind == 2 && part == 2)
            writer.tensor("one.more", {64}, 0, 256);
        if (kind == 3 && part == 0)
            writer = smallModel();
    }));
    if (kind == 0)
        QVERIFY(QFile::remove(folder.filePath(QStringLiteral("m-00002-of-00003.gguf"))));
    if (kind == 4)
        QVERIFY(writeSparse(folder.filePath(QStringLiteral("m-00003-of-00003.gguf")), "nothing", 100));
    const auto model = importGguf(folder.filePath(QStringLiteral("m-00001-of-00003.gguf")).toStdString());
    QVERIFY(!model.ok());
    QCOMPARE(q(model.error().code) + u' ' + q(model.error().where.file).section(u'/', -1), failure);
}

QTEST_APPLESS_MAIN(GgufReaderTest)
#include "tst_gguf_reader.moc"
