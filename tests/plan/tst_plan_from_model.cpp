// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "random_plan.h"

#include "plan/identity.h"
#include "plan/inputs.h"
#include "plan/plan_json.h"

#include <QTest>

#include <set>

using namespace kvw;
using namespace kvw::test;

namespace {

QString q(const std::string& text)
{
    return QString::fromStdString(text);
}

Source fileSource(const char* pointer)
{
    return {Source::Kind::File, "config.json", pointer, std::string(64, 'a')};
}

/// A model with a full and a sliding group, everything that a file can say, and where it said it.
ModelSpec model()
{
    ModelSpec out;
    out.name = "org/model";
    out.architecture = "gpt_oss";
    out.revision = "0123abcd";
    out.dtype = ElementType::Fp16;
    out.maximumPositions = 131'072;
    out.vocabulary = 201'088;
    out.weightBytes = 65'248'815'744;
    GrowthLaw window;
    window.limit = 128;
    out.groups.resize(2);
    out.groups[0].id = "full";
    out.groups[0].layers = 18;
    out.groups[0].tensors = attentionTensors(8, 64, 64, {});
    out.groups[1].id = "sliding";
    out.groups[1].kind = LayerKind::Sliding;
    out.groups[1].layers = 18;
    out.groups[1].tensors = attentionTensors(8, 64, 64, window);
    out.assumptions = {{"import.sliding_pattern", "Every other layer slides.", "worksheet.groups.sliding.layers"}};
    out.diagnostics = {{Severity::Warning, "import.something", "Look.", ""}};
    for (const char* path : {"name", "architecture", "revision", "dtype", "maximumPositions", "weightBytes",
             "groups.full.layers", "groups.sliding.tensors.k.limit"})
        out.provenance.set(path, fileSource(path));
    return out;
}

const Assumption* find(const Plan& plan, const std::string& id)
{
    for (const Assumption& assumption : plan.assumptions) {
        if (assumption.id == id)
            return &assumption;
    }
    return nullptr;
}

} // namespace

namespace {

bool isOfTheFirstWorkload(const std::string& path)
{
    return path.starts_with("workload.") || path.starts_with("tenants.");
}

} // namespace

class PlanFromModelTest : public QObject
{
    Q_OBJECT
private slots:
    void saysWhatTheModelSays();
    void sourcesMoveWithTheirFields();
    void theFirstWorkloadIsAssumed();
    void whatIsImpliedIsAnAssumption();
    void whatTheModelDoesNotSayStaysUnsaid();
    void theFirstWorkloadFits_data();
    void theFirstWorkloadFits();
    void savesAndLoads();
    void aNumberKnowsWhereItComesFrom();
};

