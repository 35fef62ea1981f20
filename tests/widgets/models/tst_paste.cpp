// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "document/plandocument.h"
#include "models/clipboard.h"
#include "models/elementmodel.h"
#include "models/paste.h"
#include "models/tableview.h"
#include "support/example_plans.h"
#include "worksheet/worksheetmodel.h"
#include "worksheet/worksheetview.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QMimeData>
#include <QSignalSpy>
#include <QTest>

using namespace kvw;
using namespace kvw::gui;

namespace {

const QStringList tenantFields {QStringLiteral("name"), QStringLiteral("sharingGroup"), QStringLiteral("eligibility"),
    QStringLiteral("identitySource"), QStringLiteral("guaranteedBlocks"), QStringLiteral("maximumBlocks")};
enum TenantColumn { Id, Name, Group, Eligible, Identity, Guaranteed, Maximum };

struct Tenants
{
    PlanDocument document;
    ElementModel model {document, QStringLiteral("tenants"), QStringLiteral("Tenant"), tenantFields};
    QAbstractItemModelTester tester {&model, QAbstractItemModelTester::FailureReportingMode::QtTest};
    TableView view;

    Tenants()
    {
        document.setPlan(test::smallPlan(), {}); // acme and birch
        view.setModel(&model);
        view.show();
    }
    void at(int row, int column) { view.setCurrentIndex(model.index(row, column)); }
    const Tenant& tenant(std::size_t row) const { return document.plan().tenants[row]; }
};

/// What Ctrl+C puts on the clipboard for these cells.
QString copied(const QModelIndexList& indexes)
{
    return cellsAsMime(indexes)->text();
}

} // namespace

class PasteTest : public QObject
{
    Q_OBJECT

private slots:
    void readsCells_data();
    void readsCells();
    void columnsRoundTrip_data();
    void columnsRoundTrip();
    void tenantsRoundTrip();
    void blockIsOneStep();
    void textAsTheParserHasIt();
    void allOrNothing();
    void whatHasNoPlaceIsRefused();
    void oneCellFillsTheSelection();
    void shapesAndHiddenColumns();
    void shortcutPastes();
};

void PasteTest::readsCells_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QVector<QStringList>>("cells");
    QTest::newRow("nothing") << QString() << QVector<QStringList> {};
    QTest::newRow("one") << QStringLiteral("a") << QVector<QStringList> {{"a"}};
    QTest::newRow("empty line") << QStringLiteral("\n") << QVector<QStringList> {{""}};
    QTest::newRow("block") << QStringLiteral("a\tb\nc\td\n") << QVector<QStringList> {{"a", "b"}, {"c", "d"}};
    QTest::newRow("no last line end") << QStringLiteral("a\nb") << QVector<QStringList> {{"a"}, {"b"}};
    QTest::newRow("other line ends") << QStringLiteral("a\tb\r\nc\t\r\n")
                                     << QVector<QStringList> {{"a", "b"}, {"c", ""}};
    QTest::newRow("quoted") << QStringLiteral("\"a\tb\nc\"\td\n\"say \"\"x\"\"\"\n")
                            << QVector<QStringList> {{"a\tb\nc", "d"}, {"say \"x\""}};
    QTest::newRow("quote inside") << QStringLiteral("5\" disk\t1") << QVector<QStringList> {{"5\" disk", "1"}};
    QTest::newRow("ragged") << QStringLiteral("a\tb\tc\nd\n") << QVector<QStringList> {{"a", "b", "c"}, {"d"}};
    QTest::newRow("trailing tab") << QStringLiteral("a\t") << QVector<QStringList> {{"a", ""}};
}

void PasteTest::readsCells()
{
    QFETCH(QString, text);
    QFETCH(QVector<QStringList>, cells);
    QCOMPARE(cellsFromText(text), cells);
}

void PasteTest::columnsRoundTrip_data()
{
    QTest::addColumn<QString>("path");
    for (const std::string& path : test::examplePaths())
        QTest::newRow(path.c_str()) << QString::fromStdString(path);
}

void PasteTest::columnsRoundTrip()
{
    QFETCH(QString, path);
    PlanDocument document;
    QVERIFY(document.open(path));
    WorksheetModel model(document);
    WorksheetView view(model);
    view.resize(1900, 800);
    view.show();
    view.expandAll();
    QSignalSpy refused(&model, &WorksheetModel::editRefused);
    const std::string hash = document.hash();
    for (int column = 0; column < model.columnCount(); ++column) {
        QModelIndexList cells;
        for (QModelIndex row = model.index(0, 0); row.isValid(); row = view.indexBelow(row))
            cells.push_back(row.siblingAtColumn(column));
        QVERIFY(cells.size() > 3);
        view.setCurrentIndex(cells.front());
        if (view.isColumnHidden(column))
            continue;
        QVERIFY2(pasteCells(view, copied(cells)), qPrintable(QString::number(column)));
        QCOMPARE(document.hash(), hash);
    }
    QCOMPARE(refused.size(), 0);
    QCOMPARE(document.undoStack()->count(), 0); // nothing was changed: no step
}

