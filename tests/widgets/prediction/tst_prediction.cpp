// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "document/plandocument.h"
#include "models/roles.h"
#include "prediction/predictionnotice.h"
#include "prediction/predictionpage.h"
#include "prediction/predictionrunner.h"
#include "prediction/predictiontables.h"
#include "shell/mainwindow.h"
#include "shell/messagebar.h"
#include "style/elidedlabel.h"
#include "support/example_plans.h"

#include <QAbstractItemModelTester>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QProcess>
#include <QPushButton>
#include <QSignalSpy>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

using namespace kvw;
using namespace kvw::gui;

namespace {

constexpr int patience = 120'000; // ms; a debug build on a busy machine

QJsonObject askProgram(const QStringList& arguments)
{
    QProcess program;
    program.start(qEnvironmentVariable("KVW_BINARY"), arguments);
    if (!program.waitForFinished(patience) || program.exitCode() != 0)
        return {};
    return QJsonDocument::fromJson(program.readAllStandardOutput()).object();
}

/// A plan that the small pool cannot serve without preempting.
Plan crowdedPlan()
{
    return test::with(test::smallPlan(), {{"budget.kvBytesPerRank", "1MiB"}, {"engine.maxSequences", "12"}});
}

void predict(PredictionRunner& runner)
{
    QSignalSpy finished(&runner, &PredictionRunner::finished);
    runner.start();
    QVERIFY(finished.wait(patience));
}

QTableView* tableOf(const QWidget& page, const QString& name)
{
    const QList<QTableView*> views = page.findChildren<QTableView*>();
    for (QTableView* view : views) {
        if (view->accessibleName() == name)
            return view;
    }
    return nullptr;
}

QString figure(const QWidget& page, const QString& name)
{
    const QList<QLabel*> labels = page.findChildren<QLabel*>();
    for (const QLabel* label : labels) {
        if (label->accessibleName() == name)
            return label->accessibleDescription(); // without links
    }
    return {};
}

} // namespace

class PredictionTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); }
    void figuresAreTheProgrammes_data();
    void figuresAreTheProgrammes();
    void tablesShowEveryRequest();
    void sortsByNumbers();
    void errorsGoToTheMessage();
    void cancelKeepsWhatWasThere();
    void startsAnewWhileItRuns();
    void anotherPlanEndsIt();
    void editMakesItStaleAndUndoCurrent();
    void engineIsChosenWithoutMakingItStale();
    void windowPredictsByKey();
    void saysWhatItWasBefore();
};

void PredictionTest::figuresAreTheProgrammes_data()
{
    QTest::addColumn<QString>("name");
    for (const std::string& path : test::examplePaths())
        QTest::newRow(path.c_str()) << QString::fromStdString(path);
}

