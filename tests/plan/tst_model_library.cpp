// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// The built-in models against published shapes, against the models' own configuration files, and against the facts
// where they are there; and libraries that lie.

#include "estimate/estimate.h"
#include "import/hf_config.h"
#include "plan/built_in_data.h"
#include "plan/field_table.h"
#include "plan/gpu_library.h"
#include "plan/model_library.h"

#include <nlohmann/json.hpp>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace kvw;

namespace {

const LibraryModel* modelOf(const std::string& id)
{
    for (const LibraryModel& model : builtInModels()) {
        if (model.id == id)
            return &model;
    }
    return nullptr;
}

/// Bytes of one more token and fixed bytes of a sequence with two-byte elements, draft layers left out.
std::pair<double, std::int64_t> sizesOf(const LibraryModel& model)
{
    Plan plan = planFromLibrary(model);
    plan.cache.elementType = ElementType::Bf16;
    const Result<Estimate> figures = estimate(plan);
    if (!figures)
        qFatal("%s: %s", model.id.c_str(), figures.error().text().c_str());
    return {figures->bytesPerToken.real(), figures->fixedBytes.integer()};
}

std::vector<const LibraryModel*> all()
{
    std::vector<const LibraryModel*> out;
    for (const LibraryModel& model : builtInModels())
        out.push_back(&model);
    return out;
}

Result<std::vector<LibraryModel>> read(const std::string& text)
{
    return readModelLibrary(*parseJson(text, "library.json"), true);
}

const std::string entry = R"({"id": "a/b", "family": "f", "source": "s", "verified": "2026-11-30", "confidence": "own",
    "groups": [{"id": "full", "kind": "full", "layers": 2, "tensors": [{"id": "k", "role": "key", "heads": 8, "width": 128}]}]})";

std::string libraryOf(const std::string& entries)
{
    return R"({"format": "kvmodels", "schemaVersion": 1, "models": [)" + entries + "]}";
}

std::string with(std::string text, const std::string& what, const std::string& by)
{
    const std::size_t at = text.find(what);
    Q_ASSERT(at != std::string::npos);
    return text.replace(at, what.size(), by);
}

} // namespace

class ModelLibraryTest : public QObject
{
    Q_OBJECT

private slots:
    void isComplete();
    void publishedShapes_data();
    void publishedShapes();
    void asTheFactsSay();
    void asTheFilesSay();
    void saysHowFarItCanBeTrusted();
    void search_data();
    void search();
    void refused_data();
    void refused();
    void ownLibrary();
    void gpus();
    void gpusAsTheFactsSay();
};

void ModelLibraryTest::isComplete()
{
    QVERIFY(builtInModels().size() >= 120);
    for (const char* id : {"zai-org/GLM-4.5", "zai-org/GLM-5.3", "Qwen/Qwen3-235B-A22B", "Qwen/Qwen3.8-27B",
             "deepseek-ai/DeepSeek-R1", "deepseek-ai/DeepSeek-V4.1-Flash", "meta-llama/Llama-3.3-70B-Instruct",
             "meta-llama/Llama-4-Scout-17B-16E-Instruct", "google/gemma-3-27b-it", "google/gemma-4-31B-it",
             "openai/gpt-oss-120b", "moonshotai/Kimi-K2-Instruct", "moonshotai/Kimi-K3"}) {
        const LibraryModel* model = modelOf(id);
        QVERIFY2(model, id);
        QVERIFY2(model->maximumPositions && model->parameters && model->dtype != ElementType::NotStated, id);
    }
    for (const LibraryModel& model : builtInModels()) {
        QVERIFY2(!model.source.empty() && !model.family.empty() && !model.confidence.empty(), model.id.c_str());
        QCOMPARE(model.verified, std::string("2026-11-30"));
        for (const LayerGroup& group : model.groups) {
            QVERIFY(group.layers >= 1);
            QVERIFY2(!group.tensors.empty() || group.kind == LayerKind::Shared, model.id.c_str());
            const auto isRead = [&](const LayerGroup& other) { return other.id == group.readsGroup; };
            QVERIFY2(group.readsGroup.empty() || std::any_of(model.groups.begin(), model.groups.end(), isRead),
                model.id.c_str());
        }
    }
}

