// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Tables: columns that fill the width without cutting what they show, and choices by the words that people read.

#include "document/plandocument.h"
#include "models/elementmodel.h"
#include "models/fieldchoices.h"
#include "models/tableview.h"
#include "support/example_plans.h"

#include <QComboBox>
#include <QHeaderView>
#include <QRandomGenerator>
#include <QStandardItemModel>
#include <QTest>
#include <QUndoStack>

using namespace kvw;
using namespace kvw::gui;

class TableViewTest : public QObject
{
    Q_OBJECT

private slots:
    void columnsFillTheWidth();
    void narrowColumnsStayReadable();
    void choicesReadAsPeopleSayThem();
    void lettersSelectAndEnterCommits();
    void everyChoiceHasItsTitle();
};

namespace {

const char* const words[] {"Prefix", "hits", "Recomputed", "Identity", "comes", "by", "a", "Output", "tokens"};

QString randomTitle(QRandomGenerator& random)
{
    QStringList out;
    for (int i = 0; i < 1 + static_cast<int>(random.bounded(3)); ++i)
        out.push_back(QLatin1String(words[random.bounded(static_cast<int>(std::size(words)))]));
    return out.join(QLatin1Char(' '));
}

int widthOf(const TableView& view)
{
    int out = 0;
    for (int column = 0; column < view.model()->columnCount(); ++column)
        out += view.columnWidth(column);
    return out;
}

} // namespace

void TableViewTest::columnsFillTheWidth()
{
    QRandomGenerator random(7);
    for (int round = 0; round < 30; ++round) {
        QStandardItemModel model(6, 1 + static_cast<int>(random.bounded(9)));
        for (int column = 0; column < model.columnCount(); ++column) {
            model.setHorizontalHeaderItem(column, new QStandardItem(randomTitle(random)));
            for (int row = 0; row < model.rowCount(); ++row)
                model.setItem(row, column, new QStandardItem(QString(random.bounded(12), QLatin1Char('8'))));
        }
        TableView view;
        view.setModel(&model);
        view.setColumnsFitted();
        view.resize(1500, 200);
        view.show();
        QCOMPARE(widthOf(view), view.viewport()->width());
        const QFontMetrics metrics = view.horizontalHeader()->fontMetrics();
        for (int column = 0; column < model.columnCount(); ++column) {
            const QRect room(0, 0, view.columnWidth(column) - 6, 1000);
            const QRect title
                = metrics.boundingRect(room, Qt::TextWordWrap, model.headerData(column, Qt::Horizontal).toString());
            QVERIFY(title.height() <= 2 * metrics.lineSpacing());
            QVERIFY(title.height() <= view.horizontalHeader()->height());
            for (int row = 0; row < model.rowCount(); ++row)
                QVERIFY(metrics.horizontalAdvance(model.item(row, column)->text()) <= view.columnWidth(column));
        }
        view.resize(1800, 200); // it follows
        QCOMPARE(widthOf(view), view.viewport()->width());
    }
}

void TableViewTest::narrowColumnsStayReadable()
{
    QStandardItemModel model(2, 12);
    for (int column = 0; column < 12; ++column) {
        model.setHorizontalHeaderItem(column, new QStandardItem(QStringLiteral("Column %1").arg(column)));
        model.setItem(0, column, new QStandardItem(QString(column == 3 ? 60 : 3, QLatin1Char('m'))));
    }
    TableView view;
    view.setModel(&model);
    view.setColumnsFitted();
    view.resize(900, 120);
    view.show();
    QCOMPARE(widthOf(view), view.viewport()->width()); // the wide one gives
    for (int column = 0; column < 12; ++column)
        QVERIFY(view.columnWidth(column) >= 44);
    QVERIFY(view.columnWidth(3) > view.columnWidth(0));
    view.resize(200, 120); // too narrow for all: it scrolls
    QVERIFY(widthOf(view) >= 12 * 44);
}

void TableViewTest::choicesReadAsPeopleSayThem()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    ElementModel model(
        document, QStringLiteral("tenants"), QStringLiteral("Tenant"), {QStringLiteral("identitySource")});
    TableView view;
    view.setModel(&model);
    view.show();
    view.setCurrentIndex(model.index(0, 1));
    view.edit(model.index(0, 1));
    auto* combo = view.findChild<QComboBox*>();
    QVERIFY(combo);
    QCOMPARE(combo->itemText(0), QStringLiteral("not stated"));
    for (int i = 0; i < combo->count(); ++i)
        QVERIFY2(!combo->itemText(i).contains(QLatin1Char('_')), qPrintable(combo->itemText(i)));
    const int choice = combo->findText(QStringLiteral("mutual TLS subject"));
    QVERIFY(choice > 0);
    combo->setCurrentIndex(choice);
    emit combo->activated(choice);
    QCOMPARE(model.index(0, 1).data().toString(), QStringLiteral("mutual TLS subject"));
    QCOMPARE(model.index(0, 1).data(Qt::EditRole).toString(), QStringLiteral("mutual_tls")); // as files have it
}

/// In a cell with choices a letter only selects: Enter commits it, Escape takes it back.
void TableViewTest::lettersSelectAndEnterCommits()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    ElementModel model(
        document, QStringLiteral("tenants"), QStringLiteral("Tenant"), {QStringLiteral("identitySource")});
    TableView view;
    view.setModel(&model);
    view.show();
    const QModelIndex cell = model.index(1, 1);
    const QString before = cell.data().toString();
    QVERIFY(before != QStringLiteral("mutual TLS subject"));
    for (const Qt::Key end : {Qt::Key_Escape, Qt::Key_Return}) {
        view.setCurrentIndex(cell);
        view.edit(cell);
        QList<QComboBox*> open;
        QTRY_VERIFY((open = view.findChildren<QComboBox*>()).size() == 1);
        QTest::keyClick(open.front(), Qt::Key_M);
        QCOMPARE(open.front()->currentText(), QStringLiteral("mutual TLS subject"));
        QCOMPARE(cell.data().toString(), before);
        QTest::keyClick(open.front(), end);
        QTRY_VERIFY(view.findChildren<QComboBox*>().isEmpty());
        QCOMPARE(cell.data().toString(), end == Qt::Key_Return ? QStringLiteral("mutual TLS subject") : before);
    }
    QCOMPARE(document.undoStack()->count(), 1);
}

void TableViewTest::everyChoiceHasItsTitle()
{
    int choices = 0;
    const auto check = [&](const FieldTable& table) {
        for (const Field& field : table.fields) {
            const FieldChoices* known = choicesOf(field);
            QCOMPARE(known != nullptr, field.type == FieldType::Choice);
            if (!known)
                continue;
            ++choices;
            QCOMPARE(known->names.size(), static_cast<qsizetype>(field.choices.size()));
            QCOMPARE(known->titles.size(), known->names.size());
            for (const QString& title : known->titles)
                QVERIFY2(!title.isEmpty() && (!title.contains(QLatin1Char('_')) || known->names.contains(title)),
                    qPrintable(title));
        }
    };
    check(planFields());
    for (const Collection& list : planFields().collections)
        check(*list.elements);
    QVERIFY(choices >= 8);
}

QTEST_MAIN(TableViewTest)
#include "tst_table_view.moc"
