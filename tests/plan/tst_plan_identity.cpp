// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "random_plan.h"

#include "plan/identity.h"
#include "plan/plan_json.h"

#include <QTest>

#include <algorithm>

using namespace kvw;
using namespace kvw::test;

using Edits = QList<QPair<QString, QString>>;
Q_DECLARE_METATYPE(Edits)

namespace {

QString q(const std::string& text)
{
    return QString::fromStdString(text);
}

Plan referencePlan()
{
    Result<Plan> plan = loadPlan(examplePath("reference.kvplan"));
    if (!plan)
        throw std::runtime_error(plan.error().text());
    return *plan;
}

QStringList idsOf(const Diagnostics& diagnostics)
{
    QStringList out;
    for (const Diagnostic& diagnostic : diagnostics)
        out << q(diagnostic.id);
    out.sort();
    return out;
}

/// Clears what states the row; the groups are no field of their own.
void clear(Plan& plan, const std::string& path)
{
    if (path == "worksheet.groups")
        plan.worksheet.groups.clear();
    else if (const Result<void> cleared = setField(plan, path, ""); !cleared)
        throw std::runtime_error(cleared.error().text());
}

void edit(Plan& plan, const Edits& edits)
{
    for (const auto& [path, value] : edits) {
        if (const Result<void> set = setField(plan, path.toStdString(), value.toStdString()); !set)
            throw std::runtime_error(set.error().text());
    }
}

const QStringList elevenIds {"model_revision", "tokenizer_revision", "engine_build", "attention_layout",
    "cache_element_type", "limits", "concurrency", "block_allocation", "parallelism", "reuse_policy", "outcome"};

} // namespace

class PlanIdentityTest : public QObject
{
    Q_OBJECT
private slots:
    void elevenRowsInOrder();
    void eachClearedInTurn_data();
    void eachClearedInTurn();
    void anEmptyPlanStatesNothing();
    void texts_data();
    void texts();
    void contradictions_data();
    void contradictions();
    void everyDiagnosticLeadsSomewhere();
    void severities();
};

void PlanIdentityTest::elevenRowsInOrder()
{
    const Plan plan = referencePlan();
    QStringList ids;
    for (const IdentityRow& row : identityOf(plan)) {
        ids << q(row.id);
        QVERIFY2(row.text && !row.text->empty(), row.id.c_str());
        QVERIFY(!row.title.empty() && !row.paths.empty());
    }
    QCOMPARE(ids, elevenIds);
    for (const QString& id : idsOf(diagnose(plan)))
        QVERIFY2(!id.startsWith("identity."), qPrintable(id));
}

void PlanIdentityTest::eachClearedInTurn_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("path");
    for (const IdentityRow& row : identityOf(referencePlan())) {
        for (const std::string& path : row.paths)
            QTest::addRow("%s by %s", row.id.c_str(), path.c_str()) << q(row.id) << q(path);
    }
}

/// Exactly this row loses its text, exactly its diagnostic is new, and the diagnostic leads to a field that states it.
void PlanIdentityTest::eachClearedInTurn()
{
    QFETCH(QString, id);
    QFETCH(QString, path);
    Plan plan = referencePlan();
    QStringList expected = idsOf(diagnose(plan)) << "identity." + id;
    expected.sort();
    clear(plan, path.toStdString());
    for (const IdentityRow& row : identityOf(plan))
        QVERIFY2(row.text.has_value() == (q(row.id) != id), row.id.c_str());
    const Diagnostics found = diagnose(plan);
    QCOMPARE(idsOf(found), expected);
    const auto diagnostic
        = std::find_if(found.begin(), found.end(), [&](const Diagnostic& d) { return q(d.id) == "identity." + id; });
    QVERIFY(diagnostic->severity == Severity::Warning);
    QVERIFY(q(diagnostic->message).contains("not stated"));
    QVERIFY(diagnostic->path == "worksheet.groups" || findField(plan, diagnostic->path).ok());
}

