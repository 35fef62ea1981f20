// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "random_plan.h"

#include "plan/choices.h"
#include "plan/field_table.h"

#include <QRegularExpression>
#include <QTest>

#include <set>

using namespace kvw;
using namespace kvw::test;

namespace {

QString q(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

const void* addressOf(const FieldSlot& slot)
{
    return std::visit([](auto* pointer) -> const void* { return pointer; }, slot);
}

/// The fields of a plan, so that a test can walk them while it changes others.
std::vector<FieldReference> fieldsOf(const Plan& plan)
{
    std::vector<FieldReference> out;
    forEachField(plan, [&](const FieldReference& reference) { out.push_back(reference); });
    return out;
}

} // namespace

class FieldTableTest : public QObject
{
    Q_OBJECT
private slots:
    void everyFieldIsDescribed();
    void everyFieldHasASlotOfItsOwn();
    void everyMemberIsInTheTable();
    void displays_data();
    void displays();
    void collections();
    void pathsWithoutAPlan();
    void unitsAndGroups();
    void choicesHaveTitles();
};

void FieldTableTest::everyFieldIsDescribed()
{
    const Plan plan = skeleton();
    std::set<std::string> paths;
    for (const FieldReference& reference : fieldsOf(plan)) {
        const Field& field = *reference.field;
        QVERIFY2(paths.insert(reference.path).second, ("twice: " + reference.path).c_str());
        QVERIFY2(!field.title.empty() && field.help.ends_with('.'), reference.path.c_str());
        QCOMPARE(field.type == FieldType::Choice, !field.choices.empty());
        const std::set<std::string_view> choices(field.choices.begin(), field.choices.end());
        QCOMPARE(choices.size(), field.choices.size());
        if (field.type == FieldType::Integer || field.type == FieldType::Count || field.type == FieldType::Real)
            QVERIFY2(field.minimum < field.maximum, reference.path.c_str());
    }
    QVERIFY(paths.contains("worksheet.groups.Sliding_2.tensors.v.limit"));
    QVERIFY(paths.contains("tenants.b-2.maximumBlocks"));
}

void FieldTableTest::everyFieldHasASlotOfItsOwn()
{
    Plan plan = skeleton();
    std::set<const void*> addresses;
    for (const FieldReference& reference : fieldsOf(plan)) {
        QVERIFY2(addresses.insert(addressOf(reference.slot)).second, reference.path.c_str());
        const Result<FieldReference> found = findField(plan, reference.path);
        QVERIFY2(found, reference.path.c_str());
        QCOMPARE(addressOf(found->slot), addressOf(reference.slot));
        QCOMPARE(found->field, reference.field);
        QCOMPARE(found->path, reference.path);
    }
}

/// Takes the structs apart: a member added to one of them does not compile here until it is listed, and fails until it
/// is in the table.
void FieldTableTest::everyMemberIsInTheTable()
{
    Plan plan = skeleton();
    std::set<const void*> addresses;
    for (const FieldReference& reference : fieldsOf(plan))
        addresses.insert(addressOf(reference.slot));
    std::size_t members = 0;
    const auto all = [&](const auto&... member) {
        members += sizeof...(member);
        return (addresses.contains(&member) && ...);
    };
    const auto& [title, author, classification, notes] = plan.document;
    QVERIFY(all(title, author, classification, notes));
    const auto& [name, architecture, revision, tokenizer, basis, positions, dtype] = plan.model;
    QVERIFY(all(name, architecture, revision, tokenizer, basis, positions, dtype));
    const auto& [groups, tokens, sequences, at, from] = plan.worksheet;
    QVERIFY(all(tokens, sequences, at, from));
    const auto& [cacheType, allocation] = plan.cache;
    QVERIFY(all(cacheType, allocation));
    const auto& [engine, version, block, batched, maxSequences, speculation, draftTokens, draftModules, backend, stored,
        runner, async, batches, stateMode, hybrid, blocks, fit]
        = plan.engine;
    QVERIFY(all(engine, version, block, batched, maxSequences, speculation, draftTokens, draftModules, backend, stored,
        runner, async, batches, stateMode, hybrid, blocks, fit));
    const auto& [gpu, memory, tp, pp, dp, dcp] = plan.deployment;
    QVERIFY(all(gpu, memory, tp, pp, dp, dcp));
    const auto& [kv, kvByRank, utilization, activation, other] = plan.budget;
    QVERIFY(all(kv, kvByRank, utilization, activation, other));
    const auto& [weights, weightSource] = plan.loaded;
    QVERIFY(all(weights, weightSource));
    const auto& [length, prompt, output, concurrent, encoder, image] = plan.limits;
    QVERIFY(all(length, prompt, output, concurrent, encoder, image));
    const auto& [prefixCaching] = plan.reuse;
    QVERIFY(all(prefixCaching));
    const auto& [exhausted, reservation, wait] = plan.admission;
    QVERIFY(all(exhausted, reservation, wait));
    const auto& [w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12] = plan.workload;
    QVERIFY(all(w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12));
    for (const Tenant& tenant : plan.tenants) {
        const auto& [id, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11] = tenant;
        QVERIFY(all(t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11));
    }
    for (const EvidenceSummary& row : plan.evidence) {
        const auto& [id, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11] = row;
        QVERIFY(all(e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11));
    }
    for (const RunReference& run : plan.runs) {
        const auto& [id, r1, r2, r3, r4, r5, r6, r7] = run;
        QVERIFY(all(r1, r2, r3, r4, r5, r6, r7));
    }
    for (const LayerGroup& group : plan.worksheet.groups) {
        const auto& [id, g1, g2, g3, g4, g5, tensors, g6, g7, g8] = group;
        QVERIFY(all(g1, g2, g3, g4, g5, g6, g7, g8));
        for (const StateTensor& tensor : tensors) {
            const auto& [tensorId, role, heads, width, type, growth, shard] = tensor;
            QVERIFY(all(role, heads, width, type, shard));
            const auto& [form, variable, rounding, entries, offset, stride, limit, chunk] = growth;
            QVERIFY(all(form, variable, rounding, entries, offset, stride, limit, chunk));
        }
    }
    QCOMPARE(members, addresses.size()); // and the table holds nothing else
}

void FieldTableTest::displays_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("display");
    const auto row = [](const char* path, const char* text, const char* display) {
        QTest::addRow("%s=%s", path, text) << q(path) << q(text) << q(display);
    };
    row("deployment.memoryBytes", "80GiB", "80.00 GiB");
    row("budget.kvBytesPerRank", "0", "0 B");
    row("limits.maxModelLen", "131072", "131,072 tokens");
    row("worksheet.groups.full.layers", "36", "36 layers");
    row("workload.seed", "1234567", "1,234,567");
    row("budget.utilization", "0.92", "0.92");
    row("cache.elementType", "bf16", "bf16");
    row("document.title", "A plan", "A plan");
    row("worksheet.groups.full.tensors.k.offset", "-5000", "-5,000 tokens");
}

