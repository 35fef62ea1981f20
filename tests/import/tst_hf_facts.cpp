// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "spec_text.h"

#include <QDir>
#include <QRegularExpression>
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

/// What the layers of a model keep, each line with how many layers it is true for. A layer that keeps two things counts
/// in two lines. The same for facts and for models.
using Layers = std::map<QString, std::int64_t>;

std::int64_t number(const Json& json, const char* key)
{
    return json.contains(key) && json[key].is_number() ? json[key].get<std::int64_t>() : 0;
}

QString stateLine(const QString& role, std::int64_t elements, const QString& type)
{
    return QStringLiteral(" %1 %2 %3").arg(role).arg(elements).arg(type);
}

/// "conv 36864 bf16": elements of one state of the facts, with the model's type where they say no other.
QString stateOf(const Json& state)
{
    std::int64_t elements = 1;
    for (const Json& side : state["shape"])
        elements *= side.get<std::int64_t>();
    const std::string name = state["name"];
    const QString role = name.find("conv") == 0 ? QStringLiteral("convolution_state")
        : name.find("shift") != std::string::npos || name.find("buffer") != std::string::npos
            || name.find("compressor") != std::string::npos
        ? QStringLiteral("buffer")
        : QStringLiteral("recurrent_state");
    const std::string type = state["dtype"];
    return stateLine(role, elements, type.find("float32") == 0 ? QStringLiteral("fp32") : QStringLiteral("model"));
}

/// One group of the facts in a line.
QString lineOf(const Json& group)
{
    const std::string kind = group["kind"];
    if (kind == "shared")
        return QStringLiteral("shared");
    QString out = q(kind);
    if (kind == "recurrent") {
        QStringList states;
        for (const Json& state : group["state"])
            states += stateOf(state);
        states.sort();
        return out + states.join(QString());
    }
    const std::int64_t window = number(group, "window");
    if (group.contains("compressed")) {
        out = QStringLiteral("compressed w%1 kv 1x%2 entries 1x%2/%3")
                  .arg(window)
                  .arg(number(group, "head_dim_k"))
                  .arg(number(group["compressed"], "ratio"));
    } else if (group.contains("latent")) {
        out += QStringLiteral(" 1x%1+%2")
                   .arg(number(group["latent"], "kv_lora_rank"))
                   .arg(number(group["latent"], "qk_rope_head_dim"));
    } else if (group.contains("shared_kv")) {
        out += QStringLiteral(" w%1 1x%2").arg(window).arg(number(group, "head_dim_k"));
    } else {
        out += (window ? QStringLiteral(" w%1").arg(window) : QString())
            + QStringLiteral(" %1x%2/%3")
                  .arg(number(group, "kv_heads"))
                  .arg(number(group, "head_dim_k"))
                  .arg(number(group, "head_dim_v"));
    }
    // How many index heads a block-sparse layer keeps keys of is not in the facts.
    if (group.contains("indexer") && group["indexer"].is_object() && number(group["indexer"], "key_heads") > 0)
        out += QStringLiteral(" index 1x%1").arg(number(group["indexer"], "head_dim"));
    QStringList states;
    for (const Json& state : group.value("state", Json::array()))
        states += stateOf(state);
    states.sort();
    return out + states.join(QString());
}

Layers layersOf(const Json& facts)
{
    Layers out;
    for (const Json& group : facts["groups"])
        out[lineOf(group)] += number(group, "count");
    return out;
}

const StateTensor* tensorOf(const LayerGroup& group, TensorRole role)
{
    for (const StateTensor& tensor : group.tensors) {
        if (tensor.role == role)
            return &tensor;
    }
    return nullptr;
}

QString statesOf(const LayerGroup& group, ElementType dtype)
{
    std::map<std::pair<QString, QString>, std::int64_t> sums;
    QStringList out;
    for (const StateTensor& tensor : group.tensors) {
        if (tensor.growth.form != GrowthForm::Fixed)
            continue;
        const QString role = q(tensorRoleNames()[static_cast<std::size_t>(tensor.role)]);
        const QString type
            = tensor.elementType == dtype ? QStringLiteral("model") : q(factsOf(tensor.elementType).name);
        const std::int64_t elements = tensor.growth.entries * tensor.heads * tensor.width;
        if (tensor.role == TensorRole::Buffer)
            out += stateLine(role, elements, type);
        else
            sums[{role, type}] += elements; // the convolution's channels may lie in several tensors
    }
    for (const auto& [key, elements] : sums)
        out += stateLine(key.first, elements, key.second);
    out.sort();
    return out.join(QString());
}

