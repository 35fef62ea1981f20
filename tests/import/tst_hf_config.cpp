// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "spec_text.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

using namespace kvw;
using namespace kvw::test;

namespace {

QString dataFile(const QString& name)
{
    return qEnvironmentVariable("KVW_SOURCE_DIR") + QStringLiteral("/tests/data/import/") + name;
}

QStringList fixtures()
{
    return QDir(dataFile({})).entryList({QStringLiteral("*.json")}, QDir::Files, QDir::Name);
}

bool write(const QString& path, const QByteArray& text)
{
    QFile file(path);
    return QDir().mkpath(QFileInfo(path).path()) && file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
}

/// What must hold for every model that an importer lets through.
QString broken(const ModelSpec& model)
{
    if (model.groups.empty() || model.dtype == ElementType::NotStated || model.name.empty())
        return QStringLiteral("no groups, type or name");
    for (const LayerGroup& group : model.groups) {
        const auto indices = parseLayerRanges(group.layerIndices);
        if (!indices || static_cast<std::int64_t>(indices->size()) != group.layers || group.layers < 1
            || group.layers > 10'000)
            return QStringLiteral("layers of ") + q(group.id);
        if (group.tensors.empty() != (group.kind == LayerKind::Shared)
            || !model.provenance.find("groups." + group.id + ".layers"))
            return QStringLiteral("tensors or source of ") + q(group.id);
        for (const StateTensor& tensor : group.tensors) {
            const std::string path = "groups." + group.id + ".tensors." + tensor.id;
            if (tensor.heads < 1 || tensor.heads > 65'536 || tensor.width < 1 || tensor.width > 1'000'000)
                return QStringLiteral("shape of ") + q(path);
            if (tensor.growth.limit && *tensor.growth.limit < 1)
                return QStringLiteral("window of ") + q(path);
            for (const char* field : {".heads", ".width"}) {
                if (!model.provenance.find(path + field))
                    return QStringLiteral("source of ") + q(path + field);
            }
        }
    }
    return {};
}

} // namespace

class HfConfigTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void published_data();
    void published();
    void tensors();
    void provenanceOfFields();
    void sourcesResolve_data();
    void sourcesResolve();
    void names_data();
    void names();
    void folders();
    void cacheHints();
    void damagedFiles_data();
    void damagedFiles();
};

// The expected values are those of the models' published tables, not of this importer.
void HfConfigTest::published_data()
{
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<qint64>("maximumPositions"); // 0: not stated
    QTest::addColumn<QString>("groups");
    QTest::addColumn<QString>("assumptions");
    QTest::addColumn<QString>("diagnostics");

    const auto row = [](const char* file, const char* architecture, qint64 positions, const char* groups,
                         const char* assumptions, const char* diagnostics) {
        QTest::newRow(file) << QString::fromLatin1(architecture) << positions << QString::fromLatin1(groups)
                            << QString::fromLatin1(assumptions) << QString::fromLatin1(diagnostics);
    };
    row("gpt_oss_120b", "gpt_oss", 131072,
        "full 18 [1-35:2] k 8x64 v 8x64; sliding 18 [0-34:2] k 8x64 v 8x64 window 128", "import.dtype_default", "");
    row("deepseek_r1", "deepseek_v3", 163840,
        "mla 61 [0-60] latent 1x512 rope 1x64; draft 1 [61] latent 1x512 rope 1x64", "",
        "import.mla_heads import.draft_layers");
    row("kimi_k2_instruct", "kimi_k2", 131072, "mla 61 [0-60] latent 1x512 rope 1x64", "", "import.mla_heads");
    row("qwen3_235b_a22b", "qwen3_moe", 40960, "full 94 [0-93] k 4x128 v 4x128", "", "");
    row("gemma_3_27b", "gemma3", 0,
        "full 10 [5-59:6] k 16x128 v 16x128; sliding 52 "
        "[0-4,6-10,12-16,18-22,24-28,30-34,36-40,42-46,48-52,54-58,60-61] k 16x128 "
        "v 16x128 window 1024",
        "import.window_pattern_default", "import.maximum_positions");
    row("llama_3_1_8b", "llama", 131072, "full 32 [0-31] k 8x128 v 8x128", "import.head_dim_computed", "");
    row("mistral_7b_v0_1", "mistral", 32768, "sliding 32 [0-31] k 8x128 v 8x128 window 4096",
        "import.head_dim_computed", "");
    row("mixtral_8x7b", "mixtral", 32768, "full 32 [0-31] k 8x128 v 8x128", "import.head_dim_computed", "");
    row("glm_4_5", "glm4_moe", 131072, "full 92 [0-91] k 8x128 v 8x128; draft 1 [92] k 8x128 v 8x128", "",
        "import.draft_layers");
    row("phi_3_5_mini", "phi3", 131072, "full 32 [0-31] k 32x96 v 32x96", "import.head_dim_computed",
        "import.window_beyond_context");
}

void HfConfigTest::published()
{
    QFETCH(QString, architecture);
    QFETCH(qint64, maximumPositions);
    const auto model
        = importModel(dataFile(QString::fromLatin1(QTest::currentDataTag()) + QStringLiteral(".json")).toStdString());
    QTEST(outcome(model), "groups");
    QCOMPARE(q(model->architecture), architecture);
    QCOMPARE(model->dtype, ElementType::Bf16);
    QCOMPARE(model->maximumPositions.value_or(0), maximumPositions);
    QTEST(assumptionIds(*model), "assumptions");
    QTEST(diagnosticIds(*model), "diagnostics");
    QCOMPARE(broken(*model), QString());
}

void HfConfigTest::tensors()
{
    const auto oss = importModel(dataFile(QStringLiteral("gpt_oss_120b.json")).toStdString());
    QVERIFY(oss.ok());
    const LayerGroup& full = oss->groups.at(0);
    const LayerGroup& sliding = oss->groups.at(1);
    QCOMPARE(full.kind, LayerKind::Full);
    QCOMPARE(sliding.kind, LayerKind::Sliding);
    QCOMPARE(full.name, std::string("Full attention"));
    QCOMPARE(sliding.name, std::string("Sliding window 128"));
    QCOMPARE(full.tensors.at(0).role, TensorRole::Key);
    QCOMPARE(full.tensors.at(1).role, TensorRole::Value);
    for (const StateTensor& tensor : full.tensors)
        QVERIFY(tensor.growth == GrowthLaw {});
    for (const StateTensor& tensor : sliding.tensors) {
        QCOMPARE(tensor.growth.form, GrowthForm::Linear);
        QCOMPARE(tensor.growth.limit.value_or(0), std::int64_t {128});
        QCOMPARE(tensor.growth.at(100), std::int64_t {100});
        QCOMPARE(tensor.growth.at(131072), std::int64_t {128});
        QCOMPARE(tensor.shard, ShardRule::Heads);
        QCOMPARE(tensor.elementType, ElementType::NotStated);
    }
    const auto kimi = importModel(dataFile(QStringLiteral("kimi_k2_instruct.json")).toStdString());
    QVERIFY(kimi.ok());
    QCOMPARE(kimi->groups.at(0).kind, LayerKind::Mla);
    QCOMPARE(kimi->groups.at(0).name, std::string("MLA latent"));
    for (const StateTensor& tensor : kimi->groups.at(0).tensors)
        QCOMPARE(tensor.shard, ShardRule::Replicated);
    QCOMPARE(kimi->groups.at(0).tensors.at(0).role, TensorRole::Latent);
    QCOMPARE(kimi->groups.at(0).tensors.at(1).role, TensorRole::PositionalKey);
    QCOMPARE(kimi->vocabulary.value_or(0), std::int64_t {163840});
}

void HfConfigTest::provenanceOfFields()
{
    const auto check = [](const ModelSpec& model, const char* path, Source::Kind kind, const char* at) {
        const auto source = model.provenance.find(path);
        return source && source->kind == kind && (kind == Source::Kind::Definition || source->at == at)
            && (kind == Source::Kind::File || !source->note.empty());
    };
    using Kind = Source::Kind;
    const auto oss = importModel(dataFile(QStringLiteral("gpt_oss_120b.json")).toStdString());
    QVERIFY(check(*oss, "groups.full.layers", Kind::File, "/layer_types"));
    QVERIFY(check(*oss, "groups.sliding.layerIndices", Kind::File, "/layer_types"));
    QVERIFY(check(*oss, "groups.full.tensors.k.heads", Kind::File, "/num_key_value_heads"));
    QVERIFY(check(*oss, "groups.full.tensors.v.width", Kind::File, "/head_dim"));
    QVERIFY(check(*oss, "groups.sliding.tensors.v.limit", Kind::File, "/sliding_window"));
    QVERIFY(!oss->provenance.find("groups.full.tensors.k.limit"));
    QVERIFY(check(*oss, "maximumPositions", Kind::File, "/max_position_embeddings"));
    QVERIFY(check(*oss, "architecture", Kind::File, "/model_type"));
    QVERIFY(check(*oss, "dtype", Kind::Assumption, "/dtype"));

    const auto gemma = importModel(dataFile(QStringLiteral("gemma_3_27b.json")).toStdString());
    QVERIFY(check(*gemma, "groups.sliding.layers", Kind::File, "/text_config/num_hidden_layers"));
    QVERIFY(check(*gemma, "groups.sliding.tensors.k.limit", Kind::File, "/text_config/sliding_window"));
    QVERIFY(check(*gemma, "dtype", Kind::File, "/torch_dtype"));

    const auto llama = importModel(dataFile(QStringLiteral("llama_3_1_8b.json")).toStdString());
    QVERIFY(check(*llama, "groups.full.tensors.k.width", Kind::Assumption, "/head_dim"));
    QVERIFY(llama->provenance.find("groups.full.tensors.k.width")->note.find("4096 ÷ 32") != std::string::npos);

    const auto r1 = importModel(dataFile(QStringLiteral("deepseek_r1.json")).toStdString());
    QVERIFY(check(*r1, "groups.mla.layers", Kind::File, "/num_hidden_layers"));
    QVERIFY(check(*r1, "groups.mla.tensors.latent.width", Kind::File, "/kv_lora_rank"));
    QVERIFY(check(*r1, "groups.mla.tensors.rope.width", Kind::File, "/qk_rope_head_dim"));
    QVERIFY(check(*r1, "groups.mla.tensors.latent.heads", Kind::Definition, ""));
    QVERIFY(check(*r1, "groups.mla.tensors.rope.shard", Kind::Definition, ""));
}

void HfConfigTest::sourcesResolve_data()
{
    QTest::addColumn<QString>("file");
    for (const QString& file : fixtures())
        QTest::newRow(qPrintable(file)) << file;
}

// Whatever a model says to be read from the file is there, under that pointer, in a file of that digest.
void HfConfigTest::sourcesResolve()
{
    QFETCH(QString, file);
    QFile raw(dataFile(file));
    QVERIFY(raw.open(QIODevice::ReadOnly));
    const QByteArray text = raw.readAll();
    const Json root = Json::parse(text.toStdString());
    const std::string digest = QCryptographicHash::hash(text, QCryptographicHash::Sha256).toHex().toStdString();
    const auto model = importModel(dataFile(file).toStdString());
    QVERIFY(model.ok());
    QVERIFY(model->provenance.entries().size() >= 8);
    for (const auto& [path, source] : model->provenance.entries()) {
        if (source->kind == Source::Kind::Definition)
            continue;
        QCOMPARE(q(source->sha256), q(digest));
        QCOMPARE(q(source->name), file);
        if (source->kind == Source::Kind::File && !source->at.empty())
            QVERIFY2(root.contains(Json::json_pointer(source->at)), path.c_str());
        if (source->kind == Source::Kind::Assumption) {
            QVERIFY2(!root.contains(Json::json_pointer(source->at)), path.c_str());
            const bool listed = std::any_of(model->assumptions.begin(), model->assumptions.end(),
                [&, note = source->note](const Assumption& assumption) { return assumption.text == note; });
            QVERIFY2(listed, path.c_str());
        }
    }
    for (const Assumption& assumption : model->assumptions)
        QVERIFY2(!assumption.path.empty(), assumption.id.c_str());
}

void HfConfigTest::names_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QByteArray>("fields");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("revision");

