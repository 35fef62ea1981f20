// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// A new plan: found as one types, seen before it is opened, from library, files and pasted text.

#include "newplan/newplandialog.h"
#include "newplan/planchoices.h"
#include "shell/mainwindow.h"
#include "support/gguf_writer.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QDialogButtonBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
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

QTEST_MAIN(TestNewPlan)
#include "tst_newplan.moc"
