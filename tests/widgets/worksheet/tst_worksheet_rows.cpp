// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "document/plandocument.h"
#include "forms/fieldform.h"
#include "models/roles.h"
#include "plan/field_table.h"
#include "plan/group_edits.h"
#include "plan/group_presets.h"
#include "plan/model_library.h"
#include "plan/plan_json.h"
#include "support/example_plans.h"
#include "worksheet/rowactions.h"
#include "worksheet/splitdialog.h"
#include "worksheet/worksheetmodel.h"
#include "worksheet/worksheetpage.h"
#include "worksheet/worksheetview.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

#include <random>

using namespace kvw;
using namespace kvw::gui;
using C = WorksheetColumns;

namespace {

/// The page with a plan, shown and with the focus in its table.
struct Bench
{
    explicit Bench(Plan plan)
    {
        document.setPlan(std::move(plan), {});
        page.resize(996, 620);
        page.show();
        page.activateWindow();
        view = page.findChild<WorksheetView*>();
        view->setFocus();
    }

    void select(const QStringList& fields)
    {
        view->selectionModel()->clear();
        for (const QString& field : fields) {
            const auto* model = qobject_cast<WorksheetModel*>(view->model());
            view->selectionModel()->setCurrentIndex(model->indexOfField(field), QItemSelectionModel::Select);
        }
    }
    QString currentElement() const
    {
        return qobject_cast<WorksheetModel*>(view->model())->elementOf(view->currentIndex());
    }
    QAction* action(const QString& words) const
    {
        for (QAction* one : page.rowActions()->menu()->actions()) {
            if (one->text().remove(QLatin1Char('&')).contains(words))
                return one;
        }
        return nullptr;
    }
    const std::vector<LayerGroup>& groups() const { return document.plan().worksheet.groups; }

    PlanDocument document;
    WorksheetPage page {document};
    WorksheetView* view = nullptr;
};

} // namespace

class TestWorksheetRows : public QObject
{
    Q_OBJECT

private slots:
    void everyActionHasAKeyAndIsOnThePage();
    void keys();
    void duplicateAndMove();
    void mergeSelected();
    void mergeRefusedLeadsToTheField();
    void splitByDialog();
    void splitDialogFollowsThePlan();
    void retypeByDialog();
    void everyFieldOfATensor();
    void growthInPlace_data();
    void growthInPlace();
    void renameInPlace();
    void currentRowAndFieldsFollow();
    void randomOperations_data();
    void randomOperations();
};

void TestWorksheetRows::everyActionHasAKeyAndIsOnThePage()
{
    Bench bench(test::examplePlan("gpt-oss-120b.kvplan"));
    int found = 0;
    for (QAction* action : bench.page.rowActions()->menu()->actions()) {
        if (action->isSeparator())
            continue;
        QVERIFY2(!action->shortcut().isEmpty(), qPrintable(action->text()));
        QVERIFY(bench.page.actions().contains(action)); // the command field lists these
        ++found;
    }
    QCOMPARE(found, 9);
    // What cannot be done says why.
    bench.select({"worksheet.groups.full.name"});
    for (QAction* action : bench.page.rowActions()->menu()->actions())
        QVERIFY(action->isSeparator() || action->isEnabled() != !action->statusTip().isEmpty());
    QVERIFY(!bench.action("Merge")->isEnabled());
    QVERIFY(!bench.action("Move up")->isEnabled());
    QVERIFY(bench.action("Move down")->isEnabled());
    bench.select({"worksheet.groups.sliding.tensors.k.role"});
    QVERIFY(!bench.action("Move up")->isEnabled()); // of the tensor in its group
    bench.select({"worksheet.groups.full.layers", "worksheet.groups.sliding.layers"});
    QVERIFY(bench.action("Merge")->isEnabled());
}

void TestWorksheetRows::keys()
{
    Bench bench(test::examplePlan("gpt-oss-120b.kvplan"));
    QVERIFY(QTest::qWaitForWindowActive(&bench.page));
    bench.view->setFocus();
    bench.select({"worksheet.groups.full.name"});
    QTest::keyClick(bench.view, Qt::Key_D, Qt::ControlModifier);
    QCOMPARE(bench.groups().size(), 3U);
    QCOMPARE(bench.groups()[1].id, std::string("full2"));
    QTest::keyClick(bench.view, Qt::Key_Down, Qt::AltModifier);
    QCOMPARE(bench.groups()[2].id, std::string("full2"));
    QTest::keyClick(bench.view, Qt::Key_Delete);
    QCOMPARE(bench.groups().size(), 2U);
    QCOMPARE(bench.document.undoStack()->undoText(), QStringLiteral("Remove full2"));
    bench.select({"worksheet.groups.full.name"});
    QTest::keyClick(bench.view, Qt::Key_Insert);
    QCOMPARE(bench.groups()[1].id, std::string("group"));
    // An editor keeps its keys.
    bench.select({"worksheet.groups.full.layers"});
    bench.view->edit(bench.view->currentIndex());
    auto* editor = bench.view->viewport()->findChild<QLineEdit*>();
    QVERIFY(editor);
    editor->setCursorPosition(0);
    QTest::keyClick(editor, Qt::Key_Delete);
    QCOMPARE(bench.groups().size(), 3U);
    QTest::keyClick(editor, Qt::Key_Escape);
}

