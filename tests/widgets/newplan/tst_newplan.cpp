// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// A new plan: found as one types, seen before it is opened, from library, files and pasted text.

#include "newplan/newplandialog.h"
#include "newplan/planchoices.h"
#include "newplan/savemodeldialog.h"
#include "plan/import_problems.h"
#include "plan/own_library.h"
#include "shell/commandfield.h"
#include "shell/mainwindow.h"
#include "shell/messagebar.h"
#include "support/gguf_writer.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

using namespace kvw;
using namespace kvw::gui;
using namespace kvw::test;

namespace {

QString sourceFile(const char* path)
{
    return qEnvironmentVariable("KVW_SOURCE_DIR") + QLatin1Char('/') + QLatin1String(path);
}

QString textOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QPushButton* openButton(const NewPlanDialog& dialog)
{
    return dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Open);
}

QString about(const NewPlanDialog& dialog)
{
    return dialog.findChild<QLabel*>(QStringLiteral("newPlanAbout"))->text();
}

/// What the preview shows, a line a row.
QString preview(const NewPlanDialog& dialog)
{
    QString out;
    for (const QTableView* view : dialog.findChildren<QTableView*>()) {
        if (view->accessibleName() != QLatin1String("Layer groups"))
            continue;
        for (int row = 0; row < view->model()->rowCount(); ++row) {
            for (int column = 0; column < view->model()->columnCount(); ++column)
                out += view->model()->index(row, column).data().toString() + QLatin1Char('|');
            out += QLatin1Char('\n');
        }
    }
    return out;
}

} // namespace

class TestNewPlan : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void findsAsOneTypes();
    void seesBeforeItOpens();
    void readsPastedText();
    void recentAndOwn();
    void throughTheWindow();
    void opensEveryForm();
    void pastedErrorIsSelected_data();
    void pastedErrorIsSelected();
    void pastedTextIsMended();
    void savesToOwnLibrary();
    void commandFieldHasTheLibraries();
    void doubtsLeadToFields();
};

void TestNewPlan::initTestCase()
{
    QCoreApplication::setOrganizationName(QStringLiteral("kvworkbench"));
    QCoreApplication::setApplicationName(QStringLiteral("tst_newplan"));
    QSettings().clear();
}

