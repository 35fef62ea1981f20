// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/field_table.h"
#include "plan/group_presets.h"
#include "plan/own_library.h"
#include "plan/plan_json.h"
#include "support/example_plans.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace kvw;

namespace {

constexpr const char* date = "2026-12-01";

int failingRename(const char*, const char*)
{
    errno = EIO;
    return -1;
}

} // namespace

class TestOwnLibrary : public QObject
{
    Q_OBJECT

private slots:
    void roundTrip();
    void everyBuiltInModel();
    void neverOverwritesUnasked();
    void anotherFileHasIt();
    void fileNames();
    void refused();
    void failedWriteLeavesTheOld();
    void doubtsAreNotes();
};

void TestOwnLibrary::roundTrip()
{
    for (const std::string& path : test::examplePaths()) {
        QTemporaryDir folder;
        const std::string models = folder.filePath("models").toStdString();
        Plan plan = *loadPlan(path);
        QVERIFY(setField(plan, "worksheet.groups." + plan.worksheet.groups[0].id + ".layers", "7").ok());
        const Result<LibraryModel> entry = ownModelOf(plan, "me/tiny ä", date);
        QVERIFY(entry.ok());
        const Result<std::string> file = saveOwnModel(*entry, models, WhenThere::Refuse);
        QVERIFY2(file.ok(), file ? "" : file.error().text().c_str());
        std::vector<Error> refused;
        const std::vector<LibraryModel> own = ownModels(models, refused);
        QVERIFY(refused.empty());
        QCOMPARE(own.size(), 1U);
        QCOMPARE(own[0].id, std::string("me/tiny ä"));
        QVERIFY(own[0].own && !own[0].isFromFile());
        const Plan again = planFromLibrary(own[0]);
        QCOMPARE(again.worksheet.groups, plan.worksheet.groups);
        QCOMPARE(again.model.dtype, plan.model.dtype);
        QCOMPARE(again.model.maximumPositions, plan.model.maximumPositions);
        QCOMPARE(again.model.architecture, plan.model.architecture);
        QCOMPARE(again.loaded.weightBytes, plan.loaded.weightBytes);
    }
}

/// Every shape that the library knows can be saved and read as it is, and so can what presets make.
void TestOwnLibrary::everyBuiltInModel()
{
    QTemporaryDir folder;
    const std::string models = folder.path().toStdString();
    std::size_t saved = 0;
    for (const LibraryModel& model : builtInModels()) {
        const Plan plan = planFromLibrary(model);
        const Result<LibraryModel> entry = ownModelOf(plan, "own " + std::to_string(saved), date);
        QVERIFY(entry.ok());
        const Result<std::vector<LibraryModel>> read
            = readModelLibrary(*parseJson(modelLibraryToJson({*entry}), "text"), true);
        QVERIFY2(read.ok(), read ? "" : read.error().text().c_str());
        QCOMPARE(read->front().groups, model.groups);
        ++saved;
    }
    for (const GroupPreset& preset : groupPresets()) {
        Plan plan = test::examplePlan("gpt-oss-120b.kvplan");
        QVERIFY(retypeGroup(plan, "sliding", {std::string(preset.id), {}, "full"}).ok());
        QVERIFY(saveOwnModel(*ownModelOf(plan, preset.id, date), models, WhenThere::Refuse).ok());
    }
    std::vector<Error> refused;
    QCOMPARE(ownModels(models, refused).size(), groupPresets().size());
    QVERIFY(refused.empty());
}

