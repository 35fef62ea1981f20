// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "estimate/estimate.h"
#include "plan/field_table.h"
#include "plan/group_edits.h"
#include "plan/model_library.h"
#include "plan/plan_json.h"
#include "support/example_plans.h"

#include <QTest>

#include <numeric>
#include <random>
#include <set>

using namespace kvw;

namespace {

/// Layers, state and readers of a plan, in the order of the worksheet: what split and merge must not lose.
std::vector<LayerGroup> groupsOf(const Plan& plan)
{
    return plan.worksheet.groups;
}

/// Bytes of one sequence of `tokens` in all groups, added up here: layers × entries × heads × width × bits ÷ 8.
double naiveBytes(const Plan& plan, std::int64_t tokens)
{
    double out = 0;
    for (const LayerGroup& group : plan.worksheet.groups) {
        for (const StateTensor& tensor : group.tensors) {
            const double entries = static_cast<double>(tensor.growth.at(tokens));
            out += static_cast<double>(group.layers) * entries * static_cast<double>(tensor.heads * tensor.width)
                * static_cast<double>(1 + static_cast<int>(tensor.elementType));
        }
    }
    return out;
}

std::multiset<std::int64_t> layersIn(const Plan& plan)
{
    std::multiset<std::int64_t> out;
    for (const LayerGroup& group : plan.worksheet.groups) {
        const Result<std::vector<std::int64_t>> layers = parseLayerRanges(group.layerIndices);
        out.insert(layers->begin(), layers->end());
    }
    return out;
}

/// A model whose groups list their layers, one whose groups do not, and every other shape of the built-in library.
std::vector<Plan> plans()
{
    std::vector<Plan> out {test::examplePlan("reference.kvplan"), test::examplePlan("gpt-oss-120b.kvplan"),
        test::examplePlan("deepseek-r1-tp8.kvplan")};
    const std::vector<LibraryModel>& models = builtInModels();
    for (std::size_t i = 0; i < models.size(); i += 7)
        out.push_back(planFromLibrary(models[i]));
    return out;
}

std::string bytesOf(const Plan& plan)
{
    const Result<Estimate> figures = estimate(plan);
    if (!figures)
        return "none: " + figures.error().code;
    std::string out;
    for (const Quantity* figure : {&figures->bytesPerToken, &figures->fixedBytes,
             figures->idealBytes ? &*figures->idealBytes : &figures->fixedBytes})
        out += figure->ok() ? QString::number(figure->real(), 'g', 14).toStdString() + " " : std::string("not stated ");
    return out;
}

/// Two groups of the same state with the layers given.
Plan twoGroups(const std::string& first, const std::string& second)
{
    Plan plan;
    for (const auto& [id, layers] : {std::pair {"a", first}, std::pair {"b", second}}) {
        LayerGroup group;
        group.id = id;
        group.name = id;
        group.layerIndices = layers;
        group.layers = layers.empty() ? 3 : static_cast<std::int64_t>(parseLayerRanges(layers)->size());
        group.tensors = attentionTensors(8, 128, 128, {});
        plan.worksheet.groups.push_back(group);
    }
    return plan;
}

} // namespace

class TestGroupEdits : public QObject
{
    Q_OBJECT

private slots:
    void splitByCount();
    void splitByLayers();
    void splitRefused_data();
    void splitRefused();
    void merge();
    void mergeRefused_data();
    void mergeRefused();
    void readersFollow();
    void duplicate();
    void moves();
    void renames();
    void splitThenMergeIsNothing();
    void randomEditsKeepBytesAndLayers();
};