void ModelLibraryTest::publishedShapes_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<qint64>("perToken");
    QTest::addColumn<qint64>("fixed");
    // 2 × layers × heads × width × 2 bytes; MLA: layers × (512 + 64) × 2; windows: entries beside it.
    const auto row
        = [](const char* id, qint64 perToken, qint64 fixed) { QTest::newRow(id) << id << perToken << fixed; };
    row("meta-llama/Meta-Llama-3.1-8B", 2 * 32 * 8 * 128 * 2, 0);
    row("meta-llama/Llama-3.3-70B-Instruct", 2 * 80 * 8 * 128 * 2, 0);
    row("meta-llama/Llama-2-7b-hf", 2 * 32 * 32 * 128 * 2, 0);
    row("Qwen/Qwen3-235B-A22B", 2 * 94 * 4 * 128 * 2, 0);
    row("zai-org/GLM-4.5", 2 * 92 * 8 * 128 * 2, 0);
    row("deepseek-ai/DeepSeek-R1", 61 * 576 * 2, 0);
    row("moonshotai/Kimi-K2-Instruct", 61 * 576 * 2, 0);
    row("openai/gpt-oss-120b", 2 * 18 * 8 * 64 * 2, 2LL * 18 * 8 * 64 * 2 * 128);
    row("google/gemma-3-27b-it", 2 * 10 * 16 * 128 * 2, 2LL * 52 * 16 * 128 * 2 * 1024);
    row("meta-llama/Llama-4-Scout-17B-16E-Instruct", 2 * 12 * 8 * 128 * 2, 2LL * 36 * 8 * 128 * 2 * 8192);
    row("tiiuae/falcon-7b", 2 * 32 * 1 * 64 * 2, 0);
    row("openai-community/gpt2", 2 * 12 * 12 * 64 * 2, 0);
}

void ModelLibraryTest::publishedShapes()
{
    QFETCH(QString, id);
    QFETCH(qint64, perToken);
    QFETCH(qint64, fixed);
    const LibraryModel* model = modelOf(id.toStdString());
    QVERIFY(model);
    const auto [token, state] = sizesOf(*model);
    QCOMPARE(token, static_cast<double>(perToken));
    QCOMPARE(state, std::int64_t {fixed});
}

void ModelLibraryTest::asTheFactsSay()
{
    const std::string path = qEnvironmentVariable("KVW_SHARED_DIR").toStdString() + "/data/model_facts.json";
    std::ifstream file(path);
    if (!file)
        QSKIP("the facts are not here");
    const nlohmann::json facts = nlohmann::json::parse(file);
    int compared = 0;
    for (const auto& known : facts["models"]) {
        const std::string id = known["id"];
        const LibraryModel* model = modelOf(id);
        QVERIFY2(model, id.c_str());
        std::int64_t layers = 0;
        bool cross = false;
        for (const LayerGroup& group : model->groups) {
            cross = cross || group.kind == LayerKind::Cross;
            layers += group.use != GroupUse::Speculation && group.kind != LayerKind::Cross ? group.layers : 0;
        }
        std::int64_t wanted = 0;
        for (const auto& group : known["groups"])
            wanted += group["kind"] == "cross" ? 0 : group["count"].get<std::int64_t>();
        QVERIFY2(layers == wanted, id.c_str());
        if (cross)
            continue; // their bytes are by encoder tokens, which the facts leave out
        const auto& derived = known["derived"];
        const auto number = [&](const char* key) { return derived[key].get<double>(); };
        const auto [token, fixed] = sizesOf(*model);
        QVERIFY2(token == number("growing_bytes_per_token_16bit") + number("indexer_bytes_per_token_16bit"),
            (id + ": " + std::to_string(token)).c_str());
        QVERIFY2(static_cast<double>(fixed)
                == number("window_bytes_per_seq_16bit_when_full") + number("fixed_state_bytes_per_seq"),
            (id + ": " + std::to_string(fixed)).c_str());
        ++compared;
    }
    QVERIFY(compared > 150);
}

void ModelLibraryTest::asTheFilesSay()
{
    const QDir folder(qEnvironmentVariable("KVW_SHARED_DIR") + QStringLiteral("/data/configs"));
    if (!folder.exists())
        QSKIP("the configuration files are not here");
    int compared = 0;
    for (const QString& name : folder.entryList({QStringLiteral("*_config.json")}, QDir::Files)) {
        if (name.contains(QStringLiteral("hf_quant")))
            continue;
        const Result<JsonDocument> document = readJsonFile(folder.filePath(name).toStdString());
        QVERIFY(document);
        const Result<ModelSpec> spec = importHuggingFaceConfig(*document);
        QVERIFY2(spec, spec ? "" : spec.error().text().c_str());
        const QString id
            = QString(name).remove(QStringLiteral("_config.json")).replace(QStringLiteral("--"), QStringLiteral("/"));
        const LibraryModel* model = modelOf(id.toStdString());
        QVERIFY2(model, qPrintable(id));
        QVERIFY2(model->groups == spec->groups, qPrintable(id));
        ++compared;
    }
    QVERIFY(compared >= 40);
}

