// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "random_plan.h"

#include "plan/field_table.h"
#include "plan/plan_json.h"

#include <QTest>

using namespace kvw;
using namespace kvw::test;

namespace {

QString q(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

bool hasChoiceOfNothing(const Field& field)
{
    return field.type == FieldType::Choice && field.choices[0].empty();
}

/// The fields of a plan, so that a test can walk them while it changes others.
std::vector<FieldReference> fieldsOf(const Plan& plan)
{
    std::vector<FieldReference> out;
    forEachField(plan, [&](const FieldReference& reference) { out.push_back(reference); });
    return out;
}

} // namespace

class FieldEditTest : public QObject
{
    Q_OBJECT
private slots:
    void everyFieldReadsBack();
    void whatIsRefusedChangesNothing();
    void clearing();
    void units_data();
    void units();
    void unknownFields_data();
    void unknownFields();
    void brokenUtf8_data();
    void brokenUtf8();
    void anEntryReplacesAnAssumption();
};

void FieldEditTest::everyFieldReadsBack()
{
    RandomValues random(1);
    Plan plan = skeleton();
    for (int round = 0; round < 20; ++round) {
        for (const FieldReference& reference : fieldsOf(plan)) {
            std::map<std::string, std::string> expected = textsOf(plan);
            const std::string value = random.valueFor(*reference.field);
            const Result<void> set = setField(plan, reference.path, value);
            QVERIFY2(set, set ? "" : set.error().text().c_str());
            expected[reference.path] = value;
            QVERIFY2(textsOf(plan) == expected, (reference.path + " = " + value).c_str());
            const std::shared_ptr<const Source> source = plan.provenance.find(reference.path);
            QVERIFY2(source, reference.path.c_str());
            QVERIFY(source->kind == Source::Kind::User);
            QCOMPARE(source->at, reference.path);
            if (reference.field->type != FieldType::Choice || hasChoiceOfNothing(*reference.field))
                QVERIFY(isStated(reference.slot));
        }
    }
}

void FieldEditTest::whatIsRefusedChangesNothing()
{
    RandomValues random(2);
    Plan plan = random.plan(8);
    plan.assumptions.push_back({"x", "y", "deployment.tp"});
    const std::string before = planToJson(plan);
    const auto refused = [&](const FieldReference& reference, const std::string& value, const char* code) {
        const Result<void> set = setField(plan, reference.path, value);
        const bool good = !set && set.error().code == code && set.error().where.at == reference.path
            && (value.empty() || set.error().found.find(value) != std::string::npos) && planToJson(plan) == before;
        if (!good)
            qWarning("%s = %s: %s", reference.path.c_str(), value.c_str(), set ? "set" : set.error().text().c_str());
        return good;
    };
    int tried = 0;
    for (const FieldReference& reference : fieldsOf(plan)) {
        const Field& field = *reference.field;
        switch (field.type) {
        case FieldType::Text:
            continue;
        case FieldType::Choice:
            for (const char* bad : {"nonsense", "NONE", " ", "0", "1"})
                QVERIFY(refused(reference, bad, "plan.choice"));
            break;
        case FieldType::Real:
            if (field.maximum == 1) {
                for (const char* bad : {"1.0001", "-0.0001", "101%", "1e300"})
                    QVERIFY(refused(reference, bad, "plan.range"));
            }
            for (const char* bad : {"abc", "nan", "inf", "1,5", "0.5x"})
                QVERIFY(refused(reference, bad, "plan.type"));
            break;
        case FieldType::Integer:
        case FieldType::Count:
            if (field.maximum < INT64_MAX)
                QVERIFY(refused(reference, std::to_string(field.maximum + 1), "plan.range"));
            QVERIFY(refused(reference, "99999999999999999999", "plan.range"));
            if (field.unit != Unit::Byte || field.minimum > 0)
                QVERIFY(refused(reference, std::to_string(field.minimum - 1), "plan.range"));
            for (const char* bad : {"abc", "--1", "1,5", "nan", "12 apples"})
                QVERIFY(refused(reference, bad, "plan.type"));
            QVERIFY(refused(reference, field.unit == Unit::Byte ? "-1" : "2.5", "plan.type"));
            break;
        }
        ++tried;
    }
    QVERIFY(tried > 80);
}

void FieldEditTest::clearing()
{
    RandomValues random(3);
    for (const FieldReference& listed : fieldsOf(skeleton())) {
        Plan plan = skeleton();
        const Field& field = *listed.field;
        QVERIFY(setField(plan, listed.path, random.valueFor(field)));
        const std::map<std::string, std::string> stated = textsOf(plan);
        const Result<void> cleared = setField(plan, listed.path, "");
        const FieldReference reference = findField(plan, listed.path).value();
        const bool always
            = field.type == FieldType::Count || (field.type == FieldType::Choice && !hasChoiceOfNothing(field));
        QCOMPARE(cleared.ok(), !always);
        if (always) {
            QCOMPARE(q(cleared.error().code), QStringLiteral("plan.not_clearable"));
            QVERIFY(textsOf(plan) == stated);
            QVERIFY(plan.provenance.find(listed.path));
        } else {
            QVERIFY(!isStated(reference.slot));
            QCOMPARE(fieldText(field, reference.slot), std::string());
            QCOMPARE(fieldDisplay(field, reference.slot), std::string("not stated"));
            QVERIFY(!plan.provenance.find(listed.path));
        }
    }
}

void FieldEditTest::units_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("result"); // the field's text, or an error code
    const auto row = [](const char* path, const char* text, const char* result) {
        QTest::addRow("%s=%s", path, text) << q(path) << q(text) << q(result);
    };
    row("deployment.memoryBytes", "80GB", "80000000000");
    row("deployment.memoryBytes", "80 GiB", "85899345920");
    row("deployment.memoryBytes", "85,899,345,920", "85899345920");
    row("deployment.memoryBytes", "32k", "plan.type");
    row("deployment.memoryBytes", "80", "80");
    row("deployment.memoryBytes", "0", "plan.range");
    row("budget.kvBytesPerRank", "1.5MiB", "1572864");
    row("budget.kvBytesPerRank", "2 EiB", "plan.range");
    row("limits.maxModelLen", "32k", "32768");
    row("limits.maxModelLen", "1M", "1048576");
    row("limits.maxModelLen", "131,072", "131072");
    row("limits.maxModelLen", "128KiB", "plan.type");
    row("budget.utilization", "92%", "0.92");
    row("budget.utilization", "0.9", "0.9");
    row("worksheet.groups.full.tensors.k.offset", "-4k", "-4096");
    row("worksheet.groups.full.tensors.k.growth", "chunked", "chunked");
    row("cache.elementType", "fp8_e4m3", "fp8_e4m3");
    row("document.notes", "12 GiB", "12 GiB");
}

