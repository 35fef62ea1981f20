// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "document/plandocument.h"
#include "models/clipboard.h"
#include "models/roles.h"
#include "plan/plan_json.h"
#include "support/example_plans.h"
#include "worksheet/bridgeview.h"
#include "worksheet/groupedheader.h"
#include "worksheet/rowactions.h"
#include "worksheet/worksheetmodel.h"
#include "worksheet/worksheetpage.h"
#include "worksheet/worksheetview.h"

#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QMimeData>
#include <QSignalSpy>
#include <QTest>

using namespace kvw;
using namespace kvw::gui;
using C = WorksheetColumns;

namespace {

QModelIndex tensor(const WorksheetModel& model, int group, int row, int column)
{
    return model.index(row, column, model.index(group, 0));
}

} // namespace

class TestWorksheet : public QObject
{
    Q_OBJECT

private slots:
    void modelKeepsItsWord();
    void numbers();
    void ranks();
    void edits();
    void groupEditSetsAllTensors();
    void refusal();
    void onlyChangedCellsAreAnnounced();
    void copying();
    void bridgeAddsUp();
    void fitsNarrowWindow();
    void addAndRemove();
    void editingInPlace();
};

void TestWorksheet::modelKeepsItsWord()
{
    PlanDocument document;
    WorksheetModel model(document);
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    for (const std::string& path : test::examplePaths()) {
        QVERIFY(document.open(QString::fromStdString(path)).ok());
        QVERIFY(document.setField("limits.maxModelLen", "1000").ok());
        QVERIFY(document.setField("deployment.tp", "2").ok());
        QVERIFY(document.setField("engine.name", "none").ok());
        document.edit("none", [](Plan& plan) { plan.worksheet.groups.clear(); });
        document.undoStack()->undo();
        while (document.undoStack()->canUndo())
            document.undoStack()->undo();
    }
}

void TestWorksheet::numbers()
{
    // The guide's reference point: 2 × 32 × 8 × 128 × 8,192 × 4 × 2 = 4,294,967,296 bytes.
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    WorksheetModel model(document);
    const int total = model.rowCount() - 1;
    QCOMPARE(
        model.index(total, C::ConfiguredBytes).data(ExactRole).toString(), QLocale().toString(4294967296LL) + " B");
    QCOMPARE(model.index(total, C::ConfiguredBytes).data(RawRole).toString(), QStringLiteral("4294967296"));
    QCOMPARE(model.index(total, C::ConfiguredBytes).data().toString(), QStringLiteral("4.00"));
    QCOMPARE(model.index(total, C::ConfiguredBytes).data(UnitRole).toString(), QStringLiteral("GiB"));
    QCOMPARE(model.index(total, C::ConfiguredTokens).data().toString(), QStringLiteral("per group"));
    QCOMPARE(model.index(0, C::ConfiguredTokens).data(RawRole).toString(), QStringLiteral("32768"));
    QCOMPARE(model.index(0, C::PerToken).data(RawRole).toString(), QStringLiteral("131072"));
    QCOMPARE(tensor(model, 0, 0, C::ConfiguredBytes).data(RawRole).toString(), QStringLiteral("2147483648"));
    QCOMPARE(model.index(0, C::Shape).data().toString(), QStringLiteral("8 × 128"));
    // Every number that can be opened is in the estimate, under the same value.
    int opened = 0;
    const auto check = [&](const QModelIndex& index) {
        const QString figure = index.data(FigureRole).toString();
        if (figure.isEmpty())
            return;
        ++opened;
        const std::optional<Quantity> quantity = document.figure(figure);
        QVERIFY2(quantity, qPrintable(figure));
        QCOMPARE(QString::number(quantity->integer()), index.data(RawRole).toString());
    };
    for (int row = 0; row < model.rowCount(); ++row) {
        for (int column = 0; column < model.columnCount(); ++column) {
            check(model.index(row, column));
            for (int t = 0; t < model.rowCount(model.index(row, 0)); ++t)
                check(tensor(model, row, t, column));
        }
    }
    QVERIFY(opened > 20);
}

void TestWorksheet::ranks()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("gpt-oss-120b.kvplan"), {});
    WorksheetModel model(document);
    QCOMPARE(model.ranks().count, 0); // shape only: no sharding rule
    QCOMPARE(model.columnCount(), C::FirstRank + 1);
    QVERIFY(model.index(0, C::FirstRank).data().toString().isEmpty());
    document.setPlan(test::examplePlan("deepseek-r1-tp8.kvplan"), {});
    QCOMPARE(model.ranks().count, 8);
    QVERIFY(model.ranks().alike);
    QCOMPARE(model.columnCount(), C::FirstRank + 1);
    QCOMPARE(model.index(0, C::FirstRank).data(RawRole).toString(), QString::number(61 * 576 * 2));
    QVERIFY(document.setField("deployment.tp", "2").ok());
    QCOMPARE(model.columnCount(), C::FirstRank + 2);
}

