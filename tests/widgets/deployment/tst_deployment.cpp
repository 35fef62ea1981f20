// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "deployment/budgetbar.h"
#include "deployment/deploymentpage.h"
#include "document/plandocument.h"
#include "forms/fieldform.h"
#include "models/figuremodel.h"
#include "models/roles.h"
#include "style/elidedlabel.h"
#include "support/example_plans.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLineEdit>
#include <QProcess>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QUndoStack>

using namespace kvw;
using namespace kvw::gui;

namespace {

/// What `kvw estimate --json` says of the engine with some fields set.
QJsonObject engineOf(const QString& plan, const QStringList& settings)
{
    QStringList arguments {QStringLiteral("estimate"), plan, QStringLiteral("--json")};
    for (const QString& setting : settings)
        arguments << QStringLiteral("--set") << setting;
    QProcess process;
    process.start(qEnvironmentVariable("KVW_BINARY"), arguments);
    process.waitForFinished();
    return QJsonDocument::fromJson(process.readAllStandardOutput()).object().value(QStringLiteral("engine")).toObject();
}

QString example(const char* name)
{
    return qEnvironmentVariable("KVW_SOURCE_DIR") + QStringLiteral("/resources/examples/") + QLatin1String(name);
}

} // namespace

class DeploymentTest : public QObject
{
    Q_OBJECT

private slots:
    void choosesTheEngineVersion();
    void noEngineNoBudget();
    void budgetAddsUp();
    void aRefusalStandsAtItsField();
    void nothingMovesAsValuesComeIn();

private:
    static QTableView* tableOf(const QWidget& page, const QString& figure);
    static QString rawOf(const QWidget& page, const QString& figure);
};

QTableView* DeploymentTest::tableOf(const QWidget& page, const QString& figure)
{
    for (QTableView* view : page.findChildren<QTableView*>()) {
        const auto* model = qobject_cast<const FigureModel*>(view->model());
        if (model && model->indexOfFigure(figure).isValid())
            return view;
    }
    return nullptr;
}

QString DeploymentTest::rawOf(const QWidget& page, const QString& figure)
{
    const QTableView* view = tableOf(page, figure);
    if (!view)
        return {};
    const auto* model = qobject_cast<const FigureModel*>(view->model());
    return model->indexOfFigure(figure).siblingAtColumn(1).data(RawRole).toString();
}

/// The page's main task: another version of the engine, typed where it stands; every figure follows.
void DeploymentTest::choosesTheEngineVersion()
{
    QVERIFY2(!qEnvironmentVariableIsEmpty("KVW_BINARY"), "the program kvw is not built");
    // A window's need depends on the version: the tokens in flight count, by rules that changed.
    const QString plan
        = qEnvironmentVariable("KVW_SOURCE_DIR") + QStringLiteral("/tests/data/import/mistral_7b_v0_1.json");
    const QStringList given {QStringLiteral("engine.name=vllm"), QStringLiteral("budget.kvBytesPerRank=8GiB")};
    PlanDocument document;
    QVERIFY(document.open(plan));
    QVERIFY(document.setField(QStringLiteral("engine.name"), QStringLiteral("vllm")).ok());
    QVERIFY(document.setField(QStringLiteral("budget.kvBytesPerRank"), QStringLiteral("8GiB")).ok());
    DeploymentPage page(document);
    page.resize(1000, 600);
    page.show();
    for (FigureModel* model : page.findChildren<FigureModel*>())
        new QAbstractItemModelTester(model, QAbstractItemModelTester::FailureReportingMode::QtTest, &page);
    QVERIFY(page.showField(QStringLiteral("engine.version")));
    QStringList seen;
    for (const char* version : {"0.20.1", "0.22.0", "0.26.0"}) {
        QLineEdit* line = nullptr;
        for (const FieldForm* form : page.findChildren<FieldForm*>()) {
            if (auto* editor = qobject_cast<QLineEdit*>(form->editor(QStringLiteral("engine.version"))))
                line = editor;
        }
        QVERIFY(line);
        line->setFocus();
        line->selectAll();
        QTest::keyClicks(line, QLatin1String(version));
        QTest::keyClick(line, Qt::Key_Return);
        QCOMPARE(QString::fromStdString(document.plan().engine.version), QLatin1String(version));
        const QJsonObject wanted
            = engineOf(plan, given + QStringList {QStringLiteral("engine.version=") + QLatin1String(version)});
        for (const char* figure : {"bytesPerBlock", "availableBytes", "blocks", "poolBytes", "tokens", "needBytes",
                 "largestLength", "engineNeedBytes"}) {
            const QJsonValue value = wanted.value(QLatin1String(figure));
            QCOMPARE(rawOf(page, QStringLiteral("engine.") + QLatin1String(figure)),
                value.isNull() ? QString() : QString::number(value.toInteger()));
        }
        seen.push_back(rawOf(page, QStringLiteral("engine.needBytes")));
    }
    seen.removeDuplicates();
    QVERIFY2(seen.size() > 1, "every version needs the same: nothing was shown to follow");
}

