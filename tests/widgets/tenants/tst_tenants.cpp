// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "document/plandocument.h"
#include "models/elementmodel.h"
#include "models/roles.h"
#include "plan/plan_json.h"
#include "serving/run_setup.h"
#include "support/example_plans.h"
#include "tenants/tenantspage.h"
#include "tenants/trustmodel.h"
#include "tenants/trustview.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

using namespace kvw;
using namespace kvw::gui;

namespace {

Plan threeTenants()
{
    Plan plan = test::examplePlan("reference.kvplan");
    plan.tenants.clear();
    for (const char* id : {"acme", "birch", "cobalt"}) {
        Tenant tenant;
        tenant.id = id;
        tenant.eligibility = Eligibility::Tenant;
        tenant.saltSource = SaltSource::GatewayHmac;
        tenant.identitySource = IdentitySource::MutualTls;
        plan.tenants.push_back(tenant);
    }
    return plan;
}

bool share(const Plan& plan, std::size_t a, std::size_t b)
{
    const std::vector<SharingDomain> domains = resolveDomains(plan);
    return domains[a].key == domains[b].key;
}

} // namespace

class TestTenants : public QObject
{
    Q_OBJECT

private slots:
    void models();
    void table();
    void clickChangesACell();
    void spaceChangesACell();
    void unenforced();
    void addAndRemove();
};