void TestWorksheetRows::duplicateAndMove()
{
    Bench bench(test::examplePlan("gpt-oss-120b.kvplan"));
    const std::string before = planToJson(bench.document.plan());
    bench.select({"worksheet.groups.full.layers"});
    bench.page.rowActions()->move(1);
    QCOMPARE(bench.groups()[1].id, std::string("full"));
    QCOMPARE(bench.currentElement(), QStringLiteral("worksheet.groups.full"));
    QCOMPARE(bench.view->currentIndex().column(), int {C::Layers}); // the cell stays
    QSignalSpy told(&bench.page, &Page::message);
    bench.page.rowActions()->move(1);
    QCOMPARE(told.count(), 1);
    bench.page.rowActions()->move(-1);
    QCOMPARE(planToJson(bench.document.plan()), before);
    bench.select({"worksheet.groups.sliding.tensors.v.role"});
    bench.page.rowActions()->move(-1);
    QCOMPARE(bench.groups()[1].tensors[0].id, std::string("v"));
    bench.page.rowActions()->duplicate();
    QCOMPARE(bench.groups()[1].tensors.size(), 3U);
    QCOMPARE(bench.currentElement(), QStringLiteral("worksheet.groups.sliding.tensors.v2"));
}

void TestWorksheetRows::mergeSelected()
{
    Bench bench(test::examplePlan("gpt-oss-120b.kvplan"));
    const std::int64_t layers = bench.groups()[0].layers;
    bench.document.edit("Split", [](Plan& plan) { QVERIFY(splitGroup(plan, "full", 5).ok()); });
    bench.select({"worksheet.groups.full2.tensors.k.role", "worksheet.groups.full.layers"});
    bench.page.rowActions()->merge();
    QCOMPARE(bench.groups().size(), 2U);
    QCOMPARE(bench.groups()[0].layers, layers);
    QCOMPARE(bench.currentElement(), QStringLiteral("worksheet.groups.full"));
    QCOMPARE(bench.document.undoStack()->undoText(), QStringLiteral("Merge full2, full"));
}

void TestWorksheetRows::mergeRefusedLeadsToTheField()
{
    Bench bench(test::examplePlan("gpt-oss-120b.kvplan"));
    const std::string before = planToJson(bench.document.plan());
    QSignalSpy told(&bench.page, &Page::message);
    bench.select({"worksheet.groups.full.name", "worksheet.groups.sliding.name"});
    bench.page.rowActions()->merge();
    QCOMPARE(told.count(), 1);
    QVERIFY(told[0][0].toString().contains("sliding"));
    QCOMPARE(planToJson(bench.document.plan()), before);
    QCOMPARE(bench.view->currentIndex().data(FieldRole).toString(), QStringLiteral("worksheet.groups.sliding.kind"));
}

