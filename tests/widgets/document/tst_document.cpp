// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "document/plandocument.h"
#include "plan/plan_json.h"
#include "plan/random_plan.h"
#include "support/example_plans.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

using namespace kvw;
using namespace kvw::gui;

namespace {

QByteArray contentOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

class TestDocument : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void undoAllRedoAll_data();
    void undoAllRedoAll();
    void everyEditIsAStep();
    void severalFieldsOneStep();
    void refusedChangesNothing();
    void dirtyMarker();
    void evidenceIsNotUnderUndo();
    void saveFailureKeepsTheOldFile_data();
    void saveFailureKeepsTheOldFile();
    void openFailureChangesNothing();
};

void TestDocument::initTestCase()
{
    std::signal(SIGXFSZ, SIG_IGN); // as the program does
}

void TestDocument::undoAllRedoAll_data()
{
    QTest::addColumn<QString>("file");
    for (const std::string& path : test::examplePaths())
        QTest::newRow(path.substr(path.rfind('/') + 1).c_str()) << QString::fromStdString(path);
}

void TestDocument::undoAllRedoAll()
{
    QFETCH(QString, file);
    PlanDocument document;
    QVERIFY(document.open(file).ok());
    const std::string original = planToJson(document.plan());
    test::RandomValues random(20261130);
    std::vector<FieldReference> fields;
    forEachField(document.plan(), [&](const FieldReference& field) {
        if (!field.path.starts_with("evidence.") && !field.path.starts_with("runs."))
            fields.push_back(field);
    });
    std::vector<std::string> states {original};
    int refused = 0;
    for (int i = 0; i < 120; ++i) {
        const FieldReference& field = fields[random.below(fields.size())];
        const std::string text = random.below(6) == 0 ? "" : random.valueFor(*field.field);
        const std::string before = planToJson(document.plan());
        const int steps = document.undoStack()->count();
        const bool set = document.setField(QString::fromStdString(field.path), QString::fromStdString(text)).ok();
        refused += !set;
        if (document.undoStack()->count() == steps) {
            QCOMPARE(planToJson(document.plan()), before); // refused, or the value that was there
            continue;
        }
        QVERIFY(set);
        QVERIFY(!document.undoStack()->text(steps).isEmpty());
        states.push_back(planToJson(document.plan()));
    }
    QVERIFY(states.size() > 60); // most of them were edits
    QVERIFY(refused > 0);
    for (std::size_t i = states.size() - 1; i > 0; --i) {
        document.undoStack()->undo();
        QCOMPARE(planToJson(document.plan()), states[i - 1]);
    }
    QVERIFY(!document.undoStack()->canUndo());
    QCOMPARE(planToJson(document.plan()), original);
    QVERIFY(!document.isModified());
    while (document.undoStack()->canRedo())
        document.undoStack()->redo();
    QCOMPARE(planToJson(document.plan()), states.back());
}

void TestDocument::everyEditIsAStep()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    QVERIFY(document.setField("limits.concurrentSequences", "5").ok());
    QVERIFY(document.setField("limits.concurrentSequences", "6").ok());
    QVERIFY(document.setField("limits.concurrentSequences", "6").ok()); // equal: no step
    QCOMPARE(document.undoStack()->count(), 2);
    QCOMPARE(document.undoStack()->text(0), QStringLiteral("Concurrency: 5 sequences"));
    QVERIFY(document.setField("worksheet.groups.full.tensors.k.heads", "4").ok());
    QCOMPARE(document.undoStack()->text(2), QStringLiteral("Heads of full.k: 4 heads"));
    document.undoStack()->undo();
    document.undoStack()->undo();
    QCOMPARE(*document.plan().limits.concurrentSequences, 5);
}

void TestDocument::severalFieldsOneStep()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    const std::string before = planToJson(document.plan());
    QSignalSpy changed(&document, &PlanDocument::planChanged);
    const QString heads = QStringLiteral("worksheet.groups.full.tensors.%1.heads");
    QVERIFY(document.setFields("Heads", {{heads.arg("k"), "2"}, {heads.arg("v"), "2"}}).ok());
    QCOMPARE(changed.count(), 1);
    QCOMPARE(document.undoStack()->count(), 1);
    // One that is refused refuses all.
    QVERIFY(!document.setFields("Heads", {{heads.arg("k"), "3"}, {heads.arg("v"), "0"}}).ok());
    QCOMPARE(document.plan().worksheet.groups[0].tensors[0].heads, 2);
    document.undoStack()->undo();
    QCOMPARE(planToJson(document.plan()), before);
    document.edit("nothing", [](Plan&) {});
    QVERIFY(!document.undoStack()->canRedo() || document.undoStack()->count() == 1);
}

