// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "capacity/capacitymap.h"
#include "capacity/capacitypage.h"
#include "document/plandocument.h"
#include "models/roles.h"
#include "plot/plotview.h"
#include "style/tokens.h"
#include "support/example_plans.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QPushButton>
#include <QTableView>
#include <QTest>

using namespace kvw;
using namespace kvw::gui;

namespace {

struct Fixture
{
    PlanDocument document;
    CapacityPage page {document};

    explicit Fixture(const Plan& plan)
    {
        page.resize(1000, 700);
        page.show();
        document.setPlan(plan, {});
    }
    QTableView* table() { return page.findChild<QTableView*>(); }
};

} // namespace

class CapacityPageTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
        QApplication::setPalette(lightPalette());
    }
    void stepsHaveTheirLimits();
    void columnsReachBothEnds();
    void tableIsCores();
    void cellsFollowTheFrontier();
    void useAsPlanIsOneStep();
    void keysChooseACell();
    void saysWhyThereIsNoMap();
    void bytesHaveTheirMarks();
    void hiddenPageComputesLater();
};

void CapacityPageTest::stepsHaveTheirLimits()
{
    QCOMPARE(CapacityMap::stepOf(0.0), std::optional(0));
    QCOMPARE(CapacityMap::stepOf(0.10), std::optional(0));
    QCOMPARE(CapacityMap::stepOf(0.1001), std::optional(1));
    QCOMPARE(CapacityMap::stepOf(0.90), std::optional(4));
    QCOMPARE(CapacityMap::stepOf(1.0), std::optional(5));
    QVERIFY(!CapacityMap::stepOf(1.0001));
}

void CapacityPageTest::columnsReachBothEnds()
{
    const std::vector<std::int64_t> lengths = CapacityMap::columnLengths(1024, 8192);
    QCOMPARE(lengths.front(), 1024);
    QCOMPARE(lengths.back(), 8192);
    QCOMPARE(lengths.size(), std::size_t {13}); // four an octave, three octaves, and the end
    for (const std::int64_t power : {1024, 2048, 4096, 8192})
        QVERIFY(std::find(lengths.begin(), lengths.end(), power) != lengths.end());
    QCOMPARE(CapacityMap::columnLengths(1, 3), (std::vector<std::int64_t> {1, 2, 3}));
    QVERIFY(CapacityMap::columnLengths(0, 0).empty());
}

