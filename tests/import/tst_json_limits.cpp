// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/json.h"

#include <QCryptographicHash>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

// Counts what is asked of the heap, so that "bounded work" is a number and not a stop-watch.
static std::atomic<std::size_t> allocatedBytes {0};

void* operator new(std::size_t size)
{
    allocatedBytes += size;
    if (void* memory = std::malloc(size == 0 ? 1 : size))
        return memory;
    throw std::bad_alloc();
}

void operator delete(void* memory) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}

using namespace kvw;

namespace {

/// Bytes that `work` takes from the heap in all, freed ones included.
template <typename Work>
std::size_t allocatedBy(const Work& work)
{
    const std::size_t before = allocatedBytes;
    work();
    return allocatedBytes - before;
}

QString q(const std::string& text)
{
    return QString::fromStdString(text);
}

JsonLimits limitsOf(std::size_t bytes, std::size_t depth, std::size_t values)
{
    return {bytes, depth, values};
}

std::string configText()
{
    QFile file(qEnvironmentVariable("KVW_SOURCE_DIR") + QStringLiteral("/tests/data/import/gpt_oss_120b.json"));
    return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
}

} // namespace

class JsonLimitsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void truncations();
    void deepNesting();
    void hugeNesting();
    void manyValues();
    void files();
    void fileErrors();
};

void JsonLimitsTest::truncations()
{
    const std::string text = configText();
    QVERIFY(text.size() > 500);
    QVERIFY(parseJson(text, "t.json").ok());
    const std::size_t end = text.find_last_of('}');
    for (std::size_t size = 0; size <= end; ++size) {
        std::size_t allocated = 0;
        bool ok = true;
        std::string code;
        allocated = allocatedBy([&] {
            const auto document = parseJson(std::string_view(text).substr(0, size), "t.json");
            ok = document.ok();
            code = ok ? "" : document.error().code;
        });
        QVERIFY2(!ok, std::to_string(size).c_str());
        QCOMPARE(q(code), QStringLiteral("json.syntax"));
        QVERIFY2(allocated < 200 * text.size(), std::to_string(allocated).c_str());
    }
}

void JsonLimitsTest::deepNesting()
{
    const std::size_t depth = 100'000;
    const std::string arrays = std::string(depth, '[') + std::string(depth, ']');
    std::string objects;
    for (std::size_t i = 0; i < depth; ++i)
        objects += "{\"a\":";
    objects += "1" + std::string(depth, '}');
    for (const std::string& text : {arrays, objects}) {
        const auto refused = parseJson(text, "t.json");
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, std::string("json.depth"));
        QVERIFY(refused.error().where.at.starts_with("/"));
        // A caller may allow more: neither building nor destroying the tree recurses.
        const auto allowed = parseJson(text, "t.json", limitsOf(text.size(), depth, 2 * depth));
        QVERIFY(allowed.ok());
        QVERIFY(!parseJson(text, "t.json", limitsOf(text.size(), depth - 1, 2 * depth)).ok());
    }
}

void JsonLimitsTest::hugeNesting()
{
    const std::string text(100'000'000, '[');
    std::string code;
    const auto parse = [&](const JsonLimits& limits) {
        return allocatedBy([&] { code = parseJson(text, "t.json", limits).error().code; });
    };
    const std::size_t byDepth = parse(limitsOf(text.size(), 64, 4'000'000));
    QCOMPARE(code, std::string("json.depth"));
    QVERIFY2(byDepth < 200'000, std::to_string(byDepth).c_str());
    const std::size_t bySize = parse({});
    QCOMPARE(code, std::string("json.size"));
    QVERIFY2(bySize < 10'000, std::to_string(bySize).c_str());
}

void JsonLimitsTest::manyValues()
{
    std::string text = "[0";
    for (int i = 1; i < 1000; ++i)
        text += ",0";
    text += "]";
    QVERIFY(parseJson(text, "t.json", limitsOf(10'000, 64, 1001)).ok());
    const auto refused = parseJson(text, "t.json", limitsOf(10'000, 64, 1000));
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().where.at, std::string("/999"));
}

void JsonLimitsTest::files()
{
    QTemporaryDir folder;
    QVERIFY(folder.isValid());
    const QByteArray text = "{\"k\": [1, 2, 3]}\n";
    const QString path = folder.filePath(QStringLiteral("a b.json"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
    file.close();

    const auto document = readJsonFile(path.toStdString());
    QVERIFY2(document.ok(), document.ok() ? "" : document.error().text().c_str());
    QCOMPARE(q(document->file), path);
    QCOMPARE(
        q(document->sha256), QString::fromLatin1(QCryptographicHash::hash(text, QCryptographicHash::Sha256).toHex()));
    QCOMPARE(JsonView(*document).find("k")->size(), std::size_t {3});

    JsonLimits exact;
    exact.bytes = static_cast<std::size_t>(text.size());
    QVERIFY(readJsonFile(path.toStdString(), exact).ok());
    --exact.bytes;
    const auto tooLarge = readJsonFile(path.toStdString(), exact);
    QCOMPARE(tooLarge.error().code, std::string("json.size"));
    exact.bytes = std::numeric_limits<std::size_t>::max();
    QVERIFY(readJsonFile(path.toStdString(), exact).ok());
}

void JsonLimitsTest::fileErrors()
{
    QTemporaryDir folder;
    QVERIFY(folder.isValid());
    const auto missing = readJsonFile(folder.filePath(QStringLiteral("none.json")).toStdString());
    QCOMPARE(missing.error().code, std::string("io.open"));
    QVERIFY2(missing.error().message.find("No such file") != std::string::npos, missing.error().message.c_str());
    const auto directory = readJsonFile(folder.path().toStdString());
    QCOMPARE(directory.error().code, std::string("io.read"));
    QVERIFY2(directory.error().message.find("directory") != std::string::npos, directory.error().message.c_str());
    QCOMPARE(q(directory.error().where.file), folder.path());

    // A file beyond the limit is not read: its size is enough. What has no size is read up to the limit.
    QFile large(folder.filePath(QStringLiteral("large.json")));
    QVERIFY(large.open(QIODevice::WriteOnly));
    QVERIFY(large.resize(qint64 {1} << 30));
    large.close();
    std::string code;
    const std::size_t sparse = allocatedBy([&] { code = readJsonFile(large.fileName().toStdString()).error().code; });
    QCOMPARE(code, std::string("json.size"));
    QVERIFY2(sparse < 10'000, std::to_string(sparse).c_str());
    JsonLimits small;
    small.bytes = 1'000'000;
    const std::size_t endless = allocatedBy([&] { code = readJsonFile("/dev/zero", small).error().code; });
    QCOMPARE(code, std::string("json.size"));
    QVERIFY2(endless < 8 * small.bytes, std::to_string(endless).c_str());
    QCOMPARE(readJsonFile("/dev/null").error().code, std::string("json.syntax"));
}

QTEST_APPLESS_MAIN(JsonLimitsTest)
#include "tst_json_limits.moc"