void DeploymentTest::noEngineNoBudget()
{
    PlanDocument document;
    QVERIFY(document.open(example("reference.kvplan")));
    DeploymentPage page(document);
    page.show();
    QVERIFY(!rawOf(page, QStringLiteral("budget.planned")).isEmpty());
    QVERIFY(page.showField(QStringLiteral("engine.name")));
    QComboBox* combo = nullptr;
    for (const FieldForm* form : page.findChildren<FieldForm*>()) {
        if (auto* editor = qobject_cast<QComboBox*>(form->editor(QStringLiteral("engine.name"))))
            combo = editor;
    }
    QVERIFY(combo);
    const int wanted = combo->findData(QStringLiteral("none"));
    QVERIFY(wanted >= 0 && wanted != combo->currentIndex());
    combo->setFocus();
    while (combo->currentIndex() != wanted)
        QTest::keyClick(combo, combo->currentIndex() > wanted ? Qt::Key_Up : Qt::Key_Down);
    QCOMPARE(QString::fromStdString(document.plan().engine.name), QStringLiteral("none"));
    QVERIFY(rawOf(page, QStringLiteral("budget.planned")).isEmpty());
    QVERIFY(rawOf(page, QStringLiteral("engine.blocks")).isEmpty());
}

void DeploymentTest::budgetAddsUp()
{
    PlanDocument document;
    document.setPlan(
        test::with(test::examplePlan("deepseek-r1-tp8.kvplan"),
            {{"budget.kvBytesPerRank", ""}, {"deployment.memoryBytes", "140GiB"}, {"budget.utilization", "0.9"},
                {"loaded.weightBytes", "640GiB"}, {"budget.activationBytes", "3GiB"}, {"budget.otherBytes", "1GiB"}}),
        {});
    DeploymentPage page(document);
    page.resize(1000, 600);
    page.show();
    qint64 sum = 0;
    const QTableView* table = tableOf(page, QStringLiteral("budget.weights"));
    QVERIFY(table);
    for (int row = 0; row < table->model()->rowCount(); ++row)
        sum += table->model()->index(row, 1).data(RawRole).toLongLong();
    QCOMPARE(sum, qint64 {140} << 30);
    QCOMPARE(rawOf(page, QStringLiteral("budget.weights")).toLongLong(), qint64 {80} << 30);
    // The same parts in the bar; a click opens the part.
    auto* bar = page.findChild<BudgetBar*>();
    const QSignalSpy opened(&page, &Page::figureSelected);
    QTest::mouseClick(bar, Qt::LeftButton, {}, QPoint(20, 20));
    QCOMPARE(opened.last().front().toString(), QStringLiteral("budget.weights"));
}

/// A value that the engine cannot have is marked where it stands, and no more once another one can be had.
void DeploymentTest::aRefusalStandsAtItsField()
{
    PlanDocument document;
    QVERIFY(document.open(example("reference.kvplan"))); // 8 KV heads
    DeploymentPage page(document);
    page.show();
    const auto marked = [&] {
        QStringList out;
        for (const ElidedLabel* label : page.findChildren<ElidedLabel*>()) {
            if (label->isVisible() && label->text().startsWith(QStringLiteral("✗")))
                out.push_back(label->toolTip());
        }
        return out;
    };
    QVERIFY(marked().isEmpty());
    QVERIFY(document.setField(QStringLiteral("deployment.tp"), QStringLiteral("3")).ok());
    QVERIFY2(marked().size() == 1, qPrintable(marked().join(u'|')));
    QVERIFY2(marked().front().contains(QStringLiteral("8 KV heads cannot be kept on 3")), qPrintable(marked().front()));
    QVERIFY(document.setField(QStringLiteral("deployment.tp"), QStringLiteral("4")).ok());
    QVERIFY(marked().isEmpty());
    QVERIFY(document.setField(QStringLiteral("cache.allocation"), QStringLiteral("static_contiguous")).ok());
    QCOMPARE(marked().size(), 1);
    document.undoStack()->undo();
    QVERIFY(marked().isEmpty());
}

void DeploymentTest::nothingMovesAsValuesComeIn()
{
    PlanDocument document;
    QVERIFY(document.open(example("gpt-oss-120b.kvplan")));
    DeploymentPage page(document);
    page.resize(1000, 640);
    page.show();
    const auto places = [&] {
        QMap<QString, QRect> out;
        for (const FieldForm* form : page.findChildren<FieldForm*>()) {
            for (const QString& path : form->paths())
                out[path] = form->editor(path)->geometry();
        }
        return out;
    };
    const auto settled = [&] {
        QCoreApplication::processEvents();
        return places();
    };
    const QMap<QString, QRect> before = settled();
    QVERIFY(before.size() > 20);
    for (const auto& [path, value] : std::initializer_list<std::pair<const char*, const char*>> {
             {"budget.kvBytesPerRank", "123456789012"}, {"deployment.memoryBytes", "80GiB"}, {"deployment.tp", "2"},
             {"engine.maxSequences", "64"}, {"limits.promptTokens", "1000"}, {"loaded.weightBytes", "999.99GiB"}}) {
        QVERIFY(document.setField(QLatin1String(path), QLatin1String(value)).ok());
        QCOMPARE(settled(), before);
    }
}

QTEST_MAIN(DeploymentTest)
#include "tst_deployment.moc"
