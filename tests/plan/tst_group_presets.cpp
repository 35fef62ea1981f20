// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/field_table.h"
#include "plan/group_presets.h"
#include "plan/plan_json.h"
#include "support/example_plans.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace kvw;

namespace {

/// "k 8x128 min(v, 128) heads; v …": what a group keeps, in one line.
QString keptBy(const LayerGroup& group)
{
    QStringList out;
    for (const StateTensor& tensor : group.tensors)
        out.push_back(QStringLiteral("%1 %2x%3 %4 %5")
                          .arg(QString::fromStdString(tensor.id))
                          .arg(tensor.heads)
                          .arg(tensor.width)
                          .arg(QString::fromStdString(growthText(tensor.growth)),
                              tensor.shard == ShardRule::Heads ? "heads" : "replicated"));
    return out.join("; ");
}

Result<Plan> retyped(Plan plan, const std::string& group, const Retyping& retyping)
{
    if (const Result<void> done = retypeGroup(plan, group, retyping); !done)
        return done.error();
    return plan;
}

const LayerGroup& groupIn(const Plan& plan, const std::string& id)
{
    return *std::find_if(plan.worksheet.groups.begin(), plan.worksheet.groups.end(),
        [&](const LayerGroup& group) { return group.id == id; });
}

Source::Kind kindOf(const Plan& plan, const std::string& path)
{
    return plan.provenance.find(path)->kind;
}

} // namespace

class TestGroupPresets : public QObject
{
    Q_OBJECT

private slots:
    void tableIsSound();
    void fromAttention_data();
    void fromAttention();
    void publishedShapes_data();
    void publishedShapes();
    void whatCarriesOver();
    void usualValuesAreAssumptions();
    void thereAndBack();
    void names();
    void reads();
    void refused();
};

void TestGroupPresets::tableIsSound()
{
    std::set<std::string_view> ids;
    std::set<LayerKind> kinds;
    for (const GroupPreset& preset : groupPresets()) {
        QVERIFY(ids.insert(preset.id).second);
        kinds.insert(preset.kind);
        QVERIFY(!preset.title.empty() && !preset.keeps.empty());
        QVERIFY(groupPreset(preset.id) == &preset);
        std::set<std::string_view> numbers;
        std::vector<std::int64_t> least;
        std::vector<std::int64_t> most;
        for (const PresetNumber& number : preset.numbers) {
            QVERIFY(numbers.insert(number.id).second);
            QVERIFY(number.minimum <= number.usual && number.usual <= number.maximum);
            least.push_back(number.minimum);
            most.push_back(number.maximum);
        }
        if (preset.readsOther())
            continue;
        // At both ends the plan takes what the preset makes.
        for (const std::vector<std::int64_t>& values : {least, most}) {
            Plan plan;
            plan.worksheet.groups.emplace_back().id = "g";
            plan.worksheet.groups[0].kind = preset.kind;
            plan.worksheet.groups[0].tensors = preset.tensors(values);
            QVERIFY(!plan.worksheet.groups[0].tensors.empty());
            const Result<JsonDocument> document = parseJson(planToJson(plan), "plan");
            const Result<Plan> again = planFromJson(*document);
            QVERIFY2(again.ok(), again ? "" : again.error().text().c_str());
        }
    }
    QCOMPARE(kinds.size(), layerKindNames().size()); // each kind that there is has a preset
    QVERIFY(groupPreset("none") == nullptr);
}

void TestGroupPresets::fromAttention_data()
{
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QString>("kept");
    // From K and V of 8 × 64, grown without end: heads and widths are the group's own.
    QTest::newRow("full") << "full"
                          << "k 8x64 v heads; v 8x64 v heads";
    QTest::newRow("sliding") << "sliding"
                             << "k 8x64 min(v, 4096) heads; v 8x64 min(v, 4096) heads";
    QTest::newRow("chunked") << "chunked"
                             << "k 8x64 ((v − 1) mod 8192) + 1 heads; v 8x64 ((v − 1) mod 8192) + 1 heads";
    QTest::newRow("mla") << "mla"
                         << "latent 1x512 v replicated; rope 1x64 v replicated";
    QTest::newRow("mla_sparse") << "mla_sparse"
                                << "latent 1x512 v replicated; rope 1x64 v replicated; index 1x128 v replicated";
    QTest::newRow("compressed") << "compressed"
                                << "kv 1x512 min(v, 128) replicated; compressed 1x512 ⌊v ÷ 4⌋ replicated";
    QTest::newRow("linear") << "linear"
                            << "conv 16x512 3 (fixed) heads; state 32x16384 1 (fixed) heads";
    QTest::newRow("mamba1") << "mamba1"
                            << "conv 8192x1 3 (fixed) heads; state 8192x16 1 (fixed) heads";
    QTest::newRow("mamba2")
        << "mamba2"
        << "conv 128x64 3 (fixed) heads; conv_bc 8x256 3 (fixed) heads; state 128x8192 1 (fixed) heads";
}