    const auto row
        = [](const char* tag, const char* path, const char* fields, const char* name, const char* revision = "") {
              QTest::newRow(tag) << QString::fromLatin1(path) << QByteArray(fields) << QString::fromLatin1(name)
                                 << QString::fromLatin1(revision);
          };
    row("folder", "Llama-3.1-8B/config.json", "", "Llama-3.1-8B");
    row("file", "x/llama.v2.json", "", "llama.v2");
    row("file of a hub's model", "x/openai--gpt-oss-120b_config.json", "", "openai/gpt-oss-120b");
    row("file that says that it is a config", "x/llama-config.json", "", "llama");
    row("folder of a hub's model", "openai--gpt-oss-120b/config.json", "", "openai/gpt-oss-120b");
    row("file without ending", "x/config", "", "config");
    row("stated", "x/config.json", R"("_name_or_path":"meta-llama/Llama-3.1-8B",)", "meta-llama/Llama-3.1-8B");
    row("stated, empty", "x/config.json", R"("_name_or_path":"",)", "x");
    row("stated, a path of another machine", "x/config.json", R"("_name_or_path":"/home/someone/models/Llama-70B/",)",
        "Llama-70B");
    row("commit", "x/config.json", R"("_commit_hash":"0123abc",)", "x", "0123abc");
    row("hub cache", "models--meta-llama--Llama-3.1-8B/snapshots/d04e592/config.json", "", "meta-llama/Llama-3.1-8B",
        "d04e592");
    row("hub cache, commit stated", "models--a--b--c/snapshots/d04e592/config.json", R"("_commit_hash":"0123abc",)",
        "a/b--c", "0123abc");
}