void TestGroupEdits::splitByCount()
{
    Plan plan = twoGroups("0-34:2", "");
    QCOMPARE(splitGroup(plan, "a", 4).value(), std::string("a2"));
    QCOMPARE(plan.worksheet.groups.size(), 3U);
    QCOMPARE(plan.worksheet.groups[0].layers, 14);
    QCOMPARE(plan.worksheet.groups[0].layerIndices, std::string("0-26:2"));
    QCOMPARE(plan.worksheet.groups[1].id, std::string("a2"));
    QCOMPARE(plan.worksheet.groups[1].layers, 4);
    QCOMPARE(plan.worksheet.groups[1].layerIndices, std::string("28-34:2"));
    QCOMPARE(plan.worksheet.groups[1].tensors, plan.worksheet.groups[0].tensors);
    QCOMPARE(plan.worksheet.groups[2].id, std::string("b"));
    QCOMPARE(plan.provenance.find("worksheet.groups.a.layers")->kind, Source::Kind::User);
    QVERIFY(splitGroup(plan, "b", 1).ok());
    QCOMPARE(plan.worksheet.groups[3].layers, 1);
    QVERIFY(plan.worksheet.groups[3].layerIndices.empty());
}

void TestGroupEdits::splitByLayers()
{
    Plan plan = twoGroups("0-5", "");
    QVERIFY(splitGroupAt(plan, "a", "1,3-4").ok());
    QCOMPARE(plan.worksheet.groups[0].layerIndices, std::string("0,2,5"));
    QCOMPARE(plan.worksheet.groups[0].layers, 3);
    QCOMPARE(plan.worksheet.groups[1].layerIndices, std::string("1,3-4"));
}

void TestGroupEdits::splitRefused_data()
{
    QTest::addColumn<QString>("group");
    QTest::addColumn<int>("count");
    QTest::addColumn<QString>("layers");
    QTest::addColumn<QString>("code");
    QTest::addColumn<QString>("at");
    const QString a = "worksheet.groups.a.layerIndices";
    const QString b = "worksheet.groups.b.layerIndices";
    QTest::newRow("no group") << "c" << 1 << ""
                              << "plan.unknown_field"
                              << "worksheet.groups.c";
    QTest::newRow("none") << "a" << 0 << ""
                          << "plan.range"
                          << "worksheet.groups.a.layers";
    QTest::newRow("all") << "a" << 6 << ""
                         << "plan.range"
                         << "worksheet.groups.a.layers";
    QTest::newRow("negative") << "a" << -1 << ""
                              << "plan.range"
                              << "worksheet.groups.a.layers";
    QTest::newRow("not stated") << "b" << -9 << "1"
                                << "plan.layers" << b;
    QTest::newRow("others") << "a" << -9 << "4-6"
                            << "plan.layers" << a;
    QTest::newRow("every one") << "a" << -9 << "0-5"
                               << "plan.range" << a;
    QTest::newRow("nothing") << "a" << -9 << ""
                             << "plan.range" << a;
    QTest::newRow("no ranges") << "a" << -9 << "1..3"
                               << "layers.syntax" << a;
    QTest::newRow("miscounted") << "wrong" << 1 << ""
                                << "plan.layers"
                                << "worksheet.groups.wrong.layerIndices";
    QTest::newRow("unreadable") << "bad" << 1 << ""
                                << "plan.layers"
                                << "worksheet.groups.bad.layerIndices";
}

void TestGroupEdits::splitRefused()
{
    QFETCH(QString, group);
    QFETCH(int, count);
    QFETCH(QString, layers);
    Plan plan = twoGroups("0-5", "");
    for (const char* id : {"wrong", "bad"}) {
        plan.worksheet.groups.push_back(plan.worksheet.groups[0]);
        plan.worksheet.groups.back().id = id;
        plan.worksheet.groups.back().layerIndices = id[0] == 'w' ? "0-2" : "zero";
    }
    const std::string before = planToJson(plan);
    const Result<std::string> split = count == -9 ? splitGroupAt(plan, group.toStdString(), layers.toStdString())
                                                  : splitGroup(plan, group.toStdString(), count);
    QVERIFY(!split.ok());
    QTEST(QString::fromStdString(split.error().code), "code");
    QTEST(QString::fromStdString(split.error().where.at), "at");
    QCOMPARE(planToJson(plan), before);
}

