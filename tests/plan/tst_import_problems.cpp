// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// What an importer remarks leads to the field of the plan that it is about.

#include "plan/field_table.h"
#include "plan/identity.h"
#include "plan/import_problems.h"
#include "plan/model_library.h"
#include "plan/open_plan.h"
#include "plan/plan_json.h"

#include <QDirIterator>
#include <QTest>

using namespace kvw;

namespace {

Plan planOf(const char* config)
{
    const Result<OpenedPlan> opened = openPlanOrModelText(config, "config.json");
    if (!opened)
        qFatal("%s", opened.error().text().c_str()); // a bug of the test
    return opened->plan;
}

const Diagnostic* problem(const Diagnostics& problems, const char* id)
{
    for (const Diagnostic& one : problems) {
        if (one.id == id)
            return &one;
    }
    return nullptr;
}

} // namespace

class TestImportProblems : public QObject
{
    Q_OBJECT

private slots:
    void leadsToItsField_data();
    void leadsToItsField();
    void byItsPlaceInTheFile();
    void goesWithTheEdit();
    void everyRemarkLeadsSomewhere();
    void olderPlansLeadSomewhereToo();
    void libraryConfidence();
};

void TestImportProblems::leadsToItsField_data()
{
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("path");
    QTest::addColumn<int>("severity");
    const int warning = static_cast<int>(Severity::Warning);
    const int note = static_cast<int>(Severity::Note);
    const QString shape = R"("num_hidden_layers":4,"num_attention_heads":8,"hidden_size":512,"vocab_size":9)";
    QTest::newRow("unknown type") << "{\"model_type\":\"brand_new\"," + shape + ",\"torch_dtype\":\"bfloat16\"}"
                                  << "import.unknown_model_type"
                                  << "model.architecture" << warning;
    QTest::newRow("no dtype") << "{\"model_type\":\"llama\"," + shape + "}"
                              << "import.dtype_default"
                              << "model.dtype" << note;
    QTest::newRow("unknown dtype") << "{\"model_type\":\"llama\"," + shape + ",\"torch_dtype\":\"int3\"}"
                                   << "import.dtype_unknown"
                                   << "model.dtype" << warning;
    QTest::newRow("no heads of K and V") << "{\"model_type\":\"llama\"," + shape + ",\"torch_dtype\":\"bfloat16\"}"
                                         << "import.kv_heads_default"
                                         << "worksheet.groups.full.tensors.k.heads" << note;
    QTest::newRow("window off") << "{\"model_type\":\"qwen2\"," + shape
            + ",\"num_key_value_heads\":8,\"torch_dtype\":\"bfloat16\",\"sliding_window\":64,\"use_sliding_window\":"
              "false}"
                                << "import.window_off"
                                << "worksheet.groups.full.tensors.k.limit" << warning;
}

void TestImportProblems::leadsToItsField()
{
    QFETCH(QString, config);
    QFETCH(QString, id);
    QFETCH(QString, path);
    QFETCH(int, severity);
    const Plan plan = planOf(config.toUtf8());
    const Diagnostics problems = diagnose(plan);
    const Diagnostic* found = problem(problems, id.toLatin1());
    QVERIFY(found);
    QCOMPARE(QString::fromStdString(found->path), path);
    QCOMPARE(static_cast<int>(found->severity), severity);
}

void TestImportProblems::byItsPlaceInTheFile()
{
    Plan plan = planOf(R"({"model_type":"llama","num_hidden_layers":4,"num_attention_heads":8,"hidden_size":512,
        "num_key_value_heads":2,"vocab_size":9,"torch_dtype":"bfloat16"})");
    const auto field = [&](const char* place) { return fieldOfRemark(plan, "import.any", {}, place); };
    QCOMPARE(field("/num_key_value_heads"), std::string("worksheet.groups.full.tensors.k.heads"));
    QCOMPARE(field("/torch_dtype"), std::string("model.dtype"));
    QCOMPARE(field("/nowhere"), std::string("model.architecture"));
    // What a person entered is not where a file said it.
    QVERIFY(setField(plan, "worksheet.groups.full.tensors.k.heads", "2").ok());
    QVERIFY(setField(plan, "worksheet.groups.full.tensors.v.heads", "2").ok());
    QCOMPARE(field("/num_key_value_heads"), std::string("model.architecture"));
    // A place in a GGUF is a key with its byte.
    Source key;
    key.kind = Source::Kind::File;
    key.at = "llama.attention.head_count_kv";
    plan.provenance.set("worksheet.groups.full.tensors.v.heads", key);
    QCOMPARE(field("llama.attention.head_count_kv (byte 77)"), std::string("worksheet.groups.full.tensors.v.heads"));
    QCOMPARE(field("llama.attention.head_count_kv"), std::string("worksheet.groups.full.tensors.v.heads"));
}