void HfConfigTest::names()
{
    QFETCH(QString, path);
    QFETCH(QByteArray, fields);
    QTemporaryDir folder;
    const QString file = folder.filePath(path);
    QVERIFY(write(
        file, "{" + fields + R"("model_type":"llama","num_hidden_layers":2,"num_key_value_heads":2,"head_dim":16})"));
    const auto model = importModel(file.toStdString());
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    QTEST(q(model->name), "name");
    QTEST(q(model->revision), "revision");
    QVERIFY(model->provenance.find("name"));
    QCOMPARE(model->provenance.find("revision") != nullptr, !model->revision.empty());
}

void HfConfigTest::folders()
{
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("Llama-3.1-8B"));
    QVERIFY(QDir().mkpath(path));
    const auto empty = importModel(path.toStdString());
    QCOMPARE(empty.error().code, std::string("io.open"));
    QVERIFY(empty.error().where.file.ends_with("config.json"));
    QVERIFY(QFile::copy(dataFile(QStringLiteral("llama_3_1_8b.json")), path + QStringLiteral("/config.json")));
    for (const QString& given : {path, path + u'/', path + QStringLiteral("/config.json")}) {
        const auto model = importModel(given.toStdString());
        QCOMPARE(outcome(model), QStringLiteral("full 32 [0-31] k 8x128 v 8x128"));
        QCOMPARE(q(model->name), QStringLiteral("Llama-3.1-8B"));
    }
    QCOMPARE(importModel(folder.filePath(QStringLiteral("none")).toStdString()).error().code, std::string("io.open"));
    QVERIFY(write(folder.filePath(QStringLiteral("bad/config.json")), "{\"model_type\":"));
    QCOMPARE(
        importModel(folder.filePath(QStringLiteral("bad")).toStdString()).error().code, std::string("json.syntax"));
}