void TestWorksheet::edits()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("gpt-oss-120b.kvplan"), {});
    WorksheetModel model(document);
    const std::string before = planToJson(document.plan());
    QVERIFY(model.setData(model.index(0, C::Layers), "20"));
    QCOMPARE(document.plan().worksheet.groups[0].layers, 20);
    QVERIFY(model.setData(tensor(model, 1, 0, C::Growth), "256")); // the window
    QCOMPARE(*document.plan().worksheet.groups[1].tensors[0].growth.limit, 256);
    QCOMPARE(tensor(model, 1, 0, C::Growth).data().toString(), QStringLiteral("min(v, 256)"));
    QVERIFY(model.setData(tensor(model, 1, 1, C::Shape), "4x32"));
    QCOMPARE(document.plan().worksheet.groups[1].tensors[1].heads, 4);
    QCOMPARE(document.plan().worksheet.groups[1].tensors[1].width, 32);
    QCOMPARE(model.index(1, C::Shape).data().toString(), QStringLiteral("differ"));
    QVERIFY(model.setData(tensor(model, 0, 0, C::Type), "fp8_e4m3"));
    QCOMPARE(document.undoStack()->count(), 4);
    while (document.undoStack()->canUndo())
        document.undoStack()->undo();
    QCOMPARE(planToJson(document.plan()), before);
}

void TestWorksheet::groupEditSetsAllTensors()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("gpt-oss-120b.kvplan"), {});
    WorksheetModel model(document);
    QVERIFY(model.setData(model.index(1, C::Shape), "2 × 16"));
    for (const StateTensor& one : document.plan().worksheet.groups[1].tensors) {
        QCOMPARE(one.heads, 2);
        QCOMPARE(one.width, 16);
    }
    QCOMPARE(document.plan().worksheet.groups[0].tensors[0].heads, 8);
    QCOMPARE(document.undoStack()->count(), 1);
    QVERIFY(model.setData(model.index(1, C::Growth), "64"));
    QCOMPARE(document.plan().worksheet.groups[1].retentionLimit().value_or(0), 64);
}

void TestWorksheet::refusal()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    WorksheetModel model(document);
    QSignalSpy refused(&model, &WorksheetModel::editRefused);
    const std::string before = planToJson(document.plan());
    for (const auto& [column, text] : std::initializer_list<std::pair<int, const char*>> {
             {C::Layers, "0"}, {C::Layers, "x"}, {C::Shape, "8"}, {C::Shape, "0 × 8"}, {C::Type, "bf17"}})
        QVERIFY(!model.setData(model.index(0, column), text));
    QCOMPARE(refused.count(), 5);
    QCOMPARE(planToJson(document.plan()), before);
    QVERIFY(!model.index(0, C::Type).data(RefusalRole).toString().isEmpty());
    QVERIFY(model.index(0, C::Layers).data(RefusalRole).toString().isEmpty()); // only of the last
    QVERIFY(!model.setData(model.index(1, C::ConfiguredBytes), "1")); // a figure is no field
}

void TestWorksheet::onlyChangedCellsAreAnnounced()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("gpt-oss-120b.kvplan"), {});
    WorksheetModel model(document);
    QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
    QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
    QVERIFY(document.setField("worksheet.groups.full.layers", "20").ok());
    QCOMPARE(reset.count(), 0);
    // The group, its two tensors, the total; nothing of the other group.
    QCOMPARE(changed.count(), 4);
    for (const QList<QVariant>& one : changed)
        QVERIFY(one[0].toModelIndex() != model.index(1, 0) && one[0].toModelIndex().parent() != model.index(1, 0));
    QVERIFY(document.setField("document.title", "no figure depends on it").ok());
    QCOMPARE(changed.count(), 4);
}

void TestWorksheet::copying()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    WorksheetModel model(document);
    const int total = model.rowCount() - 1;
    const auto mime = cellsAsMime({model.index(total, C::ConfiguredBytes), model.index(0, C::Name),
        tensor(model, 0, 0, C::ConfiguredBytes), model.index(0, C::ConfiguredBytes)});
    QCOMPARE(mime->text(), QStringLiteral("Full attention\t4294967296\n\t2147483648\n\t4294967296\n"));
    QVERIFY(mime->html().contains("<td align=\"right\">2147483648</td>"));
}

