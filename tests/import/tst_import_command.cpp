// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// kvw import over every form of a model: a config.json, a folder, safetensors, GGUF.

#include "support/gguf_writer.h"
#include "support/safetensors_writer.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using namespace kvw::test;

namespace {

struct Run
{
    int code = -1;
    QByteArray output;
    QByteArray log;
    QJsonObject json() const { return QJsonDocument::fromJson(output).object(); }
};

Run runKvw(const QStringList& arguments)
{
    QProcess process;
    process.start(qEnvironmentVariable("KVW_BINARY"), arguments);
    Run out;
    if (!process.waitForFinished(60'000) || process.exitStatus() != QProcess::NormalExit)
        return out;
    out.code = process.exitCode();
    out.output = process.readAllStandardOutput();
    out.log = process.readAllStandardError();
    return out;
}

bool write(const QString& path, const QByteArray& text)
{
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
}

} // namespace

class ImportCommandTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void forms_data();
    void forms();
    void asText();
    void asPlan();
    void refused_data();
    void refused();

private:
    QString path(const QString& name) const { return m_folder.filePath(name); }
    QTemporaryDir m_folder;
};

void ImportCommandTest::initTestCase()
{
    if (qEnvironmentVariable("KVW_BINARY").isEmpty())
        QSKIP("kvw is not built");
    QVERIFY(QDir().mkpath(path(QStringLiteral("checkpoint"))) && QDir().mkpath(path(QStringLiteral("gguf"))));
    QVERIFY(write(path(QStringLiteral("checkpoint/config.json")),
        R"({"model_type":"llama","vocab_size":10,"num_hidden_layers":2,"hidden_size":64,"num_attention_heads":8,)"
        R"("num_key_value_heads":2,"max_position_embeddings":1024,"torch_dtype":"bfloat16"})"));
    SafetensorsWriter weights;
    for (const char* layer : {"0", "1"}) {
        const std::string prefix = std::string("model.layers.") + layer + ".self_attn.";
        weights.tensor(prefix + "k_proj.weight", "BF16", {16, 64}, 2048);
        weights.tensor(prefix + "v_proj.weight", "BF16", {16, 64}, 2048);
    }
    weights.tensor("lm_head.weight", "F32", {10, 64}, 2560);
    QVERIFY(weights.write(path(QStringLiteral("checkpoint/model.safetensors")).toStdString()));

    GgufWriter gguf("llama");
    gguf.u32("block_count", 2).u32("embedding_length", 64).u32("context_length", 1024);
    gguf.u32("attention.head_count", 8).u32("attention.head_count_kv", 2).text("general.name", "Small");
    gguf.tensor("blk.0.attn_k.weight", {64, 16}, 1, 2048).tensor("output.weight", {64, 10}, 0, 2560);
    QFile file(path(QStringLiteral("gguf/small.gguf")));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(QByteArray::fromStdString(gguf.header())) > 0
        && file.resize(static_cast<qint64>(gguf.fileBytes())));
    QVERIFY(write(path(QStringLiteral("gguf/mmproj-small.gguf")), "not looked at"));
}

void ImportCommandTest::forms_data()
{
    QTest::addColumn<qint64>("weightBytes"); // -1: not known
    QTest::addColumn<QString>("architecture");
    QTest::newRow("checkpoint") << qint64 {10'752} << "llama";
    QTest::newRow("checkpoint/model.safetensors") << qint64 {10'752} << "llama";
    QTest::newRow("checkpoint/config.json") << qint64 {-1} << "llama";
    QTest::newRow("gguf/small.gguf") << qint64 {4608} << "llama";
    QTest::newRow("gguf") << qint64 {4608} << "llama";
}

void ImportCommandTest::forms()
{
    QFETCH(qint64, weightBytes);
    QFETCH(QString, architecture);
    const Run run = runKvw(
        {QStringLiteral("import"), path(QString::fromLatin1(QTest::currentDataTag())), QStringLiteral("--json")});
    QVERIFY2(run.code == 0, run.log.constData());
    const QJsonObject json = run.json();
    QCOMPARE(json[QStringLiteral("architecture")].toString(), architecture);
    QCOMPARE(json[QStringLiteral("weightBytes")].toInteger(-1), weightBytes);
    qint64 sum = 0;
    for (const QJsonValue& part : json[QStringLiteral("weights")].toArray())
        sum += part[QStringLiteral("bytes")].toInteger();
    QCOMPARE(sum, std::max(weightBytes, qint64 {0}));
    const QJsonArray groups = json[QStringLiteral("groups")].toArray();
    QCOMPARE(groups.size(), 1);
    QCOMPARE(groups[0][QStringLiteral("layerIndices")].toString(), QStringLiteral("0-1"));
    QCOMPARE(groups[0][QStringLiteral("tensors")].toArray()[0][QStringLiteral("heads")].toInteger(), qint64 {2});
    if (weightBytes >= 0) {
        const QJsonValue source = json[QStringLiteral("provenance")][QStringLiteral("loaded.weightBytes")];
        QCOMPARE(source[QStringLiteral("kind")].toString(), QStringLiteral("file"));
        QCOMPARE(source[QStringLiteral("sha256")].toString().size(), 64);
    }
}

void ImportCommandTest::asText()
{
    const Run run = runKvw({QStringLiteral("import"), path(QStringLiteral("checkpoint"))});
    QVERIFY2(run.code == 0, run.log.constData());
    for (const char* text : {"attention", "BF16", "8,192", "output", "F32", "2,560", "10,752"})
        QVERIFY2(run.output.contains(text), text);
}

void ImportCommandTest::asPlan()
{
    const QString plan = path(QStringLiteral("small.kvplan"));
    const Run run
        = runKvw({QStringLiteral("import"), path(QStringLiteral("gguf/small.gguf")), QStringLiteral("-o"), plan});
    QVERIFY2(run.code == 0, run.log.constData());
    const Run again = runKvw({QStringLiteral("import"), plan, QStringLiteral("--json")});
    QVERIFY2(again.code == 0, again.log.constData());
    QCOMPARE(again.json()[QStringLiteral("weightBytes")].toInteger(-1), qint64 {4608});
    const Run estimate
        = runKvw({QStringLiteral("estimate"), path(QStringLiteral("gguf/small.gguf")), QStringLiteral("--json")});
    QVERIFY2(estimate.code == 0, estimate.log.constData());
}

void ImportCommandTest::refused_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("words");
    QTest::newRow("cut.gguf") << QByteArray("GGUF\3\0\0\0\1", 9) << QByteArray("byte 8");
    QTest::newRow("old.gguf") << QByteArray("GGUF\1\0\0\0", 8) << QByteArray("2 or 3");
    QTest::newRow("none.gguf") << QByteArray("GGML") << QByteArray("line 1"); // then it is no GGUF file
}

void ImportCommandTest::refused()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, words);
    const QString file = path(QString::fromLatin1(QTest::currentDataTag()));
    QVERIFY(write(file, bytes));
    const Run run = runKvw({QStringLiteral("import"), file});
    QCOMPARE(run.code, 3);
    QVERIFY2(run.log.contains(words) && run.log.contains(QTest::currentDataTag()), run.log.constData());
}

QTEST_GUILESS_MAIN(ImportCommandTest)
#include "tst_import_command.moc"