void PlanIdentityTest::anEmptyPlanStatesNothing()
{
    QStringList expected;
    for (const QString& id : elevenIds)
        expected << "identity." + id;
    expected.sort();
    QCOMPARE(idsOf(diagnose(Plan {})), expected);
    for (const IdentityRow& row : identityOf(Plan {}))
        QVERIFY2(!row.text, row.id.c_str());
}

void PlanIdentityTest::texts_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<Edits>("edits");
    QTest::addColumn<QString>("text"); // empty: not stated
    const auto row = [](const char* id, const Edits& edits, const char* text) {
        QTest::addRow("%s: %s", id, text) << QString::fromUtf8(id) << edits << QString::fromUtf8(text);
    };
    row("model_revision", {}, "none (hypothetical shape)");
    row("tokenizer_revision", {{"model.tokenizerRevision", "abc"}}, "abc");
    row("engine_build", {}, "vLLM 0.11.0");
    row("engine_build", {{"engine.name", "none"}, {"engine.version", ""}}, "No engine (shape only)");
    row("engine_build", {{"engine.name", "other"}}, "other 0.11.0");
    row("attention_layout", {}, "32 full");
    row("attention_layout",
        {{"worksheet.groups.full.kind", "sliding"}, {"worksheet.groups.full.tensors.k.limit", "128"},
            {"worksheet.groups.full.tensors.v.limit", "128"}},
        "32 sliding (128)");
    row("cache_element_type", {}, "bf16, no scales");
    row("cache_element_type", {{"cache.elementType", "nvfp4"}}, "nvfp4, one scale per 16");
    row("cache_element_type", {{"worksheet.groups.full.tensors.k.elementType", "fp32"}}, "fp32 and bf16, by tensor");
    row("cache_element_type",
        {{"worksheet.groups.full.tensors.k.elementType", "fp32"},
            {"worksheet.groups.full.tensors.v.elementType", "fp32"}},
        "fp32, no scales");
    row("limits", {}, "7,680 + 512 tokens");
    row("concurrency", {{"limits.concurrentSequences", "4096"}}, "4,096 sequences");
    row("block_allocation", {}, "paged pool, 16 tokens a block");
    row("block_allocation", {{"cache.allocation", "static_contiguous"}, {"engine.blockTokens", ""}},
        "static contiguous");
    row("block_allocation", {{"cache.allocation", "growing_contiguous"}, {"engine.blockTokens", ""}},
        "growing contiguous");
    row("parallelism", {{"deployment.tp", "8"}, {"deployment.pp", "2"}, {"deployment.dp", "3"}}, "TP 8, PP 2, DP 3");
    row("parallelism", {{"deployment.pp", ""}, {"deployment.dp", "2"}}, "TP 1, PP not stated (1), DP 2");
    row("reuse_policy", {}, "prefix cache; group-1: Acme; group-2: Birch");
    row("reuse_policy", {{"reuse.prefixCaching", "off"}}, "no prefix cache");
    row("reuse_policy", {{"tenants.birch.sharingGroup", "group-1"}}, "prefix cache; group-1: Acme, Birch");
    row("reuse_policy", {{"tenants.birch.eligibility", "tenant"}, {"tenants.acme.eligibility", ""}},
        "prefix cache; alone: Acme, Birch");
    row("outcome", {}, "preempt and recompute");
    row("outcome", {{"admission.whenExhausted", "reject"}}, "reject");
    row("outcome", {{"admission.whenExhausted", "wait"}}, "wait");
    row("outcome", {{"admission.whenExhausted", "wait"}, {"admission.maxWaitSteps", "5000"}},
        "wait, at most 5,000 steps, then reject");
}

void PlanIdentityTest::texts()
{
    QFETCH(QString, id);
    QFETCH(Edits, edits);
    QFETCH(QString, text);
    Plan plan = referencePlan();
    edit(plan, edits);
    for (const IdentityRow& row : identityOf(plan)) {
        if (q(row.id) == id)
            QCOMPARE(q(row.text.value_or("")), text);
    }
}