void TestNewPlan::findsAsOneTypes()
{
    const std::vector<LibraryModel> own;
    const QString recent = QDir::root().filePath(QStringLiteral("plans/llama.kvplan")); // need not be there
    PlanChoices choices({recent}, own);
    const QAbstractItemModelTester tester(&choices, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const int all = choices.rowCount();
    QVERIFY(all > 120);
    QCOMPARE(choices.fileAt(0), recent); // what was open before comes first
    choices.search(QStringLiteral("GPT-oss 120"));
    QCOMPARE(choices.rowCount(), 1);
    QCOMPARE(choices.index(0, PlanChoices::Name).data().toString(), QStringLiteral("openai/gpt-oss-120b"));
    QCOMPARE(choices.index(0, PlanChoices::Layers).data().toString(), QStringLiteral("18 full + 18 sliding"));
    choices.search(QStringLiteral("llama"));
    QCOMPARE(choices.fileAt(0), recent);
    QVERIFY(choices.modelAt(1));
    for (int row = 1; row < choices.rowCount(); ++row) {
        const QString text = QString::fromStdString(
            choices.modelAt(row)->id + choices.modelAt(row)->family + choices.modelAt(row)->architecture);
        QVERIFY2(text.contains(QStringLiteral("llama"), Qt::CaseInsensitive), qPrintable(text));
    }
    choices.search({});
    QCOMPARE(choices.rowCount(), all);
}

void TestNewPlan::seesBeforeItOpens()
{
    NewPlanDialog dialog({}, QStringLiteral("/no/such/folder"));
    dialog.show();
    auto* search = dialog.findChild<QLineEdit*>();
    QTest::keyClicks(search, QStringLiteral("deepseek-r1"));
    QVERIFY(openButton(dialog)->isEnabled());
    QVERIFY2(
        preview(dialog).contains(QStringLiteral("MLA latent|MLA|61|latent|1 × 512|v|")), qPrintable(preview(dialog)));
    QVERIFY2(about(dialog).contains(QStringLiteral("68.62 KiB a token")), qPrintable(about(dialog))); // 61 × 576 × 2
    QVERIFY(about(dialog).contains(QStringLiteral("Published: not stated in the source; verified: 2026-11-30")));
    QVERIFY(dialog.plan());
    QCOMPARE(dialog.plan()->model.name, std::string("deepseek-ai/DeepSeek-R1"));
    search->setText(QStringLiteral("GLM-5.3"));
    QVERIFY2(about(dialog).contains(QStringLiteral("inferred from GLM-5.2")), qPrintable(about(dialog)));
    search->setText(QStringLiteral("no such model"));
    QVERIFY(!openButton(dialog)->isEnabled());
    QVERIFY(!dialog.plan());
}

void TestNewPlan::readsPastedText()
{
    NewPlanDialog dialog({}, {});
    dialog.show();
    auto* search = dialog.findChild<QLineEdit*>();
    const QString config = textOf(sourceFile("tests/data/import/llama_3_1_8b.json"));
    QVERIFY(config.contains(QLatin1Char('\n')));
    search->setText(config);
    QVERIFY2(openButton(dialog)->isEnabled(), qPrintable(about(dialog)));
    QVERIFY(preview(dialog).contains(QStringLiteral("Full attention|full|32|k|8 × 128|v|")));
    QVERIFY(dialog.plan() && dialog.plan()->worksheet.groups[0].layers == 32);
    search->setText(QStringLiteral("{ \"model_type\": "));
    QVERIFY(!openButton(dialog)->isEnabled());
    QVERIFY2(about(dialog).contains(QStringLiteral("line 1")), qPrintable(about(dialog)));
    search->setText(QStringLiteral("{\"model_type\": \"llama\", \"num_hidden_layers\": -3, \"vocab_size\": 9}"));
    QVERIFY2(about(dialog).contains(QStringLiteral("/num_hidden_layers")), qPrintable(about(dialog)));
    QVERIFY(!dialog.plan());
}

void TestNewPlan::recentAndOwn()
{
    QTemporaryDir folder;
    QVERIFY(QDir(folder.path()).mkpath(QStringLiteral("models")));
    const QString models = folder.filePath(QStringLiteral("models"));
    const auto write = [&](const QString& path, const QByteArray& text) {
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    };
    write(models + QStringLiteral("/mine.json"),
        R"({"format": "kvmodels", "schemaVersion": 1, "models": [{"id": "me/tiny", "family": "tiny", "source": "measured", "verified": "2026-11-30",
            "confidence": "own", "groups": [{"id": "full", "name": "Full", "kind": "full", "layers": 3, "tensors": [{"id": "k", "role": "key", "heads": 2, "width": 64}]}]}]})");
    write(models + QStringLiteral("/broken.json"), "{ no");
    const QString plan = folder.filePath(QStringLiteral("plan of mine.kvplan"));
    QVERIFY(QFile::copy(sourceFile("resources/examples/gpt-oss-120b.kvplan"), plan));
    NewPlanDialog dialog({plan}, models);
    dialog.show();
    QCOMPARE(dialog.file(), plan); // the last one is chosen already, and seen
    QVERIFY(preview(dialog).contains(QStringLiteral("Sliding window 128|sliding|18|k|8 × 64|min(v, 128)|")));
    bool told = false;
    for (const QWidget* widget : dialog.findChildren<QWidget*>())
        told = told || widget->accessibleName().contains(QStringLiteral("broken.json"));
    QVERIFY(told);
    auto* search = dialog.findChild<QLineEdit*>();
    search->setText(QStringLiteral("tiny me"));
    QVERIFY(dialog.file().isEmpty());
    QVERIFY(dialog.plan());
    QCOMPARE(dialog.plan()->model.name, std::string("me/tiny"));
    QVERIFY(preview(dialog).contains(QStringLiteral("Full|full|3|k|2 × 64|v|")));
}

