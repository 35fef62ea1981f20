// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "document/plandocument.h"
#include "evidence/isolation_cost.h"
#include "models/celltablemodel.h"
#include "models/roles.h"
#include "models/tableview.h"
#include "support/example_plans.h"
#include "tenants/isolationpane.h"
#include "tenants/tenantspage.h"

#include <QAbstractItemModelTester>
#include <QHeaderView>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

using namespace kvw;
using namespace kvw::gui;

namespace {

constexpr int patience = 120'000; // ms

} // namespace

class IsolationTest : public QObject
{
    Q_OBJECT

private slots:
    void rowsAreThePredictions();
    void editsMakeItStale();
    void canBeStopped();
    void refusedPlansAreTold();
    void theTableFits();
};

void IsolationTest::rowsAreThePredictions()
{
    PlanDocument document;
    document.setPlan(test::smallPlan(), {});
    IsolationPane pane(document);
    QAbstractItemModelTester tester(pane.model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    pane.show();
    QCOMPARE(pane.model()->rowCount(), 0); // nothing before it is asked for
    QSignalSpy finished(&pane, &IsolationPane::finished);
    pane.findChild<QPushButton*>()->click();
    QVERIFY(finished.wait(patience));
    const Result<std::vector<IsolationCost>> wanted = isolationCosts(document.plan());
    QVERIFY(wanted);
    QCOMPARE(pane.model()->rowCount(), 3);
    for (int row = 0; row < 3; ++row) {
        const IsolationCost& cost = wanted->at(static_cast<std::size_t>(row));
        const std::array<std::int64_t, 5> numbers {
            cost.hitTokens, cost.computedPromptTokens, cost.peakBlocks, cost.keys, cost.preemptions};
        for (int column = 0; column < 5; ++column)
            QCOMPARE(pane.model()->index(row, column + 1).data(SortRole).toLongLong(),
                numbers[static_cast<std::size_t>(column)]);
    }
    QCOMPARE(pane.model()->index(0, 0).data().toString(), QStringLiteral("All tenants share, 1 domain"));
    QCOMPARE(pane.model()->index(1, 0).data().toString(), QStringLiteral("As planned, 2 domains"));
    QVERIFY(!pane.isStale());
    pane.grab();
}

void IsolationTest::editsMakeItStale()
{
    PlanDocument document;
    document.setPlan(test::smallPlan(), {});
    IsolationPane pane(document);
    pane.show();
    QSignalSpy finished(&pane, &IsolationPane::finished);
    pane.start();
    QVERIFY(finished.wait(patience));
    QVERIFY(!pane.findChild<QPushButton*>()->isEnabled()); // it is current
    QVERIFY(document.setField(QStringLiteral("workload.requests"), QStringLiteral("24")));
    QVERIFY(pane.isStale());
    QVERIFY(pane.about().startsWith(QLatin1Char('~')));
    QCOMPARE(pane.model()->index(0, 1).data(MarkRole).toInt(), int(StaleMark));
    QVERIFY(pane.findChild<QPushButton*>()->isEnabled());
    document.undoStack()->undo();
    QVERIFY(!pane.isStale());
    QCOMPARE(pane.model()->index(0, 1).data(MarkRole).toInt(), int(NoMark));
    // Another plan has none.
    document.setPlan(test::smallPlan(), {});
    QCOMPARE(pane.model()->rowCount(), 0);
}

void IsolationTest::canBeStopped()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("gpt-oss-120b.kvplan"), {});
    IsolationPane pane(document);
    pane.show();
    QSignalSpy finished(&pane, &IsolationPane::finished);
    QSignalSpy messages(&pane, &IsolationPane::message);
    pane.start();
    QVERIFY(pane.isRunning());
    pane.cancel();
    QVERIFY(finished.wait(patience));
    QCOMPARE(pane.model()->rowCount(), 0);
    QCOMPARE(messages.size(), 0);
}

void IsolationTest::refusedPlansAreTold()
{
    PlanDocument document;
    document.setPlan(test::with(test::smallPlan(), {{"workload.promptTokensMin", "500"}}), {}); // more than the most
    IsolationPane pane(document);
    QSignalSpy finished(&pane, &IsolationPane::finished);
    QSignalSpy messages(&pane, &IsolationPane::message);
    pane.start();
    QVERIFY(finished.wait(patience));
    QCOMPARE(messages.size(), 1);
    QCOMPARE(pane.model()->rowCount(), 0);
}

void IsolationTest::theTableFits()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    TenantsPage page(document);
    page.resize(980, 620); // what a window of 1280 × 720 leaves a page
    page.show();
    auto* table = page.findChild<TableView*>();
    QVERIFY(table);
    QCOMPARE(table->horizontalScrollBar()->maximum(), 0);
    const int last = table->model()->columnCount() - 1;
    QVERIFY(table->columnViewportPosition(last) + table->columnWidth(last) <= table->viewport()->width());
    // Contents are whole, down to the last column; a long choice may be elided, and is whole in its tool tip.
    constexpr int longText = 110;
    for (int column = 0; column <= last; ++column) {
        const QModelIndex cell = table->model()->index(0, column);
        const int wanted = table->sizeHintForIndex(cell).width();
        QVERIFY2(table->columnWidth(column) >= std::min(wanted, longText),
            qPrintable(QStringLiteral("column %1: %2 px").arg(column).arg(table->columnWidth(column))));
        if (table->columnWidth(column) < wanted)
            QVERIFY(cell.data(Qt::ToolTipRole).toString().contains(cell.data().toString()));
    }
}

QTEST_MAIN(IsolationTest)
#include "tst_isolation.moc"