void PlanIdentityTest::contradictions_data()
{
    QTest::addColumn<Edits>("edits");
    QTest::addColumn<QStringList>("added"); // diagnostics that the reference plan does not have
    const auto row
        = [](const char* name, const Edits& edits, const QStringList& added) { QTest::newRow(name) << edits << added; };
    // The reference workload's prompts have up to 256 + 1,536 + 5,632 tokens, its outputs up to 512.
    row("limits that just fit", {{"limits.promptTokens", "7681"}, {"limits.outputTokens", "511"}},
        {"workload.beyond_output_limit"});
    row("prompts up to the limit", {{"limits.promptTokens", "7424"}}, {});
    row("prompts beyond the limit", {{"limits.promptTokens", "7423"}}, {"workload.beyond_prompt_limit"});
    row("limits too long by one", {{"limits.promptTokens", "7681"}}, {"limits.sum"});
    row("limits far too long", {{"limits.promptTokens", "1099511627776"}}, {"limits.sum"});
    row("as long as the model", {{"limits.maxModelLen", "8192"}}, {});
    row("beyond the model", {{"limits.maxModelLen", "8193"}}, {"limits.beyond_model"});
    row("a model of any length", {{"limits.maxModelLen", "8193"}, {"model.maximumPositions", ""}}, {});
    row("all retained", {{"worksheet.retainedTokens", "8192"}}, {});
    row("more retained than may be", {{"worksheet.retainedTokens", "8193"}}, {"worksheet.retained"});
    row("a reading without time", {{"worksheet.retainedAt", ""}}, {"worksheet.retained_stamp"});
    row("a reading without origin", {{"worksheet.retainedFrom", ""}}, {"worksheet.retained_stamp"});
    row("no reading", {{"worksheet.retainedTokens", ""}, {"worksheet.retainedAt", ""}}, {});
    row("other layers", {{"worksheet.groups.full.layerIndices", "0-30"}}, {"worksheet.layer_indices"});
    row("layers that are none", {{"worksheet.groups.full.layerIndices", "all"}}, {"worksheet.layer_indices"});
    row("layers in steps", {{"worksheet.groups.full.layerIndices", "0-62:2"}}, {});
    row("layers not listed", {{"worksheet.groups.full.layerIndices", ""}}, {});
    row("reads nobody", {{"worksheet.groups.full.kind", "shared"}}, {"worksheet.reads"});
    row("reads itself", {{"worksheet.groups.full.kind", "shared"}, {"worksheet.groups.full.readsGroup", "full"}},
        {"worksheet.reads"});
    row("a group of nobody", {{"tenants.acme.sharingGroup", ""}}, {"tenant.no_group"});
    row("alone", {{"tenants.acme.sharingGroup", ""}, {"tenants.acme.eligibility", "tenant"}}, {});
    row("eligibility not stated", {{"tenants.acme.eligibility", ""}}, {"tenant.eligibility"});
    row("identity by the client", {{"tenants.acme.identitySource", "client_field"}}, {"tenant.identity_client"});
    row("no identity", {{"tenants.birch.identitySource", "none"}}, {"tenant.identity_client"});
    row("identity by a gateway", {{"tenants.acme.identitySource", "gateway_header"}}, {});
    row("salt by the client", {{"tenants.acme.saltSource", "client"}}, {"tenant.salt_client"});
    row("no salt", {{"tenants.acme.saltSource", "none"}}, {"tenant.salt_client"});
    row("hashes without a key", {{"tenants.acme.loggingBoundary", "plain_hashes"}}, {"tenant.plain_hashes"});
    row("hashes with a key", {{"tenants.acme.loggingBoundary", "keyed_hashes"}}, {});
    row("kept for some time", {{"tenants.acme.retention", "time_to_live"}}, {"tenant.retention"});
    row("kept for an hour", {{"tenants.acme.retention", "time_to_live"}, {"tenants.acme.retentionSeconds", "3600"}},
        {});
    row("quota", {{"tenants.acme.guaranteedBlocks", "10"}, {"tenants.acme.maximumBlocks", "10"}}, {});
    row("quota upside down", {{"tenants.acme.guaranteedBlocks", "11"}, {"tenants.acme.maximumBlocks", "10"}},
        {"tenant.quota"});
    row("sliding without a window", {{"worksheet.groups.full.kind", "sliding"}}, {"worksheet.kind"});
    row("chunked without chunks", {{"worksheet.groups.full.kind", "chunked"}}, {"worksheet.kind"});
    row("recurrent that grows", {{"worksheet.groups.full.kind", "recurrent"}}, {"worksheet.kind"});
    row("sliding but for one tensor",
        {{"worksheet.groups.full.kind", "sliding"}, {"worksheet.groups.full.tensors.k.limit", "128"}},
        {"worksheet.kind"});
    row("full with a window", {{"worksheet.groups.full.tensors.v.limit", "128"}}, {"worksheet.kind"});
    row("sliding with a window",
        {{"worksheet.groups.full.kind", "sliding"}, {"worksheet.groups.full.tensors.k.limit", "128"},
            {"worksheet.groups.full.tensors.v.limit", "128"}},
        {});
    row("two tenants", {{"tenants.acme.saltSource", "none"}, {"tenants.birch.saltSource", "client"}},
        {"tenant.salt_client", "tenant.salt_client"});
    row("prompts of one length", {{"workload.promptTokensMin", "600"}, {"workload.promptTokensMax", "600"}}, {});
    row("prompts upside down", {{"workload.promptTokensMin", "601"}, {"workload.promptTokensMax", "600"}},
        {"workload.prompt"});
    row("outputs upside down", {{"workload.outputTokensMin", "513"}}, {"workload.output"});
    row("not hypothetical", {{"model.basis", "config_file"}}, {"-model.hypothetical"});
}