void TestNewPlan::throughTheWindow()
{
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    QTimer::singleShot(50, &window, [] {
        auto* dialog = qobject_cast<NewPlanDialog*>(QApplication::activeModalWidget());
        QVERIFY(dialog);
        auto* search = dialog->findChild<QLineEdit*>();
        QTest::keyClicks(search, QStringLiteral("kimi-k3"));
        QTest::keyClick(search, Qt::Key_Return);
    });
    QTest::keyClick(&window, Qt::Key_N, Qt::ControlModifier);
    const Plan& plan = window.document().plan();
    QCOMPARE(plan.model.name, std::string("moonshotai/Kimi-K3"));
    QCOMPARE(plan.model.basis, ModelBasis::Library);
    QVERIFY(window.document().path().isEmpty());
    QCOMPARE(window.document().estimate()->bytesPerToken.integer(), std::int64_t {24 * 576 * 2});
    // Cancel leaves it.
    QTimer::singleShot(50, &window, [] { qobject_cast<NewPlanDialog*>(QApplication::activeModalWidget())->reject(); });
    QTest::keyClick(&window, Qt::Key_N, Qt::ControlModifier);
    QCOMPARE(window.document().plan().model.name, std::string("moonshotai/Kimi-K3"));
}

void TestNewPlan::opensEveryForm()
{
    QTemporaryDir folder;
    const QString gguf = folder.filePath(QStringLiteral("small.gguf"));
    GgufWriter writer("llama");
    writer.u32("block_count", 2).u32("embedding_length", 64).u32("context_length", 1024);
    writer.u32("attention.head_count", 8).u32("attention.head_count_kv", 2).text("general.name", "Small");
    writer.tensor("blk.0.attn_k.weight", {64, 16}, 1, 2048);
    QFile file(gguf);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(QByteArray::fromStdString(writer.header())) > 0
        && file.resize(static_cast<qint64>(writer.fileBytes())));
    file.close();
    PlanDocument document;
    QVERIFY(document.open(gguf));
    QCOMPARE(document.plan().worksheet.groups.size(), std::size_t {1});
    QCOMPARE(document.plan().worksheet.groups[0].layers, std::int64_t {2});
    QCOMPARE(document.plan().worksheet.groups[0].tensors[0].heads, std::int64_t {2});
    QVERIFY(document.path().isEmpty()); // a plan of its own
    const QString plan = sourceFile("resources/examples/reference.kvplan");
    QVERIFY(document.open(plan));
    QCOMPARE(document.path(), plan);
    QVERIFY(!document.open(folder.filePath(QStringLiteral("nothing.gguf"))));
    QCOMPARE(document.path(), plan); // what was open stays
}

void TestNewPlan::pastedErrorIsSelected_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("selected");
    QTest::addColumn<QString>("told");
    QTest::newRow("value") << "{\n \"model_type\": \"llama\",\n \"num_hidden_layers\": -3,\n \"vocab_size\": 9}"
                           << "-3"
                           << "/num_hidden_layers";
    QTest::newRow("syntax") << "{\n \"model_type\": oops\n}"
                            << "oops"
                            << "line 2";
    QTest::newRow("behind other letters") << QStringLiteral("{\n \"äöü€\": \"𝔘\", \"model_type\": 7}") << "7"
                                          << "/model_type";
    QTest::newRow("nested") << "{\"model_type\": \"gemma3\", \"text_config\": {\"num_hidden_layers\": \"many\"}}"
                            << "\"many\""
                            << "/text_config/num_hidden_layers";
}

void TestNewPlan::pastedErrorIsSelected()
{
    QFETCH(QString, text);
    NewPlanDialog dialog({}, {});
    dialog.show();
    QApplication::clipboard()->setText(text);
    auto* search = dialog.findChild<QLineEdit*>();
    search->setFocus();
    QTest::keySequence(search, QKeySequence::Paste);
    auto* edit = dialog.findChild<QPlainTextEdit*>(QStringLiteral("pastedText"));
    QVERIFY(edit->isVisible());
    QCOMPARE(edit->toPlainText(), text); // with its lines
    QVERIFY(!openButton(dialog)->isEnabled());
    QFETCH(QString, told);
    QVERIFY2(about(dialog).contains(told), qPrintable(about(dialog)));
    QTEST(edit->textCursor().selectedText(), "selected");
    QCOMPARE(edit->extraSelections().size(), 1);
}

