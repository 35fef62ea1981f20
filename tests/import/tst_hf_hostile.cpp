// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// The fuzz program's work without libFuzzer, and files that are made to cost memory or time.

#include "spec_text.h"
#include "support/wire_mutation.h"

#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <random>

#include "../fuzz/hf_config.cpp"

using namespace kvw::test;

namespace {

void feed(const std::string& bytes)
{
    QCOMPARE(
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0); // aborts if not
}

const char* const values[] = {"-1", "0", "1e30", "NaN", "-Infinity", "9223372036854775807", "-9223372036854775808",
    "1000000", "\"x\"", "[]", "[[[[1]]]]", "{}", "null", "true", "[1,[2],{\"a\":3}]", "1.5"};

} // namespace

class HfHostileTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyFieldInEveryFamily();
    void randomFiles();
    void damagedFiles();
    void hugeFiles_data();
    void hugeFiles();
    void longLists();
    void tooLargeAFile();
};

void HfHostileTest::everyFieldInEveryFamily()
{
    for (std::size_t choice = 0; choice < types.size(); ++choice) {
        for (const char* member : members) {
            const std::string text(member);
            const std::string name = text.substr(0, text.find(':') + 1);
            feed(std::string(1, static_cast<char>(choice)) + R"("num_key_value_heads":2,)" + text);
            for (const char* value : values) {
                const std::string others = name.find("num_hidden_layers") == std::string::npos
                    ? R"(,"num_hidden_layers":4,"decoder_layers":2)"
                    : "";
                feed(std::string(1, static_cast<char>(choice)) + name + value + others);
            }
        }
    }
}

void HfHostileTest::randomFiles()
{
    std::mt19937 dice(71);
    for (int round = 0; round < 3000; ++round) {
        std::string text(1, static_cast<char>(dice() % types.size()));
        for (const char* member : members) {
            if (dice() % 3 != 0)
                continue;
            std::string one(member);
            if (dice() % 6 == 0)
                one = one.substr(0, one.find(':') + 1) + values[dice() % std::size(values)];
            text += (text.size() == 1 ? "" : ",") + one;
        }
        feed(text);
    }
}

void HfHostileTest::damagedFiles()
{
    std::mt19937 dice(73);
    std::string all;
    for (const char* member : members)
        all += (all.empty() ? "" : ",") + std::string(member);
    for (int round = 0; round < 1500; ++round)
        feed(std::string(1, static_cast<char>(dice() % 256)) + mutated(all, dice));
}

void HfHostileTest::hugeFiles_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("outcome");
    const auto add = [](const char* name, const QByteArray& text, const char* outcome) {
        QTest::newRow(name) << text << QString::fromLatin1(outcome);
    };
    const auto repeated = [](const char* part, int times) {
        QByteArray out;
        for (int i = 0; i < times; ++i)
            out += (i ? "," : "") + QByteArray(part);
        return "[" + out + "]";
    };
    add("10^6 layers", config("llama").replace("\"num_hidden_layers\":4", "\"num_hidden_layers\":1000000"),
        "json.range /num_hidden_layers");
    add("10^6 layer types", shaped("llama", R"("layer_types":)" + repeated("\"full_attention\"", 1'000'000)),
        "import.inconsistent /layer_types");
    add("a pattern of 10^6 letters",
        R"({"model_type":"nemotron_h","hybrid_override_pattern":")" + QByteArray(1'000'000, 'M') + "\"}",
        "json.range /hybrid_override_pattern");
    add("arrays of arrays", config("deepseek_v4", R"("compress_ratios":)" + QByteArray(60, '[') + QByteArray(60, ']')),
        "import.inconsistent /compress_ratios");
    add("arrays too deep", shaped("llama", R"("layer_types":)" + QByteArray(1000, '[') + QByteArray(1000, ']')),
        "json.depth /layer_types");
    add(
        "10^6 settings of layers",
        [] {
            QByteArray text;
            for (int i = 0; i < 200'000; ++i)
                text += (i ? "," : "") + QByteArray("\"") + QByteArray::number(i) + "\":{\"head_dim\":8}";
            return shaped("gemma4_text", R"("sliding_window":16,"per_layer_config":{)" + text + "}");
        }(),
        "json.type /per_layer_config");
}

void HfHostileTest::hugeFiles()
{
    QFETCH(QByteArray, text);
    QElapsedTimer timer;
    timer.start();
    const QString found = outcome(importText(text));
    QTEST(
        found.startsWith(QStringLiteral("json.depth")) ? QStringLiteral("json.depth /layer_types") : found, "outcome");
    QVERIFY2(timer.elapsed() < 20'000, "took as long as if it had been read for its numbers");
}

// As many layers as are allowed, each of a shape of its own: refused before it costs anything.
void HfHostileTest::longLists()
{
    QByteArray kinds;
    QByteArray shapes;
    for (int i = 0; i < 10'000; ++i) {
        kinds += QByteArray(i ? "," : "") + (i % 2 ? "\"full_attention\"" : "\"sliding_attention\"");
        shapes += QByteArray(i ? "," : "") + "\"" + QByteArray::number(i)
            + "\":{\"head_dim\":" + QByteArray::number(i + 1) + "}";
    }
    QByteArray text = shaped(
        "gemma4_text", R"("sliding_window":16,"layer_types":[)" + kinds + R"(],"per_layer_config":{)" + shapes + "}");
    text.replace("\"num_hidden_layers\":4", "\"num_hidden_layers\":10000");
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(importText(text).error().code, std::string("import.unsupported"));
    text = shaped("gemma4_text", R"("sliding_window":16,"layer_types":[)" + kinds + "]");
    text.replace("\"num_hidden_layers\":4", "\"num_hidden_layers\":10000");
    const auto model = importText(text);
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    QCOMPARE(model->groups.at(0).layers + model->groups.at(1).layers, std::int64_t {10'000});
    QVERIFY(timer.elapsed() < 20'000);
}

void HfHostileTest::tooLargeAFile()
{
    QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("config.json")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    QVERIFY(file.resize(100'000'000)); // sparse
    file.close();
    QCOMPARE(importModel(folder.path().toStdString()).error().code, std::string("json.size"));
}

QTEST_APPLESS_MAIN(HfHostileTest)
#include "tst_hf_hostile.moc"