void FieldTableTest::displays()
{
    QFETCH(QString, path);
    QFETCH(QString, text);
    QFETCH(QString, display);
    Plan plan = skeleton();
    QVERIFY(setField(plan, path.toStdString(), text.toStdString()));
    const FieldReference reference = findField(plan, path.toStdString()).value();
    QCOMPARE(q(fieldDisplay(*reference.field, reference.slot)), display);
}

void FieldTableTest::collections()
{
    Plan plan = skeleton();
    std::set<std::string_view> paths;
    for (const Collection& collection : planFields().collections) {
        paths.insert(collection.path);
        const std::size_t before = collection.size(&plan);
        void* element = collection.append(&plan);
        *collection.id(element) = "new";
        QCOMPARE(collection.size(&plan), before + 1);
        QCOMPARE(collection.at(&plan, before), element);
        QVERIFY(!collection.elements->fields.empty());
        collection.erase(&plan, 0);
        QCOMPARE(collection.size(&plan), before);
        QCOMPARE(*collection.id(collection.at(&plan, before - 1)), std::string("new"));
        QVERIFY(!collection.title.empty() && collection.maximumSize > 0);
    }
    QCOMPARE(paths, std::set<std::string_view>({"worksheet.groups", "tenants", "evidence", "runs"}));
    QCOMPARE(plan.worksheet.groups.back().id, std::string("new"));
    QCOMPARE(plan.tenants.front().id, std::string("b-2"));
}