void TestNewPlan::pastedTextIsMended()
{
    NewPlanDialog dialog({}, {});
    dialog.show();
    const QString config = textOf(sourceFile("tests/data/import/llama_3_1_8b.json"));
    QString broken = config;
    broken.replace(QStringLiteral("\"num_hidden_layers\": 32"), QStringLiteral("\"num_hidden_layers\": \"32 layers\""));
    QVERIFY(broken != config);
    auto* search = dialog.findChild<QLineEdit*>();
    QApplication::clipboard()->setText(broken);
    search->setFocus();
    QTest::keySequence(search, QKeySequence::Paste);
    auto* edit = dialog.findChild<QPlainTextEdit*>(QStringLiteral("pastedText"));
    QVERIFY(!dialog.plan());
    QCOMPARE(edit->textCursor().selectedText(), QStringLiteral("\"32 layers\""));
    edit->setFocus();
    QTest::keyClicks(edit, QStringLiteral("3")); // over what is selected
    QVERIFY(dialog.plan());
    const int at = edit->textCursor().position();
    QTest::keyClicks(edit, QStringLiteral("1x"));
    QVERIFY(!dialog.plan());
    QCOMPARE(edit->textCursor().position(), at + 2); // who types keeps the cursor
    QTest::keyClick(edit, Qt::Key_Backspace);
    QVERIFY(dialog.plan());
    QCOMPARE(dialog.plan()->worksheet.groups[0].layers, std::int64_t {31});
    QVERIFY(edit->extraSelections().isEmpty());
    search->setText(QStringLiteral("llama"));
    QVERIFY(!edit->isVisible());
}

void TestNewPlan::savesToOwnLibrary()
{
    QDir(NewPlanDialog::defaultLibraryFolder()).removeRecursively();
    MainWindow window;
    window.show();
    QVERIFY(window.openPath(sourceFile("resources/examples/gpt-oss-120b.kvplan")));
    const std::vector<LayerGroup> groups = window.document().plan().worksheet.groups;
    const auto save = [&](const QString& name) {
        for (QAction* action : window.menuBar()->actions().front()->menu()->actions()) {
            if (action->text().contains(QStringLiteral("own library")))
                action->trigger();
        }
        SaveModelDialog* dialog = nullptr;
        for (auto* one : window.findChildren<SaveModelDialog*>()) {
            if (one->isVisible())
                dialog = one;
        }
        if (dialog)
            dialog->findChild<QLineEdit*>()->setText(name);
        return dialog;
    };
    SaveModelDialog* dialog = save(QStringLiteral("me/own model"));
    QVERIFY(dialog && !dialog->isModal());
    dialog->accept();
    QVERIFY(!dialog->isVisible());
    QVERIFY(window.messageBar()->text().contains(QStringLiteral("me-own-model.json")));
    // It is listed, marked as own, and gives the same worksheet.
    NewPlanDialog list({}, NewPlanDialog::defaultLibraryFolder());
    list.show();
    list.findChild<QLineEdit*>()->setText(QStringLiteral("own model"));
    QVERIFY(list.plan());
    QCOMPARE(list.plan()->worksheet.groups, groups);
    bool marked = false;
    for (const QTableView* view : list.findChildren<QTableView*>())
        marked = marked || view->model()->index(0, PlanChoices::From).data().toString().startsWith("own library");
    QVERIFY(marked);
    // A second time it says what it would do, and Enter does not.
    QVERIFY(window.document().setField("worksheet.groups.full.layers", "9").ok());
    dialog = save(QStringLiteral("me/own model"));
    QVERIFY(dialog->findChild<QLabel*>("saveModelAbout")->text().startsWith(QLatin1Char('!')));
    QPushButton* replace = nullptr;
    for (auto* button : dialog->findChildren<QPushButton*>()) {
        if (button->text().contains(QStringLiteral("Replace")))
            replace = button;
    }
    QVERIFY(replace && !replace->isDefault());
    dialog->reject();
    NewPlanDialog still({}, NewPlanDialog::defaultLibraryFolder());
    still.findChild<QLineEdit*>()->setText(QStringLiteral("own model"));
    QCOMPARE(still.plan()->worksheet.groups, groups);
    dialog = save(QString());
    QVERIFY(dialog->findChild<QLabel*>("saveModelAbout")->text().startsWith(QStringLiteral("✗")));
    dialog->reject();
    window.document().undoStack()->setClean();
    QDir(NewPlanDialog::defaultLibraryFolder()).removeRecursively();
}