QString lineOf(const LayerGroup& group, ElementType dtype)
{
    const QString kind = q(layerKindNames()[static_cast<std::size_t>(group.kind)]);
    if (group.kind == LayerKind::Shared)
        return QStringLiteral("shared");
    if (group.kind == LayerKind::Recurrent)
        return kind + statesOf(group, dtype);
    const StateTensor& first = group.tensors.at(0);
    QString out = kind;
    if (group.kind == LayerKind::Compressed) {
        const StateTensor& entries = group.tensors.at(1);
        out = QStringLiteral("compressed w%1 kv %2x%3 entries %4x%5/%6")
                  .arg(first.growth.limit.value_or(0))
                  .arg(first.heads)
                  .arg(first.width)
                  .arg(entries.heads)
                  .arg(entries.width)
                  .arg(entries.growth.stride);
    } else if (first.role == TensorRole::Latent) {
        const StateTensor* rope = tensorOf(group, TensorRole::PositionalKey);
        if (group.kind == LayerKind::Sliding)
            out += QStringLiteral(" w%1 1x%2").arg(first.growth.limit.value_or(0)).arg(first.width);
        else
            out += QStringLiteral(" 1x%1+%2").arg(first.width).arg(rope ? rope->width : 0);
    } else {
        const bool chunked = first.growth.form == GrowthForm::Chunked;
        const std::int64_t window = chunked ? first.growth.chunk : first.growth.limit.value_or(0);
        out += (window ? QStringLiteral(" w%1").arg(window) : QString())
            + QStringLiteral(" %1x%2/%3").arg(first.heads).arg(first.width).arg(group.tensors.at(1).width);
    }
    if (const StateTensor* index = tensorOf(group, TensorRole::IndexKey))
        out += QStringLiteral(" index %1x%2").arg(index->heads).arg(index->width);
    return out + statesOf(group, dtype);
}