void ModelLibraryTest::saysHowFarItCanBeTrusted()
{
    const Plan inferred = planFromLibrary(*modelOf("zai-org/GLM-5.3"));
    QCOMPARE(inferred.model.basis, ModelBasis::Library);
    const auto says = [](const Plan& plan, const char* what) {
        return std::any_of(plan.assumptions.begin(), plan.assumptions.end(),
            [&](const Assumption& assumption) { return assumption.text.find(what) != std::string::npos; });
    };
    QVERIFY(says(inferred, "inferred from GLM-5.2"));
    const auto source = inferred.provenance.find("worksheet.groups." + inferred.worksheet.groups[0].id + ".layers");
    QVERIFY(source && source->kind == Source::Kind::Library);
    QCOMPARE(source->verified, std::string("2026-11-30"));
    QVERIFY(source->published.empty()); // a date that no source states is not made up
    const Plan stated = planFromLibrary(*modelOf("Qwen/Qwen3-8B"));
    QVERIFY(!says(stated, "from the library, not from"));
    QCOMPARE(*stated.limits.maxModelLen, *modelOf("Qwen/Qwen3-8B")->maximumPositions);
}

void ModelLibraryTest::search_data()
{
    QTest::addColumn<QString>("query");
    QTest::addColumn<QString>("first");
    QTest::addColumn<bool>("only");
    QTest::newRow("whole id") << "openai/gpt-oss-120b"
                              << "openai/gpt-oss-120b" << true;
    QTest::newRow("name, other case") << "GPT-OSS-120B"
                                      << "openai/gpt-oss-120b" << true;
    QTest::newRow("begin of a name") << "kimi-k2-i"
                                     << "moonshotai/Kimi-K2-Instruct" << true;
    QTest::newRow("words in any order") << "scout llama"
                                        << "meta-llama/Llama-4-Scout-17B-16E-Instruct" << true;
    QTest::newRow("exact name before longer ones") << "qwen3-32b"
                                                   << "Qwen/Qwen3-32B" << false;
    QTest::newRow("architecture") << "chatglm"
                                  << "THUDM/chatglm3-6b" << true;
    QTest::newRow("nothing") << "no such model"
                             << "" << true;
}

void ModelLibraryTest::search()
{
    QFETCH(QString, query);
    QFETCH(QString, first);
    QFETCH(bool, only);
    const std::vector<const LibraryModel*> found = searchModels(all(), query.toStdString());
    if (first.isEmpty()) {
        QVERIFY(found.empty());
        return;
    }
    QVERIFY(!found.empty());
    QCOMPARE(QString::fromStdString(found.front()->id), first);
    QCOMPARE(found.size() == 1, only);
    QCOMPARE(searchModels(all(), "").size(), all().size());
}

void ModelLibraryTest::refused_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("code");
    QTest::addColumn<QString>("at");
    const auto row = [](const char* what, const std::string& text, const char* code, const char* at) {
        QTest::newRow(what) << QString::fromStdString(text) << code << at;
    };
    row("another format", R"({"format": "kvplan"})", "library.format", "/format");
    row("a list", "[]", "library.format", "");
    row("another version", R"({"format": "kvmodels", "schemaVersion": 2, "models": []})", "library.format",
        "/schemaVersion");
    row("no list", R"({"format": "kvmodels", "schemaVersion": 1})", "library.format", "");
    row("an unknown member", R"({"format": "kvmodels", "schemaVersion": 1, "models": [], "x": 1})",
        "library.unknown_field", "/x");
    row("an unknown field", libraryOf(with(entry, "\"family\"", "\"famly\"")), "library.unknown_field",
        "/models/0/famly");
    row("no source", libraryOf(with(entry, "\"source\": \"s\",", "")), "library.missing_field", "/models/0");
    row("a number for a text", libraryOf(with(entry, "\"f\"", "7")), "json.type", "/models/0/family");
    row("twice", libraryOf(entry + "," + entry), "library.id", "/models/1");
    row("no groups", libraryOf(with(entry, "[{\"id\": \"full\"", "[],\"x\":[{\"id\": \"full\"")),
        "library.unknown_field", "/models/0/x");
    row("a negative width", libraryOf(with(entry, "128", "-128")), "plan.range", "/models/0/groups/0/tensors/0/width");
    row("10^30 heads", libraryOf(with(entry, "\"heads\": 8", "\"heads\": 1e30")), "plan.range",
        "/models/0/groups/0/tensors/0/heads");
    row("a tensor's unknown field", libraryOf(with(entry, "\"heads\"", "\"head\"")), "plan.unknown_field",
        "/models/0/groups/0/tensors/0/head");
    row("no element type", libraryOf(with(entry, "\"family\": \"f\"", "\"family\": \"f\", \"dtype\": \"bf17\"")),
        "library.choice", "/models/0/dtype");
}