void TestNewPlan::commandFieldHasTheLibraries()
{
    const QString folder = NewPlanDialog::defaultLibraryFolder();
    QDir(folder).removeRecursively();
    QVERIFY(QDir().mkpath(folder));
    Plan plan;
    plan.worksheet.groups.emplace_back().id = "full";
    plan.worksheet.groups[0].tensors = attentionTensors(2, 64, 64, {});
    QVERIFY(
        saveOwnModel(*ownModelOf(plan, "me/quite-own", "2026-12-01"), folder.toStdString(), WhenThere::Refuse).ok());
    QFile broken(folder + QStringLiteral("/broken.json"));
    QVERIFY(broken.open(QIODevice::WriteOnly) && broken.write("{ no") > 0);
    broken.close();
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    const auto found = [&](const QString& words) {
        window.commandField()->setFocus(Qt::ShortcutFocusReason);
        QTest::keyClicks(window.commandField(), words);
        return window.commandField()->listed();
    };
    QCOMPARE(found("quite-own").value(0), QStringLiteral("me/quite-own"));
    QTest::keyClick(window.commandField(), Qt::Key_Return);
    QCOMPARE(window.document().plan().worksheet.groups, plan.worksheet.groups);
    QCOMPARE(window.document().plan().model.name, std::string("me/quite-own"));
    QCOMPARE(found("openai/gpt-oss-120b").value(0), QStringLiteral("openai/gpt-oss-120b"));
    QTest::keyClick(window.commandField(), Qt::Key_Escape);
    const QStringList refused = found("broken.json");
    QVERIFY(refused.size() == 1 && refused[0].startsWith(QStringLiteral("✗")));
    QTest::keyClick(window.commandField(), Qt::Key_Return); // is no command
    QCOMPARE(window.document().plan().model.name, std::string("me/quite-own"));
    QTest::keyClick(window.commandField(), Qt::Key_Escape);
    QDir(folder).removeRecursively();
}

/// Every remark of an import leads to where its field is edited, and the first doubt is told with a way there.
void TestNewPlan::doubtsLeadToFields()
{
    QTemporaryDir folder;
    const QString config = folder.filePath(QStringLiteral("config.json"));
    QFile file(config);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"model_type": "brand_new", "num_hidden_layers": 4, "num_attention_heads": 8, "hidden_size": 512,
        "num_key_value_heads": 2, "vocab_size": 9})");
    file.close();
    MainWindow window;
    window.show();
    QVERIFY(window.openPath(config));
    QVERIFY2(
        window.messageBar()->text().contains(QStringLiteral("brand_new")), qPrintable(window.messageBar()->text()));
    QStringList paths;
    for (const Diagnostic& one : importProblems(window.document().plan()))
        paths.push_back(QString::fromStdString(one.path));
    QVERIFY(paths.size() >= 2);
    for (const QString& path : std::as_const(paths)) {
        window.messageBar()->dismiss();
        window.goToField(path);
        QVERIFY2(window.messageBar()->text().isEmpty(), qPrintable(window.messageBar()->text()));
    }
    // Of every model of the library too.
    for (const LibraryModel& model : builtInModels()) {
        const Plan plan = planFromLibrary(model);
        const Diagnostics problems = importProblems(plan);
        if (problems.empty())
            continue;
        window.document().setPlan(plan, {});
        for (const Diagnostic& one : problems) {
            window.goToField(QString::fromStdString(one.path));
            QVERIFY2(window.messageBar()->text().isEmpty(), qPrintable(window.messageBar()->text()));
        }
    }
    // The button leads to the first doubt.
    QVERIFY(window.openPath(config));
    emit window.messageBar()->actionTriggered();
    QVERIFY(!window.messageBar()->isShown());
}

QTEST_MAIN(TestNewPlan)
#include "tst_newplan.moc"
