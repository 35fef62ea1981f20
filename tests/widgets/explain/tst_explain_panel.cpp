// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Every number opens: each cell of each table that shows a number leads to Explain, which shows the same number and
// says how it came about.

#include "capacity/budgetview.h"
#include "capacity/capacitymap.h"
#include "explain/explainpanel.h"
#include "live/liveprobepage.h"
#include "models/roles.h"
#include "prediction/predictionheadline.h"
#include "prediction/predictionrunner.h"
#include "shell/mainwindow.h"
#include "shell/page.h"
#include "support/example_plans.h"

#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>

using namespace kvw;
using namespace kvw::gui;
using namespace kvw::test;

namespace {

constexpr int patience = 60'000;

/// Columns of numbers that are names: of what the row is, not figures.
struct Name
{
    const char* view;
    const char* column;
    const char* reason;
};

const Name names[] {
    {"Most sequences at once, by length", "Tokens", "the length that the row is of"},
    {"Requests", "Request", "the number of the request"},
};

QString plain(QString text)
{
    text.remove(QRegularExpression(QStringLiteral("[^0-9.]")));
    return text;
}

bool isNumber(const QString& text)
{
    static const QRegularExpression number(QStringLiteral("^[−-]?[0-9][0-9,]*(\\.[0-9]+)?( %)?$"));
    return number.match(text).hasMatch();
}

} // namespace

class ExplainPanelTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void everyCellOpens_data();
    void everyCellOpens();
    void headlineOfThePrediction();
    void evidenceSaysHow();
    void evidenceBeforeARun();
    void capacityByTheMap();
    void budgetByItsBars();
    void fieldsOpen();
    void stalenessIsSaid();
    void pinAndCopy();
    void cleanupTestCase();

private:
    QString textOf(const char* name) const;
    bool isShown(const char* name) const;
    ExplainPanel* panel() const { return m_window->explain(); }

    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;
};

void ExplainPanelTest::initTestCase()
{
    QSettings().clear();
    QVERIFY2(!qEnvironmentVariableIsEmpty("KVW_BINARY"), "the program kvw is not built");
    const QString file = m_folder.filePath(QStringLiteral("small.kvplan"));
    QVERIFY(savePlan(
        with(smallPlan(), {{"engine.maxSequences", "12"}, {"budget.kvBytesPerRank", "1MiB"}}), file.toStdString()));
    m_window = std::make_unique<MainWindow>();
    m_window->resize(1600, 1000);
    m_window->show();
    QVERIFY(m_window->openPath(file));
    auto* runner = m_window->findChild<PredictionRunner*>();
    QSignalSpy finished(runner, &PredictionRunner::finished);
    runner->start();
    QVERIFY(finished.wait(patience));
    auto* live = qobject_cast<LiveProbePage*>(m_window->page(QStringLiteral("liveprobe")));
    m_window->showPage(QStringLiteral("liveprobe"));
    live->findChild<QCheckBox*>()->click(); // no memory rates
    QTRY_VERIFY_WITH_TIMEOUT(live->runAction()->isEnabled(), patience);
    live->runAction()->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->document().runs().empty() && !live->controller().isRunning(), patience);
    QCOMPARE(m_window->document().runs().back()->state, QStringLiteral("done"));
}

QString ExplainPanelTest::textOf(const char* name) const
{
    return panel()->findChild<QWidget*>(QLatin1String(name))->property("text").toString();
}

bool ExplainPanelTest::isShown(const char* name) const
{
    return panel()->findChild<QWidget*>(QLatin1String(name))->isVisibleTo(panel());
}

void ExplainPanelTest::everyCellOpens_data()
{
    QTest::addColumn<QString>("page");
    QTest::addColumn<int>("least");
    QTest::newRow("worksheet") << "worksheet" << 12;
    QTest::newRow("deployment") << "deployment" << 9;
    QTest::newRow("tenants") << "tenants" << 0;
    QTest::newRow("capacity") << "capacity" << 8;
    QTest::newRow("prediction") << "prediction" << 400;
    QTest::newRow("liveprobe") << "liveprobe" << 35;
}

