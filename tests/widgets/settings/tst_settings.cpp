// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "document/plandocument.h"
#include "live/livecontroller.h"
#include "report/reportpage.h"
#include "settings/preferences.h"
#include "settings/settingsdialog.h"
#include "shell/mainwindow.h"
#include "style/theme.h"
#include "style/tokens.h"
#include "support/example_plans.h"
#include "worker/runstore.h"
#include "worker/workerstate.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QLockFile>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

using namespace kvw;
using namespace kvw::gui;

namespace {

void write(const QString& path, int bytes)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(bytes, 'x'));
}

/// A folder as a run leaves it, with 100 + 30 bytes in it.
QString makeRun(const QTemporaryDir& folder, const QString& name)
{
    QDir(folder.path()).mkdir(name);
    write(folder.filePath(name + QStringLiteral("/record.jsonl")), 30);
    write(folder.filePath(name + QStringLiteral("/events.kvev")), 100);
    return QFileInfo(folder.filePath(name)).absoluteFilePath();
}

QStringList names(const QVector<StoredRun>& runs)
{
    QStringList out;
    for (const StoredRun& run : runs)
        out.push_back(QFileInfo(run.folder).fileName());
    return out;
}

} // namespace

class SettingsTest : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void defaultsAndNonsense();
    void onlyRunsAreSeen();
    void theOldestGo();
    void whatIsInUseStays();
    void runningOnesStay();
    void foreignFilesStay();
    void dialogShowsAndRemoves();
    void dialogChoosesTheTheme();
    void reportFollows();
    void shortcutOpensOneDialog();
    void oldRunsGoAfterARun();
};

void SettingsTest::init()
{
    QSettings().clear();
}