void HfConfigTest::cacheHints()
{
    const auto hints = [](const Result<ModelSpec>& model) {
        QStringList out;
        for (const Diagnostic& diagnostic : model->diagnostics) {
            if (diagnostic.id == "import.cache_type_hint")
                out += q(diagnostic.where.at) + u' ' + q(diagnostic.message).section(u'(', 1).section(u')', 0, 0);
        }
        return out;
    };
    QTemporaryDir folder;
    const QByteArray plain = R"("model_type":"llama","num_hidden_layers":2,"num_key_value_heads":2,"head_dim":16)";
    const auto import = [&](const QByteArray& quantization) {
        write(folder.filePath(QStringLiteral("config.json")),
            "{" + plain + ",\"quantization_config\":" + quantization + "}");
        return importModel(folder.path().toStdString());
    };
    QCOMPARE(hints(import(R"({"quant_method":"fp8"})")), QStringList());
    QCOMPARE(hints(import(R"({"kv_cache_scheme":null})")), QStringList());
    QCOMPARE(hints(import(R"({"kv_cache_scheme":"FP8"})")),
        QStringList {QStringLiteral("/quantization_config/kv_cache_scheme FP8")});
    const auto scheme = import(R"({"kv_cache_scheme":{"dynamic":false,"num_bits":8,"type":"float"}})");
    QCOMPARE(hints(scheme), QStringList {QStringLiteral("/quantization_config/kv_cache_scheme 8-bit float")});
    // A hint is a note: the type of the state stays not stated, the model's stays what dtype says or bf16.
    QCOMPARE(scheme->dtype, ElementType::Bf16);
    QCOMPARE(scheme->groups.at(0).tensors.at(0).elementType, ElementType::NotStated);

    const QString beside = folder.filePath(QStringLiteral("hf_quant_config.json"));
    QVERIFY(write(beside, R"({"quantization":{"quant_algo":"FP8","kv_cache_quant_algo":"FP8"}})"));
    const auto both = import("{}");
    QCOMPARE(hints(both), QStringList {QStringLiteral("/quantization/kv_cache_quant_algo FP8")});
    QVERIFY(write(beside, "{"));
    QCOMPARE(diagnosticIds(*import("{}")), QStringLiteral("import.maximum_positions import.quantization_file!"));

    // The settings of generation are notes too.
    QVERIFY(QFile::remove(beside));
    const QString generation = folder.filePath(QStringLiteral("generation_config.json"));
    QVERIFY(write(generation, R"({"cache_implementation":"hybrid","max_new_tokens":2048,"temperature":0.6})"));
    const auto noted = import("{}");
    QCOMPARE(diagnosticIds(*noted),
        QStringLiteral("import.maximum_positions import.cache_implementation import.generation_limit"));
    QCOMPARE(q(noted->diagnostics.back().where.at), QStringLiteral("/max_new_tokens"));
    QVERIFY(write(generation, R"({"cache_implementation":1,"max_new_tokens":-1})"));
    QCOMPARE(diagnosticIds(*import("{}")), QStringLiteral("import.maximum_positions"));
    QVERIFY(write(generation, "["));
    QCOMPARE(diagnosticIds(*import("{}")), QStringLiteral("import.maximum_positions import.generation_file!"));
}

