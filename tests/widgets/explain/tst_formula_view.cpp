// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "explain/formulaview.h"

#include <QTest>

using namespace kvw::gui;

class FormulaViewTest : public QObject
{
    Q_OBJECT

private slots:
    void shortFormulasStayAsTheyAre();
    void aLongSumHasATermALine();
};

void FormulaViewTest::shortFormulasStayAsTheyAre()
{
    const QString text = QStringLiteral("blocks × (bytes per block + padding)\n12 × (1024 + 16)");
    FormulaView view;
    view.setText(text);
    QCOMPARE(view.toPlainText(), text);
    QCOMPARE(view.text(), text);
    const int two = view.height();
    view.setText(QStringLiteral("blocks"));
    QVERIFY(view.height() < two);
}

void FormulaViewTest::aLongSumHasATermALine()
{
    QStringList terms;
    for (int i = 0; i < 64; ++i)
        terms.push_back(QStringLiteral("sequences × (layers of %1 + ⌈tokens + 1 ÷ 16⌉) × %1").arg(i));
    const QString words = terms.join(QStringLiteral(" + "));
    const QString numbers = QStringLiteral("1 + 2");
    FormulaView view;
    view.setText(words + QLatin1Char('\n') + numbers);
    const QStringList lines = view.toPlainText().split(QLatin1Char('\n'));
    QCOMPARE(lines.size(), 65);
    QCOMPARE(lines.first(), terms.first());
    for (int i = 1; i < 64; ++i)
        QCOMPARE(lines[i], QStringLiteral("+ ") + terms[i]); // no break inside a bracket
    QCOMPARE(lines.last(), numbers);
    QCOMPARE(view.text(), words + QLatin1Char('\n') + numbers); // what is copied and compared is the formula itself
    QVERIFY(view.height() < 12 * view.fontMetrics().lineSpacing());
}

QTEST_MAIN(FormulaViewTest)
#include "tst_formula_view.moc"
