// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/field_table.h"
#include "plan/gpu_choice.h"
#include "plan/identity.h"
#include "plan/plan_json.h"
#include "support/example_plans.h"

#include <QTest>

#include <algorithm>

using namespace kvw;

class TestGpuChoice : public QObject
{
    Q_OBJECT

private slots:
    void search_data();
    void search();
    void everyDevice();
    void memoryOfAnotherNeverStays();
};

void TestGpuChoice::search_data()
{
    QTest::addColumn<QString>("query");
    QTest::addColumn<QString>("first");
    QTest::newRow("words in any order") << "80gb H100 pcie"
                                        << "H100 PCIe 80GB";
    QTest::newRow("a part") << "mi300"
                            << "MI300X";
    QTest::newRow("architecture") << "gfx950"
                                  << "MI355X";
    QTest::newRow("whole name") << "h100 pcie 80gb"
                                << "H100 PCIe 80GB";
    QTest::newRow("nothing") << "no such device"
                             << "";
}

void TestGpuChoice::search()
{
    QFETCH(QString, query);
    const std::vector<const LibraryGpu*> found = searchGpus(query.toStdString());
    QTEST(found.empty() ? QString() : QString::fromStdString(found.front()->name), "first");
    QCOMPARE(searchGpus({}).size(), builtInGpus().size());
    QCOMPARE(searchGpus("  ").size(), builtInGpus().size());
}

void TestGpuChoice::everyDevice()
{
    int stated = 0;
    int assumed = 0;
    for (const LibraryGpu& gpu : builtInGpus()) {
        Plan plan = test::with(test::examplePlan("reference.kvplan"), {{"deployment.memoryBytes", "1GiB"}});
        plan.assumptions.push_back({"test.memory", "Assumed.", "deployment.memoryBytes"});
        chooseGpu(plan, gpu);
        QCOMPARE(plan.deployment.gpu, gpu.name);
        QCOMPARE(plan.deployment.memoryBytes, gpu.memoryBytes);
        // What is sold never stands for bytes.
        QVERIFY(plan.deployment.memoryBytes.value_or(0) != gpu.marketedGigabytes * 1'000'000'000);
        const auto source = plan.provenance.find("deployment.memoryBytes");
        QCOMPARE(source != nullptr, gpu.memoryBytes.has_value());
        const bool isAssumed = std::any_of(plan.assumptions.begin(), plan.assumptions.end(),
            [](const Assumption& one) { return one.path == "deployment.memoryBytes"; });
        QCOMPARE(isAssumed, gpu.memoryBytes && gpu.memoryBasisKind != "driver reading");
        if (source)
            QCOMPARE(source->kind == Source::Kind::Assumption, isAssumed);
        stated += gpu.memoryBytes.has_value();
        assumed += isAssumed;
        const Result<Plan> again = planFromJson(*parseJson(planToJson(plan), "plan"));
        QVERIFY(again.ok());
        QCOMPARE(planToJson(*again), planToJson(plan));
    }
    QVERIFY(stated > 5);
    QVERIFY(assumed < stated);
}

void TestGpuChoice::memoryOfAnotherNeverStays()
{
    Plan plan = test::examplePlan("reference.kvplan");
    const LibraryGpu* known = gpuNamed("H100 SXM 80GB");
    const LibraryGpu* unread = gpuNamed("MI325X");
    QVERIFY(known && unread && known->memoryBytes && !unread->memoryBytes);
    chooseGpu(plan, *known);
    QCOMPARE(plan.deployment.memoryBytes.value_or(0), std::int64_t {85'520'809'984}); // 81,559 MiB
    chooseGpu(plan, *unread);
    QVERIFY(!plan.deployment.memoryBytes);
    QVERIFY(!plan.provenance.find("deployment.memoryBytes"));
}

QTEST_GUILESS_MAIN(TestGpuChoice)
#include "tst_gpu_choice.moc"