void TestWorksheetRows::splitByDialog()
{
    Bench bench(test::examplePlan("gpt-oss-120b.kvplan"));
    bench.select({"worksheet.groups.full.name"});
    bench.page.rowActions()->split();
    auto* dialog = bench.page.findChild<SplitDialog*>();
    QVERIFY(dialog && dialog->isVisible() && !dialog->isModal());
    auto* count = dialog->findChild<QSpinBox*>("splitCount");
    auto* which = dialog->findChild<QLineEdit*>("splitWhich");
    auto* outcome = dialog->findChild<QLabel*>("splitOutcome");
    QCOMPARE(count->value(), 9); // half of 18
    QVERIFY(outcome->text().contains("full2: 9 layers"));
    count->setValue(4);
    QVERIFY(outcome->text().contains("full: 14 layers"));
    if (!bench.groups()[0].layerIndices.empty()) {
        const std::vector<std::int64_t> layers = *parseLayerRanges(bench.groups()[0].layerIndices);
        which->setText(QStringLiteral("%1,%2").arg(layers[0]).arg(layers[2]));
        QCOMPARE(count->value(), 2);
        which->setText("9999");
        QVERIFY(outcome->text().startsWith("✗"));
        QVERIFY(!dialog->findChild<QDialogButtonBox*>()->buttons().isEmpty());
        which->setText(QStringLiteral("%1,%2").arg(layers[0]).arg(layers[2]));
    }
    dialog->accept();
    QCOMPARE(bench.groups().size(), 3U);
    QCOMPARE(bench.document.undoStack()->count(), 1);
    QVERIFY(bench.document.undoStack()->undoText().startsWith("Split full"));
    QCOMPARE(bench.currentElement(), QStringLiteral("worksheet.groups.full2"));
    // A group that does not say which layers it has is asked only how many.
    bench.document.edit("Clear", [](Plan& plan) { plan.worksheet.groups[0].layerIndices.clear(); });
    bench.select({"worksheet.groups.full.name"});
    bench.page.rowActions()->split();
    dialog = nullptr;
    for (SplitDialog* one : bench.page.findChildren<SplitDialog*>()) {
        if (one->isVisible())
            dialog = one;
    }
    QVERIFY(dialog);
    QVERIFY(!dialog->findChild<QLineEdit*>("splitWhich")->isVisible());
    dialog->reject();
    QCOMPARE(bench.groups().size(), 3U);
}

void TestWorksheetRows::splitDialogFollowsThePlan()
{
    Bench bench(test::examplePlan("gpt-oss-120b.kvplan"));
    bench.select({"worksheet.groups.sliding.name"});
    bench.page.rowActions()->split();
    auto* dialog = bench.page.findChild<SplitDialog*>();
    bench.document.edit("Remove", [](Plan& plan) { plan.worksheet.groups.pop_back(); });
    QVERIFY(!dialog->isVisible());
    QCOMPARE(bench.document.undoStack()->count(), 1);
}

void TestWorksheetRows::retypeByDialog()
{
    Bench bench(test::examplePlan("gpt-oss-120b.kvplan"));
    bench.select({"worksheet.groups.full.name"});
    bench.page.rowActions()->retype();
    auto* dialog = bench.page.findChild<QDialog*>("retypeDialog");
    QVERIFY(dialog && dialog->isVisible() && !dialog->isModal());
    auto* presets = dialog->findChild<QComboBox*>("retypePreset");
    QCOMPARE(presets->currentData().toString(), QStringLiteral("full"));
    presets->setCurrentIndex(presets->findData("sliding"));
    auto* window = dialog->findChild<QLineEdit*>("retype-window");
    auto* outcome = dialog->findChild<QLabel*>("retypeOutcome");
    QVERIFY(window);
    QCOMPARE(dialog->findChild<QLineEdit*>("retype-heads")->text(), QStringLiteral("8"));
    window->setText("0");
    QVERIFY(outcome->text().startsWith("✗"));
    window->setText("none");
    QVERIFY(outcome->text().startsWith("✗"));
    dialog->accept(); // refused: nothing happens
    QCOMPARE(bench.document.undoStack()->count(), 0);
    window->setText("1k");
    QVERIFY(outcome->text().contains("min(v, 1024)") || outcome->text().contains("min(v, 1000)"));
    dialog->accept();
    QCOMPARE(bench.document.undoStack()->count(), 1);
    QCOMPARE(bench.document.undoStack()->undoText(), QStringLiteral("Retype full: Sliding window"));
    QCOMPARE(bench.groups()[0].kind, LayerKind::Sliding);
    QVERIFY(bench.document.setField("limits.encoderTokens", "1500").ok()); // what cross attention reads
    QVERIFY(bench.document.setField("limits.imageTokens", "1601").ok());
    // Every preset can be chosen, and each gives something that can be shown.
    for (const GroupPreset& preset : groupPresets()) {
        bench.select({"worksheet.groups.full.name"});
        bench.page.rowActions()->retype();
        QDialog* next = nullptr;
        for (auto* one : bench.page.findChildren<QDialog*>("retypeDialog")) {
            if (one->isVisible())
                next = one;
        }
        QVERIFY(next);
        auto* choice = next->findChild<QComboBox*>("retypePreset");
        choice->setCurrentIndex(choice->findData(QString::fromUtf8(preset.id.data())));
        next->accept();
        QCOMPARE(bench.groups()[0].kind, preset.kind);
        QVERIFY2(bench.document.estimate(), qPrintable(choice->currentText() + bench.document.estimateError()));
    }
}