void PlanFromModelTest::saysWhatTheModelSays()
{
    const Plan plan = planFromModel(model());
    QCOMPARE(plan.document.title, std::string("org/model"));
    QCOMPARE(plan.model.name, std::string("org/model"));
    QCOMPARE(plan.model.architecture, std::string("gpt_oss"));
    QCOMPARE(plan.model.revision, std::string("0123abcd"));
    QVERIFY(plan.model.basis == ModelBasis::ConfigFile);
    QVERIFY(plan.model.maximumPositions == 131'072);
    QVERIFY(plan.model.dtype == ElementType::Fp16);
    QVERIFY(plan.loaded.weightBytes == 65'248'815'744);
    QVERIFY(plan.worksheet.groups == model().groups);
    QVERIFY(plan.cache.elementType == ElementType::Fp16);
    QVERIFY(plan.limits.maxModelLen == 131'072);
    QCOMPARE(plan.tenants.size(), std::size_t {2});
    QVERIFY(plan.tenants[0].id != plan.tenants[1].id);
    QVERIFY(plan.tenants[0].sharingGroup != plan.tenants[1].sharingGroup);
    for (const Tenant& tenant : plan.tenants)
        QVERIFY(tenant.eligibility == Eligibility::Group && !tenant.sharingGroup.empty());
    QVERIFY(plan.evidence.empty() && plan.runs.empty());
    // Of the eleven, only what a model file can say is stated.
    for (const IdentityRow& row : identityOf(plan)) {
        const std::set<std::string> stated {"model_revision", "attention_layout", "cache_element_type"};
        QVERIFY2(row.text.has_value() == stated.contains(row.id), row.id.c_str());
    }
}

/// Every recorded source belongs to a field of the plan.
void PlanFromModelTest::sourcesMoveWithTheirFields()
{
    Plan plan = planFromModel(model());
    const std::map<std::string, std::string> moved {{"model.name", "name"}, {"model.architecture", "architecture"},
        {"model.revision", "revision"}, {"model.dtype", "dtype"}, {"model.maximumPositions", "maximumPositions"},
        {"loaded.weightBytes", "weightBytes"}, {"worksheet.groups.full.layers", "groups.full.layers"},
        {"worksheet.groups.sliding.tensors.k.limit", "groups.sliding.tensors.k.limit"}};
    for (const auto& [path, pointer] : moved) {
        const std::shared_ptr<const Source> source = plan.provenance.find(path);
        QVERIFY2(source, path.c_str());
        QVERIFY2(*source == fileSource(pointer.c_str()), path.c_str());
    }
    std::size_t ofTheModel = 0;
    for (const auto& [path, source] : plan.provenance.entries()) {
        QVERIFY2(findField(plan, path).ok(), path.c_str());
        ofTheModel += isOfTheFirstWorkload(path) ? 0 : 1;
    }
    QCOMPARE(ofTheModel, moved.size() + 2); // and cache.elementType and limits.maxModelLen, which are assumed
}

/// Nobody stated the first workload and its tenants: every field of them says so.
void PlanFromModelTest::theFirstWorkloadIsAssumed()
{
    Plan plan = planFromModel(model());
    std::size_t fields = 0;
    forEachField(plan, [&](const FieldReference& field) {
        if (!isOfTheFirstWorkload(field.path))
            return;
        const std::shared_ptr<const Source> source = plan.provenance.find(field.path);
        QCOMPARE(static_cast<bool>(source), isStated(field.slot));
        fields += source ? 1 : 0;
        QVERIFY2(!source || source->kind == Source::Kind::Assumption, field.path.c_str());
    });
    QVERIFY(fields > 10);
    QVERIFY(setField(plan, "workload.requests", "7"));
    QVERIFY(plan.provenance.find("workload.requests")->kind == Source::Kind::User);
    QVERIFY(!find(plan, "plan.first_workload"));
    QVERIFY(find(plan, "plan.first_tenants"));
}

void PlanFromModelTest::whatIsImpliedIsAnAssumption()
{
    Plan plan = planFromModel(model());
    QVERIFY(plan.assumptions.front() == model().assumptions.front());
    const std::map<std::string, std::string> ids {{"plan.cache_element_type", "cache.elementType"},
        {"plan.max_model_len", "limits.maxModelLen"}, {"plan.first_workload", "workload.requests"},
        {"plan.first_tenants", "tenants.a.sharingGroup"}};
    for (const auto& [id, path] : ids) {
        const Assumption* assumption = find(plan, id);
        QVERIFY2(assumption, id.c_str());
        QCOMPARE(assumption->path, path);
        QVERIFY(findField(plan, path).ok());
    }
    QVERIFY(q(find(plan, "plan.cache_element_type")->text).contains("fp16"));
    QVERIFY(q(find(plan, "plan.max_model_len")->text).contains("131,072"));
    QVERIFY(plan.provenance.find("cache.elementType")->kind == Source::Kind::Assumption);
    // Once stated, no longer assumed.
    QVERIFY(setField(plan, "cache.elementType", "fp8_e4m3"));
    QVERIFY(!find(plan, "plan.cache_element_type"));
    QVERIFY(find(plan, "plan.max_model_len"));
}

void PlanFromModelTest::whatTheModelDoesNotSayStaysUnsaid()
{
    const Plan plan = planFromModel(ModelSpec {});
    QVERIFY(plan.model.dtype == ElementType::NotStated);
    QVERIFY(plan.cache.elementType == ElementType::NotStated);
    QVERIFY(!find(plan, "plan.cache_element_type"));
    QVERIFY(!plan.provenance.find("cache.elementType"));
    QVERIFY(!plan.limits.maxModelLen);
    QVERIFY(!find(plan, "plan.max_model_len"));
    QVERIFY(!plan.loaded.weightBytes);
    QVERIFY(plan.engine.name.empty() && !plan.deployment.tp && !plan.limits.promptTokens);
    // All that is there is the first workload, and it says so.
    for (const auto& [path, source] : plan.provenance.entries()) {
        QVERIFY2(isOfTheFirstWorkload(path), path.c_str());
        QVERIFY2(source->kind == Source::Kind::Assumption, path.c_str());
    }
}

void PlanFromModelTest::theFirstWorkloadFits_data()
{
    QTest::addColumn<qint64>("longest");
    for (const qint64 longest : {2LL, 3LL, 5LL, 16LL, 63LL, 64LL, 100LL, 512LL, 8192LL, 131'072LL, 1LL << 40})
        QTest::addRow("%lld", static_cast<long long>(longest)) << longest;
}

void PlanFromModelTest::theFirstWorkloadFits()
{
    QFETCH(qint64, longest);
    ModelSpec spec = model();
    spec.maximumPositions = longest;
    Plan plan = planFromModel(spec);
    const WorkloadFields& workload = plan.workload;
    QVERIFY(*workload.commonPrefixTokens + *workload.sharedPrefixTokens + *workload.promptTokensMax
            + *workload.outputTokensMax
        <= longest);
    for (const Diagnostic& diagnostic : diagnose(plan))
        QVERIFY2(diagnostic.severity != Severity::Error, diagnostic.message.c_str());
    // Whatever it states, it could also have been entered.
    for (const auto& [path, text] : textsOf(plan)) {
        if (!text.empty())
            QVERIFY2(setField(plan, path, text), path.c_str());
    }
}

void PlanFromModelTest::savesAndLoads()
{
    const Plan plan = planFromModel(model());
    const Result<JsonDocument> document = parseJson(planToJson(plan), "a.kvplan");
    QVERIFY(document);
    const Result<Plan> again = planFromJson(*document);
    QVERIFY2(again, again ? "" : again.error().text().c_str());
    QCOMPARE(planToJson(*again), planToJson(plan));
    QCOMPARE(planHash(*again), planHash(plan));
}

/// Fields as inputs of derivations carry the file that they were read from.
void PlanFromModelTest::aNumberKnowsWhereItComesFrom()
{
    Plan plan = planFromModel(model());
    PlanInputs inputs(plan);
    const Quantity layers = inputs.number("worksheet.groups.full.layers");
    QCOMPARE(layers.integer(), std::int64_t {18});
    QVERIFY(*layers.derivation()->source == fileSource("groups.full.layers"));
    QVERIFY(layers.unit() == Unit::Layer);
    const Quantity heads = inputs.number("worksheet.groups.full.tensors.k.heads", "K heads");
    QCOMPARE(heads.name(), std::string("K heads"));
    QVERIFY(heads.derivation()->source->kind == Source::Kind::User); // none recorded
    const Quantity missing = inputs.number("deployment.tp");
    QVERIFY(!missing.ok() && q(missing.error()).contains("deployment.tp"));
    QVERIFY(!inputs.isStated("deployment.tp") && inputs.isStated("limits.maxModelLen"));
    QVERIFY(inputs.assumptions().empty());
    for (int i = 0; i < 2; ++i) {
        const Quantity one = inputs.numberOr("deployment.tp", 1, Source::Kind::Assumption, "one rank.");
        QCOMPARE(one.integer(), std::int64_t {1});
        QVERIFY(restsOnAssumption(one.derivation()));
    }
    QCOMPARE(inputs.assumptions().size(), std::size_t {1}); // each once
    QCOMPARE(inputs.assumptions()[0].path, std::string("deployment.tp"));
    QCOMPARE(inputs.numberOr("limits.maxModelLen", 7, Source::Kind::Assumption, "").integer(), std::int64_t {131'072});
    QCOMPARE(inputs.assumptions().size(), std::size_t {1});
}

QTEST_APPLESS_MAIN(PlanFromModelTest)
#include "tst_plan_from_model.moc"
