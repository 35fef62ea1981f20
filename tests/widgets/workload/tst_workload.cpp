// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "document/plandocument.h"
#include "models/roles.h"
#include "serving/run_setup.h"
#include "support/example_plans.h"
#include "workload/requestmodel.h"
#include "workload/workloadpage.h"
#include "workload/workloadpreview.h"

#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QProcess>
#include <QSignalSpy>
#include <QTest>

using namespace kvw;
using namespace kvw::gui;

class TestWorkload : public QObject
{
    Q_OBJECT

private slots:
    void requests();
    void isWhatAPredictionRuns();
    void newestWins();
    void page();
};

void TestWorkload::requests()
{
    RequestModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(model.rowCount(), 0);
    const Result<RunSetup> setup = setUpRun(test::examplePlan("reference.kvplan"), 1);
    QVERIFY(setup.ok());
    model.setWorkload(std::make_shared<Workload>(setup->workload));
    QCOMPARE(model.rowCount(), static_cast<int>(setup->workload.requests.size()));
    const Request& third = setup->workload.requests[2];
    QCOMPARE(
        model.index(2, RequestModel::PromptTokens).data(RawRole).toString(), QString::number(third.promptTokens()));
    QCOMPARE(model.index(2, RequestModel::TenantName).data().toString(),
        QString::fromStdString(setup->workload.tenants[third.tenant]));
    model.setWorkload({});
    QCOMPARE(model.rowCount(), 0);
}

void TestWorkload::isWhatAPredictionRuns()
{
    // The frozen workload's name in the window is the one in the record of a prediction of the same plan.
    const QString binary = qEnvironmentVariable("KVW_BINARY");
    if (binary.isEmpty())
        QSKIP("kvw is not built");
    const QString plan = qEnvironmentVariable("KVW_SOURCE_DIR") + "/resources/examples/reference.kvplan";
    QProcess kvw;
    kvw.start(binary, {"predict", plan, "--json"});
    QVERIFY(kvw.waitForFinished(120'000));
    QCOMPARE(kvw.exitCode(), 0);
    const WorkloadFacts facts = workloadFacts(test::examplePlan("reference.kvplan"));
    QVERIFY(facts.error.isEmpty());
    QCOMPARE(facts.sha256.size(), 64);
    QVERIFY(kvw.readAllStandardOutput().contains(facts.sha256.toLatin1()));
    std::int64_t prompts = 0;
    for (const Request& request : facts.workload.requests)
        prompts += request.promptTokens();
    QCOMPARE(facts.promptTokens, prompts);
    QVERIFY(facts.shareable <= facts.shareableByAll);
    QVERIFY(facts.shareableByAll < facts.promptTokens);
    std::int64_t counted = 0;
    for (const std::int64_t count : facts.arrivals.counts)
        counted += count;
    QCOMPARE(counted, static_cast<std::int64_t>(facts.workload.requests.size()));
}

void TestWorkload::newestWins()
{
    WorkloadPreview preview;
    QSignalSpy changed(&preview, &WorkloadPreview::changed);
    Plan plan = test::examplePlan("reference.kvplan");
    for (int requests = 1; requests <= 30; ++requests) {
        plan.workload.requests = requests;
        preview.setPlan(plan);
    }
    QTRY_VERIFY_WITH_TIMEOUT(!preview.isBusy(), 30'000);
    QCOMPARE(preview.facts()->workload.requests.size(), 30U);
    plan.workload.promptTokensMin = 100;
    plan.workload.promptTokensMax = 10;
    preview.setPlan(plan);
    QTRY_VERIFY_WITH_TIMEOUT(!preview.facts()->error.isEmpty(), 30'000);
    plan.workload.requests = 10'000'000;
    preview.setPlan(plan);
    QTRY_VERIFY_WITH_TIMEOUT(preview.facts()->error.contains("200,000"), 30'000);
}

void TestWorkload::page()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    WorkloadPage page(document);
    page.resize(960, 600);
    page.show();
    auto* digest = page.findChild<QLineEdit*>(QStringLiteral("workloadDigest"));
    QVERIFY(digest);
    QTRY_COMPARE_WITH_TIMEOUT(digest->text().size(), 64, 30'000);
    const QString before = digest->text();
    QVERIFY(document.setField("workload.seed", "99").ok());
    QTRY_VERIFY_WITH_TIMEOUT(!digest->text().isEmpty() && digest->text() != before, 30'000);
    QVERIFY(page.showField("workload.outputTokensMax"));
    QVERIFY(!page.showField("engine.name"));
}

QTEST_MAIN(TestWorkload)
#include "tst_workload.moc"
