// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "explain/explainpanel.h"
#include "forms/fieldform.h"
#include "plan/field_table.h"
#include "plan/plan_json.h"
#include "problems/problemspanel.h"
#include "shell/commandfield.h"
#include "shell/fieldhelp.h"
#include "shell/mainwindow.h"
#include "shell/messagebar.h"
#include "shell/page.h"
#include "shell/rail.h"
#include "style/theme.h"
#include "style/tokens.h"
#include "support/example_plans.h"

#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QFile>
#include <QLineEdit>
#include <QMimeData>
#include <QSettings>
#include <QSplitter>
#include <QTemporaryDir>
#include <QTest>

#include <sys/resource.h>

#include <csignal>

using namespace kvw;
using namespace kvw::gui;

namespace {

QString example(const char* name)
{
    return qEnvironmentVariable("KVW_SOURCE_DIR") + QStringLiteral("/resources/examples/") + QLatin1String(name);
}

} // namespace

class TestShell : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void fitsSmallScreen();
    void railFollowsWidth();
    void problemsBehindExplain();
    void nextProblemLeavesAPageWithoutOne();
    void layoutIsRemembered();
    void everyFieldHasAPlace();
    void commands();
    void commandMatching();
    void badgesAndTitles();
    void saveFailureIsSaid();
    void openFailureIsSaid();
    void form();
    void help();
    void themes();
    void explainFollows();
};

void TestShell::initTestCase()
{
    QCoreApplication::setOrganizationName(QStringLiteral("kvworkbench"));
    QCoreApplication::setApplicationName(QStringLiteral("tst_shell"));
    std::signal(SIGXFSZ, SIG_IGN); // as the program does
}

void TestShell::init()
{
    QSettings().clear();
}

void TestShell::fitsSmallScreen()
{
    MainWindow window;
    QVERIFY(window.openPath(example("gpt-oss-120b.kvplan")));
    window.setWindowState(Qt::WindowNoState); // the screen of the test may be smaller still
    window.resize(1280, 720);
    window.show();
    // No page asks for more, whatever stands in Explain beside it.
    for (const char* figure : {"", "idealBytes", "groups.full.configured.bytes"}) {
        if (*figure)
            window.goToFigure(QLatin1String(figure));
        for (const QString& page : window.pageIds()) {
            window.showPage(page);
            QTest::qWait(10);
            QCOMPARE(window.size(), QSize(1280, 720));
        }
    }
}

void TestShell::railFollowsWidth()
{
    MainWindow window;
    auto* rail = window.findChild<Rail*>();
    window.resize(1500, 900);
    window.show();
    QVERIFY(!rail->isCompact());
    QCOMPARE(rail->width(), 132);
    window.resize(1280, 720);
    QTRY_VERIFY(rail->isCompact());
    QCOMPARE(rail->width(), 40);
    QCOMPARE(rail->count(), window.pageIds().size());
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    QTest::keyClick(&window, Qt::Key_2, Qt::ControlModifier);
    QCOMPARE(rail->currentRow(), 1);
}

void TestShell::problemsBehindExplain()
{
    MainWindow window;
    auto* explain = window.findChild<QDockWidget*>("explainDock");
    auto* problems = window.findChild<QDockWidget*>("problemsDock");
    window.resize(1280, 720);
    window.show();
    QVERIFY(window.tabifiedDockWidgets(explain).contains(problems));
    window.resize(1500, 1000);
    QTRY_VERIFY(!window.tabifiedDockWidgets(explain).contains(problems));
    QVERIFY(explain->y() < problems->y());
    QVERIFY(explain->width() >= 240);
}

void TestShell::nextProblemLeavesAPageWithoutOne()
{
    MainWindow window;
    window.document().setPlan(test::with(test::smallPlan(), {{"model.revision", ""}}), {});
    window.show();
    window.showPage(QStringLiteral("tenants")); // the problem is on the worksheet's page
    QVERIFY(window.page(QStringLiteral("tenants"))->isVisible());
    for (QAction* action : window.findChildren<QAction*>()) {
        if (action->shortcut() == QKeySequence(Qt::Key_F8))
            action->trigger();
    }
    QTRY_VERIFY(!window.page(QStringLiteral("tenants"))->isVisible());
}

void TestShell::layoutIsRemembered()
{
    MainWindow window;
    window.resize(1500, 1000);
    window.show();
    auto* explain = window.findChild<QDockWidget*>("explainDock");
    window.showPage("worksheet");
    explain->hide();
    auto* split = window.page("worksheet")->findChild<QSplitter*>("worksheetSplit");
    split->setSizes({200, 600});
    const QList<int> sizes = split->sizes();
    window.showPage("tenants");
    QVERIFY(explain->isVisible()); // another page, another layout
    split->setSizes({500, 300});
    window.showPage("worksheet");
    QVERIFY(!explain->isVisible());
    QCOMPARE(split->sizes(), sizes);
    // A small window has a layout of its own.
    window.resize(1280, 720);
    QTRY_VERIFY(explain->isVisible());
    window.resize(1500, 1000);
    QTRY_VERIFY(!explain->isVisible());
}