void ExplainPanelTest::everyCellOpens()
{
    QFETCH(QString, page);
    QFETCH(int, least);
    m_window->showPage(page);
    QTest::qWait(20);
    int opened = 0;
    for (QAbstractItemView* view : m_window->page(page)->findChildren<QAbstractItemView*>()) {
        if (!view->model() || !view->isVisible() || qobject_cast<QHeaderView*>(view))
            continue;
        const std::function<void(const QModelIndex&)> visit = [&](const QModelIndex& parent) {
            const QAbstractItemModel* model = view->model();
            for (int row = 0; row < model->rowCount(parent); ++row) {
                for (int column = 0; column < model->columnCount(parent); ++column) {
                    const QModelIndex cell = model->index(row, column, parent);
                    const QString text = cell.data().toString();
                    const QString title = model->headerData(column, Qt::Horizontal).toString();
                    const bool name = std::any_of(std::begin(names), std::end(names), [&](const Name& one) {
                        return view->accessibleName() == QLatin1String(one.view) && title == QLatin1String(one.column);
                    });
                    if (!isNumber(text) || name)
                        continue;
                    const QString what
                        = QStringLiteral("%1, %2, row %3: %4").arg(view->accessibleName(), title).arg(row).arg(text);
                    panel()->showFigure({});
                    view->setFocus();
                    view->setCurrentIndex(cell);
                    QVERIFY2(!panel()->figure().isEmpty(), qPrintable(what));
                    QVERIFY2(isShown("explainValue"), qPrintable(what + QStringLiteral(" is not explained")));
                    const QString exact = cell.data(ExactRole).toString();
                    const QString value = textOf("explainValue");
                    if (!text.endsWith(QLatin1Char('%'))) // a share stands there as a ratio, or as the count lost
                        QVERIFY2(
                            plain(value.section(QStringLiteral("  "), 0, 0))
                                .startsWith(plain((exact.isEmpty() ? text : exact).section(QLatin1Char(' '), 0, 0))),
                            qPrintable(what + QStringLiteral(" is explained as ") + value));
                    QVERIFY2(!textOf("explainTitle").isEmpty(), qPrintable(what));
                    QVERIFY2(isShown("explainFacts") || isShown("explainFormula"), qPrintable(what));
                    ++opened;
                }
                visit(model->index(row, 0, parent));
            }
        };
        visit({});
    }
    QVERIFY2(opened >= least, qPrintable(QString::number(opened)));
}

void ExplainPanelTest::headlineOfThePrediction()
{
    m_window->showPage(QStringLiteral("prediction"));
    auto* headline = m_window->page(QStringLiteral("prediction"))->findChild<PredictionHeadline*>();
    static const QRegularExpression link(QStringLiteral("<a href=\"([^\"]+)\"[^>]*>([^<]+)</a>"));
    int links = 0;
    for (QLabel* label : headline->findChildren<QLabel*>()) {
        for (auto found = link.globalMatch(label->text()); found.hasNext();) {
            const QRegularExpressionMatch one = found.next();
            emit label->linkActivated(one.captured(1));
            QCOMPARE(panel()->figure(), one.captured(1));
            QVERIFY(isShown("explainValue"));
            if (!one.captured(2).contains(QLatin1Char('%')))
                QVERIFY2(plain(textOf("explainValue")).startsWith(plain(one.captured(2))), qPrintable(label->text()));
            QVERIFY(textOf("explainFacts").contains(QStringLiteral("Counted from")));
            ++links;
        }
    }
    QCOMPARE(links, 9);
    QCOMPARE(headline->texts().size(), 6);
}

