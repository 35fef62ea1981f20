// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/elements.h"
#include "plan/field_table.h"
#include "plan/plan_json.h"
#include "support/example_plans.h"

#include <QTest>

using namespace kvw;

class TestElements : public QObject
{
    Q_OBJECT

private slots:
    void ids();
    void addNew();
    void addLike();
    void remove();
    void refused();
};

void TestElements::ids()
{
    QVERIFY(isElementId("a-B_9"));
    for (const char* bad : {"", "a.b", "ä", "a b", "a/b"})
        QVERIFY(!isElementId(bad));
    QVERIFY(isElementId(std::string(64, 'x')));
    QVERIFY(!isElementId(std::string(65, 'x')));
    Plan plan = test::examplePlan("reference.kvplan");
    QCOMPARE(freeElementId(plan, "worksheet.groups", "full"), std::string("full2"));
    QCOMPARE(freeElementId(plan, "worksheet.groups", "other"), std::string("other"));
    QVERIFY(addElement(plan, "worksheet.groups", "full2").ok());
    QCOMPARE(freeElementId(plan, "worksheet.groups", "full"), std::string("full3"));
    QVERIFY(isElementId(freeElementId(plan, "worksheet.groups", std::string(64, 'x'))));
}

void TestElements::addNew()
{
    Plan plan = test::examplePlan("reference.kvplan");
    const std::size_t tenants = plan.tenants.size();
    const Result<std::string> added = addElement(plan, "tenants", "new");
    QVERIFY(added.ok());
    QCOMPARE(*added, std::string("tenants.new"));
    QCOMPARE(plan.tenants.size(), tenants + 1);
    QCOMPARE(plan.tenants.back().id, std::string("new"));
    QVERIFY(plan.tenants.back().sharingGroup.empty());
    const Result<std::string> tensor = addElement(plan, "worksheet.groups.full.tensors", "extra");
    QVERIFY(tensor.ok());
    QVERIFY(setField(plan, *tensor + ".heads", "3").ok());
    QCOMPARE(plan.worksheet.groups.front().tensors.back().heads, 3);
}

void TestElements::addLike()
{
    Plan plan = test::with(test::examplePlan("gpt-oss-120b.kvplan"), {{"worksheet.groups.sliding.layers", "9"}});
    const std::shared_ptr<const Source> file = plan.provenance.find("worksheet.groups.sliding.tensors.k.heads");
    QVERIFY(file);
    QVERIFY(addElement(plan, "worksheet.groups", "copy", "sliding").ok());
    LayerGroup expected = plan.worksheet.groups[1];
    QCOMPARE(expected.id, std::string("sliding"));
    expected.id = "copy";
    QVERIFY(plan.worksheet.groups.back() == expected);
    // The copy's fields come from where the first one's did; what the user entered is entered at the new place.
    QVERIFY(*plan.provenance.find("worksheet.groups.copy.tensors.k.heads") == *file);
    QCOMPARE(plan.provenance.find("worksheet.groups.copy.layers")->at, std::string("worksheet.groups.copy.layers"));
}

void TestElements::remove()
{
    Plan plan = test::examplePlan("gpt-oss-120b.kvplan");
    plan.assumptions.push_back({"x", "y", "worksheet.groups.sliding.layers"});
    plan.assumptions.push_back({"z", "y", "worksheet.groups.slidingOther"});
    const std::size_t assumptions = plan.assumptions.size();
    QVERIFY(removeElement(plan, "worksheet.groups.sliding").ok());
    QCOMPARE(plan.worksheet.groups.size(), 1U);
    QCOMPARE(plan.assumptions.size(), assumptions - 1);
    for (const auto& [path, source] : plan.provenance.entries())
        QVERIFY2(!path.starts_with("worksheet.groups.sliding."), path.c_str());
    QVERIFY(plan.provenance.find("worksheet.groups.full.layers"));
    QVERIFY(removeElement(plan, "worksheet.groups.full.tensors.v").ok());
    QCOMPARE(plan.worksheet.groups.front().tensors.size(), 1U);
    QCOMPARE(plan.worksheet.groups.front().tensors.front().id, std::string("k"));
}

void TestElements::refused()
{
    Plan plan = test::examplePlan("reference.kvplan");
    const std::string before = planToJson(plan);
    QCOMPARE(addElement(plan, "tenant", "x").error().code, std::string("plan.unknown_field"));
    QCOMPARE(addElement(plan, "worksheet.groups.none.tensors", "x").error().code, std::string("plan.unknown_field"));
    QCOMPARE(addElement(plan, "worksheet.groups", "full").error().code, std::string("plan.id"));
    QCOMPARE(addElement(plan, "worksheet.groups", "a.b").error().code, std::string("plan.id"));
    QCOMPARE(addElement(plan, "worksheet.groups", "x", "none").error().code, std::string("plan.unknown_field"));
    QCOMPARE(removeElement(plan, "tenants").error().code, std::string("plan.unknown_field"));
    QCOMPARE(removeElement(plan, "tenants.none").error().code, std::string("plan.unknown_field"));
    QCOMPARE(removeElement(plan, "worksheet.groups.full.tensors.none").error().code, std::string("plan.unknown_field"));
    QCOMPARE(planToJson(plan), before);
    for (int i = 0; i < 64; ++i)
        (void)addElement(plan, "worksheet.groups.full.tensors", "t" + std::to_string(i));
    QCOMPARE(plan.worksheet.groups.front().tensors.size(), 64U);
    QCOMPARE(addElement(plan, "worksheet.groups.full.tensors", "more").error().code, std::string("plan.range"));
}

QTEST_GUILESS_MAIN(TestElements)
#include "tst_elements.moc"