void TestGroupPresets::fromAttention()
{
    QFETCH(QString, preset);
    const Plan before = test::examplePlan("gpt-oss-120b.kvplan");
    const Result<Plan> after = retyped(before, "full", {preset.toStdString()});
    QVERIFY2(after.ok(), after ? "" : after.error().text().c_str());
    const LayerGroup& group = groupIn(*after, "full");
    QTEST(keptBy(group), "kept");
    QCOMPARE(group.kind, groupPreset(preset.toStdString())->kind);
    QCOMPARE(group.layers, groupIn(before, "full").layers);
    QCOMPARE(group.layerIndices, groupIn(before, "full").layerIndices);
    QCOMPARE(groupIn(*after, "sliding"), groupIn(before, "sliding"));
    // No source and no assumption is left of a tensor that is gone.
    Plan& fields = const_cast<Plan&>(*after);
    for (const auto& [path, source] : after->provenance.entries()) {
        if (path.starts_with("worksheet.groups.full."))
            QVERIFY2(findField(fields, path).ok(), path.c_str());
    }
}

void TestGroupPresets::publishedShapes_data()
{
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QVariantMap>("numbers");
    QTest::addColumn<qint64>("elements"); // of one layer at 1,000 tokens
    // DeepSeek-V3: kv_lora_rank 512, qk_rope_head_dim 64: 576 elements a token.
    QTest::newRow("deepseek v3") << "mla" << QVariantMap {{"latentWidth", 512}, {"positionalWidth", 64}}
                                 << qint64 {576'000};
    // Qwen3-Next: 16 key heads, 32 value heads, 128 wide both, kernel 4: a convolution over 8,192 channels, 3 inputs,
    // and 32 matrices of 128 × 128.
    QTest::newRow("qwen3 next") << "linear"
                                << QVariantMap {{"heads", 32}, {"valueWidth", 128}, {"keyHeads", 16}, {"keyWidth", 128},
                                       {"kept", 3}}
                                << qint64 {3 * 8'192 + 32 * 128 * 128};
    // Mamba-2.8b: 5,120 inner channels, state 16, kernel 4.
    QTest::newRow("mamba 2.8b") << "mamba1" << QVariantMap {{"channels", 5'120}, {"depth", 16}, {"kept", 3}}
                                << qint64 {3 * 5'120 + 5'120 * 16};
    // Nemotron-H 8B: 128 heads of 64, 8 groups, state 128, kernel 4: 8,192 + 2 × 8 × 128 channels.
    QTest::newRow("nemotron h") << "mamba2"
                                << QVariantMap {{"heads", 128}, {"width", 64}, {"groups", 8}, {"depth", 128},
                                       {"kept", 3}}
                                << qint64 {3 * (8'192 + 2 * 8 * 128) + 128 * 64 * 128};
    // Gemma 3 27B: 16 heads of 128, window 1,024; Llama 4 Scout: 8 heads of 128, chunks of 8,192.
    QTest::newRow("gemma 3 27b") << "sliding"
                                 << QVariantMap {{"heads", 16}, {"keyWidth", 128}, {"valueWidth", 128},
                                        {"window", 1'024}}
                                 << qint64 {2 * 16 * 128 * 1'000};
    QTest::newRow("llama 4 scout") << "chunked"
                                   << QVariantMap {{"heads", 8}, {"keyWidth", 128}, {"valueWidth", 128}, {"chunk", 300}}
                                   << qint64 {2 * 8 * 128 * 100};
}

void TestGroupPresets::publishedShapes()
{
    QFETCH(QString, preset);
    QFETCH(QVariantMap, numbers);
    Retyping retyping {preset.toStdString()};
    for (auto number = numbers.cbegin(); number != numbers.cend(); ++number)
        retyping.numbers[number.key().toStdString()] = number.value().toLongLong();
    const Result<Plan> plan = retyped(test::examplePlan("reference.kvplan"), "full", retyping);
    QVERIFY2(plan.ok(), plan ? "" : plan.error().text().c_str());
    qint64 elements = 0;
    for (const StateTensor& tensor : plan->worksheet.groups[0].tensors)
        elements += tensor.heads * tensor.width * tensor.growth.at(1'000);
    QTEST(elements, "elements");
}

void TestGroupPresets::whatCarriesOver()
{
    Plan plan = test::examplePlan("gpt-oss-120b.kvplan");
    QVERIFY(setField(plan, "worksheet.groups.sliding.tensors.k.elementType", "fp8_e4m3").ok());
    QVERIFY(setField(plan, "worksheet.groups.sliding.tensors.v.elementType", "fp8_e4m3").ok());
    const auto heads = plan.provenance.find("worksheet.groups.sliding.tensors.k.heads");
    QVERIFY(heads);
    const std::vector<PresetValue> values = presetValues(plan, "sliding", *groupPreset("sliding"));
    QCOMPARE(values[0].value, 8);
    QCOMPARE(values[3].value, 128);
    QCOMPARE(values[3].carriedFrom, std::string("worksheet.groups.sliding.tensors.k.limit"));
    Plan full = *retyped(plan, "sliding", {"full"});
    QVERIFY(!groupIn(full, "sliding").retentionLimit());
    QCOMPARE(*full.provenance.find("worksheet.groups.sliding.tensors.k.heads"), *heads);
    QCOMPARE(groupIn(full, "sliding").tensors[0].elementType, ElementType::Fp8E4M3);
    QVERIFY(!full.provenance.find("worksheet.groups.sliding.tensors.k.limit"));
    // To a latent: the element type of K and V is the cache's there too, heads and widths are not.
    Plan latent = *retyped(plan, "sliding", {"mla"});
    QCOMPARE(groupIn(latent, "sliding").tensors[0].elementType, ElementType::Fp8E4M3);
    QCOMPARE(groupIn(latent, "sliding").tensors[0].width, 512);
    // To a state: that is no cache; it has the model's own element type.
    Plan state = *retyped(plan, "sliding", {"mamba1"});
    QCOMPARE(groupIn(state, "sliding").tensors[1].elementType, plan.model.dtype);
    // Back to attention of a group whose K and V differ.
    QVERIFY(setField(plan, "worksheet.groups.full.tensors.v.width", "32").ok());
    Plan chunked = *retyped(plan, "full", {"chunked", {{"chunk", 2048}}});
    QCOMPARE(keptBy(groupIn(chunked, "full")),
        QStringLiteral("k 8x64 ((v − 1) mod 2048) + 1 heads; v 8x32 ((v − 1) mod 2048) + 1 heads"));
    QCOMPARE(kindOf(chunked, "worksheet.groups.full.tensors.v.width"), Source::Kind::User);
    QCOMPARE(kindOf(chunked, "worksheet.groups.full.tensors.v.chunk"), Source::Kind::User);
}

void TestGroupPresets::usualValuesAreAssumptions()
{
    const Plan before = test::examplePlan("reference.kvplan");
    const Plan plan = *retyped(before, "full", {"linear", {{"heads", 48}}});
    QCOMPARE(kindOf(plan, "worksheet.groups.full.kind"), Source::Kind::User);
    QCOMPARE(kindOf(plan, "worksheet.groups.full.tensors.state.heads"), Source::Kind::User);
    for (const char* path : {"state.width", "conv.heads", "conv.width", "conv.entries"}) {
        const std::string field = std::string("worksheet.groups.full.tensors.") + path;
        QCOMPARE(kindOf(plan, field), Source::Kind::Assumption);
        QCOMPARE(std::count_if(plan.assumptions.begin(), plan.assumptions.end(),
                     [&](const Assumption& one) { return one.path == field; }),
            1);
    }
    QCOMPARE(kindOf(plan, "worksheet.groups.full.tensors.state.entries"), Source::Kind::Definition);
    // Who states the number has no assumption any more.
    Plan stated = plan;
    QVERIFY(setField(stated, "worksheet.groups.full.tensors.state.width", "16384").ok());
    QCOMPARE(kindOf(stated, "worksheet.groups.full.tensors.state.width"), Source::Kind::User);
    QCOMPARE(stated.assumptions.size() + 1, plan.assumptions.size());
    // An assumption of a field that stays, stays; of one that goes, goes.
    Plan again = *retyped(plan, "full", {"linear"});
    QCOMPARE(again.assumptions.size(), plan.assumptions.size());
    Plan back = *retyped(plan, "full", {"mla", {{"latentWidth", 256}, {"positionalWidth", 32}}});
    QCOMPARE(std::count_if(back.assumptions.begin(), back.assumptions.end(),
                 [&](const Assumption& one) { return one.path.starts_with("worksheet.groups.full.tensors."); }),
        0);
}

void TestGroupPresets::thereAndBack()
{
    // From full to every preset with K and V and back: the same tensors with the same sources.
    const Plan before = test::examplePlan("gpt-oss-120b.kvplan");
    for (const char* preset : {"sliding", "chunked", "cross", "cross_image"}) {
        Plan plan = *retyped(before, "full", {preset});
        plan = *retyped(plan, "full", {"full"});
        QCOMPARE(groupIn(plan, "full").tensors, groupIn(before, "full").tensors);
        for (const char* field : {"k.heads", "v.heads", "k.width", "v.width"}) {
            const std::string path = std::string("worksheet.groups.full.tensors.") + field;
            QCOMPARE(*plan.provenance.find(path), *before.provenance.find(path));
        }
        QCOMPARE(plan.assumptions, before.assumptions);
    }
}

void TestGroupPresets::names()
{
    Plan plan = test::examplePlan("gpt-oss-120b.kvplan");
    QCOMPARE(groupIn(*retyped(plan, "full", {"sliding", {{"window", 512}}}), "full").name,
        std::string("Sliding window 512"));
    QCOMPARE(groupIn(*retyped(plan, "full", {"mla"}), "full").name, std::string("MLA latent"));
    QVERIFY(setField(plan, "worksheet.groups.full.name", "my own").ok());
    QCOMPARE(groupIn(*retyped(plan, "full", {"mla"}), "full").name, std::string("my own"));
}

void TestGroupPresets::reads()
{
    const Plan before = test::examplePlan("gpt-oss-120b.kvplan");
    const Plan plan = *retyped(before, "sliding", {"shared", {}, "full"});
    QCOMPARE(groupIn(plan, "sliding").kind, LayerKind::Shared);
    QCOMPARE(groupIn(plan, "sliding").readsGroup, std::string("full"));
    QVERIFY(groupIn(plan, "sliding").tensors.empty());
    for (const std::string reads : {"", "sliding", "none"}) {
        const Result<Plan> refused = retyped(before, "sliding", {"shared", {}, reads});
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, std::string("plan.reads"));
        QCOMPARE(refused.error().where.at, std::string("worksheet.groups.sliding.readsGroup"));
    }
    // Not what another reads, and not what keeps nothing.
    QCOMPARE(retyped(plan, "full", {"shared", {}, "sliding"}).error().code, std::string("plan.reads"));
    // And out again: nothing is read any more.
    const Plan out = *retyped(plan, "sliding", {"sliding"});
    QVERIFY(groupIn(out, "sliding").readsGroup.empty());
    QCOMPARE(groupIn(out, "sliding").tensors.size(), 2U);
}

void TestGroupPresets::refused()
{
    const Plan plan = test::examplePlan("gpt-oss-120b.kvplan");
    QCOMPARE(retyped(plan, "zz", {"full"}).error().code, std::string("plan.unknown_field"));
    QCOMPARE(retyped(plan, "full", {"zz"}).error().code, std::string("plan.unknown_field"));
    QCOMPARE(retyped(plan, "full", {"full", {{"window", 1}}}).error().code, std::string("plan.unknown_field"));
    for (const std::int64_t bad : {std::int64_t {0}, std::int64_t {-1}, std::int64_t {2'000'000'000}, INT64_MAX}) {
        Plan changed = plan;
        const Result<void> done = retypeGroup(changed, "full", {"sliding", {{"window", bad}}});
        QCOMPARE(done.error().code, std::string("plan.range"));
        QCOMPARE(planToJson(changed), planToJson(plan));
    }
}

QTEST_APPLESS_MAIN(TestGroupPresets)
#include "tst_group_presets.moc"