void TestDocument::refusedChangesNothing()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    const std::string before = planToJson(document.plan());
    QSignalSpy changed(&document, &PlanDocument::planChanged);
    for (const auto& [path, text] : std::initializer_list<std::pair<const char*, const char*>> {
             {"worksheet.groups.full.layers", "0"}, {"worksheet.groups.full.layers", "many"},
             {"worksheet.groups.full.layers", ""}, {"cache.elementType", "bf17"}, {"no.such.field", "1"}}) {
        const Result<void> set = document.setField(path, text);
        QVERIFY(!set.ok());
        QVERIFY(!set.error().message.empty());
    }
    QCOMPARE(planToJson(document.plan()), before);
    QCOMPARE(changed.count(), 0);
    QVERIFY(!document.isModified());
}

void TestDocument::dirtyMarker()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath("a.kvplan");
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    QVERIFY(!document.isModified());
    QVERIFY(document.setField("document.title", "one").ok());
    QVERIFY(document.isModified());
    QVERIFY(document.save(path).ok());
    QVERIFY(!document.isModified());
    QCOMPARE(contentOf(path).toStdString(), planToJson(document.plan()));
    document.undoStack()->undo();
    QVERIFY(document.isModified());
    document.undoStack()->redo();
    QVERIFY(!document.isModified());
    QCOMPARE(document.displayName(), QStringLiteral("a.kvplan"));
}

void TestDocument::evidenceIsNotUnderUndo()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    QVERIFY(document.setField("document.title", "one").ok());
    LiveResult run;
    run.id = "run1";
    run.planHash = document.hash();
    EvidenceRow row;
    row.id = "pool_bytes";
    row.title = "Pool";
    run.rows.push_back(row);
    document.storeEvidence(run, "2026-11-30T12:00:00Z");
    QCOMPARE(document.plan().evidence.size(), 1U);
    QVERIFY(document.isModified());
    document.undoStack()->undo();
    QCOMPARE(document.plan().evidence.size(), 1U);
    QCOMPARE(document.plan().runs.size(), 1U);
    document.undoStack()->redo();
    QCOMPARE(document.plan().evidence.front().run, std::string("run1"));
}

void TestDocument::saveFailureKeepsTheOldFile_data()
{
    QTest::addColumn<bool>("full");
    QTest::newRow("no room") << true;
    QTest::newRow("read-only folder") << false;
}

void TestDocument::saveFailureKeepsTheOldFile()
{
    QFETCH(bool, full);
    const QTemporaryDir folder;
    const QString path = folder.filePath("a.kvplan");
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    QVERIFY(document.save(path).ok());
    const QByteArray old = contentOf(path);
    QVERIFY(document.setField("document.title", "another").ok());

    rlimit before {};
    getrlimit(RLIMIT_FSIZE, &before);
    if (full) {
        const rlimit small {100, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
    } else {
        ::chmod(folder.path().toLocal8Bit().constData(), 0555);
        setfsuid(65534); // root may write anywhere: be nobody for the file system
    }
    const Result<void> saved = document.save(path);
    setrlimit(RLIMIT_FSIZE, &before);
    setfsuid(geteuid());
    ::chmod(folder.path().toLocal8Bit().constData(), 0755);

    QVERIFY(!saved.ok());
    QVERIFY(QString::fromStdString(saved.error().text()).contains("a.kvplan"));
    QCOMPARE(contentOf(path), old);
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden), QStringList {"a.kvplan"}); // nothing left over
    QVERIFY(document.isModified());
    QVERIFY(document.save(path).ok());
    QVERIFY(contentOf(path) != old);
}

void TestDocument::openFailureChangesNothing()
{
    const QTemporaryDir folder;
    QFile bad(folder.filePath("bad.kvplan"));
    QVERIFY(bad.open(QIODevice::WriteOnly));
    bad.write("{\"format\": \"kvplan\", \"schemaVersion\": 9}");
    bad.close();
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), "/somewhere/a.kvplan");
    const std::string before = planToJson(document.plan());
    const Result<void> opened = document.open(bad.fileName());
    QVERIFY(!opened.ok());
    QCOMPARE(opened.error().code, std::string("plan.schema_version"));
    QCOMPARE(planToJson(document.plan()), before);
    QCOMPARE(document.displayName(), QStringLiteral("a.kvplan"));
}

QTEST_MAIN(TestDocument)
#include "tst_document.moc"
