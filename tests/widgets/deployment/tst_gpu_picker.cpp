// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "deployment/deploymentpage.h"
#include "deployment/gpupicker.h"
#include "document/plandocument.h"
#include "forms/fieldform.h"
#include "plan/gpu_library.h"
#include "plan/plan_json.h"
#include "support/example_plans.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QCompleter>
#include <QLineEdit>
#include <QTest>
#include <QTreeView>

using namespace kvw;
using namespace kvw::gui;

class TestGpuPicker : public QObject
{
    Q_OBJECT

private slots:
    void choices();
    void pickedInOneStep();
    void whatIsNotReadIsNotStated();
    void anyOtherNameIsTaken();
    void allByCommand();

private:
    static QLineEdit* fieldOf(const QWidget& page);
};

QLineEdit* TestGpuPicker::fieldOf(const QWidget& page)
{
    for (const FieldForm* form : page.findChildren<FieldForm*>()) {
        if (auto* edit = qobject_cast<QLineEdit*>(form->editor("deployment.gpu")))
            return edit;
    }
    return nullptr;
}

void TestGpuPicker::choices()
{
    GpuChoices choices;
    const QAbstractItemModelTester tester(&choices, QAbstractItemModelTester::FailureReportingMode::Fatal);
    QCOMPARE(choices.rowCount(), static_cast<int>(builtInGpus().size()));
    for (int row = 0; row < choices.rowCount(); ++row) {
        const LibraryGpu* gpu = choices.gpuAt(row);
        const QString memory = choices.index(row, GpuChoices::Memory).data().toString();
        QCOMPARE(memory.contains("not stated"), !gpu->memoryBytes);
        QVERIFY(!memory.contains("GB") || memory.contains("GiB")); // never the marketing figure
        QVERIFY(choices.index(row, GpuChoices::SoldAs).data().toString().endsWith(" GB"));
    }
    choices.search("h200");
    QVERIFY(choices.rowCount() >= 1);
    QVERIFY(choices.index(0, GpuChoices::Name).data().toString().startsWith("H200"));
    choices.search("nothing of the kind");
    QCOMPARE(choices.rowCount(), 0);
    QVERIFY(!choices.gpuAt(0));
}

void TestGpuPicker::pickedInOneStep()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    const std::string before = planToJson(document.plan());
    DeploymentPage page(document);
    page.resize(1100, 640);
    page.show();
    page.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&page));
    QLineEdit* edit = fieldOf(page);
    QVERIFY(edit);
    edit->setFocus();
    edit->selectAll();
    QTest::keyClicks(edit, "sxm h100");
    QAbstractItemView* popup = edit->completer()->popup();
    QTRY_VERIFY(popup->isVisible());
    QCOMPARE(popup->model()->rowCount(), 1);
    QTest::keyClick(popup, Qt::Key_Down);
    QTest::keyClick(popup, Qt::Key_Return);
    QCOMPARE(document.plan().deployment.gpu, std::string("H100 SXM 80GB"));
    QCOMPARE(document.plan().deployment.memoryBytes.value_or(0), std::int64_t {85'520'809'984});
    QCOMPARE(document.undoStack()->count(), 1);
    QCOMPARE(document.undoStack()->undoText(), QStringLiteral("Device: H100 SXM 80GB"));
    edit->clearFocus(); // leaving the field is no edit
    QCOMPARE(document.undoStack()->count(), 1);
    QCOMPARE(edit->text(), QStringLiteral("H100 SXM 80GB"));
    document.undoStack()->undo();
    QCOMPARE(planToJson(document.plan()), before);
}

void TestGpuPicker::whatIsNotReadIsNotStated()
{
    PlanDocument document;
    document.setPlan(test::with(test::examplePlan("reference.kvplan"), {{"deployment.memoryBytes", "80GiB"}}), {});
    DeploymentPage page(document);
    page.resize(1100, 640);
    page.show();
    QLineEdit* edit = fieldOf(page);
    emit edit->completer()->activated(QStringLiteral("MI325X"));
    QCOMPARE(document.plan().deployment.gpu, std::string("MI325X"));
    QVERIFY(!document.plan().deployment.memoryBytes);
    QVERIFY(gpuText("MI325X").contains("sold as 256 GB"));
    QVERIFY(gpuText("MI325X").contains("not stated"));
    QVERIFY(gpuText("my own device").isEmpty());
}

void TestGpuPicker::anyOtherNameIsTaken()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    DeploymentPage page(document);
    page.show();
    QLineEdit* edit = fieldOf(page);
    const auto memory = document.plan().deployment.memoryBytes;
    edit->setFocus();
    edit->selectAll();
    QTest::keyClicks(edit, "one of ours");
    edit->completer()->popup()->hide();
    QTest::keyClick(edit, Qt::Key_Return);
    QCOMPARE(document.plan().deployment.gpu, std::string("one of ours"));
    QCOMPARE(document.plan().deployment.memoryBytes, memory);
}

void TestGpuPicker::allByCommand()
{
    PlanDocument document;
    document.setPlan(test::with(test::examplePlan("reference.kvplan"), {{"deployment.gpu", "H100 SXM 80GB"}}), {});
    DeploymentPage page(document);
    page.resize(1100, 640);
    page.show();
    page.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&page));
    QVERIFY(!page.actions().isEmpty());
    page.actions().front()->trigger();
    QAbstractItemView* popup = fieldOf(page)->completer()->popup();
    QTRY_VERIFY(popup->isVisible());
    QCOMPARE(popup->model()->rowCount(), static_cast<int>(builtInGpus().size()));
    QTest::keyClick(popup, Qt::Key_Escape);
    QCOMPARE(document.undoStack()->count(), 0);
}

QTEST_MAIN(TestGpuPicker)
#include "tst_gpu_picker.moc"