void TestGroupEdits::merge()
{
    Plan plan = twoGroups("1,4", "0,2-3");
    const std::vector<std::string> both {"b", "a"};
    QVERIFY(mergeGroups(plan, both).ok());
    QCOMPARE(plan.worksheet.groups.size(), 1U);
    QCOMPARE(plan.worksheet.groups[0].id, std::string("a"));
    QCOMPARE(plan.worksheet.groups[0].layers, 5);
    QCOMPARE(plan.worksheet.groups[0].layerIndices, std::string("0-4"));
    for (const auto& [path, source] : plan.provenance.entries())
        QVERIFY(!path.starts_with("worksheet.groups.b."));
}

void TestGroupEdits::mergeRefused_data()
{
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("code");
    QTest::addColumn<QString>("at");
    const QString b = "worksheet.groups.b.";
    // Any field of the second group or of its tensors but name and layers stands in the way, and is named.
    for (const auto& [field, value] :
        std::initializer_list<std::pair<const char*, const char*>> {{"kind", "sliding"}, {"tier", "host"},
            {"pipelineStage", "1"}, {"countsWhen", "speculation"}, {"readsGroup", "c"}, {"tensors.k.heads", "4"},
            {"tensors.k.width", "64"}, {"tensors.v.elementType", "fp8_e4m3"}, {"tensors.v.growth", "fixed"},
            {"tensors.v.limit", "128"}, {"tensors.k.shard", "replicated"}, {"tensors.k.role", "latent"},
            {"tensors.k.stride", "2"}, {"tensors.k.offset", "3"}, {"tensors.k.variable", "encoder_tokens"},
            {"tensors.k.rounding", "up"}, {"tensors.k.chunk", "9"}, {"tensors.k.entries", "9"}})
        QTest::newRow(field) << b + field << value << "plan.merge" << b + field;
    QTest::newRow("twice") << b + "layerIndices"
                           << "2-4"
                           << "plan.layers" << b + "layerIndices";
    QTest::newRow("not stated") << b + "layerIndices"
                                << ""
                                << "plan.layers" << b + "layerIndices";
    QTest::newRow("too many") << ""
                              << ""
                              << "plan.range"
                              << "worksheet.groups.a.layers";
    QTest::newRow("other tensors") << "+"
                                   << ""
                                   << "plan.merge" << b + "tensors";
    QTest::newRow("one") << "1"
                         << ""
                         << "plan.merge"
                         << "worksheet.groups";
    QTest::newRow("unknown") << "?"
                             << ""
                             << "plan.unknown_field"
                             << "worksheet.groups.zz";
}

void TestGroupEdits::mergeRefused()
{
    QFETCH(QString, field);
    QFETCH(QString, value);
    Plan plan = twoGroups("0-2", "3-5");
    std::vector<std::string> ids {"a", "b"};
    if (field.isEmpty()) {
        for (LayerGroup& group : plan.worksheet.groups) {
            group.layers = 6000;
            group.layerIndices.clear();
        }
    } else if (field == "+") {
        plan.worksheet.groups[1].tensors.pop_back();
    } else if (field == "1") {
        ids = {"a", "a"};
    } else if (field == "?") {
        ids = {"a", "zz"};
    } else {
        QVERIFY(setField(plan, field.toStdString(), value.toStdString()).ok());
        if (field.endsWith("layerIndices"))
            plan.worksheet.groups[1].layers = 3;
    }
    const std::string before = planToJson(plan);
    const Result<void> merged = mergeGroups(plan, ids);
    QVERIFY(!merged.ok());
    QTEST(QString::fromStdString(merged.error().code), "code");
    QTEST(QString::fromStdString(merged.error().where.at), "at");
    QCOMPARE(planToJson(plan), before);
}

void TestGroupEdits::readersFollow()
{
    Plan plan = twoGroups("", "");
    LayerGroup reader;
    reader.id = "reader";
    reader.kind = LayerKind::Shared;
    reader.readsGroup = "b";
    plan.worksheet.groups.insert(plan.worksheet.groups.begin(), reader);
    const std::vector<std::string> both {"a", "b"};
    QVERIFY(mergeGroups(plan, both).ok());
    QCOMPARE(plan.worksheet.groups[0].readsGroup, std::string("a"));
    QCOMPARE(plan.worksheet.groups[1].layers, 6);
    // A group is not merged into one that it reads.
    Plan chain = twoGroups("", "");
    chain.worksheet.groups[0].readsGroup = "b";
    chain.worksheet.groups[1].readsGroup = "b";
    const Result<void> merged = mergeGroups(chain, both);
    QVERIFY(!merged.ok());
    QCOMPARE(merged.error().where.at, std::string("worksheet.groups.a.readsGroup"));
}