void TestImportProblems::goesWithTheEdit()
{
    Plan plan = planOf(R"({"model_type":"llama","num_hidden_layers":4,"num_attention_heads":8,"hidden_size":512,
        "vocab_size":9})");
    const Diagnostics before = importProblems(plan);
    QVERIFY(problem(before, "import.dtype_default"));
    QVERIFY(setField(plan, problem(before, "import.dtype_default")->path, "bf16").ok());
    QVERIFY(!problem(importProblems(plan), "import.dtype_default"));
}

void TestImportProblems::everyRemarkLeadsSomewhere()
{
    QStringList folders {qEnvironmentVariable("KVW_SOURCE_DIR") + "/tests/data/import"};
    const QString shared = qEnvironmentVariable("KVW_SHARED_DIR") + "/data/configs";
    if (QDir(shared).exists())
        folders.push_back(shared);
    int opened = 0;
    int remarks = 0;
    for (const QString& folder : std::as_const(folders)) {
        QDirIterator files(folder, {"*.json"}, QDir::Files, QDirIterator::Subdirectories);
        while (files.hasNext()) {
            const QString file = files.next();
            const Result<OpenedPlan> plan = openPlanOrModel(file.toStdString());
            if (!plan)
                continue;
            ++opened;
            Plan fields = plan->plan;
            for (const Diagnostic& one : importProblems(plan->plan)) {
                ++remarks;
                QVERIFY2(findField(fields, one.path).ok(), qPrintable(file + " " + one.path.c_str()));
                QVERIFY(!one.message.empty());
            }
            // Every one is an assumption of the plan with a field of its own.
            for (const Assumption& one : plan->plan.assumptions) {
                if (isImportRemark(one) && one.id != "import.layers_class_default")
                    QVERIFY2(findField(fields, one.path).ok(), qPrintable(file + " " + one.id.c_str()));
            }
        }
    }
    QVERIFY(opened > 3);
    QVERIFY(remarks > 3);
}

void TestImportProblems::olderPlansLeadSomewhereToo()
{
    Plan plan = planOf(R"({"model_type":"llama","num_hidden_layers":4,"num_attention_heads":8,"hidden_size":512,
        "vocab_size":9,"torch_dtype":"bfloat16"})");
    plan.assumptions.clear();
    for (const char* id :
        {"import.window_off", "import.weights_shape", "import.something_else", "import.encoder_tokens"})
        plan.assumptions.push_back({id, "A remark.", {}});
    plan.assumptions.push_back({"import.layers", "A remark.", "worksheet.groups"});
    plan.assumptions.push_back({"import.gone", "A remark.", "worksheet.groups.gone.tensors.k.width"});
    QStringList paths;
    for (const Diagnostic& one : importProblems(plan))
        paths.push_back(QString::fromStdString(one.path));
    QCOMPARE(paths,
        (QStringList {"worksheet.groups.full.tensors.k.limit", "worksheet.groups.full.tensors.k.width",
            "model.architecture", "limits.encoderTokens", "worksheet.groups.full.layers",
            "worksheet.groups.full.layers"}));
    plan.worksheet.groups.clear();
    for (const Diagnostic& one : importProblems(plan))
        QVERIFY(!one.path.empty());
}

void TestImportProblems::libraryConfidence()
{
    int inferred = 0;
    for (const LibraryModel& model : builtInModels()) {
        Plan plan = planFromLibrary(model);
        const Diagnostics problems = importProblems(plan);
        QCOMPARE(problem(problems, "library.confidence") != nullptr, !model.isFromFile());
        for (const Diagnostic& one : problems)
            QVERIFY(findField(plan, one.path).ok());
        inferred += !model.isFromFile();
    }
    QVERIFY(inferred > 0);
}

QTEST_GUILESS_MAIN(TestImportProblems)
#include "tst_import_problems.moc"