void PredictionTest::figuresAreTheProgrammes()
{
    if (qEnvironmentVariable("KVW_BINARY").isEmpty())
        QSKIP("the program is not built");
    QFETCH(QString, name);
    const QJsonObject wanted = askProgram({QStringLiteral("predict"), name, QStringLiteral("--json")});
    QVERIFY(!wanted.isEmpty());
    const QJsonObject record = wanted.value(QStringLiteral("prediction")).toObject();

    PlanDocument document;
    QVERIFY(document.open(name));
    PredictionRunner runner(document);
    PredictionPage page(document, runner);
    predict(runner);
    QVERIFY(document.prediction());
    QVERIFY(!document.isPredictionStale());

    const auto number = [&](const char* key) { return record.value(QLatin1String(key)).toInteger(); };
    const auto text = [](qint64 value) { return QLocale().toString(value); };
    const QJsonObject outcomes = record.value(QStringLiteral("outcomes")).toObject();
    qint64 offered = 0;
    for (const QJsonValue& count : outcomes)
        offered += count.toInteger();
    qint64 prompt = 0;
    qint64 hits = 0;
    for (const QJsonValue& tenant : record.value(QStringLiteral("tenants")).toArray()) {
        prompt += tenant.toObject().value(QStringLiteral("promptTokens")).toInteger();
        hits += tenant.toObject().value(QStringLiteral("hitTokens")).toInteger();
    }
    const auto bare = [](QString shown) { return shown.remove(QStringLiteral("! ")); };
    QCOMPARE(bare(figure(page, QStringLiteral("preemptions"))), text(number("preemptions")));
    QCOMPARE(bare(figure(page, QStringLiteral("tokens computed again"))), text(number("recomputedTokens")));
    QCOMPARE(bare(figure(page, QStringLiteral("steps"))), text(number("steps")));
    QCOMPARE(bare(figure(page, QStringLiteral("completed of offered"))),
        QStringLiteral("%1 of %2").arg(text(outcomes.value(QStringLiteral("completed")).toInteger()), text(offered)));
    QVERIFY(figure(page, QStringLiteral("prompt tokens by prefix hits"))
                .startsWith(QStringLiteral("%1 of %2,").arg(text(hits), text(prompt))));

    // Tenants by their names, which the program's output does not have.
    const auto nameOf = [&](const QString& id) {
        const std::vector<Tenant>& tenants = document.plan().tenants;
        const auto found = std::find_if(
            tenants.begin(), tenants.end(), [&](const Tenant& tenant) { return tenant.id == id.toStdString(); });
        return found == tenants.end() ? id : QString::fromStdString(found->name);
    };
    const QTableView* requests = tableOf(page, QStringLiteral("Requests"));
    const QJsonArray rows = record.value(QStringLiteral("requests")).toArray();
    QCOMPARE(requests->model()->rowCount(), rows.size());
    for (int row = 0; row < rows.size(); ++row) {
        const QJsonObject request = rows[row].toObject();
        const auto cell = [&](int column) { return requests->model()->index(row, column).data(SortRole); };
        QCOMPARE(cell(0).toInt(), request.value(QStringLiteral("id")).toInt());
        QCOMPARE(cell(1).toString(), nameOf(request.value(QStringLiteral("tenant")).toString()));
        QCOMPARE(cell(2).toString(), request.value(QStringLiteral("outcome")).toString());
        int column = 3;
        for (const char* key : {"promptTokens", "outputTokens", "hitTokens", "arrivalStep", "admitStep",
                 "firstTokenStep", "endStep", "preemptions", "recomputedTokens", "mostBlocks"})
            QCOMPARE(cell(column++).toInt(), request.value(QLatin1String(key)).toInt());
    }

    const QTableView* steps = tableOf(page, QStringLiteral("Steps that requests took, cold and warm"));
    int row = 0;
    for (const char* key : {"queueSteps", "firstTokenSteps", "perTokenSteps", "endToEndSteps"}) {
        int column = 1;
        for (const char* group : {"cold", "warm"}) {
            const QJsonObject one = record.value(QLatin1String(group)).toObject().value(QLatin1String(key)).toObject();
            const bool any = one.value(QStringLiteral("count")).toInt() > 0;
            for (const char* quantile : {"median", "p99", "max"}) {
                const QVariant shown = steps->model()->index(row, column++).data(SortRole);
                QCOMPARE(shown.toInt(), any ? one.value(QLatin1String(quantile)).toInt() : -1);
            }
        }
        ++row;
    }
}

void PredictionTest::tablesShowEveryRequest()
{
    PlanDocument document;
    document.setPlan(crowdedPlan(), {});
    PredictionRunner runner(document);
    PredictionPage page(document, runner);
    for (QTableView* view : page.findChildren<QTableView*>()) {
        new QAbstractItemModelTester(view->model(), QAbstractItemModelTester::FailureReportingMode::QtTest, view);
        if (const auto* proxy = qobject_cast<QSortFilterProxyModel*>(view->model()))
            new QAbstractItemModelTester(
                proxy->sourceModel(), QAbstractItemModelTester::FailureReportingMode::QtTest, view);
    }
    predict(runner);
    const RunRecord& record = document.prediction()->record;
    QVERIFY(record.preemptions > 0);
    QVERIFY(figure(page, QStringLiteral("preemptions")).startsWith(QStringLiteral("! ")));

    // The outcomes add up to the offered, in the sentence itself.
    const QString sentence = outcomesText(record);
    const QString left = sentence.section(QStringLiteral(" offered = "), 0, 0);
    int sum = 0;
    for (const QString& part : sentence.section(QStringLiteral(" offered = "), 1).split(QStringLiteral(" + ")))
        sum += part.section(QLatin1Char(' '), 0, 0).toInt();
    QCOMPARE(left.toInt(), sum);
    QCOMPARE(sum, 40);
    // A smaller workload afterwards: the tables follow.
    QVERIFY(document.setField(QStringLiteral("workload.requests"), QStringLiteral("7")));
    predict(runner);
    QCOMPARE(tableOf(page, QStringLiteral("Requests"))->model()->rowCount(), 7);
}