void TestShell::everyFieldHasAPlace()
{
    MainWindow window;
    QVERIFY(window.openPath(example("gpt-oss-120b.kvplan")));
    window.resize(1280, 720);
    window.show();
    int fields = 0;
    forEachField(window.document().plan(), [&](const FieldReference& field) {
        if (field.path.starts_with("evidence.") || field.path.starts_with("runs."))
            return;
        ++fields;
        window.goToField(QString::fromStdString(field.path));
        QVERIFY2(window.messageBar()->text().isEmpty(), field.path.c_str());
    });
    QVERIFY(fields > 100);
    window.goToField("no.such.field");
    QVERIFY(!window.messageBar()->text().isEmpty());
}

void TestShell::commands()
{
    MainWindow window;
    QVERIFY(window.openPath(example("reference.kvplan")));
    window.resize(1280, 720);
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    CommandField* field = window.commandField();
    const auto go = [&](const QString& words) {
        field->setFocus(Qt::ShortcutFocusReason);
        QTest::keyClicks(field, words);
        QTest::keyClick(field, Qt::Key_Return);
    };
    go("tenants");
    QCOMPARE(window.findChild<Rail*>()->currentRow(), window.pageIds().indexOf("tenants"));
    go("concurrency limits.concurrent");
    QCOMPARE(window.findChild<Rail*>()->currentRow(), window.pageIds().indexOf("deployment"));
    go("idealBytes");
    QCOMPARE(window.explain()->figure(), QStringLiteral("idealBytes"));
    QVERIFY(window.document().setField("document.title", "x").ok());
    go("undo");
    QVERIFY(!window.document().isModified());
    field->setFocus(Qt::ShortcutFocusReason);
    QTest::keyClicks(field, "zzzz nothing");
    QVERIFY(field->listed().isEmpty());
    QTest::keyClick(field, Qt::Key_Escape);
    QVERIFY(field->text().isEmpty());
}

void TestShell::commandMatching()
{
    const QVector<Command> all {{"Layers of full", "field", "32", "worksheet.groups.full.layers", {}},
        {"Open…", "command", "Ctrl+O", {}, {}}, {"pool", "figure", "6 GiB", "engine.poolBytes", {}},
        {"Reopen", "command", {}, {}, {}}};
    QCOMPARE(matchCommands(all, "open"), (QVector<int> {1, 3}));
    QCOMPARE(matchCommands(all, "FULL layers"), (QVector<int> {0}));
    QCOMPARE(matchCommands(all, "poolbytes"), (QVector<int> {2}));
    QCOMPARE(matchCommands(all, "figure"), (QVector<int> {2}));
    QCOMPARE(matchCommands(all, "").size(), 4);
    QVERIFY(matchCommands(all, "open pool").isEmpty());
}

void TestShell::badgesAndTitles()
{
    MainWindow window;
    QVERIFY(window.openPath(example("reference.kvplan")));
    window.resize(1500, 1000);
    window.show();
    auto* rail = window.findChild<Rail*>();
    const int tenants = static_cast<int>(window.pageIds().indexOf("tenants"));
    const QString id = QString::fromStdString(window.document().plan().tenants[0].id);
    QVERIFY(window.document().setField("tenants." + id + ".identitySource", "client_field").ok());
    QVERIFY(window.document().setField("tenants." + id + ".guaranteedBlocks", "9").ok());
    QVERIFY(window.document().setField("tenants." + id + ".maximumBlocks", "3").ok());
    QCOMPARE(rail->badge(tenants), QStringLiteral("1 ✗"));
    const ProblemCount count = countProblems(window.document().diagnostics(), {"tenants."});
    QCOMPARE(count.errors, 1);
    QVERIFY(count.warnings >= 1);
    window.showPage("tenants");
    const auto* panel = window.findChild<ProblemsPanel*>();
    QVERIFY(panel->title().startsWith(QStringLiteral("Problems here: ") + count.text() + ";"));
    QVERIFY(panel->title().endsWith(QStringLiteral("%1 in the plan").arg(window.document().diagnostics().size())));
    QVERIFY(panel->title().contains("1 error, "));
    QCOMPARE(ProblemCount().text(), QStringLiteral("none"));
    QCOMPARE((ProblemCount {2, 1, 0}).text(), QStringLiteral("2 errors, 1 warning"));
}