void SettingsTest::defaultsAndNonsense()
{
    Preferences& preferences = Preferences::instance();
    QCOMPARE(preferences.keptRuns(), 20);
    QCOMPARE(preferences.runsFolder(), defaultRunsFolder());
    QVERIFY(!preferences.usesLetter());
    for (const auto& [text, kept] : {std::pair {"0", 1}, std::pair {"-5", 1}, std::pair {"many", 20},
             std::pair {"99999999999999", 10'000}, std::pair {"7", 7}}) {
        QSettings().setValue(QStringLiteral("runs/kept"), QString::fromLatin1(text));
        QCOMPARE(preferences.keptRuns(), kept);
    }
    QSignalSpy changes(&preferences, &Preferences::changed);
    preferences.setValue(Preferences::Author, QStringLiteral("Ada"));
    preferences.setValue(Preferences::Author, QStringLiteral("Ada"));
    QCOMPARE(changes.size(), 1);
    QCOMPARE(QSettings().value(QStringLiteral("report/author")).toString(), QStringLiteral("Ada"));
}

void SettingsTest::onlyRunsAreSeen()
{
    QTemporaryDir folder;
    makeRun(folder, QStringLiteral("20260101-120000-run1"));
    makeRun(folder, QStringLiteral("20260301-120000-run9"));
    makeRun(folder, QStringLiteral("20260201-120000-run2"));
    makeRun(folder, QStringLiteral("holiday pictures")); // a record in it, but no run's name
    QDir(folder.path()).mkdir(QStringLiteral("20260401-120000-run3")); // a run's name, but no record
    write(folder.filePath(QStringLiteral("20260501-120000-run4")), 5); // no folder
    QTemporaryDir elsewhere;
    const QString target = makeRun(elsewhere, QStringLiteral("20250101-120000-run1"));
    QVERIFY(QFile::link(target, folder.filePath(QStringLiteral("20250101-120000-run1"))));
    const QVector<StoredRun> runs = storedRuns(folder.path());
    QCOMPARE(names(runs),
        (QStringList {QStringLiteral("20260301-120000-run9"), QStringLiteral("20260201-120000-run2"),
            QStringLiteral("20260101-120000-run1")}));
    for (const StoredRun& run : runs)
        QCOMPARE(run.bytes, 130);
    QVERIFY(storedRuns(folder.filePath(QStringLiteral("absent"))).isEmpty());
}

void SettingsTest::theOldestGo()
{
    QTemporaryDir folder;
    for (int i = 0; i < 6; ++i)
        makeRun(folder, QStringLiteral("2026010%1-120000-run1").arg(i + 1));
    for (const int keep : {20, 6})
        QVERIFY(oldRuns(storedRuns(folder.path()), keep, {}).isEmpty());
    const QVector<StoredRun> old = oldRuns(storedRuns(folder.path()), 4, {});
    QCOMPARE(
        names(old), (QStringList {QStringLiteral("20260101-120000-run1"), QStringLiteral("20260102-120000-run1")}));
    QCOMPARE(removeRuns(old), 2);
    QCOMPARE(storedRuns(folder.path()).size(), 4);
    QVERIFY(!QFileInfo::exists(folder.filePath(QStringLiteral("20260101-120000-run1"))));
    QVERIFY(QFileInfo::exists(folder.filePath(QStringLiteral("20260103-120000-run1"))));
}

void SettingsTest::whatIsInUseStays()
{
    QTemporaryDir folder;
    QStringList runs;
    for (int i = 0; i < 5; ++i)
        runs.push_back(makeRun(folder, QStringLiteral("2026010%1-120000-run1").arg(i + 1)));
    PlanDocument document;
    Plan plan = test::smallPlan();
    RunReference reference;
    reference.id = "run1";
    reference.events = (runs[0] + QStringLiteral("/events.kvev")).toStdString();
    plan.runs.push_back(reference);
    document.setPlan(plan, {});
    auto live = std::make_shared<LiveResult>();
    live->id = QStringLiteral("run2");
    live->recordFile = runs[2] + QStringLiteral("/record.jsonl");
    document.setRun(live);
    const QVector<StoredRun> old = oldRuns(storedRuns(folder.path()), 1, runFoldersOf(document));
    QCOMPARE(names(old),
        (QStringList {QStringLiteral("20260102-120000-run1"), QStringLiteral("20260104-120000-run1"),
            QStringLiteral("20260105-120000-run1")}));
}

void SettingsTest::runningOnesStay()
{
    QTemporaryDir folder;
    const QString running = makeRun(folder, QStringLiteral("20260101-120000-run1"));
    makeRun(folder, QStringLiteral("20260102-120000-run1"));
    const QVector<StoredRun> before = storedRuns(folder.path());
    QLockFile lock(running + QLatin1Char('/') + runLockName());
    QVERIFY(lock.tryLock(0));
    const QVector<StoredRun> runs = storedRuns(folder.path());
    QVERIFY(!runs[0].running && runs[1].running);
    QVERIFY(oldRuns(runs, 1, {}).size() == 1);
    QCOMPARE(names(oldRuns(runs, 1, {})), QStringList(QStringLiteral("20260102-120000-run1")));
    // One that began after it was looked at.
    QCOMPARE(removeRuns({before[1]}), 0);
    QVERIFY(QFileInfo::exists(running + QStringLiteral("/events.kvev")));
    lock.unlock();
    QCOMPARE(removeRuns({before[1]}), 1);
    QVERIFY(!QFileInfo::exists(running));
}

void SettingsTest::foreignFilesStay()
{
    QTemporaryDir folder;
    const QString run = makeRun(folder, QStringLiteral("20260101-120000-run1"));
    write(run + QStringLiteral("/notes.txt"), 3);
    QCOMPARE(removeRuns(storedRuns(folder.path())), 1);
    QCOMPARE(QDir(run).entryList(QDir::Files), QStringList(QStringLiteral("notes.txt")));
    QVERIFY(storedRuns(folder.path()).isEmpty());
}

void SettingsTest::dialogShowsAndRemoves()
{
    QTemporaryDir folder;
    for (int i = 0; i < 3; ++i)
        makeRun(folder, QStringLiteral("2026010%1-120000-run1").arg(i + 1));
    Preferences::instance().setValue(Preferences::RunsFolder, folder.path());
    PlanDocument document;
    SettingsDialog dialog(document);
    dialog.show();
    auto* kept = dialog.findChild<QSpinBox*>();
    QCOMPARE(kept->value(), 20);
    const auto button = [&] {
        for (QPushButton* candidate : dialog.findChildren<QPushButton*>()) {
            if (candidate->text() == QStringLiteral("Remove the others now"))
                return candidate;
        }
        return static_cast<QPushButton*>(nullptr);
    }();
    QVERIFY(button && !button->isEnabled());
    const auto says = [&](const QString& text) {
        const QList<QLabel*> labels = dialog.findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) { return label->text() == text; });
    };
    QVERIFY(says(QStringLiteral("3 runs, 390 B")));
    kept->setValue(1);
    QCOMPARE(Preferences::instance().keptRuns(), 1);
    QCOMPARE(storedRuns(folder.path()).size(), 3); // a choice removes nothing by itself
    QVERIFY(button->isEnabled());
    button->click();
    QCOMPARE(names(storedRuns(folder.path())), QStringList(QStringLiteral("20260103-120000-run1")));
    QVERIFY(says(QStringLiteral("1 run, 130 B")));
    QVERIFY(!button->isEnabled());
    // Back to the default folder.
    auto* line = dialog.findChildren<QLineEdit*>().front();
    for (QLineEdit* candidate : dialog.findChildren<QLineEdit*>()) {
        if (candidate->text() == folder.path())
            line = candidate;
    }
    line->clear();
    emit line->editingFinished();
    QCOMPARE(Preferences::instance().runsFolder(), defaultRunsFolder());
}

