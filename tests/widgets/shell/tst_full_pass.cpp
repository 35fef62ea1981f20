// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// One pass through the real window, by keys and mouse buttons that go through the X server.
// kvw-test: display

#include "hand.h"

#include "evidence/reconcile.h"
#include "live/evidencemodel.h"
#include "live/liveprobepage.h"
#include "models/roles.h"
#include "plan/plan_json.h"
#include "report/reportpage.h"
#include "shell/mainwindow.h"
#include "shell/messagebar.h"
#include "units/format.h"
#include "worksheet/worksheetmodel.h"
#include "worksheet/worksheetview.h"

#include <QApplication>
#include <QCheckBox>
#include <QLabel>
#include <QRegularExpression>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextDocumentFragment>
#include <QWindow>

#include <memory>

using namespace kvw;
using namespace kvw::gui;
using namespace kvw::test;

namespace {

constexpr int longTime = 60'000;
using C = WorksheetColumns;

} // namespace

/// The slots are the steps of one pass, in order, on one window.
class FullPassTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void opensAModelFile();
    void editsFiveCells();
    void undoesAndRedoesAll();
    void statesASmallWorkload();
    void predicts();
    void runsAndCancels();
    void runsToTheEnd();
    void readsTheEvidence();
    void exportsThePdf();
    void cleanupTestCase();

private:
    PlanDocument& document() { return m_window->document(); }
    LiveProbePage& live() { return *qobject_cast<LiveProbePage*>(m_window->page(QStringLiteral("liveprobe"))); }
    /// Selects a cell of the worksheet by the mouse and edits it by the keyboard.
    void editCell(const QModelIndex& cell, const QString& text);
    /// Goes to a field by the command field and enters a value.
    void enterField(const QString& path, const QString& text);
    QString verdictOf(int row) const;

    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;
    Hand m_hand;
    bool m_broken = false; ///< a step failed: those after it would only say so again
    std::string m_opened; ///< hashes of the plan as it was opened and edited
    std::string m_edited;
    QTableView* m_evidence = nullptr;
};