Layers layersOf(const ModelSpec& model, GroupUse use)
{
    Layers out;
    for (const LayerGroup& group : model.groups) {
        if (group.use == use)
            out[lineOf(group, model.dtype)] += group.layers;
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

/// Growing bytes of a token in 2-byte elements, index keys apart; the facts have them summed up too.
std::pair<std::int64_t, std::int64_t> growingBytes(const ModelSpec& model)
{
    std::int64_t keys = 0;
    std::int64_t index = 0;
    for (const LayerGroup& group : model.groups) {
        for (const StateTensor& tensor : group.tensors) {
            if (group.use != GroupUse::NotStated || !tensor.growth.growsWithTokens())
                continue;
            (tensor.role == TensorRole::IndexKey ? index : keys)
                += 2 * group.layers * tensor.heads * tensor.width / tensor.growth.stride;
        }
    }
    return {keys, index};
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

/// Published configuration files against a table of facts that was made without this importer:
///   tst_hf_facts [--configs FOLDER] [--facts FILE] [Qt Test options]
/// FOLDER holds files named owner--model_config.json or owner--model.json, FILE a list "models" of the same owner/model
/// ids. Without them the folder and the facts of KVW_SHARED_DIR are taken; without those the suite skips.
class HfFactsTest : public QObject
{
    Q_OBJECT

public:
    QString folder;
    QString factsFile;

private Q_SLOTS:
    void initTestCase();
    void configs_data();
    void configs();
    void presetFiles_data();
    void presetFiles();

private:
    void check(const ModelSpec& model, const Json& facts) const;

    std::map<std::string, Json> m_facts;
    bool m_ofShared = false;
};

void HfFactsTest::initTestCase()
{
    m_ofShared = folder.isEmpty();
    if (m_ofShared)
        folder = sharedFile(QStringLiteral("data/configs"));
    if (factsFile.isEmpty())
        factsFile = sharedFile(QStringLiteral("data/model_facts.json"));
    if (m_ofShared && (qEnvironmentVariable("KVW_SHARED_DIR").isEmpty() || !QDir(folder).exists()))
        QSKIP("no reference data: KVW_SHARED_DIR does not lead to data/configs");
    const auto document = readJsonFile(factsFile.toStdString());
    QVERIFY2(document.ok(), document.ok() ? "" : document.error().text().c_str());
    for (const Json& model : (*document->root)["models"])
        m_facts[model["id"].get<std::string>()] = model;
    QVERIFY(!m_facts.empty());
}

void HfFactsTest::configs_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("id");
    QStringList folders {folder};
    if (m_ofShared)
        folders += folder + QStringLiteral("/reconstructed");
    int files = 0;
    for (const QString& one : folders) {
        for (const QString& file : QDir(one).entryList({QStringLiteral("*.json")}, QDir::Files, QDir::Name)) {
            QString id = file;
            id.remove(QRegularExpression(QStringLiteral("(_config)?\\.json$")));
            id.replace(QStringLiteral("--"), QStringLiteral("/"));
            if (file.contains(u"hf_quant") || file.contains(u"generation_config"))
                continue;
            ++files;
            QTest::newRow(qPrintable(file)) << QDir(one).filePath(file) << id;
        }
    }
    QVERIFY2(files > 0, qPrintable(folder));
    QVERIFY(!m_ofShared || files >= 40);
}

void HfFactsTest::check(const ModelSpec& model, const Json& facts) const
{
    QCOMPARE(text(layersOf(model, GroupUse::NotStated)), text(layersOf(facts)));
    const auto [keys, index] = growingBytes(model);
    QCOMPARE(keys, number(facts["derived"], "growing_bytes_per_token_16bit"));
    QCOMPARE(index, number(facts["derived"], "indexer_bytes_per_token_16bit"));
    const Json& mtp = facts["mtp"];
    if (!mtp.is_object() || !mtp["per_layer"].is_object())
        return;
    Layers drafts;
    drafts[lineOf(mtp["per_layer"])] = number(mtp, "layers") * number(mtp["per_layer"], "count");
    // Facts that were not read in the file may know of draft layers that its class does not state.
    if (facts["confidence"].get<std::string>().find("config file") == 0)
        QCOMPARE(text(layersOf(model, GroupUse::Speculation)), text(drafts));
}

void HfFactsTest::configs()
{
    QFETCH(QString, path);
    QFETCH(QString, id);
    const auto found = m_facts.find(id.toStdString());
    QVERIFY2(found != m_facts.end(), qPrintable(id));
    const Json& facts = found->second;
    const auto model = importModel(path.toStdString());
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    check(*model, facts);
    if (facts["model_type"].is_string())
        QCOMPARE(q(model->architecture), q(facts["model_type"].get<std::string>()));
    QCOMPARE(model->maximumPositions.value_or(0), number(facts, "max_position"));
    const bool stated = facts["default_dtype"].is_string();
    const Source::Kind kind = model->provenance.find("dtype")->kind;
    if (facts["confidence"].get<std::string>().find("config file") == 0)
        QCOMPARE(kind == Source::Kind::File, stated);
    if (stated && kind == Source::Kind::File)
        QCOMPARE(model->dtype == ElementType::Bf16, facts["default_dtype"] == "bfloat16");
}

void HfFactsTest::presetFiles_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("id");
    if (!m_ofShared)
        QSKIP("presets are part of the reference data");
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
    const auto model = importModel(path.toStdString());
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    QCOMPARE(text(layersOf(*model, GroupUse::NotStated)), text(layersOf(facts->second)));
}

int main(int argc, char** argv)
{
    HfFactsTest test;
    QStringList rest;
    for (int i = 0; i < argc; ++i) {
        const QString argument = QString::fromLocal8Bit(argv[i]);
        if (argument == u"--configs" && i + 1 < argc)
            test.folder = QString::fromLocal8Bit(argv[++i]);
        else if (argument == u"--facts" && i + 1 < argc)
            test.factsFile = QString::fromLocal8Bit(argv[++i]);
        else
            rest += argument;
    }
    return QTest::qExec(&test, rest);
}
#include "tst_hf_facts.moc"