void SettingsTest::dialogChoosesTheTheme()
{
    startTheme(Theme::Light);
    PlanDocument document;
    SettingsDialog dialog(document);
    dialog.show();
    auto* theme = dialog.findChild<QComboBox*>();
    QCOMPARE(theme->currentData().toInt(), static_cast<int>(Theme::Light));
    theme->setCurrentIndex(theme->findData(static_cast<int>(Theme::Dark)));
    emit theme->activated(theme->currentIndex());
    QVERIFY(isDark(QApplication::palette()));
    QCOMPARE(savedTheme(), Theme::Dark);
    chooseTheme(Theme::Light);
}

void SettingsTest::reportFollows()
{
    PlanDocument document;
    document.setPlan(test::with(test::smallPlan(), {{"document.author", ""}}), {});
    ReportPage page(document);
    page.show();
    QSignalSpy laid(&page, &ReportPage::laidOut);
    QVERIFY(laid.wait(60'000));
    QVERIFY(page.preview()->report()->paper == Paper::A4);
    laid.clear();
    const std::string hash = document.hash();
    Preferences::instance().setValue(Preferences::PaperSize, QStringLiteral("Letter"));
    Preferences::instance().setValue(Preferences::Author, QStringLiteral("Ada Lovelace"));
    QVERIFY(laid.wait(60'000));
    QVERIFY(page.preview()->report()->paper == Paper::Letter);
    page.preview()->search(QStringLiteral("Ada Lovelace"));
    QVERIFY(page.preview()->matchCount() > 0);
    QCOMPARE(document.hash(), hash);
    QVERIFY(document.plan().document.author.empty());
    // A plan that names its author keeps it.
    laid.clear();
    QVERIFY(document.setField(QStringLiteral("document.author"), QStringLiteral("Grace Hopper")));
    QVERIFY(laid.wait(60'000));
    page.preview()->search(QStringLiteral("Grace Hopper"));
    QVERIFY(page.preview()->matchCount() > 0);
    page.preview()->search(QStringLiteral("Ada Lovelace"));
    QCOMPARE(page.preview()->matchCount(), 0);
}

void SettingsTest::shortcutOpensOneDialog()
{
    MainWindow window;
    window.show();
    QAction* action = nullptr;
    for (QAction* candidate : window.findChildren<QAction*>()) {
        if (candidate->shortcut() == QKeySequence(QStringLiteral("Ctrl+,")))
            action = candidate;
    }
    QVERIFY(action);
    action->trigger();
    action->trigger();
    QCOMPARE(window.findChildren<SettingsDialog*>().size(), 1);
    QVERIFY(window.findChild<SettingsDialog*>()->isVisible());
    QVERIFY(!window.findChild<SettingsDialog*>()->isModal());
}

void SettingsTest::oldRunsGoAfterARun()
{
    if (qEnvironmentVariable("KVW_BINARY").isEmpty())
        QSKIP("the program is not built");
    QTemporaryDir folder;
    for (int i = 0; i < 4; ++i)
        makeRun(folder, QStringLiteral("2026010%1-120000-run1").arg(i + 1));
    Preferences::instance().setValue(Preferences::KeptRuns, 2);
    PlanDocument document;
    document.setPlan(test::smallPlan(), {});
    ClientSettings settings;
    settings.runsFolder = folder.path();
    LiveController controller(document, settings);
    ProbeOptions options;
    options.device = "host";
    controller.start(options);
    QVERIFY(QTest::qWaitFor([&] { return !controller.isRunning(); }, 120'000));
    QTRY_COMPARE(storedRuns(folder.path()).size(), 2);
    const QStringList left = names(storedRuns(folder.path()));
    QCOMPARE(left.back(), QStringLiteral("20260104-120000-run1"));
    QVERIFY(left.front().endsWith(QStringLiteral("-run1"))); // the run itself
    QVERIFY(left.front() > left.back());
}

QTEST_MAIN(SettingsTest)
#include "tst_settings.moc"