void FullPassTest::initTestCase()
{
    QCOMPARE(QGuiApplication::platformName(), QStringLiteral("xcb"));
    QVERIFY2(!qEnvironmentVariableIsEmpty("KVW_BINARY"), "the program kvw is not built");
    QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    m_window = std::make_unique<MainWindow>();
    m_window->resize(1280, 720);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    // A window manager gave it a frame; without one nothing here would be as on a desktop.
    QTRY_VERIFY_WITH_TIMEOUT(m_window->windowHandle()->frameMargins().top() > 0, 10'000);
    m_evidence = live().findChild<QTableView*>(QStringLiteral("evidenceTable"));
    QVERIFY(m_evidence);
}

void FullPassTest::init()
{
    QVERIFY2(!m_broken, "an earlier step failed");
    m_broken = true; // until the step has reached its end
}

void FullPassTest::opensAModelFile()
{
    const QString file = m_folder.filePath(QStringLiteral("config.json"));
    QVERIFY(QFile::copy(
        qEnvironmentVariable("KVW_SOURCE_DIR") + QStringLiteral("/tests/data/import/llama_3_1_8b.json"), file));
    QVERIFY2(m_hand.answer(QStringLiteral("ctrl+o"), QStringLiteral("Open a plan"), file), m_hand.error());
    QTRY_COMPARE_WITH_TIMEOUT(document().plan().worksheet.groups.size(), std::size_t(1), longTime);
    QCOMPARE(m_window->messageBar()->text(), QString());
    // As the model file says: 32 layers of 8 heads × 128, two bytes a number, K and V.
    const auto* model = m_window->findChild<WorksheetModel*>();
    QCOMPARE(model->index(0, C::Layers).data().toString(), QStringLiteral("32"));
    QCOMPARE(model->index(0, C::Shape).data().toString(), QStringLiteral("8 × 128"));
    QCOMPARE(model->index(0, C::PerToken).data(RawRole).toString(), QString::number(2 * 32 * 8 * 128 * 2));
    m_opened = document().hash();
    m_broken = false;
}

void FullPassTest::editCell(const QModelIndex& cell, const QString& text)
{
    auto* view = m_window->findChild<WorksheetView*>();
    QVERIFY(cell.isValid());
    view->scrollTo(cell);
    const int steps = document().undoStack()->count();
    QVERIFY2(m_hand.click(*view->viewport(), view->visualRect(cell).center()), m_hand.error());
    QTRY_COMPARE(view->currentIndex(), cell);
    QVERIFY(m_hand.press(QStringLiteral("F2")));
    QTRY_VERIFY(view->viewport()->isAncestorOf(QApplication::focusWidget()));
    QVERIFY(m_hand.press(QStringLiteral("ctrl+a")));
    QVERIFY(m_hand.type(text));
    QVERIFY(m_hand.press(QStringLiteral("Return")));
    QTRY_COMPARE(document().undoStack()->count(), steps + 1);
}

void FullPassTest::editsFiveCells()
{
    const auto* model = m_window->findChild<WorksheetModel*>();
    const QModelIndex group = model->index(0, 0);
    editCell(group, QStringLiteral("Every layer"));
    editCell(model->index(0, C::Layers), QStringLiteral("2"));
    editCell(model->index(0, C::Shape), QStringLiteral("4x64"));
    editCell(model->index(0, C::Shape, group), QStringLiteral("2x64"));
    editCell(model->index(1, C::Shape, group), QStringLiteral("2x64"));
    if (QTest::currentTestFailed())
        return;
    QCOMPARE(document().undoStack()->count(), 5);
    QCOMPARE(model->index(0, C::Name).data().toString(), QStringLiteral("Every layer"));
    QCOMPARE(model->index(0, C::Shape).data().toString(), QStringLiteral("2 × 64"));
    QCOMPARE(model->index(0, C::PerToken).data(RawRole).toString(), QString::number(2 * 2 * 2 * 64 * 2));
    QVERIFY(m_window->isWindowModified());
    m_edited = document().hash();
    QVERIFY(m_edited != m_opened);
    m_broken = false;
}

void FullPassTest::undoesAndRedoesAll()
{
    for (int round = 0; round < 2; ++round) {
        for (int step = 4; step >= 0; --step) {
            QVERIFY(m_hand.press(QStringLiteral("ctrl+z")));
            QTRY_COMPARE(document().undoStack()->index(), step);
        }
        QCOMPARE(document().hash(), m_opened);
        QVERIFY(!m_window->isWindowModified());
        for (int step = 1; step <= 5; ++step) {
            QVERIFY(m_hand.press(QStringLiteral("ctrl+shift+z")));
            QTRY_COMPARE(document().undoStack()->index(), step);
        }
        QCOMPARE(document().hash(), m_edited);
    }
    m_broken = false;
}

void FullPassTest::enterField(const QString& path, const QString& text)
{
    QVERIFY(m_hand.press(QStringLiteral("ctrl+k")));
    QVERIFY(m_hand.type(path));
    QVERIFY(m_hand.press(QStringLiteral("Return")));
    QVERIFY(m_hand.press(QStringLiteral("ctrl+a")));
    QVERIFY(m_hand.type(text));
    const int steps = document().undoStack()->count();
    QVERIFY(m_hand.press(QStringLiteral("Return")));
    QTRY_VERIFY2(document().undoStack()->count() == steps + 1, qPrintable(path));
}

void FullPassTest::statesASmallWorkload()
{
    // A pool that is too small for what arrives, so that there is something to evict and to wait for.
    enterField(QStringLiteral("limits.maxModelLen"), QStringLiteral("1k"));
    enterField(QStringLiteral("budget.kvBytesPerRank"), QStringLiteral("2MiB"));
    enterField(QStringLiteral("workload.requests"), QStringLiteral("400"));
    enterField(QStringLiteral("workload.commonPrefixTokens"), QStringLiteral("48"));
    enterField(QStringLiteral("workload.sharedPrefixTokens"), QStringLiteral("160"));
    enterField(QStringLiteral("workload.promptTokensMin"), QStringLiteral("16"));
    enterField(QStringLiteral("workload.promptTokensMax"), QStringLiteral("400"));
    enterField(QStringLiteral("workload.outputTokensMin"), QStringLiteral("4"));
    enterField(QStringLiteral("workload.outputTokensMax"), QStringLiteral("60"));
    if (QTest::currentTestFailed())
        return;
    const Plan& plan = document().plan();
    QCOMPARE(plan.limits.maxModelLen.value_or(0), 1024);
    QCOMPARE(plan.budget.kvBytesPerRank.value_or(0), 2 << 20);
    QCOMPARE(plan.workload.requests.value_or(0), 400);
    QCOMPARE(plan.workload.promptTokensMax.value_or(0), 400);
    m_broken = false;
}

void FullPassTest::predicts()
{
    QVERIFY(m_hand.press(QStringLiteral("F5")));
    QTRY_VERIFY_WITH_TIMEOUT(document().prediction() != nullptr, longTime);
    QVERIFY(!document().isPredictionStale());
    const RunRecord& record = document().prediction()->record;
    QCOMPARE(record.planHash, document().hash());
    QVERIFY(record.complete);
    QCOMPARE(record.totals().offered, 400);
    QVERIFY(record.evictions > 0);
    QVERIFY(m_hand.press(QStringLiteral("ctrl+7")));
    QTRY_VERIFY(m_window->page(QStringLiteral("prediction"))->isVisible());
    m_broken = false;
}

void FullPassTest::runsAndCancels()
{
    QVERIFY(m_hand.press(QStringLiteral("ctrl+8")));
    QTRY_VERIFY(live().isVisible());
    auto* ceilings = live().findChild<QCheckBox*>();
    QVERIFY2(m_hand.click(*ceilings, QPoint(8, ceilings->height() / 2)), m_hand.error());
    QTRY_VERIFY(!ceilings->isChecked());
    QTRY_VERIFY_WITH_TIMEOUT(live().runAction()->isEnabled(), longTime);
    const std::string plan = planToJson(document().plan());

    QVERIFY(m_hand.press(QStringLiteral("F6")));
    QTRY_VERIFY(live().controller().isRunning());
    QTRY_VERIFY_WITH_TIMEOUT(!document().runs().empty() && !document().runs().back()->samples.empty(), longTime);
    QVERIFY(m_hand.press(QStringLiteral("Escape")));
    QTRY_VERIFY_WITH_TIMEOUT(!live().controller().isRunning(), longTime);
    const LiveResult& run = *document().runs().back();
    QVERIFY2(run.state.startsWith(QStringLiteral("cancelled at step ")), qPrintable(run.state));
    // What had come is kept, in the window and on the disk; the plan is as it was.
    QVERIFY(!run.samples.empty());
    QVERIFY(run.samples.back().step + 1 < document().prediction()->record.steps);
    QVERIFY(QFileInfo(run.recordFile).size() > 0);
    QTRY_VERIFY_WITH_TIMEOUT(document().runs().back()->events != nullptr, longTime);
    auto* runs = live().side()->findChild<QTableView*>(QStringLiteral("runsTable"));
    if (!runs)
        runs = qobject_cast<QTableView*>(live().side());
    QVERIFY(runs);
    QStringList told;
    for (int column = 0; column < runs->model()->columnCount(); ++column)
        told.push_back(runs->model()->index(0, column).data().toString());
    QVERIFY2(told.contains(QStringLiteral("cancelled")), qPrintable(told.join(QLatin1Char('|'))));
    QCOMPARE(planToJson(document().plan()), plan);
    m_broken = false;
}

void FullPassTest::runsToTheEnd()
{
    QTRY_VERIFY_WITH_TIMEOUT(live().runAction()->isEnabled(), longTime);
    QVERIFY(m_hand.press(QStringLiteral("F6")));
    QTRY_COMPARE_WITH_TIMEOUT(document().runs().size(), std::size_t(2), longTime);
    QTRY_VERIFY_WITH_TIMEOUT(!live().controller().isRunning(), longTime);
    QCOMPARE(document().runs().back()->state, QStringLiteral("done"));
    QVERIFY(document().runs().front()->state.startsWith(QStringLiteral("cancelled at step ")));
    QCOMPARE(document().plan().runs.size(), std::size_t(1)); // the whole run alone proves something
    m_broken = false;
}

QString FullPassTest::verdictOf(int row) const
{
    const QAbstractItemModel* model = m_evidence->model();
    return model->index(row, model->columnCount() - 1).data().toString();
}

void FullPassTest::readsTheEvidence()
{
    const int rows = m_evidence->model()->rowCount();
    QCOMPARE(rows, static_cast<int>(document().plan().evidence.size()));
    QVERIFY(rows >= 18);
    int agree = 0;
    int differ = 0;
    int none = 0;
    for (int row = 0; row < rows; ++row) {
        const QString verdict = verdictOf(row);
        agree += verdict.startsWith(QStringLiteral("✓ agrees")) ? 1 : 0;
        differ += verdict.startsWith(QStringLiteral("✗ differs")) ? 1 : 0;
        none += verdict.startsWith(QStringLiteral("– no verdict")) ? 1 : 0;
    }
    QCOMPARE(agree + differ + none, rows); // words of a verdict in each, none still running
    QCOMPARE(differ, 0);
    QVERIFY(agree >= 14);
    const QString counts
        = QStringLiteral("✓ %1 agree · ✗ %2 differ · – %3 without verdict").arg(agree).arg(differ).arg(none);
    const QList<QLabel*> labels = live().findChildren<QLabel*>();
    QVERIFY2(std::any_of(labels.begin(), labels.end(),
                 [&](const QLabel* label) {
                     return label->isVisible()
                         && QTextDocumentFragment::fromHtml(label->text()).toPlainText() == counts;
                 }),
        qPrintable(counts));
    // A row opens by the mouse.
    const QModelIndex cell = m_evidence->model()->index(0, EvidenceModel::Measured);
    QVERIFY2(m_hand.click(*m_evidence->viewport(), m_evidence->visualRect(cell).center()), m_hand.error());
    QTRY_COMPARE(m_evidence->currentIndex().row(), 0);
    m_broken = false;
}

void FullPassTest::exportsThePdf()
{
    const QString file = m_folder.filePath(QStringLiteral("plan.pdf"));
    auto* report = qobject_cast<ReportPage*>(m_window->page(QStringLiteral("report")));
    QVERIFY(report);
    QVERIFY2(m_hand.answer(QStringLiteral("ctrl+e"), QStringLiteral("Export the report"), file), m_hand.error());
    QTRY_VERIFY_WITH_TIMEOUT(m_window->messageBar()->text().contains(QStringLiteral("was written to")), longTime);
    QVERIFY(QFileInfo(file).size() > 10'000);

    QProcess process;
    process.start(QStringLiteral("pdftotext"), {QStringLiteral("-layout"), file, QStringLiteral("-")});
    QVERIFY(process.waitForFinished(longTime));
    QCOMPARE(process.exitCode(), 0);
    const QString text = QString::fromUtf8(process.readAllStandardOutput());
    const auto shows = [&](const QString& what) { return text.contains(what); };
    QVERIFY(shows(QStringLiteral("Every layer")));
    QVERIFY(shows(QString::fromStdString(document().hash().substr(0, 12))));
    // The evidence: each row's exact numbers of the window side by side in one line, prediction and measured.
    const QAbstractItemModel* model = m_evidence->model();
    const auto exactOf = [&](int row, int column) {
        return model->index(row, column).data(ExactRole).toString().section(QLatin1Char(' '), 0, 0);
    };
    const QString running = text.simplified();
    int compared = 0;
    for (int row = 0; row < model->rowCount(); ++row) {
        const QString title = model->index(row, EvidenceModel::Row).data().toString();
        for (const QString& word : title.split(QLatin1Char(' ')))
            QVERIFY2(shows(word), qPrintable(title));
        const QString predicted = exactOf(row, EvidenceModel::Prediction);
        const QString measured = exactOf(row, EvidenceModel::Measured);
        if (predicted.isEmpty() || measured.isEmpty())
            continue; // a rate, which is not predicted
        const QRegularExpression line(
            QStringLiteral("(^|\\s)%1( B)?\\s+(● )?%2(\\s|$)")
                .arg(QRegularExpression::escape(predicted), QRegularExpression::escape(measured)),
            QRegularExpression::MultilineOption);
        // Bytes are rounded in the table; below it stand the exact ones.
        const bool noted = running.contains(title + QLatin1Char(' ') + measured);
        QVERIFY2(text.contains(line) || noted, qPrintable(title + QStringLiteral(": ") + measured));
        ++compared;
    }
    QVERIFY(compared >= 16);
    m_broken = false;
}

void FullPassTest::cleanupTestCase()
{
    m_window.reset();
}

QTEST_MAIN(FullPassTest)
#include "tst_full_pass.moc"