/// The list without a plan names every field that a plan has, and says what each may hold.
void FieldTableTest::pathsWithoutAPlan()
{
    std::map<std::string, const Field*> listed;
    for (const auto& [path, field] : fieldPaths()) {
        QVERIFY2(listed.emplace(path, field).second, path.c_str());
        QVERIFY2(!fieldRange(*field).empty(), path.c_str());
    }
    const QRegularExpression group("^worksheet\\.groups\\.[^.]+\\.");
    const QRegularExpression tensor("\\.tensors\\.[^.]+\\.");
    const QRegularExpression other("^(tenants|evidence|runs)\\.[^.]+\\.");
    std::set<std::string> met;
    const Plan plan = skeleton();
    forEachField(plan, [&](const FieldReference& reference) {
        QString path = q(reference.path);
        path.replace(group, "worksheet.groups.<layer group>.").replace(tensor, ".tensors.<tensor>.");
        if (const auto match = other.match(path); match.hasMatch()) {
            for (const Collection& collection : planFields().collections) {
                if (q(std::string(collection.path)) == match.captured(1))
                    path.replace(
                        0, match.capturedLength(), match.captured(1) + ".<" + q(std::string(collection.title)) + ">.");
            }
        }
        met.insert(path.toStdString());
        const auto found = listed.find(path.toStdString());
        QVERIFY2(found != listed.end(), qPrintable(path));
        QCOMPARE(found->second, reference.field);
    });
    QVERIFY(met.size() + 20 > listed.size());
    const auto range = [&](const char* path) { return q(fieldRange(*listed.at(path))); };
    QCOMPARE(range("document.title"), QString("text"));
    QCOMPARE(range("cache.allocation"), QString("paged_pool, static_contiguous, growing_contiguous"));
    QCOMPARE(range("deployment.tp"), QString("a whole number, 1 ranks to 65,536 ranks"));
    QCOMPARE(range("deployment.memoryBytes"), QString("a size, 1 B to 1.00 EiB"));
    QCOMPARE(range("budget.utilization"), QString("a number, 0 to 1"));
}

/// The unit that a field shows may be typed with its number, and groups of digits may be parted.
void FieldTableTest::unitsAndGroups()
{
    Plan plan = skeleton();
    const auto set = [&](const char* text) { return setField(plan, "limits.maxModelLen", text); };
    const std::pair<const char*, std::int64_t> good[] {{"8 192 tokens", 8192}, {"8192 tokens", 8192},
        {"16k tokens", 16384}, {"1 token", 1}, {"8,192", 8192}, {"1\u202f048\u00a0576", 1048576}, {" 77 ", 77},
        {"4096tokens", 4096}};
    for (const auto& [text, value] : good) {
        QVERIFY2(set(text).ok(), text);
        QCOMPARE(*plan.limits.maxModelLen, value);
    }
    for (const char* text : {"8 19", "8192 blocks", "tokens", "8192 tok", "8  192", "1 2 3"}) {
        const Result<void> refused = set(text);
        QVERIFY2(!refused.ok(), text);
        QCOMPARE(q(refused.error().found), QString("\"%1\"").arg(QString::fromUtf8(text)));
        QCOMPARE(*plan.limits.maxModelLen, std::int64_t {4096});
    }
    const Result<void> far = set("0");
    QCOMPARE(q(far.error().expected), QString("1 tokens to 1,099,511,627,776 tokens"));
    QVERIFY(setField(plan, "loaded.weightBytes", "37 430 639 984 bytes").ok());
    QCOMPARE(*plan.loaded.weightBytes, std::int64_t {37'430'639'984});
    QVERIFY(setField(plan, "budget.utilization", "92 %").ok());
    QCOMPARE(*plan.budget.utilization, 0.92);
    const Result<void> share = setField(plan, "budget.utilization", "92");
    QCOMPARE(q(share.error().expected), QString("0 to 1, or a percentage: 0 % to 100 %"));
}

/// Every choice reads differently from the others of its field, and none as a code.
void FieldTableTest::choicesHaveTitles()
{
    std::size_t fields = 0;
    for (const auto& [path, field] : fieldPaths()) {
        if (field->choices.empty())
            continue;
        ++fields;
        std::set<std::string_view> titles;
        for (std::size_t value = 0; value < field->choices.size(); ++value) {
            const std::string_view title = choiceTitle(field->choices, value);
            QVERIFY2(!title.empty() && titles.insert(title).second, path.c_str());
            const bool elementType = path.ends_with("lementType") || path.ends_with("dtype"); // their names are titles
            QVERIFY2(elementType || title.find('_') == std::string_view::npos, path.c_str());
        }
        QCOMPARE(titles.contains("not stated"), field->choices.front().empty());
    }
    QVERIFY(fields > 10);
    Plan plan = skeleton();
    QVERIFY(setField(plan, "tenants.b-2.identitySource", "mutual_tls"));
    const FieldReference found = findField(plan, "tenants.b-2.identitySource").value();
    QCOMPARE(fieldText(*found.field, found.slot), std::string("mutual_tls"));
    QCOMPARE(fieldDisplay(*found.field, found.slot), std::string("mutual TLS subject"));
}

QTEST_APPLESS_MAIN(FieldTableTest)
#include "tst_field_table.moc"
