// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "spec_text.h"

#include <QDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <map>

using namespace kvw;
using namespace kvw::test;

namespace {

QString sharedFile(const QString& name)
{
    return qEnvironmentVariable("KVW_SHARED_DIR") + u'/' + name;
}

/// "full 4x128/128" → how many layers. The shape of a layer's state in one line, the same for facts and for models.
using Layers = std::map<QString, std::int64_t>;

QString shape(const char* kind, std::int64_t heads, std::int64_t keyWidth, std::int64_t valueWidth)
{
    return QStringLiteral("%1 %2x%3/%4").arg(QLatin1String(kind)).arg(heads).arg(keyWidth).arg(valueWidth);
}

std::int64_t number(const Json& json, const char* key)
{
    return json.contains(key) && json[key].is_number() ? json[key].get<std::int64_t>() : 0;
}

/// The layers of a fact sheet, or why this importer need not read it yet.
Layers layersOf(const Json& facts, QString& later)
{
    Layers out;
    QString firstShape;
    for (const Json& group : facts["groups"]) {
        const std::string kind = group["kind"];
        const std::int64_t window = number(group, "window");
        if (kind == "mla") {
            out[shape("mla", 1, number(group["latent"], "kv_lora_rank"), number(group["latent"], "qk_rope_head_dim"))]
                += number(group, "count");
            continue;
        }
        if ((kind != "full" && kind != "sliding") || group.contains("variant")) {
            later = q(kind) + (group.contains("variant") ? u' ' + q(group["variant"].get<std::string>()) : QString());
            continue;
        }
        const QString dims
            = shape("", number(group, "kv_heads"), number(group, "head_dim_k"), number(group, "head_dim_v"));
        if (!firstShape.isEmpty() && dims != firstShape)
            later = QStringLiteral("layers of two shapes");
        firstShape = dims;
        out[q(kind) + (window ? QStringLiteral(" w%1").arg(window) : QString()) + dims] += number(group, "count");
    }
    if (number(facts, "stateless_layers") > 0)
        later = QStringLiteral("layers without state");
    return out;
}

Layers layersOf(const ModelSpec& model)
{
    Layers out;
    for (const LayerGroup& group : model.groups) {
        const StateTensor& first = group.tensors.at(0);
        const StateTensor& second = group.tensors.at(1);
        const auto limit = group.retentionLimit();
        const QString kind = q(layerKindNames()[static_cast<std::size_t>(group.kind)]);
        QString line = shape("", first.heads, first.width, second.width);
        line.prepend(kind + (limit ? QStringLiteral(" w%1").arg(*limit) : QString()));
        out[line] += group.layers;
    }
    return out;
}

QString text(const Layers& layers)
{
    QStringList out;
    for (const auto& [line, count] : layers)
        out += QStringLiteral("%1 × %2").arg(count).arg(line);
    return out.join(QStringLiteral("; "));
}

// Presets of other names than their model in the facts.
const std::map<QString, const char*> presets {{QStringLiteral("aya-23"), "CohereLabs/aya-23-8B"},
    {QStringLiteral("chatglm"), "THUDM/chatglm3-6b"},
    {QStringLiteral("codellama_34b"), "codellama/CodeLlama-34b-Instruct-hf"},
    {QStringLiteral("deepseek_v2_lite"), "deepseek-ai/DeepSeek-V2-Lite"},
    {QStringLiteral("gemma2_27b"), "google/gemma-2-27b-it"}, {QStringLiteral("gemma2_9b"), "google/gemma-2-9b-it"},
    {QStringLiteral("gpt2"), "openai-community/gpt2"},
    {QStringLiteral("gpt_bigcode"), "bigcode/gpt_bigcode-santacoder"},
    {QStringLiteral("llama2_13b"), "meta-llama/Llama-2-13b-hf"},
    {QStringLiteral("llama2_70b"), "meta-llama/Llama-2-70b-hf"},
    {QStringLiteral("llama2_7b"), "meta-llama/Llama-2-7b-hf"},
    {QStringLiteral("llama3_1_70b"), "meta-llama/Meta-Llama-3.1-70B"},
    {QStringLiteral("llama3_1_8b"), "meta-llama/Meta-Llama-3.1-8B"},
    {QStringLiteral("llama3_2_1b"), "meta-llama/Llama-3.2-1B-Instruct"},
    {QStringLiteral("llama3_2_3b"), "meta-llama/Llama-3.2-3B-Instruct"},
    {QStringLiteral("ministral3_3b_2512"), "mistralai/Ministral-3-3B-Instruct-2512"},
    {QStringLiteral("mistral_7b"), "mistralai/Mistral-7B-v0.1"},
    {QStringLiteral("mistral_7b_v03"), "mistralai/Mistral-7B-Instruct-v0.3"},
    {QStringLiteral("olmo2_13b"), "allenai/OLMo-2-1124-13B-Instruct"},
    {QStringLiteral("phi-3_5"), "microsoft/Phi-3.5-mini-instruct"},
    {QStringLiteral("phi-4"), "microsoft/Phi-4-mini-instruct"}, {QStringLiteral("qwen2moe"), "Qwen/Qwen1.5-MoE-A2.7B"},
    {QStringLiteral("qwen3_1.7b"), "Qwen/Qwen3-1.7B"},
    {QStringLiteral("smollm_1_7b"), "HuggingFaceTB/SmolLM2-1.7B-Instruct"},
    {QStringLiteral("starcoder2"), "bigcode/starcoder2-7b"}};

} // namespace