void ModelLibraryTest::refused()
{
    QFETCH(QString, text);
    QFETCH(QString, code);
    QFETCH(QString, at);
    const Result<std::vector<LibraryModel>> models = read(text.toStdString());
    QVERIFY(!models);
    QCOMPARE(QString::fromStdString(models.error().code), code);
    QCOMPARE(QString::fromStdString(models.error().where.at), at);
    QCOMPARE(models.error().where.file, std::string("library.json"));
}

void ModelLibraryTest::ownLibrary()
{
    QTemporaryDir folder;
    const auto write = [&](const char* name, const std::string& text) {
        QFile file(folder.filePath(QLatin1String(name)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text.c_str());
    };
    write("a.json", libraryOf(entry));
    write("b.json", "{ no");
    write("c.json", libraryOf(entry + "," + with(entry, "a/b", "a/c")));
    write("d.txt", "not ours");
    std::vector<Error> refused;
    const std::vector<LibraryModel> models = ownModels(folder.path().toStdString(), refused);
    QCOMPARE(models.size(), std::size_t {2});
    QVERIFY(models[0].own && models[0].id == "a/b" && models[1].id == "a/c");
    QCOMPARE(sizesOf(models[0]).first, 2.0 * 8 * 128 * 2);
    QCOMPARE(refused.size(), std::size_t {2}); // broken JSON, and a model that another file has
    QVERIFY(refused[0].where.file.ends_with("b.json"));
    QCOMPARE(refused[1].code, std::string("library.id"));
    refused.clear();
    QVERIFY(ownModels("/no/such/folder", refused).empty());
    QVERIFY(refused.empty());
}

void ModelLibraryTest::gpus()
{
    QVERIFY(builtInGpus().size() >= 20);
    for (const LibraryGpu& gpu : builtInGpus()) {
        QVERIFY(!gpu.sources.empty() && !gpu.verified.empty());
        QCOMPARE(gpu.memoryBytes.has_value(), gpu.memoryBasisKind != "none");
        // A decimal figure as sold is nobody's reading.
        QVERIFY2(gpu.memoryBytes != gpu.marketedGigabytes * 1'000'000'000, gpu.name.c_str());
    }
    QCOMPARE(*gpuNamed("h100 sxm 80gb")->memoryBytes, std::int64_t {81'559} << 20);
    QVERIFY(!gpuNamed("H100"));
}

void ModelLibraryTest::gpusAsTheFactsSay()
{
    std::ifstream file(qEnvironmentVariable("KVW_SHARED_DIR").toStdString() + "/data/gpu_facts.json");
    if (!file)
        QSKIP("the facts are not here");
    const nlohmann::json facts = nlohmann::json::parse(file);
    QCOMPARE(builtInGpus().size(), facts["gpus"].size());
    for (const auto& known : facts["gpus"]) {
        const LibraryGpu* gpu = gpuNamed(known["name"].get<std::string>());
        QVERIFY(gpu);
        const auto& bytes = known["planning_memory_bytes"];
        QVERIFY(gpu->memoryBytes ? bytes == *gpu->memoryBytes : bytes.is_null());
        QVERIFY(known["marketing_memory_gb"] == gpu->marketedGigabytes);
        QVERIFY(known["memory_bandwidth_bytes_per_s"] == static_cast<double>(gpu->bandwidthBytesPerSecond.value_or(0))
            || known["memory_bandwidth_bytes_per_s"].is_null());
    }
}

QTEST_GUILESS_MAIN(ModelLibraryTest)
#include "tst_model_library.moc"