void TestGroupEdits::duplicate()
{
    Plan plan = test::examplePlan("gpt-oss-120b.kvplan");
    const LayerGroup original = plan.worksheet.groups[0];
    const Result<std::string> id = duplicateGroup(plan, original.id);
    QVERIFY(id.ok());
    QCOMPARE(plan.worksheet.groups[1].id, *id);
    QCOMPARE(plan.worksheet.groups[1].tensors, original.tensors);
    QCOMPARE(plan.worksheet.groups[1].layers, original.layers);
    QVERIFY(plan.worksheet.groups[1].layerIndices.empty());
    QVERIFY(plan.worksheet.groups[1].name != original.name);
    QVERIFY(plan.provenance.find("worksheet.groups." + *id + ".tensors.k.heads"));
    while (plan.worksheet.groups.size() < 1024) {
        LayerGroup more;
        more.id = "g" + std::to_string(plan.worksheet.groups.size());
        plan.worksheet.groups.push_back(more);
    }
    const std::string full = planToJson(plan);
    const Result<std::string> beyond = duplicateGroup(plan, original.id);
    QVERIFY(!beyond.ok());
    QCOMPARE(beyond.error().code, std::string("plan.range"));
    QCOMPARE(planToJson(plan), full);
}

void TestGroupEdits::moves()
{
    Plan plan = test::examplePlan("gpt-oss-120b.kvplan");
    QVERIFY(duplicateGroup(plan, "full").ok());
    const std::vector<LayerGroup> before = groupsOf(plan);
    for (std::size_t from = 0; from < before.size(); ++from) {
        for (std::size_t to = 0; to < before.size(); ++to) {
            Plan moved = plan;
            QVERIFY(moveGroup(moved, before[from].id, to).ok());
            std::vector<LayerGroup> wanted = before;
            wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(from));
            wanted.insert(wanted.begin() + static_cast<std::ptrdiff_t>(to), before[from]);
            QCOMPARE(moved.worksheet.groups, wanted);
            QCOMPARE(bytesOf(moved), bytesOf(plan));
        }
    }
    QCOMPARE(moveGroup(plan, "full", 3).error().code, std::string("plan.range"));
    QCOMPARE(moveGroup(plan, "zz", 0).error().code, std::string("plan.unknown_field"));
    QVERIFY(moveTensor(plan, "full", "v", 0).ok());
    QCOMPARE(plan.worksheet.groups[0].tensors[0].id, std::string("v"));
    QVERIFY(!moveTensor(plan, "full", "v", 2).ok());
    QVERIFY(!moveTensor(plan, "full", "zz", 0).ok());
}

void TestGroupEdits::renames()
{
    Plan plan = test::examplePlan("gpt-oss-120b.kvplan");
    const auto source = plan.provenance.find("worksheet.groups.full.tensors.k.heads");
    QVERIFY(source);
    plan.assumptions.push_back({"test.one", "Assumed.", "worksheet.groups.full.tensors.k.heads"});
    QVERIFY(renameTensor(plan, "full", "k", "key").ok());
    QCOMPARE(plan.worksheet.groups[0].tensors[0].id, std::string("key"));
    QCOMPARE(*plan.provenance.find("worksheet.groups.full.tensors.key.heads"), *source);
    QCOMPARE(plan.assumptions.back().path, std::string("worksheet.groups.full.tensors.key.heads"));
    for (const auto& [path, any] : plan.provenance.entries())
        QVERIFY(!path.starts_with("worksheet.groups.full.tensors.k."));
    const std::string before = planToJson(plan);
    QVERIFY(renameTensor(plan, "full", "key", "key").ok());
    QCOMPARE(renameTensor(plan, "full", "key", "v").error().code, std::string("plan.id"));
    QCOMPARE(renameTensor(plan, "full", "key", "a b").error().code, std::string("plan.id"));
    QCOMPARE(renameTensor(plan, "full", "k", "x").error().code, std::string("plan.unknown_field"));
    QCOMPARE(planToJson(plan), before);
}