// Published configuration files against a table of facts that was made without this importer.
class HfFactsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void configs_data();
    void configs();
    void presetFiles_data();
    void presetFiles();

private:
    std::map<std::string, Json> m_facts;
};

void HfFactsTest::initTestCase()
{
    if (qEnvironmentVariable("KVW_SHARED_DIR").isEmpty() || !QDir(sharedFile(QStringLiteral("data/configs"))).exists())
        QSKIP("no reference data: KVW_SHARED_DIR does not lead to data/configs");
    const auto document = readJsonFile(sharedFile(QStringLiteral("data/model_facts.json")).toStdString());
    QVERIFY2(document.ok(), document.ok() ? "" : document.error().text().c_str());
    for (const Json& model : (*document->root)["models"])
        m_facts[model["id"].get<std::string>()] = model;
    QVERIFY(m_facts.size() > 100);
}

void HfFactsTest::configs_data()
{
    QTest::addColumn<QString>("path");
    const QDir folder(sharedFile(QStringLiteral("data/configs")));
    QStringList files = folder.entryList({QStringLiteral("*_config.json")}, QDir::Files, QDir::Name);
    files.erase(std::remove_if(files.begin(), files.end(), [](const QString& f) { return f.contains(u"hf_quant"); }),
        files.end());
    QVERIFY(files.size() >= 40);
    for (const QString& file : files)
        QTest::newRow(qPrintable(file)) << folder.filePath(file);
}

void HfFactsTest::configs()
{
    QFETCH(QString, path);
    const QString id = QFileInfo(path)
                           .fileName()
                           .remove(QStringLiteral("_config.json"))
                           .replace(QStringLiteral("--"), QStringLiteral("/"));
    const auto found = m_facts.find(id.toStdString());
    QVERIFY2(found != m_facts.end(), qPrintable(id));
    const Json& facts = found->second;
    QString later;
    const Layers expected = layersOf(facts, later);
    const auto model = importModel(path.toStdString());
    if (!later.isEmpty()) {
        QVERIFY2(!model.ok(), "imported, although the facts have state that is not read yet");
        QCOMPARE(model.error().code, std::string("import.unsupported"));
        qInfo("refused at %s (facts: %s)", model.error().where.at.c_str(), qPrintable(later));
        return;
    }
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    QCOMPARE(text(layersOf(*model)), text(expected));
    QCOMPARE(q(model->architecture), q(facts["model_type"].get<std::string>()));
    QCOMPARE(model->maximumPositions.value_or(0), number(facts, "max_position"));
    const bool stated = facts["default_dtype"].is_string();
    QCOMPARE(model->provenance.find("dtype")->kind == Source::Kind::File, stated);
    if (stated)
        QCOMPARE(model->dtype == ElementType::Bf16, facts["default_dtype"] == "bfloat16");
}

void HfFactsTest::presetFiles_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("id");
    for (const auto& [name, id] : presets)
        QTest::newRow(qPrintable(name)) << sharedFile(QStringLiteral("data/configs/presets/") + name
            + QStringLiteral(".json")) << QString::fromLatin1(id);
}

void HfFactsTest::presetFiles()
{
    QFETCH(QString, path);
    QFETCH(QString, id);
    const auto facts = m_facts.find(id.toStdString());
    QVERIFY(facts != m_facts.end());
    QString later;
    const Layers expected = layersOf(facts->second, later);
    QVERIFY(later.isEmpty());
    const auto model = importModel(path.toStdString());
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    QCOMPARE(text(layersOf(*model)), text(expected));
}

QTEST_APPLESS_MAIN(HfFactsTest)
#include "tst_hf_facts.moc"