void FieldEditTest::units()
{
    QFETCH(QString, path);
    QFETCH(QString, text);
    QFETCH(QString, result);
    Plan plan = skeleton();
    const Result<void> set = setField(plan, path.toStdString(), text.toStdString());
    const FieldReference reference = findField(plan, path.toStdString()).value();
    QCOMPARE(set ? q(fieldText(*reference.field, reference.slot)) : q(set.error().code), result);
}

void FieldEditTest::unknownFields_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("nearest");
    const auto row = [](const char* path, const char* nearest) { QTest::newRow(path) << q(path) << q(nearest); };
    row("deployment.tpp", "deployment.tp");
    row("deployment.TP", "deployment.tp");
    row("limits.maxModellen", "limits.maxModelLen");
    row("limit.maxModelLen", "limits.maxModelLen");
    row("worksheet.groups.full.layer", "worksheet.groups.full.layers");
    row("worksheet.groups.full.tensors.k.head", "worksheet.groups.full.tensors.k.heads");
    row("worksheet.groups.ful.layers", "worksheet.groups.full.layers");
    row("tenants.acne.sharingGroup", "tenants.acme.sharingGroup");
    row("cache.elementtype", "cache.elementType");
    row("xyzzy", "");
    row("", "");
    row(".", "");
    row("deployment", "deployment.tp");
    row("worksheet.groups", "");
    row("worksheet.groups.", "");
    row("tenants.acme", "tenants.acme.name");
    row("tenants.acme.", "tenants.acme.name");
    row("tenants.acme.id", "tenants.acme.name");
}