/// Each field of a tensor and of a group is in a cell of its row or in the form of its row.
void TestWorksheetRows::everyFieldOfATensor()
{
    Bench bench(test::examplePlan("gpt-oss-120b.kvplan"));
    QStringList paths;
    forEachField(bench.document.plan(), [&](const FieldReference& field) {
        if (field.path.starts_with("worksheet.groups.sliding."))
            paths.push_back(QString::fromStdString(field.path));
    });
    QVERIFY(paths.size() >= 8 + 2 * 13);
    for (const QString& path : std::as_const(paths))
        QVERIFY2(bench.page.showField(path), qPrintable(path));
}

void TestWorksheetRows::growthInPlace_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("shown");
    QTest::addColumn<bool>("taken");
    QTest::newRow("none") << "v"
                          << "v" << true;
    QTest::newRow("number") << "256"
                            << "min(v, 256)" << true;
    QTest::newRow("window") << "min(v, 4k)"
                            << "min(v, 4096)" << true;
    QTest::newRow("chunk") << "((v − 1) mod 512) + 1"
                           << "((v − 1) mod 512) + 1" << true;
    QTest::newRow("stride") << "floor(v/4)"
                            << "⌊v ÷ 4⌋" << true;
    QTest::newRow("whole") << "min(⌈(v + 3) ÷ 4⌉, 99)"
                           << "min(⌈(v + 3) ÷ 4⌉, 99)" << true;
    QTest::newRow("fixed") << "7 (fixed)"
                           << "7 (fixed)" << true;
    QTest::newRow("encoder") << "e"
                             << "e" << true;
    QTest::newRow("bad") << "min(v, w)"
                         << "min(v, 128)" << false;
    QTest::newRow("bad number") << "twelve"
                                << "min(v, 128)" << false;
    QTest::newRow("out of range") << "min(v, 0)"
                                  << "min(v, 128)" << false;
}

void TestWorksheetRows::growthInPlace()
{
    QFETCH(QString, text);
    QFETCH(bool, taken);
    PlanDocument document;
    document.setPlan(test::examplePlan("gpt-oss-120b.kvplan"), {});
    WorksheetModel model(document);
    const std::string before = planToJson(document.plan());
    const QModelIndex group = model.index(1, C::Growth);
    const QModelIndex tensor = model.index(0, C::Growth, model.index(1, 0));
    QCOMPARE(model.setData(tensor, text), taken);
    QTEST(tensor.data().toString(), "shown");
    if (taken)
        document.undoStack()->undo();
    QCOMPARE(planToJson(document.plan()), before);
    QCOMPARE(model.setData(group, text), taken); // of every tensor of the group
    QTEST(group.data().toString(), "shown");
    QTEST(model.index(1, C::Growth, model.index(1, 0)).data().toString(), "shown");
    QCOMPARE(document.undoStack()->count(), taken ? 1 : 0);
    // A law that is there already is no edit.
    const int steps = document.undoStack()->count();
    if (taken)
        QVERIFY(model.setData(group, group.data()));
    QCOMPARE(document.undoStack()->count(), steps);
}

void TestWorksheetRows::renameInPlace()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("gpt-oss-120b.kvplan"), {});
    WorksheetModel model(document);
    QSignalSpy refused(&model, &WorksheetModel::editRefused);
    const auto cell = [&] { return model.index(0, C::Name, model.index(1, 0)); };
    QVERIFY(cell().flags().testFlag(Qt::ItemIsEditable));
    QVERIFY(model.setData(cell(), "key"));
    QCOMPARE(document.plan().worksheet.groups[1].tensors[0].id, std::string("key"));
    for (const char* bad : {"", "v", "a b", "a.b"}) {
        QVERIFY(!model.setData(cell(), bad));
        QVERIFY(!cell().data(RefusalRole).toString().isEmpty());
    }
    QCOMPARE(refused.count(), 4);
    QCOMPARE(document.undoStack()->count(), 1);
    QCOMPARE(document.undoStack()->undoText(), QStringLiteral("Rename k: key"));
}