void ExplainPanelTest::evidenceSaysHow()
{
    m_window->showPage(QStringLiteral("liveprobe"));
    auto* table = m_window->page(QStringLiteral("liveprobe"))->findChild<QTableView*>(QStringLiteral("evidenceTable"));
    QVERIFY(table->model()->rowCount() >= 18);
    const auto select = [&](int row, int column) {
        const QModelIndex cell = table->model()->index(row, column);
        table->scrollTo(cell);
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(cell).center());
    };
    // The estimate of the pool has a formula, with inputs that open.
    select(0, 1);
    QCOMPARE(panel()->figure(), QStringLiteral("evidence.run1.pool_bytes.estimated"));
    QVERIFY(isShown("explainFormula"));
    QVERIFY(textOf("explainFormula").contains(QStringLiteral("bytes per block")));
    select(0, 2);
    QVERIFY(textOf("explainFacts").contains(QStringLiteral("Counted from")));
    select(0, 3);
    QVERIFY(textOf("explainFacts").contains(QStringLiteral("smaps")));
    QVERIFY(textOf("explainFacts").contains(QStringLiteral("Spread")));
    select(0, 6);
    QVERIFY(textOf("explainFacts").contains(QStringLiteral("Rule")));
    QVERIFY(textOf("explainFacts").contains(QStringLiteral("Tolerance")));
    QVERIFY(textOf("explainFormula").contains(QStringLiteral(" − ")));
}

void ExplainPanelTest::evidenceBeforeARun()
{
    const QString measured = QStringLiteral("evidence..pool_bytes.measured");
    panel()->showFigure(measured);
    QVERIFY(isShown("explainValue"));
    QVERIFY(textOf("explainFacts").contains(QStringLiteral("it has not been run")));
    panel()->showFigure(QStringLiteral("evidence..pool_bytes.predicted"));
    QVERIFY(plain(textOf("explainValue")).startsWith(QStringLiteral("1048576")));
    panel()->showFigure(QStringLiteral("evidence.run99.pool_bytes.measured"));
    QVERIFY(!isShown("explainValue"));
    panel()->showFigure(QStringLiteral("evidence.run1.nothing.measured"));
    QVERIFY(!isShown("explainValue"));
}

void ExplainPanelTest::capacityByTheMap()
{
    m_window->showPage(QStringLiteral("capacity"));
    auto* map = m_window->page(QStringLiteral("capacity"))->findChild<CapacityMap*>();
    QTest::qWait(20);
    QTest::mouseClick(map, Qt::LeftButton, {}, map->rect().center());
    QVERIFY(map->selected());
    QVERIFY2(panel()->figure().startsWith(QStringLiteral("capacity.%1.").arg(map->selected()->length)),
        qPrintable(panel()->figure()));
    QVERIFY(isShown("explainFormula"));
    map->setFocus();
    QTest::keyClick(map, Qt::Key_Left);
    QCOMPARE(panel()->figure(),
        QStringLiteral("capacity.%1.share.%2").arg(map->selected()->length).arg(map->selected()->sequences));
    // On the black line a click means the line.
    QSet<QString> ends;
    for (int y = 2; y < map->height(); y += 2) {
        QTest::mouseClick(map, Qt::LeftButton, {}, QPoint(map->width() / 6, y));
        ends.insert(panel()->figure().section(QLatin1Char('.'), 2, 2));
    }
    QVERIFY2(ends.contains(QStringLiteral("engineSequences")),
        qPrintable(QStringList(ends.values()).join(QLatin1Char(' '))));
    QVERIFY(ends.contains(QStringLiteral("share")));
    // The sentences' numbers too.
    int links = 0;
    static const QRegularExpression link(QStringLiteral("<a href=\"([^\"]+)\"[^>]*>([^<]+)</a>"));
    for (QLabel* label : m_window->page(QStringLiteral("capacity"))->findChildren<QLabel*>()) {
        for (auto found = link.globalMatch(label->text()); found.hasNext();) {
            const QRegularExpressionMatch one = found.next();
            emit label->linkActivated(one.captured(1));
            QVERIFY2(isShown("explainValue"), qPrintable(one.captured(1)));
            ++links;
        }
    }
    QVERIFY2(links >= 6, qPrintable(QString::number(links)));
}