void TestTenants::models()
{
    PlanDocument document;
    document.setPlan(threeTenants(), {});
    ElementModel tenants(document, "tenants", "Tenant", {"name", "sharingGroup", "eligibility", "maximumBlocks"});
    TrustModel trust(document);
    const QAbstractItemModelTester first(&tenants, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const QAbstractItemModelTester second(&trust, QAbstractItemModelTester::FailureReportingMode::QtTest);
    trust.toggle(trust.index(0, 1));
    QVERIFY(tenants.setData(tenants.index(2, 4), "12"));
    document.edit("one less", [](Plan& plan) { plan.tenants.pop_back(); });
    QCOMPARE(tenants.rowCount(), 2);
    QCOMPARE(trust.rowCount(), 2);
    document.edit("none", [](Plan& plan) { plan.tenants.clear(); });
    while (document.undoStack()->canUndo())
        document.undoStack()->undo();
    QCOMPARE(trust.columnCount(), 3);
}

void TestTenants::table()
{
    PlanDocument document;
    document.setPlan(threeTenants(), {});
    ElementModel model(document, "tenants", "Tenant", {"name", "saltSource", "maximumBlocks", "guaranteedBlocks"});
    QCOMPARE(model.headerData(2, Qt::Horizontal).toString(), QStringLiteral("Salt made by"));
    QCOMPARE(model.index(0, 2).data().toString(), QStringLiteral("gateway: HMAC of group"));
    QVERIFY(!model.flags(model.index(0, 0)).testFlag(Qt::ItemIsEditable)); // ids stay
    QVERIFY(model.setData(model.index(1, 2), "client"));
    QVERIFY(model.index(1, 2).data().toString().startsWith("! "));
    QCOMPARE(model.index(1, 2).data(MarkRole).toInt(), static_cast<int>(NotStatedMark));
    QVERIFY(model.index(1, 2).data(Qt::ToolTipRole).toString().contains("salt"));
    QSignalSpy refused(&model, &ElementModel::editRefused);
    QVERIFY(!model.setData(model.index(1, 3), "-1"));
    QCOMPARE(refused.count(), 1);
    QVERIFY(!model.index(1, 3).data(RefusalRole).toString().isEmpty());
    QVERIFY(model.setData(model.index(1, 3), "5"));
    QVERIFY(model.setData(model.index(1, 4), "7")); // more guaranteed than it may hold
    QCOMPARE(model.index(1, 4).data(MarkRole).toInt(), static_cast<int>(DiffersMark));
    QCOMPARE(model.indexOfField("tenants.birch.maximumBlocks"), model.index(1, 3));
    QCOMPARE(model.idAt(2), QStringLiteral("cobalt"));
}

void TestTenants::clickChangesACell()
{
    PlanDocument document;
    document.setPlan(threeTenants(), {});
    const std::string before = planToJson(document.plan());
    TenantsPage page(document);
    page.resize(960, 600);
    page.show();
    auto* matrix = page.findChild<TrustView*>();
    const auto click = [&](int row, int column) {
        QTest::mouseClick(
            matrix->viewport(), Qt::LeftButton, {}, matrix->visualRect(matrix->model()->index(row, column)).center());
    };
    click(0, 2);
    QVERIFY(share(document.plan(), 0, 2));
    QVERIFY(!share(document.plan(), 0, 1));
    QCOMPARE(document.undoStack()->count(), 1); // one step, though two tenants changed
    QCOMPARE(matrix->model()->index(2, 0).data().toString(), QStringLiteral("group-cobalt"));
    click(1, 0);
    QVERIFY(share(document.plan(), 1, 2));
    click(0, 1);
    QVERIFY(!share(document.plan(), 0, 1));
    QVERIFY(share(document.plan(), 1, 2));
    click(1, 1); // own: nothing to change
    QCOMPARE(document.undoStack()->count(), 3);
    while (document.undoStack()->canUndo())
        document.undoStack()->undo();
    QCOMPARE(planToJson(document.plan()), before);
}

void TestTenants::spaceChangesACell()
{
    PlanDocument document;
    document.setPlan(threeTenants(), {});
    TenantsPage page(document);
    page.show();
    auto* matrix = page.findChild<TrustView*>();
    matrix->setCurrentIndex(matrix->model()->index(2, 1));
    const std::string before = planToJson(document.plan());
    QTest::keyClick(matrix, Qt::Key_Space);
    QVERIFY(share(document.plan(), 1, 2));
    QCOMPARE(document.undoStack()->undoText(), QStringLiteral("cobalt joins group-birch"));
    QTest::keyClick(matrix, Qt::Key_Space);
    QVERIFY(!share(document.plan(), 1, 2));
    QCOMPARE(planToJson(document.plan()), before); // names of groups and sources too
    QTest::keyClick(matrix, Qt::Key_Space);
    QVERIFY(document.setField(QStringLiteral("tenants.birch.saltSource"), QStringLiteral("client")).ok());
    QTest::keyClick(matrix, Qt::Key_Space); // something else was edited: it leaves, and takes nothing back
    QVERIFY(!share(document.plan(), 1, 2));
    QVERIFY(planToJson(document.plan()) != before);
    document.undoStack()->undo();
    QVERIFY(share(document.plan(), 1, 2));
}

void TestTenants::unenforced()
{
    PlanDocument document;
    document.setPlan(threeTenants(), {});
    TrustModel model(document);
    QVERIFY(!model.index(1, 0).data(TrustModel::UnenforcedRole).toBool());
    QVERIFY(document.setField("tenants.birch.identitySource", "client_field").ok());
    QVERIFY(model.index(1, 0).data(TrustModel::UnenforcedRole).toBool());
    QVERIFY(!model.index(1, 1).data(TrustModel::UnenforcedRole).toBool());
    QVERIFY(!model.index(0, 1).data(TrustModel::UnenforcedRole).toBool());
    QVERIFY(model.index(1, 0).data(TrustModel::SentenceRole).toString().contains("not enforced"));
    QCOMPARE(tenantLetter(0), QStringLiteral("A"));
    QCOMPARE(tenantLetter(27), QStringLiteral("B2"));
}

void TestTenants::addAndRemove()
{
    PlanDocument document;
    document.setPlan(threeTenants(), {});
    const std::string before = planToJson(document.plan());
    TenantsPage page(document);
    page.show();
    page.addTenant();
    page.addTenant();
    QCOMPARE(document.plan().tenants.size(), 5U);
    QCOMPARE(document.plan().tenants[3].id, std::string("tenant"));
    QCOMPARE(document.plan().tenants[4].id, std::string("tenant2"));
    QVERIFY(!share(document.plan(), 3, 4)); // alone until somebody says otherwise
    QVERIFY(page.showField("tenants.birch.name"));
    page.removeTenant();
    QCOMPARE(document.plan().tenants.size(), 4U);
    QCOMPARE(document.plan().tenants[1].id, std::string("cobalt"));
    while (document.undoStack()->canUndo())
        document.undoStack()->undo();
    QCOMPARE(planToJson(document.plan()), before);
}

QTEST_MAIN(TestTenants)
#include "tst_tenants.moc"