void TestWorksheetRows::currentRowAndFieldsFollow()
{
    Bench bench(test::examplePlan("gpt-oss-120b.kvplan"));
    bench.select({"worksheet.groups.sliding.layers"});
    const auto fields = [&] {
        QStringList out;
        for (const FieldForm* form : bench.page.side()->findChildren<FieldForm*>())
            out += form->paths().filter("worksheet.groups.");
        return out;
    };
    QVERIFY(fields().contains("worksheet.groups.sliding.kind"));
    bench.document.edit("Add one", [](Plan& plan) { QVERIFY(duplicateGroup(plan, "full").ok()); });
    QCOMPARE(bench.currentElement(), QStringLiteral("worksheet.groups.sliding")); // a row further down
    QCOMPARE(bench.view->currentIndex().column(), int {C::Layers});
    QVERIFY(fields().contains("worksheet.groups.sliding.kind"));
    // Of what is gone no field is left.
    bench.document.setPlan(test::examplePlan("reference.kvplan"), {});
    QVERIFY2(fields().filter("sliding").isEmpty(), qPrintable(fields().join(' ')));
}

void TestWorksheetRows::randomOperations_data()
{
    QTest::addColumn<QString>("model");
    for (const char* name : {"gpt-oss-120b.kvplan", "deepseek-r1-tp8.kvplan", "reference.kvplan"})
        QTest::newRow(name) << name;
}

void TestWorksheetRows::randomOperations()
{
    QFETCH(QString, model);
    Bench bench(test::examplePlan(model.toStdString()));
    const QAbstractItemModelTester tester(bench.view->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    std::mt19937_64 random(11);
    const auto upTo = [&](std::size_t count) { return random() % std::max<std::size_t>(1, count); };
    RowActions& rows = *bench.page.rowActions();
    const int rounds = 60 * std::max(1, qEnvironmentVariableIntValue("KVW_TEST_SCALE"));
    std::vector<std::string> texts {planToJson(bench.document.plan())};
    const auto anyRow = [&] {
        QStringList fields;
        for (std::size_t i = 0; i <= upTo(2) && !bench.groups().empty(); ++i) {
            const LayerGroup& group = bench.groups()[upTo(bench.groups().size())];
            const QString base = QStringLiteral("worksheet.groups.") + QString::fromStdString(group.id);
            if (upTo(2) == 0 || group.tensors.empty())
                fields.push_back(base + ".name");
            else
                fields.push_back(base + ".tensors."
                    + QString::fromStdString(group.tensors[upTo(group.tensors.size())].id) + ".role");
        }
        return fields;
    };
    for (int i = 0; i < rounds; ++i) {
        if (!bench.groups().empty())
            bench.select(anyRow());
        const int before = bench.document.undoStack()->index();
        switch (upTo(12)) {
        case 0:
            rows.addGroup();
            break;
        case 1:
            rows.addTensor();
            break;
        case 2:
            rows.duplicate();
            break;
        case 3:
            rows.remove();
            break;
        case 4:
            rows.merge();
            break;
        case 5:
            rows.move(1);
            break;
        case 6:
            rows.move(-1);
            break;
        case 7:
            if (bench.document.undoStack()->canUndo())
                bench.document.undoStack()->undo();
            break;
        case 8:
            if (bench.document.undoStack()->canRedo())
                bench.document.undoStack()->redo();
            break;
        case 9: {
            if (bench.groups().empty())
                break;
            const std::string id = bench.groups()[upTo(bench.groups().size())].id;
            const std::string preset(groupPresets()[upTo(groupPresets().size())].id);
            bench.document.edit("Retype", [&](Plan& plan) { (void)retypeGroup(plan, id, {preset}); });
            break;
        }
        default: {
            if (bench.groups().empty())
                break;
            const std::string id = bench.groups()[upTo(bench.groups().size())].id;
            bench.document.edit(
                "Split", [&](Plan& plan) { (void)splitGroup(plan, id, 1 + static_cast<std::int64_t>(upTo(5))); });
        }
        }
        const int now = bench.document.undoStack()->index();
        if (now > before && now == bench.document.undoStack()->count()) {
            texts.resize(static_cast<std::size_t>(now));
            texts.push_back(planToJson(bench.document.plan()));
        }
        QCOMPARE(planToJson(bench.document.plan()), texts[static_cast<std::size_t>(now)]);
        QCOMPARE(bench.view->model()->rowCount(), static_cast<int>(bench.groups().size()) + 1);
    }
    // Undone step by step it is what it was at each, and redone too.
    QUndoStack& stack = *bench.document.undoStack();
    while (stack.canUndo()) {
        stack.undo();
        QCOMPARE(planToJson(bench.document.plan()), texts[static_cast<std::size_t>(stack.index())]);
    }
    while (stack.canRedo()) {
        stack.redo();
        QCOMPARE(planToJson(bench.document.plan()), texts[static_cast<std::size_t>(stack.index())]);
    }
    QVERIFY(stack.count() > 10);
}

QTEST_MAIN(TestWorksheetRows)
#include "tst_worksheet_rows.moc"