void HfConfigTest::damagedFiles_data()
{
    sourcesResolve_data();
}

// Each field left out and replaced by values of every kind: a model that holds together, or an error that says where.
void HfConfigTest::damagedFiles()
{
    QFETCH(QString, file);
    QFile raw(dataFile(file));
    QVERIFY(raw.open(QIODevice::ReadOnly));
    const Json root = Json::parse(raw.readAll().toStdString());
    const char* const values[] = {"null", "true", "false", "\"x\"", "\"\"", "-1", "0", "1", "7", "1.5", "4.0", "1e300",
        "NaN", "-Infinity", "[]", "{}", "[1]", "{\"a\":1}", "99999999999999999999", "65536", "1000000", "10000"};
    int imported = 0;
    int refused = 0;
    const auto check = [&](const std::string& text) -> QString {
        const auto document = parseJson(text, "damaged.json");
        if (!document)
            return QStringLiteral("did not parse: ") + q(text);
        const auto model = importHuggingFaceConfig(*document);
        ++(model ? imported : refused);
        if (model)
            return broken(*model);
        const Error& error = model.error();
        return !error.code.empty() && error.where.file == "damaged.json" && error.where.at.starts_with("/")
            ? QString()
            : q(error.text());
    };
    for (const Json::json_pointer& parent : {Json::json_pointer(""), Json::json_pointer("/text_config")}) {
        if (!root.contains(parent))
            continue;
        for (const auto& member : root[parent].items()) {
            Json changed = root;
            changed[parent].erase(member.key());
            QCOMPARE(check(changed.dump()), QString());
            for (const char* value : values) {
                changed[parent][member.key()] = "@@";
                std::string text = changed.dump();
                text.replace(text.find("\"@@\""), 4, value);
                const QString problem = check(text);
                QVERIFY2(problem.isEmpty(), qPrintable(q(member.key()) + u' ' + QLatin1String(value) + u' ' + problem));
            }
        }
    }
    QVERIFY(imported > 50);
    QVERIFY(refused > 50);
}

QTEST_APPLESS_MAIN(HfConfigTest)
#include "tst_hf_config.moc"