void PasteTest::tenantsRoundTrip()
{
    Tenants fixture;
    const std::string hash = fixture.document.hash();
    QModelIndexList all;
    for (int row = 0; row < fixture.model.rowCount(); ++row) {
        for (int column = 0; column < fixture.model.columnCount(); ++column)
            all.push_back(fixture.model.index(row, column));
    }
    fixture.at(0, 0);
    QVERIFY(pasteCells(fixture.view, copied(all)));
    QCOMPARE(fixture.document.hash(), hash);
    // A column onto its neighbour row by row: acme gets what birch has, and back.
    fixture.at(0, Identity);
    QVERIFY(pasteCells(fixture.view, copied({fixture.model.index(1, Identity)})));
    QCOMPARE(fixture.tenant(0).identitySource, fixture.tenant(1).identitySource); // shown with a space, set with "_"
    QVERIFY(fixture.document.hash() != hash);
    fixture.document.undoStack()->undo();
    QCOMPARE(fixture.document.hash(), hash);
}

void PasteTest::blockIsOneStep()
{
    Tenants fixture;
    const std::string hash = fixture.document.hash();
    fixture.at(0, Guaranteed);
    QVERIFY(pasteCells(fixture.view, QStringLiteral("10\t20\n30\t40\n")));
    QCOMPARE(fixture.tenant(0).guaranteedBlocks, std::optional<std::int64_t>(10));
    QCOMPARE(fixture.tenant(0).maximumBlocks, std::optional<std::int64_t>(20));
    QCOMPARE(fixture.tenant(1).guaranteedBlocks, std::optional<std::int64_t>(30));
    QCOMPARE(fixture.tenant(1).maximumBlocks, std::optional<std::int64_t>(40));
    QCOMPARE(fixture.document.undoStack()->count(), 1);
    QVERIFY(fixture.document.undoStack()->undoText().startsWith(QStringLiteral("Paste 4 cells from ")));
    fixture.document.undoStack()->undo();
    QCOMPARE(fixture.document.hash(), hash);
    fixture.document.undoStack()->redo();
    QCOMPARE(fixture.tenant(1).maximumBlocks, std::optional<std::int64_t>(40));
    // "–" and an empty cell clear.
    fixture.at(0, Guaranteed);
    QVERIFY(pasteCells(fixture.view, QStringLiteral("–\t\n")));
    QVERIFY(!fixture.tenant(0).guaranteedBlocks && !fixture.tenant(0).maximumBlocks);
}

void PasteTest::textAsTheParserHasIt()
{
    Tenants fixture;
    fixture.at(0, Guaranteed);
    QVERIFY(pasteCells(fixture.view, QStringLiteral("1,234,567\t 2_000_000 \n")));
    QCOMPARE(fixture.tenant(0).guaranteedBlocks, std::optional<std::int64_t>(1'234'567));
    QCOMPARE(fixture.tenant(0).maximumBlocks, std::optional<std::int64_t>(2'000'000));
    QSignalSpy refused(&fixture.model, &ElementModel::editRefused);
    fixture.at(0, Guaranteed);
    QVERIFY(!pasteCells(fixture.view, QStringLiteral("1.234.567\n"))); // no number for the parser
    QCOMPARE(refused.size(), 1);
    QCOMPARE(fixture.tenant(0).guaranteedBlocks, std::optional<std::int64_t>(1'234'567));
}

void PasteTest::allOrNothing()
{
    Tenants fixture;
    QSignalSpy refused(&fixture.model, &ElementModel::editRefused);
    const std::string hash = fixture.document.hash();
    fixture.at(0, Guaranteed);
    QVERIFY(!pasteCells(fixture.view, QStringLiteral("10\t20\n30\tmany\n")));
    QCOMPARE(fixture.document.hash(), hash);
    QCOMPARE(fixture.document.undoStack()->count(), 0);
    QCOMPARE(refused.size(), 1);
    QCOMPARE(refused.front().at(0).toString(), QStringLiteral("tenants.birch.maximumBlocks"));
    const QString why = refused.front().at(1).toString();
    QVERIFY2(why.contains(QStringLiteral("Maximum")) && why.contains(QStringLiteral("birch"))
            && why.contains(QStringLiteral("Nothing was changed")),
        qPrintable(why));
    // An id cannot be edited here: pasting another one is refused, the same one is not.
    fixture.at(0, Id);
    QVERIFY(!pasteCells(fixture.view, QStringLiteral("zebra\tZ\n")));
    QCOMPARE(fixture.document.hash(), hash);
    QVERIFY(pasteCells(fixture.view, QStringLiteral("acme\tZ\n")));
    QCOMPARE(fixture.tenant(0).name, std::string("Z"));
    // What no choice is.
    fixture.at(1, Eligible);
    QVERIFY(!pasteCells(fixture.view, QStringLiteral("everybody\n")));
}