void PlanIdentityTest::contradictions()
{
    QFETCH(Edits, edits);
    QFETCH(QStringList, added);
    Plan plan = referencePlan();
    QStringList expected = idsOf(diagnose(plan));
    for (const QString& id : added) {
        if (id.startsWith('-'))
            QCOMPARE(expected.removeAll(id.mid(1)), 1);
        else
            expected << id;
    }
    expected.sort();
    edit(plan, edits);
    QCOMPARE(idsOf(diagnose(plan)), expected);
}

/// A click on a diagnostic opens its field: the path must be one of the plan.
void PlanIdentityTest::everyDiagnosticLeadsSomewhere()
{
    RandomValues random(1);
    QSet<QString> seen;
    for (int i = 0; i < 1'000; ++i) {
        Plan plan = random.plan(i % 9);
        if (i % 2 == 0)
            plan.worksheet.groups[0].tensors.clear();
        for (const Diagnostic& diagnostic : diagnose(plan)) {
            seen << q(diagnostic.id);
            QVERIFY2(diagnostic.path == "worksheet.groups" || findField(plan, diagnostic.path).ok(),
                (diagnostic.id + " leads to " + diagnostic.path).c_str());
            const bool sentence = diagnostic.message.ends_with('.');
            QVERIFY2(sentence, diagnostic.message.c_str());
        }
    }
    QVERIFY2(seen.size() >= 25, qPrintable(QStringList(seen.begin(), seen.end()).join(' ')));
}

void PlanIdentityTest::severities()
{
    QCOMPARE(std::string(severityName(Severity::Note)), std::string("note"));
    QCOMPARE(std::string(severityName(Severity::Warning)), std::string("warning"));
    QCOMPARE(std::string(severityName(Severity::Error)), std::string("error"));
    Plan plan = referencePlan();
    edit(plan, {{"limits.promptTokens", "9000"}, {"tenants.acme.saltSource", "none"}});
    QMap<QString, Severity> found;
    for (const Diagnostic& diagnostic : diagnose(plan))
        found[q(diagnostic.id)] = diagnostic.severity;
    QVERIFY(found.value("limits.sum", Severity::Note) == Severity::Error);
    QVERIFY(found.value("tenant.salt_client", Severity::Note) == Severity::Warning);
    QVERIFY(found.value("model.hypothetical", Severity::Error) == Severity::Note);
}

QTEST_APPLESS_MAIN(PlanIdentityTest)
#include "tst_plan_identity.moc"