void PredictionTest::sortsByNumbers()
{
    PlanDocument document;
    document.setPlan(crowdedPlan(), {});
    PredictionRunner runner(document);
    PredictionPage page(document, runner);
    predict(runner);
    QTableView* view = tableOf(page, QStringLiteral("Requests"));
    view->sortByColumn(3, Qt::DescendingOrder);
    for (int row = 1; row < view->model()->rowCount(); ++row)
        QVERIFY(view->model()->index(row - 1, 3).data(SortRole).toDouble()
            >= view->model()->index(row, 3).data(SortRole).toDouble());
    // The row that was activated is the request that is asked for, whatever the order.
    QSignalSpy activated(&page, &PredictionPage::requestActivated);
    emit view->activated(view->model()->index(2, 5));
    QCOMPARE(activated.size(), 1);
    QCOMPARE(
        QStringLiteral("r%1").arg(activated.front().front().toUInt()), view->model()->index(2, 0).data().toString());
}

void PredictionTest::errorsGoToTheMessage()
{
    PlanDocument document;
    document.setPlan(crowdedPlan(), {});
    PredictionRunner runner(document);
    predict(runner);
    const auto before = document.prediction();
    QSignalSpy message(&runner, &PredictionRunner::message);
    QVERIFY(document.setField(QStringLiteral("budget.kvBytesPerRank"), QStringLiteral("10")));
    predict(runner);
    QCOMPARE(message.size(), 1);
    QVERIFY(message.front().front().toString().contains(QStringLiteral("no block to give away")));
    QCOMPARE(document.prediction(), before);
}