void PasteTest::whatHasNoPlaceIsRefused()
{
    Tenants fixture;
    QSignalSpy refused(&fixture.model, &ElementModel::editRefused);
    fixture.at(1, Guaranteed);
    QVERIFY(!pasteCells(fixture.view, QStringLiteral("1\n2\n")));
    QVERIFY(refused.back().at(1).toString().contains(QStringLiteral("2 rows do not fit")));
    QVERIFY(!pasteCells(fixture.view, QStringLiteral("1\t2\t3\n")));
    QVERIFY(refused.back().at(1).toString().contains(QStringLiteral("3 columns do not fit")));
    QVERIFY(!fixture.tenant(1).guaranteedBlocks);
    QVERIFY(!pasteCells(fixture.view, QString()));
}

void PasteTest::oneCellFillsTheSelection()
{
    Tenants fixture;
    fixture.at(0, Maximum);
    fixture.view.selectionModel()->select(fixture.model.index(0, Maximum), QItemSelectionModel::ClearAndSelect);
    fixture.view.selectionModel()->select(fixture.model.index(1, Maximum), QItemSelectionModel::Select);
    QVERIFY(pasteCells(fixture.view, QStringLiteral("512")));
    QCOMPARE(fixture.tenant(0).maximumBlocks, std::optional<std::int64_t>(512));
    QCOMPARE(fixture.tenant(1).maximumBlocks, std::optional<std::int64_t>(512));
    QCOMPARE(fixture.document.undoStack()->count(), 1);
}

void PasteTest::shapesAndHiddenColumns()
{
    PlanDocument document;
    document.setPlan(test::smallPlan(), {});
    WorksheetModel model(document);
    WorksheetView view(model);
    view.resize(1900, 800);
    view.show();
    view.expandAll();
    // The group's row, then its tensors: a shape sets heads and width.
    view.setCurrentIndex(model.index(0, WorksheetColumns::Layers));
    QVERIFY(pasteCells(view, QStringLiteral("4\t8 × 128\n")));
    const LayerGroup& group = document.plan().worksheet.groups.front();
    QCOMPARE(group.layers, 4);
    for (const StateTensor& tensor : group.tensors) {
        QCOMPARE(tensor.heads, 8);
        QCOMPARE(tensor.width, 128);
    }
    QCOMPARE(document.undoStack()->count(), 1);
    // A column that is not shown is passed over.
    view.setColumnHidden(WorksheetColumns::Shape, true);
    view.setCurrentIndex(model.index(0, WorksheetColumns::Layers));
    QVERIFY(pasteCells(view, QStringLiteral("2\tfp8_e4m3\n")));
    QCOMPARE(document.plan().worksheet.groups.front().layers, 2);
    for (const StateTensor& tensor : document.plan().worksheet.groups.front().tensors)
        QCOMPARE(tensor.elementType, ElementType::Fp8E4M3);
    // A derived figure takes nothing.
    QSignalSpy refused(&model, &WorksheetModel::editRefused);
    const std::string hash = document.hash();
    view.setCurrentIndex(model.index(0, WorksheetColumns::ConfiguredBytes));
    QVERIFY(!pasteCells(view, QStringLiteral("17\n")));
    QCOMPARE(refused.size(), 1);
    QCOMPARE(document.hash(), hash);
}

void PasteTest::shortcutPastes()
{
    Tenants fixture;
    fixture.at(0, Guaranteed);
    QApplication::clipboard()->setText(QStringLiteral("77\n88\n"));
    QTest::keyClick(&fixture.view, Qt::Key_V, Qt::ControlModifier);
    QCOMPARE(fixture.tenant(0).guaranteedBlocks, std::optional<std::int64_t>(77));
    QCOMPARE(fixture.tenant(1).guaranteedBlocks, std::optional<std::int64_t>(88));
    QTest::keyClick(&fixture.view, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("77\n"));
}

QTEST_MAIN(PasteTest)
#include "tst_paste.moc"