void CapacityPageTest::tableIsCores()
{
    Fixture fixture(test::examplePlan("reference.kvplan"));
    QAbstractItemModelTester tester(fixture.table()->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    const QAbstractItemModel* model = fixture.table()->model();
    // ⌊3,071 ÷ (tokens ÷ 16)⌋ and ⌊6 GiB ÷ (tokens × 128 KiB)⌋.
    const QList<QStringList> wanted {{"1,024", "47", "48", "64"}, {"2,048", "23", "24", "128"},
        {"4,096", "11", "12", "256"}, {"8,192", "5", "6", "512"}};
    QCOMPARE(model->rowCount(), wanted.size());
    for (int row = 0; row < wanted.size(); ++row) {
        QCOMPARE(model->index(row, 0).data().toString(), wanted[row][0]);
        QCOMPARE(model->index(row, 1).data().toString(), wanted[row][1]);
        QCOMPARE(model->index(row, 2).data().toString(), wanted[row][2]);
        QCOMPARE(model->index(row, 4).data().toString(), wanted[row][3]);
    }
    QCOMPARE(model->index(3, 3).data().toString(), QStringLiteral("−16.7 %"));
    // Every figure says how it came about.
    QCOMPARE(model->index(3, 1).data(FigureRole).toString(), QStringLiteral("capacity.8192.engineSequences"));
    QVERIFY(fixture.document.setField(QStringLiteral("budget.kvBytesPerRank"), QStringLiteral("12GiB")));
    QCOMPARE(model->index(3, 1).data().toString(), QStringLiteral("11")); // ⌊6,143 ÷ 512⌋
    QVERIFY(fixture.document.setField(QStringLiteral("limits.maxModelLen"), QStringLiteral("6000")));
    QCOMPARE(model->rowCount(), 5);
}

void CapacityPageTest::cellsFollowTheFrontier()
{
    Fixture fixture(test::examplePlan("reference.kvplan"));
    CapacityMap& map = fixture.page.map();
    const QImage picture = map.grab().toImage();
    const gui::Tokens& tokens = tokensFor(map.palette());
    const auto shown = [&](const QColor& color) {
        int out = 0;
        for (int y = 0; y < picture.height(); ++y) {
            for (int x = 0; x < picture.width(); ++x)
                out += picture.pixelColor(x, y).name() == color.name() ? 1 : 0;
        }
        return out;
    };
    for (const QColor& step : tokens.sequential)
        QVERIFY(shown(step) > 100); // all six steps are there, legend apart
    QVERIFY(shown(tokens.difference) > 20); // a little that fits ideally only
}

void CapacityPageTest::useAsPlanIsOneStep()
{
    Fixture fixture(test::examplePlan("reference.kvplan"));
    auto* use = [&] {
        for (QPushButton* button : fixture.page.findChildren<QPushButton*>()) {
            if (button->text() == QLatin1String("Use as plan"))
                return button;
        }
        return static_cast<QPushButton*>(nullptr);
    }();
    QVERIFY(use);
    QVERIFY(!use->isEnabled());
    fixture.page.map().select(CapacityMap::Point {2048, 16});
    QVERIFY(use->isEnabled());
    QTest::mouseClick(use, Qt::LeftButton);
    QCOMPARE(fixture.document.plan().limits.maxModelLen, std::optional<std::int64_t>(2048));
    QCOMPARE(fixture.document.plan().limits.concurrentSequences, std::optional<std::int64_t>(16));
    QCOMPARE(fixture.document.undoStack()->count(), 1);
    QVERIFY(fixture.document.undoStack()->undoText().contains(QStringLiteral("16 × 2,048")));
    fixture.document.undoStack()->undo();
    QCOMPARE(fixture.document.plan().limits.maxModelLen, std::optional<std::int64_t>(8192));
    QCOMPARE(fixture.document.plan().limits.concurrentSequences, std::optional<std::int64_t>(4));
}

void CapacityPageTest::keysChooseACell()
{
    Fixture fixture(test::examplePlan("reference.kvplan"));
    CapacityMap& map = fixture.page.map();
    map.select(CapacityMap::Point {2048, 16});
    QTest::keyClick(&map, Qt::Key_Up);
    QCOMPARE(map.selected()->sequences, 23); // half an octave up: 16 × √2
    QTest::keyClick(&map, Qt::Key_Down);
    QTest::keyClick(&map, Qt::Key_Right);
    QCOMPARE(*map.selected(), (CapacityMap::Point {2435, 16})); // a quarter of an octave
    for (int i = 0; i < 40; ++i)
        QTest::keyClick(&map, Qt::Key_Right);
    QCOMPARE(map.selected()->length, 8192);
    for (int i = 0; i < 40; ++i)
        QTest::keyClick(&map, Qt::Key_Down);
    QCOMPARE(map.selected()->sequences, 1);
}

void CapacityPageTest::saysWhyThereIsNoMap()
{
    Fixture fixture(test::examplePlan("gpt-oss-120b.kvplan"));
    QVERIFY(!fixture.page.map().isVisibleTo(&fixture.page));
    QCOMPARE(fixture.table()->model()->rowCount(), 0);
    QVERIFY(!fixture.page.map().selected());
    // Without any layer group: no figure, no crash.
    Plan plan = test::examplePlan("reference.kvplan");
    plan.worksheet.groups.clear();
    fixture.document.setPlan(plan, {});
    QVERIFY(!fixture.page.map().isVisibleTo(&fixture.page));
    plan.limits.maxModelLen.reset();
    plan.model.maximumPositions.reset();
    fixture.document.setPlan(plan, {});
    fixture.page.grab();
    fixture.document.setPlan(test::examplePlan("reference.kvplan"), {});
    QVERIFY(fixture.page.map().isVisibleTo(&fixture.page));
}

void CapacityPageTest::bytesHaveTheirMarks()
{
    Fixture fixture(test::examplePlan("gpt-oss-120b.kvplan"));
    const auto* plot = fixture.page.findChild<PlotView*>();
    QVERIFY(plot);
    QCOMPARE(plot->names().size(), 2); // a series a layer group
}

void CapacityPageTest::hiddenPageComputesLater()
{
    PlanDocument document;
    CapacityPage page(document);
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    const QTableView* table = page.findChild<QTableView*>();
    QCOMPARE(table->model()->rowCount(), 0);
    page.show();
    QCOMPARE(table->model()->rowCount(), 4);
}

QTEST_MAIN(CapacityPageTest)
#include "tst_capacitypage.moc"