void TestWorksheet::bridgeAddsUp()
{
    for (const std::string& path : test::examplePaths()) {
        PlanDocument document;
        QVERIFY(document.open(QString::fromStdString(path)).ok());
        BridgeView bridge;
        bridge.setEstimate(document.estimate(), {});
        const auto rows = bridge.rows();
        QVERIFY(!rows.isEmpty());
        if (!document.estimate()->engine.engineNeedBytes)
            continue;
        qint64 sum = 0;
        for (int i = 0; i + 1 < rows.size(); ++i)
            sum += rows[i].second;
        QCOMPARE(sum, rows.back().second);
        for (const auto& [name, bytes] : rows)
            QVERIFY(name != QStringLiteral("+ Without a name"));
    }
    // By hand: R1 keeps 16 × 32,768 × 61 × 576 × 2 bytes, and 8 ranks keep all of it each.
    PlanDocument document;
    document.setPlan(test::examplePlan("deepseek-r1-tp8.kvplan"), {});
    BridgeView bridge;
    bridge.setEstimate(document.estimate(), {});
    const qint64 ideal = 16LL * 32768 * 61 * 576 * 2;
    QCOMPARE(bridge.rows().front().second, ideal);
    QCOMPARE(bridge.rows().back().second, 8 * ideal);
}

void TestWorksheet::fitsNarrowWindow()
{
    PlanDocument document;
    WorksheetPage page(document);
    page.resize(996, 620); // what is left of 1,280 px beside rail and docks
    page.show();
    for (const std::string& path : test::examplePaths()) {
        QVERIFY(document.open(QString::fromStdString(path)).ok());
        QTest::qWait(1);
        const auto* view = page.findChild<WorksheetView*>();
        QVERIFY2(view->groupedHeader()->length() <= view->viewport()->width(), path.c_str());
        for (const int column : {C::Name, C::ConfiguredBytes, C::RetainedBytes, C::ReservedBytes, C::FirstRank})
            QVERIFY(!view->isColumnHidden(column));
    }
}

void TestWorksheet::addAndRemove()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("gpt-oss-120b.kvplan"), {});
    const std::string before = planToJson(document.plan());
    WorksheetPage page(document);
    page.show();
    QVERIFY(page.showField("worksheet.groups.sliding.layers"));
    page.rowActions()->duplicate();
    QCOMPARE(document.plan().worksheet.groups.size(), 3U);
    QCOMPARE(document.plan().worksheet.groups[2].tensors, document.plan().worksheet.groups[1].tensors);
    page.rowActions()->addTensor();
    QCOMPARE(document.plan().worksheet.groups[2].tensors.size(), 3U);
    page.rowActions()->remove();
    QCOMPARE(document.plan().worksheet.groups[2].tensors.size(), 2U);
    page.rowActions()->addGroup();
    QCOMPARE(document.plan().worksheet.groups.size(), 4U);
    QCOMPARE(document.plan().worksheet.groups[3].id, std::string("group"));
    QCOMPARE(document.undoStack()->count(), 4);
    QVERIFY(document.estimate());
    while (document.undoStack()->canUndo())
        document.undoStack()->undo();
    QCOMPARE(planToJson(document.plan()), before);
}

void TestWorksheet::editingInPlace()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    WorksheetPage page(document);
    page.resize(996, 620);
    page.show();
    page.activateWindow();
    auto* view = page.findChild<WorksheetView*>();
    QVERIFY(page.showField("worksheet.groups.full.layers"));
    view->edit(view->currentIndex());
    auto* editor = view->viewport()->findChild<QLineEdit*>();
    QVERIFY(editor);
    editor->selectAll();
    QTest::keyClicks(editor, "0");
    QTest::keyClick(editor, Qt::Key_Return);
    // Refused: the editor stays with its text and says why.
    editor = view->viewport()->findChild<QLineEdit*>();
    QVERIFY(editor);
    QCOMPARE(editor->text(), QStringLiteral("0"));
    QVERIFY(editor->toolTip().contains("1"));
    QCOMPARE(document.undoStack()->count(), 0);
    editor->selectAll();
    QTest::keyClicks(editor, "40");
    QTest::keyClick(editor, Qt::Key_Return);
    QCOMPARE(document.plan().worksheet.groups[0].layers, 40);
    QCOMPARE(document.undoStack()->count(), 1);
}

QTEST_MAIN(TestWorksheet)
#include "tst_worksheet.moc"