void ExplainPanelTest::budgetByItsBars()
{
    m_window->showPage(QStringLiteral("capacity"));
    auto* view = m_window->page(QStringLiteral("capacity"))->findChild<BudgetView*>();
    QTest::qWait(20);
    view->grab(); // the marks' texts have their places once drawn
    QSet<QString> found;
    for (int y = 0; y < view->height(); y += 4) {
        for (int x = 0; x < view->width(); x += 4) {
            if (!view->figureAt(QPointF(x, y)).isEmpty())
                found.insert(view->figureAt(QPointF(x, y)));
        }
    }
    for (const char* part : {"planned", "pool", "configured"})
        QVERIFY2(found.contains(QStringLiteral("ranks.0.budget.") + QLatin1String(part)),
            qPrintable(
                QLatin1String(part) + QStringLiteral(" of ") + QStringList(found.values()).join(QLatin1Char(' '))));
    for (const QString& figure : std::as_const(found)) {
        panel()->showFigure(figure);
        QVERIFY2(isShown("explainFormula"), qPrintable(figure));
    }
}

void ExplainPanelTest::fieldsOpen()
{
    m_window->goToField(QStringLiteral("limits.maxModelLen"));
    QCOMPARE(panel()->figure(), QStringLiteral("plan.limits.maxModelLen"));
    QVERIFY(plain(textOf("explainValue")).startsWith(QStringLiteral("1024")));
    QVERIFY(textOf("explainFacts").contains(QStringLiteral("limits.maxModelLen")));
    panel()->showFigure(QStringLiteral("plan.deployment.memoryBytes"));
    QVERIFY(textOf("explainFacts").contains(QStringLiteral("not stated")));
    panel()->showFigure(QStringLiteral("plan.no.such.field"));
    QVERIFY(!isShown("explainValue"));
}

void ExplainPanelTest::stalenessIsSaid()
{
    panel()->showFigure(QStringLiteral("prediction.steps"));
    const QString before = textOf("explainValue");
    QVERIFY(!before.startsWith(QLatin1Char('~')));
    QVERIFY(m_window->document().setField(QStringLiteral("limits.maxModelLen"), QStringLiteral("2048")).ok());
    QCOMPARE(textOf("explainValue"), QStringLiteral("~ ") + before);
    panel()->showFigure(QStringLiteral("evidence.run1.pool_bytes.measured"));
    QVERIFY(textOf("explainValue").startsWith(QLatin1Char('~')));
    m_window->document().undoStack()->undo();
    QVERIFY(!textOf("explainValue").startsWith(QLatin1Char('~')));
}

void ExplainPanelTest::pinAndCopy()
{
    panel()->showFigure(QStringLiteral("prediction.evictions"));
    panel()->setPinned(true);
    panel()->showFigure(QStringLiteral("capacity.1024.engineSequences"));
    QCOMPARE(panel()->pinnedFigure(), QStringLiteral("prediction.evictions"));
    panel()->setPinned(false);
    for (QPushButton* button : panel()->findChildren<QPushButton*>()) {
        if (button->text() == QStringLiteral("Copy"))
            button->click();
    }
    const QString copied = QApplication::clipboard()->text();
    QVERIFY2(copied.contains(QStringLiteral("blocks to give away")), qPrintable(copied));
    panel()->showFigure(QStringLiteral("evidence.run1.pool_bytes.measured"));
    for (QPushButton* button : panel()->findChildren<QPushButton*>()) {
        if (button->text() == QStringLiteral("Copy"))
            button->click();
    }
    QVERIFY2(QApplication::clipboard()->text().contains(QStringLiteral("Instrument")),
        qPrintable(QApplication::clipboard()->text()));
}

void ExplainPanelTest::cleanupTestCase()
{
    m_window.reset();
}

QTEST_MAIN(ExplainPanelTest)
#include "tst_explain_panel.moc"