void FieldEditTest::unknownFields()
{
    QFETCH(QString, path);
    QFETCH(QString, nearest);
    Plan plan = skeleton();
    const std::string before = planToJson(plan);
    const Result<void> set = setField(plan, path.toStdString(), "1");
    QVERIFY(!set);
    QCOMPARE(q(set.error().code), QStringLiteral("plan.unknown_field"));
    QCOMPARE(q(set.error().where.at), path);
    const QString message = q(set.error().message);
    if (nearest.isEmpty())
        QVERIFY2(!message.contains("did you mean"), qPrintable(message));
    else
        QVERIFY2(message.contains("did you mean " + nearest + "?"), qPrintable(message));
    QCOMPARE(planToJson(plan), before);
}

void FieldEditTest::brokenUtf8_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("good");
    const auto row = [](const char* name, const QByteArray& text, bool good) { QTest::newRow(name) << text << good; };
    row("two bytes", "\xc3\xa9", true);
    row("three bytes", "\xe6\x97\xa5", true);
    row("last of the plane", "\xef\xbf\xbf", true);
    row("four bytes", "\xf0\x9f\x98\x80", true);
    row("the last character", "\xf4\x8f\xbf\xbf", true);
    row("before the surrogates", "\xed\x9f\xbf", true);
    row("alone", "a\x80", false);
    row("cut", "a\xc3", false);
    row("cut in three", "\xe6\x97", false);
    row("cut in four", "\xf0\x9f\x98", false);
    row("not continued", "\xc3(", false);
    row("not continued later", "\xe6\x97(", false);
    row("longer than needed", "\xc0\xaf", false);
    row("longer than needed, three", "\xe0\x80\xaf", false);
    row("longer than needed, four", "\xf0\x80\x80\xaf", false);
    row("a surrogate", "\xed\xa0\x80", false);
    row("beyond the last", "\xf4\x90\x80\x80", false);
    row("no such byte", "\xff", false);
    row("Latin-1", "caf\xe9", false);
}

/// What cannot be saved as it is must not get in: the plan's hash would change by saving and opening it.
void FieldEditTest::brokenUtf8()
{
    QFETCH(QByteArray, text);
    QFETCH(bool, good);
    Plan plan;
    const Result<void> set = setField(plan, "document.notes", text.toStdString());
    QCOMPARE(set.ok(), good);
    QCOMPARE(plan.document.notes, good ? text.toStdString() : std::string());
    if (!good)
        QCOMPARE(q(set.error().code), QStringLiteral("plan.type"));
}

void FieldEditTest::anEntryReplacesAnAssumption()
{
    Plan plan = skeleton();
    plan.assumptions = {{"a", "text", "limits.maxModelLen"}, {"b", "text", "cache.elementType"}, {"c", "text", ""}};
    plan.provenance.set("limits.maxModelLen", Source {Source::Kind::Assumption, "assumed"});
    QVERIFY(!setField(plan, "limits.maxModelLen", "-1"));
    QCOMPARE(plan.assumptions.size(), std::size_t {3});
    QVERIFY(setField(plan, "limits.maxModelLen", "8192"));
    QCOMPARE(plan.assumptions.size(), std::size_t {2});
    QVERIFY(plan.assumptions[0].id == "b" && plan.assumptions[1].id == "c");
    QVERIFY(plan.provenance.find("limits.maxModelLen")->kind == Source::Kind::User);
    // A reader sets without being anybody's entry.
    QVERIFY(assignField(findField(plan, "limits.promptTokens").value(), "17"));
    QVERIFY(!plan.provenance.find("limits.promptTokens"));
    QVERIFY(plan.limits.promptTokens == 17);
}

QTEST_APPLESS_MAIN(FieldEditTest)
#include "tst_field_edit.moc"