void TestOwnLibrary::neverOverwritesUnasked()
{
    QTemporaryDir folder;
    const std::string models = folder.path().toStdString();
    const Plan plan = test::examplePlan("reference.kvplan");
    QVERIFY(saveOwnModel(*ownModelOf(plan, "one", date), models, WhenThere::Refuse).ok());
    const Plan other = test::with(plan, {{"worksheet.groups.full.layers", "9"}});
    const Result<std::string> again = saveOwnModel(*ownModelOf(other, "one", date), models, WhenThere::Refuse);
    QCOMPARE(again.error().code, std::string("library.exists"));
    std::vector<Error> refused;
    QCOMPARE(ownModels(models, refused)[0].groups, plan.worksheet.groups);
    QVERIFY(saveOwnModel(*ownModelOf(other, "one", date), models, WhenThere::Replace).ok());
    QCOMPARE(ownModels(models, refused)[0].groups, other.worksheet.groups);
    // Two names that are one file do not push each other out either.
    QCOMPARE(ownModelFile(models, "a/b"), ownModelFile(models, "a b"));
    QVERIFY(saveOwnModel(*ownModelOf(plan, "a/b", date), models, WhenThere::Refuse).ok());
    QCOMPARE(saveOwnModel(*ownModelOf(plan, "a b", date), models, WhenThere::Refuse).error().code,
        std::string("library.exists"));
}

void TestOwnLibrary::anotherFileHasIt()
{
    QTemporaryDir folder;
    const std::string models = folder.path().toStdString();
    const Plan plan = test::examplePlan("reference.kvplan");
    const Result<std::string> file = saveOwnModel(*ownModelOf(plan, "one", date), models, WhenThere::Refuse);
    QVERIFY(file.ok());
    QVERIFY(QFile::rename(QString::fromStdString(*file), folder.filePath("renamed.json")));
    const Result<std::string> again = saveOwnModel(*ownModelOf(plan, "one", date), models, WhenThere::Replace);
    QCOMPARE(again.error().code, std::string("library.id"));
    QVERIFY(again.error().where.file.find("renamed.json") != std::string::npos);
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files), QStringList {"renamed.json"});
}

void TestOwnLibrary::fileNames()
{
    QCOMPARE(ownModelFile("/m", "Qwen/Qwen3-8B"), std::string("/m/Qwen-Qwen3-8B.json"));
    for (const char* id : {"../../etc/passwd", ".hidden", "a\nb", "/", "..", "C:\\x"}) {
        const QString file = QString::fromStdString(ownModelFile("/m", id));
        QVERIFY2(file.startsWith("/m/") && file.count('/') == 2 && !file.startsWith("/m/."), qPrintable(file));
    }
}

void TestOwnLibrary::refused()
{
    QCOMPARE(ownModelOf(Plan(), "one", date).error().where.at, std::string("worksheet.groups"));
    const Plan plan = test::examplePlan("reference.kvplan");
    QCOMPARE(ownModelOf(plan, "", date).error().code, std::string("library.id"));
    QCOMPARE(ownModelOf(plan, std::string(201, 'x'), date).error().code, std::string("library.id"));
    const Result<std::string> nowhere
        = saveOwnModel(*ownModelOf(plan, "one", date), "/proc/no such folder/models", WhenThere::Refuse);
    QVERIFY(!nowhere.ok());
    QVERIFY(nowhere.error().code.starts_with("io."));
}

void TestOwnLibrary::failedWriteLeavesTheOld()
{
    QTemporaryDir folder;
    const std::string models = folder.path().toStdString();
    const Plan plan = test::examplePlan("reference.kvplan");
    QVERIFY(saveOwnModel(*ownModelOf(plan, "one", date), models, WhenThere::Refuse).ok());
    FileOperations failing = systemFileOperations();
    failing.rename = failingRename;
    const Plan other = test::with(plan, {{"worksheet.groups.full.layers", "9"}});
    QVERIFY(!saveOwnModel(*ownModelOf(other, "one", date), models, WhenThere::Replace, failing).ok());
    std::vector<Error> refused;
    QCOMPARE(ownModels(models, refused)[0].groups, plan.worksheet.groups);
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden).size(), 1);
}

void TestOwnLibrary::doubtsAreNotes()
{
    Plan plan = test::examplePlan("reference.kvplan");
    QVERIFY(retypeGroup(plan, "full", {"mla"}).ok());
    const Result<LibraryModel> entry = ownModelOf(plan, "one", date);
    QVERIFY(!entry->notes.empty());
    QVERIFY(entry->notes.back().find("usual value") != std::string::npos);
}

QTEST_GUILESS_MAIN(TestOwnLibrary)
#include "tst_own_library.moc"