void PredictionTest::cancelKeepsWhatWasThere()
{
    PlanDocument document;
    document.setPlan(crowdedPlan(), {});
    PredictionRunner runner(document);
    predict(runner);
    const auto before = document.prediction();
    document.edit(QStringLiteral("long"), [](Plan& plan) { plan.workload.requests = 20'000; });
    QSignalSpy finished(&runner, &PredictionRunner::finished);
    QSignalSpy message(&runner, &PredictionRunner::message);
    runner.start();
    QVERIFY(runner.isRunning());
    QTRY_VERIFY_WITH_TIMEOUT(runner.steps() > 10, patience);
    QCOMPARE(runner.requestsOffered(), 20'000);
    runner.cancel();
    QVERIFY(finished.wait(patience));
    QVERIFY(!runner.isRunning());
    QVERIFY(runner.requestsDone() < 20'000);
    QCOMPARE(document.prediction(), before);
    QCOMPARE(message.size(), 1);
    QVERIFY(message.front().front().toString().contains(QStringLiteral("stopped")));
}

void PredictionTest::startsAnewWhileItRuns()
{
    PlanDocument document;
    document.setPlan(crowdedPlan(), {});
    document.edit(QStringLiteral("long"), [](Plan& plan) { plan.workload.requests = 20'000; });
    PredictionRunner runner(document);
    QSignalSpy message(&runner, &PredictionRunner::message);
    runner.start();
    document.undoStack()->undo();
    runner.start(); // of the plan as it is now
    QTRY_VERIFY_WITH_TIMEOUT(document.prediction() != nullptr, patience);
    QCOMPARE(document.prediction()->record.requests.size(), std::size_t {40});
    QVERIFY(!document.isPredictionStale());
    QVERIFY(message.isEmpty());
}

void PredictionTest::anotherPlanEndsIt()
{
    PlanDocument document;
    document.setPlan(crowdedPlan(), {});
    document.edit(QStringLiteral("long"), [](Plan& plan) { plan.workload.requests = 20'000; });
    PredictionRunner runner(document);
    QSignalSpy finished(&runner, &PredictionRunner::finished);
    QSignalSpy message(&runner, &PredictionRunner::message);
    runner.start();
    document.setPlan(test::smallPlan(), {});
    QVERIFY(finished.wait(patience));
    QVERIFY(!document.prediction());
    QVERIFY(message.isEmpty());
}

void PredictionTest::editMakesItStaleAndUndoCurrent()
{
    MainWindow window;
    window.show();
    PlanDocument& document = window.document();
    document.setPlan(crowdedPlan(), {});
    auto* runner = window.findChild<PredictionRunner*>();
    Page* page = window.page(QStringLiteral("prediction"));
    QVERIFY(runner && page);
    predict(*runner);
    QCOMPARE(page->badge(), QString());
    const QString steps = figure(*page, QStringLiteral("steps"));
    QVERIFY(document.setField(QStringLiteral("engine.maxSequences"), QStringLiteral("11")));
    QCOMPARE(page->badge(), QStringLiteral("stale"));
    // The figures stay, marked.
    QCOMPARE(figure(*page, QStringLiteral("steps")), QStringLiteral("~ ") + steps);
    const QTableView* requests = tableOf(*page, QStringLiteral("Requests"));
    QCOMPARE(requests->model()->index(0, 3).data(MarkRole).toInt(), int(StaleMark));
    QVERIFY(window.messageBar()->text().contains(QStringLiteral("earlier plan")));
    QVERIFY(window.messageBar()->text().contains(QStringLiteral("11")));
    document.undoStack()->undo();
    QCOMPARE(page->badge(), QString());
    QCOMPARE(figure(*page, QStringLiteral("steps")), steps);
    QVERIFY(window.messageBar()->text().isEmpty());
    // The button in the bar predicts again.
    document.undoStack()->redo();
    QPushButton* again = nullptr;
    for (QPushButton* button : window.messageBar()->findChildren<QPushButton*>()) {
        if (button->isVisible())
            again = button;
    }
    QVERIFY(again);
    QSignalSpy finished(runner, &PredictionRunner::finished);
    QTest::mouseClick(again, Qt::LeftButton);
    QVERIFY(finished.wait(patience));
    QCOMPARE(page->badge(), QString());
    QVERIFY(window.messageBar()->text().isEmpty());
}

void PredictionTest::engineIsChosenWithoutMakingItStale()
{
    PlanDocument document;
    Plan plan = crowdedPlan();
    plan.engine.name.clear();
    document.setPlan(plan, {});
    PredictionRunner runner(document);
    predict(runner);
    QVERIFY(document.prediction());
    QVERIFY(!document.isPredictionStale());
    QCOMPARE(QString::fromStdString(document.prediction()->events->header().planHash),
        QString::fromStdString(document.hash()));
    bool said = false;
    for (const Assumption& assumption : document.prediction()->setup.assumptions)
        said = said || assumption.id == "run.engine";
    QVERIFY(said);
}

void PredictionTest::windowPredictsByKey()
{
    MainWindow window;
    window.document().setPlan(crowdedPlan(), {});
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    QTest::keyClick(&window, Qt::Key_F5);
    QTRY_VERIFY_WITH_TIMEOUT(window.document().prediction() != nullptr, patience);
    window.document().edit(QStringLiteral("long"), [](Plan& plan) { plan.workload.requests = 20'000; });
    auto* runner = window.findChild<PredictionRunner*>();
    QTest::keyClick(&window, Qt::Key_F5);
    QTRY_VERIFY(runner->isRunning());
    QTest::keyClick(&window, Qt::Key_Escape);
    QTRY_VERIFY_WITH_TIMEOUT(!runner->isRunning(), patience);
    QVERIFY(window.document().isPredictionStale());
}

/// Two predictions of two plans are seen side by side; one more of the same plan changes nothing.
void PredictionTest::saysWhatItWasBefore()
{
    PlanDocument document;
    document.setPlan(crowdedPlan(), {});
    PredictionRunner runner(document);
    PredictionPage page(document, runner);
    page.resize(1000, 600);
    page.show();
    const auto captions = [&] {
        QStringList out;
        for (const ElidedLabel* label : page.findChildren<ElidedLabel*>()) {
            if (label->text().contains(QStringLiteral(", was ")))
                out.push_back(label->text());
        }
        return out;
    };
    predict(runner);
    QVERIFY(captions().isEmpty());
    const QString preemptions = figure(page, QStringLiteral("preemptions")).mid(2); // "! 5"
    QVERIFY(preemptions.toInt() > 0);
    QVERIFY(document.setField(QStringLiteral("budget.kvBytesPerRank"), QStringLiteral("64MiB")).ok());
    predict(runner);
    QCOMPARE(figure(page, QStringLiteral("preemptions")), QStringLiteral("0"));
    const QStringList shown = captions();
    QVERIFY2(shown.contains(QStringLiteral("preemptions, was %1").arg(preemptions)), qPrintable(shown.join(u';')));
    predict(runner);
    QCOMPARE(captions(), shown);
    document.setPlan(test::smallPlan(), {});
    predict(runner);
    QVERIFY(captions().isEmpty());
}

QTEST_MAIN(PredictionTest)
#include "tst_prediction.moc"