void TestShell::saveFailureIsSaid()
{
    const QTemporaryDir folder;
    MainWindow window;
    window.show();
    QVERIFY(window.openPath(example("reference.kvplan")));
    const QString path = folder.filePath("a.kvplan");
    QVERIFY(window.saveTo(path));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray old = file.readAll();
    QVERIFY(window.document().setField("document.title", "another").ok());
    rlimit before {};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small {100, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const bool saved = window.saveTo(path);
    setrlimit(RLIMIT_FSIZE, &before);
    QVERIFY(!saved);
    QVERIFY(window.messageBar()->text().contains("Not saved"));
    QVERIFY(window.messageBar()->text().contains("a.kvplan"));
    QVERIFY(window.isWindowModified());
    QFile again(path);
    QVERIFY(again.open(QIODevice::ReadOnly));
    QCOMPARE(again.readAll(), old);
}

void TestShell::openFailureIsSaid()
{
    MainWindow window;
    window.show();
    QVERIFY(window.openPath(example("reference.kvplan")));
    const std::string before = planToJson(window.document().plan());
    QVERIFY(!window.openPath("/no/such/file.kvplan"));
    QVERIFY(window.messageBar()->text().contains("file.kvplan"));
    QCOMPARE(planToJson(window.document().plan()), before);
}

void TestShell::form()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    FieldForm form(document, {"limits.maxModelLen", "cache.elementType", "engine.version"}, 1);
    form.show();
    auto* line = qobject_cast<QLineEdit*>(form.editor("limits.maxModelLen"));
    QVERIFY(line);
    line->setFocus();
    line->selectAll();
    QTest::keyClicks(line, "none at all");
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(line->text(), QStringLiteral("none at all")); // refused: the text stays, the plan too
    QCOMPARE(*document.plan().limits.maxModelLen, 8192);
    QVERIFY(!document.undoStack()->canUndo());
    line->selectAll();
    QTest::keyClicks(line, "16k");
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(*document.plan().limits.maxModelLen, 16384);
    QCOMPARE(line->text(), QStringLiteral("16384"));
    QCOMPARE(document.undoStack()->count(), 1);
    document.undoStack()->undo();
    QCOMPARE(line->text(), QStringLiteral("8192"));
    auto* combo = qobject_cast<QComboBox*>(form.editor("cache.elementType"));
    QVERIFY(combo);
    QCOMPARE(combo->currentData().toString(), QStringLiteral("bf16"));
    QVERIFY(document.setField("cache.elementType", "").ok());
    QCOMPARE(combo->currentData().toString(), QString());
}

void TestShell::help()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    FieldForm form(document, {"deployment.memoryBytes"}, 1);
    QCOMPARE(fieldUnder(*form.editor("deployment.memoryBytes")), QStringLiteral("deployment.memoryBytes"));
    QVERIFY(fieldUnder(form).isEmpty());
    const QString text = helpFor(document, "deployment.memoryBytes");
    QVERIFY(text.contains("as its driver reports it"));
    QVERIFY(text.contains("not stated"));
    QVERIFY(helpFor(document, "tenants.none.name").isEmpty());
    QVERIFY(helpFor(document, "engine.name").contains("engine.name"));
}

void TestShell::themes()
{
    MainWindow window;
    window.show();
    startTheme(Theme::Light);
    QVERIFY(!isDark(window.palette()));
    chooseTheme(Theme::Dark);
    QTRY_VERIFY(isDark(window.palette()));
    QCOMPARE(savedTheme(), Theme::Dark);
    QVERIFY(window.grab().toImage().pixelColor(3, 3).lightnessF() < 0.5F);
    chooseTheme(Theme::Light);
    QTRY_VERIFY(!isDark(window.palette()));
    QVERIFY(window.grab().toImage().pixelColor(3, 3).lightnessF() > 0.5F);
    QCOMPARE(themeFromName("dark"), Theme::Dark);
    QCOMPARE(themeFromName("purple"), Theme::System);
}

void TestShell::explainFollows()
{
    MainWindow window;
    QVERIFY(window.openPath(example("reference.kvplan")));
    window.show();
    window.goToFigure("engine.blocks");
    QCOMPARE(window.explain()->figure(), QStringLiteral("engine.blocks"));
    window.explain()->setPinned(true);
    window.goToFigure("idealBytes");
    // What is pinned stays beside the other, to compare.
    QCOMPARE(window.explain()->figure(), QStringLiteral("idealBytes"));
    QCOMPARE(window.explain()->pinnedFigure(), QStringLiteral("engine.blocks"));
    window.explain()->setPinned(false);
    QVERIFY(window.explain()->pinnedFigure().isEmpty());
}

QTEST_MAIN(TestShell)
#include "tst_shell.moc"