void TestGroupEdits::splitThenMergeIsNothing()
{
    int done = 0;
    for (const Plan& plan : plans()) {
        for (const LayerGroup& group : plan.worksheet.groups) {
            for (std::int64_t n = 1; n < group.layers; n += 1 + group.layers / 5) {
                Plan changed = plan;
                const Result<std::string> id = splitGroup(changed, group.id, n);
                QVERIFY2(id.ok(), id ? "" : id.error().text().c_str());
                QCOMPARE(bytesOf(changed), bytesOf(plan));
                const std::vector<std::string> both {group.id, *id};
                const Result<void> merged = mergeGroups(changed, both);
                QVERIFY2(merged.ok(), merged ? "" : merged.error().text().c_str());
                QCOMPARE(changed.worksheet.groups, plan.worksheet.groups);
                QCOMPARE(changed.assumptions, plan.assumptions);
                // Every source is as it was, but those of the layers: a person decided on them.
                for (Plan* one : {&changed}) {
                    for (const char* field : {".layers", ".layerIndices"}) {
                        const std::string path = "worksheet.groups." + group.id + field;
                        one->provenance.remove(path);
                        if (const auto source = plan.provenance.find(path))
                            one->provenance.set(path, *source);
                    }
                }
                QCOMPARE(planToJson(changed), planToJson(plan));
                ++done;
            }
        }
    }
    QVERIFY(done > 50);
}

void TestGroupEdits::randomEditsKeepBytesAndLayers()
{
    std::mt19937_64 random(7);
    const int rounds = 40 * std::max(1, qEnvironmentVariableIntValue("KVW_TEST_SCALE"));
    int splits = 0;
    int merges = 0;
    for (const Plan& plan : plans()) {
        Plan now = plan;
        const double bytes = naiveBytes(plan, 100'000);
        const std::multiset<std::int64_t> layers = layersIn(plan);
        for (int i = 0; i < rounds; ++i) {
            const auto& groups = now.worksheet.groups;
            const auto any = [&] { return groups[random() % groups.size()].id; };
            const std::string a = any();
            const std::string b = any();
            const std::size_t to = random() % groups.size();
            switch (random() % 4) {
            case 0:
            case 1:
                splits += splitGroup(now, a, 1 + static_cast<std::int64_t>(random() % 9)).ok();
                break;
            case 2: {
                const std::vector<std::string> both {a, b};
                merges += mergeGroups(now, both).ok();
                break;
            }
            default:
                QVERIFY(moveGroup(now, a, to).ok());
            }
            QCOMPARE(naiveBytes(now, 100'000), bytes);
            QCOMPARE(layersIn(now), layers);
            QCOMPARE(std::accumulate(groups.begin(), groups.end(), std::int64_t {0},
                         [](std::int64_t sum, const LayerGroup& group) { return sum + group.layers; }),
                std::accumulate(plan.worksheet.groups.begin(), plan.worksheet.groups.end(), std::int64_t {0},
                    [](std::int64_t sum, const LayerGroup& group) { return sum + group.layers; }));
        }
        QCOMPARE(bytesOf(now), bytesOf(plan));
        // What was made can be written and read.
        const std::string text = planToJson(now);
        const Result<JsonDocument> document = parseJson(text, "plan");
        QVERIFY(document.ok());
        const Result<Plan> again = planFromJson(*document);
        QVERIFY2(again.ok(), again ? "" : again.error().text().c_str());
        QCOMPARE(planToJson(*again), text);
    }
    QVERIFY(splits > 100);
    QVERIFY(merges > 20);
}

QTEST_APPLESS_MAIN(TestGroupEdits)
#include "tst_group_edits.moc"
