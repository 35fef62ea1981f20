// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What is typed, saved, undone and asked: by the keys of the real window.

#include "bench.h"

#include "forms/fieldform.h"
#include "plan/plan_json.h"
#include "prediction/predictionrunner.h"
#include "shell/commandfield.h"
#include "shell/mainwindow.h"
#include "shell/messagebar.h"
#include "shell/page.h"
#include "shell/rail.h"
#include "style/focusframe.h"
#include "worksheet/startpanel.h"

#include <QAbstractItemModel>
#include <QApplication>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolTip>
#include <QTreeView>

using namespace kvw;
using namespace kvw::gui;

class TestEditing : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void typedTextIsSaved();
    void typedTextIsPredicted();
    void typedCellIsSaved();
    void invalidTextStopsSaving();
    void invalidTextStopsClosing();
    void undoInAField();
    void escapeTakesBack();
    void errorGoesWithItsCause();
    void savedAfterAFailure();
    void fieldsAreSeen();
    void changedByAnother();
    void noticeOfChange();
    void markupIsText();
    void longMessageKeepsWindow();
    void messageMovesNothing();
    void statusFollowsPage();
    void pageGetsFocus();
    void tabOrder();
    void emptyStart();
    void otherWords();
    void growthTakesItsOwnNotation();
    void manyRanks();
};

void TestEditing::initTestCase()
{
    QCoreApplication::setOrganizationName(QStringLiteral("kvworkbench"));
    QCoreApplication::setApplicationName(QStringLiteral("tst_editing"));
}

void TestEditing::init()
{
    QSettings().clear();
}

void TestEditing::typedTextIsSaved()
{
    Bench bench;
    bench.type("limits.outputTokens", "77");
    bench.key(Qt::Key_S, Qt::ControlModifier);
    QCOMPARE(bench.saved().limits.outputTokens, std::optional<std::int64_t>(77));
    QVERIFY(!bench.document().isModified());
    // Closing commits too, and then asks.
    bench.type("limits.outputTokens", "512");
    Answer answer("Cancel");
    QVERIFY(!bench.window.close());
    QVERIFY(answer.text.contains("changes that are not saved"));
    QCOMPARE(bench.document().plan().limits.outputTokens, std::optional<std::int64_t>(512));
}

void TestEditing::typedTextIsPredicted()
{
    Bench bench;
    auto* runner = bench.window.findChild<PredictionRunner*>();
    QSignalSpy finished(runner, &PredictionRunner::finished);
    bench.type("engine.maxSequences", "11");
    bench.key(Qt::Key_F5);
    QVERIFY(finished.wait(60'000));
    QVERIFY(bench.document().prediction());
    QVERIFY(!bench.document().isPredictionStale());
    QCOMPARE(bench.document().plan().engine.maxSequences, std::optional<std::int64_t>(11));
}

void TestEditing::typedCellIsSaved()
{
    Bench bench;
    bench.window.enterPage("worksheet");
    auto* view = qobject_cast<QTreeView*>(QApplication::focusWidget());
    QVERIFY(view);
    const std::string id = bench.document().plan().worksheet.groups.front().id;
    bench.window.goToField(QString::fromStdString("worksheet.groups." + id + ".layers"));
    bench.key(Qt::Key_F2);
    auto* editor = view->findChild<QLineEdit*>();
    QVERIFY(editor);
    editor->selectAll();
    QTest::keyClicks(editor, "31");
    bench.key(Qt::Key_S, Qt::ControlModifier);
    QCOMPARE(bench.saved().worksheet.groups.front().layers, 31);
    // What is refused stays in its cell, and nothing is saved.
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete); // the editor that was closed
    bench.key(Qt::Key_F2);
    editor = view->findChild<QLineEdit*>();
    QVERIFY(editor);
    editor->selectAll();
    QTest::keyClicks(editor, "many");
    QVERIFY(!bench.document().commitPending());
    QVERIFY(bench.message().contains("Layers"));
    QVERIFY(editor->isVisible());
}

void TestEditing::invalidTextStopsSaving()
{
    Bench bench;
    QVERIFY(bench.document().setField("document.title", "another").ok());
    QLineEdit* line = bench.type("limits.maxModelLen", "bananas");
    bench.key(Qt::Key_S, Qt::ControlModifier);
    QVERIFY(bench.saved().document.title != "another");
    QVERIFY2(bench.message().contains("Configured maximum"), qPrintable(bench.message()));
    QVERIFY(bench.message().contains("bananas"));
    QVERIFY(!bench.message().contains("limits."));
    // From another page too: it leads back to the field.
    bench.window.enterPage("worksheet");
    bench.key(Qt::Key_S, Qt::ControlModifier);
    QVERIFY(bench.saved().document.title != "another");
    QCOMPARE(bench.window.findChild<Rail*>()->currentRow(), bench.window.pageIds().indexOf("deployment"));
    QCOMPARE(QApplication::focusWidget(), line);
    bench.key(Qt::Key_Escape);
    bench.key(Qt::Key_S, Qt::ControlModifier);
    QCOMPARE(bench.saved().document.title, std::string("another"));
    QVERIFY(bench.message().isEmpty());
}

void TestEditing::invalidTextStopsClosing()
{
    Bench bench;
    bench.type("limits.maxModelLen", "bananas");
    QVERIFY(!bench.window.close());
    QVERIFY(bench.message().contains("Configured maximum"));
    bench.key(Qt::Key_Escape);
    QVERIFY(bench.window.close());
}

void TestEditing::undoInAField()
{
    Bench bench;
    const std::int64_t before = *bench.document().plan().limits.maxModelLen;
    QLineEdit* line = bench.type("limits.maxModelLen", "16k");
    // The field's own text first.
    bench.key(Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(*bench.document().plan().limits.maxModelLen, before);
    QVERIFY(line->text() != "16k");
    line->selectAll();
    QTest::keyClicks(line, "16k");
    bench.key(Qt::Key_Tab);
    QCOMPARE(*bench.document().plan().limits.maxModelLen, 16384);
    QVERIFY(qobject_cast<QLineEdit*>(QApplication::focusWidget()));
    bench.key(Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(*bench.document().plan().limits.maxModelLen, before);
    bench.key(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(*bench.document().plan().limits.maxModelLen, 16384);
    // In the field that was edited, too.
    line->setFocus();
    bench.key(Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(*bench.document().plan().limits.maxModelLen, before);
}

void TestEditing::escapeTakesBack()
{
    Bench bench;
    QLineEdit* line = bench.type("limits.maxModelLen", "bananas");
    bench.key(Qt::Key_Return);
    QCOMPARE(line->text(), QStringLiteral("bananas"));
    bench.key(Qt::Key_Escape);
    QCOMPARE(line->text(), QString::number(*bench.document().plan().limits.maxModelLen));
    QTest::keyClicks(line, "99");
    bench.key(Qt::Key_Escape);
    QCOMPARE(line->text(), QString::number(*bench.document().plan().limits.maxModelLen));
    QVERIFY(!bench.document().isModified());
}

void TestEditing::errorGoesWithItsCause()
{
    Bench bench;
    QLineEdit* line = bench.type("engine.blockTokens", "0");
    const QString old = QString::number(*bench.document().plan().engine.blockTokens);
    bench.key(Qt::Key_Return);
    QVERIFY(!bench.message().isEmpty());
    line->selectAll();
    QTest::keyClicks(line, old); // what the plan has: no edit, but mended
    bench.key(Qt::Key_Return);
    QCOMPARE(bench.message(), QString());
    QVERIFY(!bench.document().isModified());
    bench.type("engine.blockTokens", "0");
    bench.key(Qt::Key_Return);
    QVERIFY(!bench.message().isEmpty());
    bench.key(Qt::Key_Escape);
    QCOMPARE(bench.message(), QString());
}

void TestEditing::savedAfterAFailure()
{
    Bench bench;
    QVERIFY(!bench.window.saveTo(bench.folder.filePath("none/there.kvplan")));
    QVERIFY(bench.message().contains("Not saved"));
    QVERIFY(bench.message().contains("folder cannot be written"));
    QVERIFY(bench.window.saveTo(bench.path));
    QCOMPARE(bench.message(), QString());
}

void TestEditing::fieldsAreSeen()
{
    Bench bench({1280, 720});
    bench.window.showPage("worksheet");
    for (const char* field : {"worksheet.retainedFrom", "worksheet.retainedAt", "document.title"}) {
        bench.window.goToField(field);
        QTest::qWait(20);
        const QWidget* editor = QApplication::focusWidget();
        QVERIFY(editor);
        QCOMPARE(editor->property(fieldProperty).toString(), QString(field));
        QVERIFY2(editor->visibleRegion().boundingRect().height() >= editor->height() - 1, field);
    }
}

void TestEditing::changedByAnother()
{
    Bench bench;
    QVERIFY(bench.document().setField("document.title", "mine").ok());
    Plan other = bench.saved();
    other.document.title = "theirs";
    QVERIFY(savePlan(other, bench.path.toStdString()));
    {
        Answer answer("Cancel");
        bench.key(Qt::Key_S, Qt::ControlModifier);
        QVERIFY(answer.text.contains("changed by another program"));
        QCOMPARE(bench.saved().document.title, std::string("theirs"));
        QVERIFY(bench.document().isModified());
    }
    {
        Answer answer("Overwrite");
        bench.key(Qt::Key_S, Qt::ControlModifier);
        QVERIFY(!answer.text.isEmpty());
        QCOMPARE(bench.saved().document.title, std::string("mine"));
    }
    // Nothing is asked when only this window wrote.
    QVERIFY(bench.document().setField("document.title", "mine again").ok());
    bench.key(Qt::Key_S, Qt::ControlModifier);
    QCOMPARE(bench.saved().document.title, std::string("mine again"));
    QVERIFY(savePlan(other, bench.path.toStdString()));
    Answer answer("Open it again");
    bench.key(Qt::Key_S, Qt::ControlModifier);
    QCOMPARE(bench.document().plan().document.title, std::string("theirs"));
    QVERIFY(!bench.document().isModified());
}

void TestEditing::noticeOfChange()
{
    Bench bench;
    Plan other = bench.saved();
    other.document.title = "theirs";
    QVERIFY(savePlan(other, bench.path.toStdString()));
    QTRY_VERIFY(bench.message().contains("changed by another program"));
    for (QPushButton* button : bench.window.messageBar()->findChildren<QPushButton*>()) {
        if (button->isVisible())
            button->click();
    }
    QCOMPARE(bench.document().plan().document.title, std::string("theirs"));
    // And again, as the file was replaced.
    other.document.title = "theirs again";
    QVERIFY(savePlan(other, bench.path.toStdString()));
    QTRY_VERIFY(bench.message().contains("changed by another program"));
    QVERIFY(bench.window.saveTo(bench.folder.filePath("b.kvplan")));
    QCOMPARE(bench.message(), QString());
}

void TestEditing::markupIsText()
{
    Bench bench;
    bench.type("limits.maxModelLen", "<b>x</b>&amp;");
    bench.key(Qt::Key_Return);
    QVERIFY(bench.message().contains("<b>x</b>&amp;"));
    // The tooltip is a label that shows the text as it is.
    QLabel* tip = nullptr;
    for (QWidget* widget : QApplication::topLevelWidgets()) {
        if (widget->inherits("QTipLabel"))
            tip = qobject_cast<QLabel*>(widget);
    }
    QVERIFY(tip);
    QVERIFY(tip->text().contains("<b>x</b>&amp;"));
    QCOMPARE(tip->textFormat(), Qt::PlainText);
    for (const QLabel* label : bench.window.findChildren<QLabel*>()) {
        if (label->isVisible())
            QVERIFY(label->textFormat() != Qt::AutoText);
    }
}

void TestEditing::longMessageKeepsWindow()
{
    Bench bench({1280, 720});
    for (const QString& page : bench.window.pageIds()) {
        bench.window.showPage(page);
        bench.window.messageBar()->show(QStringLiteral("a very long sentence, ").repeated(40), "Do it");
        QTest::qWait(10);
        QCOMPARE(bench.window.size(), QSize(1280, 720));
        QVERIFY(bench.window.messageBar()->isVisible());
    }
}

void TestEditing::messageMovesNothing()
{
    Bench bench;
    for (const QString& id : bench.window.pageIds()) {
        bench.window.showPage(id);
        bench.window.messageBar()->dismiss();
        QTest::qWait(100);
        QWidget* page = bench.window.page(id);
        QMap<QWidget*, QRect> before;
        for (QWidget* widget : page->findChildren<QWidget*>()) {
            if (widget->isVisible() && widget->focusPolicy() != Qt::NoFocus)
                before[widget] = QRect(widget->mapTo(page, QPoint()), widget->size());
        }
        bench.window.messageBar()->show("something went stale", "Again");
        QTest::qWait(10);
        for (auto at = before.cbegin(); at != before.cend(); ++at)
            QVERIFY2(QRect(at.key()->mapTo(page, QPoint()), at.key()->size()) == at.value(),
                qPrintable(id + QLatin1Char(' ') + at.key()->metaObject()->className()));
    }
}

void TestEditing::statusFollowsPage()
{
    Bench bench;
    bench.window.showPage("worksheet");
    bench.window.goToFigure("idealBytes");
    const auto says = [&](const char* what) {
        for (const QWidget* widget : bench.window.findChildren<QWidget*>()) {
            if (widget->isVisible() && widget->accessibleName().startsWith(QLatin1String(what)))
                return true;
        }
        return false;
    };
    QVERIFY(says("1 cell: "));
    bench.window.showPage("deployment");
    QVERIFY(!says("1 cell: "));
    QVERIFY(bench.document().setField("document.title", "x").ok()); // the worksheet hears of it, unseen
    QVERIFY(!says("1 cell: "));
    // Where the numbers come from.
    const auto source = [&] {
        QStringList out;
        for (const QLabel* label : bench.window.statusBar()->findChildren<QLabel*>())
            out.push_back(label->text());
        return out.join(QLatin1Char('|'));
    };
    QVERIFY2(source().contains("Source: estimate, "), qPrintable(source()));
    bench.window.showPage("prediction");
    QVERIFY2(source().contains("Source: no prediction yet"), qPrintable(source()));
    QSignalSpy finished(bench.window.findChild<PredictionRunner*>(), &PredictionRunner::finished);
    bench.key(Qt::Key_F5);
    QVERIFY(finished.wait(60'000));
    QVERIFY2(source().contains("Source: prediction of this plan"), qPrintable(source()));
    bench.window.showPage("blockmap");
    QTRY_VERIFY2(source().contains("Source: event log: Prediction"), qPrintable(source()));
    bench.window.showPage("prediction");
    QVERIFY(bench.document().setField("workload.requests", "9").ok());
    QVERIFY2(source().contains("Source: ~ prediction of an earlier plan"), qPrintable(source()));
}

void TestEditing::pageGetsFocus()
{
    Bench bench;
    bench.key(Qt::Key_2, Qt::ControlModifier);
    bench.key(Qt::Key_1, Qt::ControlModifier);
    const auto* view = qobject_cast<QTreeView*>(QApplication::focusWidget());
    QVERIFY(view);
    QCOMPARE(bench.window.findChild<FocusFrame*>()->framed(), view);
    bench.key(Qt::Key_3, Qt::ControlModifier);
    QVERIFY(bench.window.page("tenants")->isAncestorOf(QApplication::focusWidget()));
}

/// The header's button, then the page's views, and the docks last.
void TestEditing::tabOrder()
{
    Bench bench;
    bench.key(Qt::Key_1, Qt::ControlModifier);
    QWidget* page = bench.window.page("worksheet");
    bool left = false;
    for (int i = 0; i < 12; ++i) {
        bench.key(Qt::Key_Tab);
        const QWidget* focus = QApplication::focusWidget();
        QVERIFY(focus);
        left = left || !page->isAncestorOf(focus);
        QVERIFY(!left || !page->isAncestorOf(focus)); // once left, it comes back only around the whole window
        if (left)
            break;
    }
    QVERIFY(left);
}

void TestEditing::emptyStart()
{
    MainWindow window;
    window.resize(1280, 800);
    window.show();
    auto* start = window.findChild<StartPanel*>();
    QVERIFY(start->isVisible());
    auto* button = start->findChild<QPushButton*>("example-gpt-oss-120b");
    QVERIFY(button);
    button->click();
    QVERIFY(!start->isVisible());
    QCOMPARE(window.document().plan().worksheet.groups.size(), std::size_t(2));
    QVERIFY(window.document().path().isEmpty());
    QVERIFY(!window.document().isModified());
    for (const auto& [name, title] : PlanDocument::examples()) {
        window.openExample(name);
        const Plan shown = window.document().plan();
        PlanDocument file;
        QVERIFY(file.open(example((name + ".kvplan").toLatin1().constData())));
        QCOMPARE(planToJson(shown), planToJson(file.plan()));
    }
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    QTimer::singleShot(50, &window, [] {
        QWidget* dialog = QApplication::activeModalWidget();
        QVERIFY(dialog);
        for (QPushButton* one : dialog->findChildren<QPushButton*>()) {
            if (one->text() == "Empty plan")
                return one->click();
        }
        dialog->close();
    });
    QTest::keyClick(&window, Qt::Key_N, Qt::ControlModifier);
    QVERIFY(start->isVisible());
}

void TestEditing::otherWords()
{
    Bench bench;
    CommandField* field = bench.window.commandField();
    const std::pair<const char*, const char*> searches[] {{"kv dtype", "Cache element type"},
        {"context", "Configured maximum"}, {"precision", "Cache element type"},
        {"max_num_seqs", "Sequences in a batch"}};
    for (const auto& [words, title] : searches) {
        field->setFocus(Qt::ShortcutFocusReason);
        field->clear();
        QTest::keyClicks(field, words);
        if (QByteArray(words) != "max_num_seqs")
            QVERIFY2(field->listed().contains(title), words);
        else
            QVERIFY(!field->listed().isEmpty());
        QTest::keyClick(field, Qt::Key_Escape);
    }
}

void TestEditing::growthTakesItsOwnNotation()
{
    Bench bench;
    QVERIFY(bench.window.openPath(example("gpt-oss-120b.kvplan")));
    bench.window.enterPage("worksheet");
    auto* view = qobject_cast<QTreeView*>(QApplication::focusWidget());
    QVERIFY(view);
    QModelIndex cell;
    QAbstractItemModel* model = view->model();
    for (int row = 0; row < model->rowCount(); ++row) {
        for (int column = 0; column < model->columnCount(); ++column) {
            if (model->index(row, column).data().toString() == "min(v, 128)")
                cell = model->index(row, column);
        }
    }
    QVERIFY(cell.isValid());
    view->setCurrentIndex(cell);
    const auto limit = [&] {
        for (const LayerGroup& group : bench.document().plan().worksheet.groups) {
            for (const StateTensor& tensor : group.tensors) {
                if (tensor.growth.limit)
                    return *tensor.growth.limit;
            }
        }
        return std::int64_t {0};
    };
    QCOMPARE(limit(), 128);
    const auto enter = [&](const QString& text) {
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete); // the editor before this one
        view->setCurrentIndex(cell);
        QTest::keyClick(view, Qt::Key_F2);
        auto* editor = view->findChild<QLineEdit*>();
        editor->selectAll();
        QTest::keyClicks(editor, text);
        QTest::keyClick(editor, Qt::Key_Return);
    };
    enter("min(v, 4096)");
    QCOMPARE(limit(), 4096);
    enter("256");
    QCOMPARE(limit(), 256);
    enter("v");
    QCOMPARE(limit(), 0);
    enter("min(v,64)");
    QCOMPARE(limit(), 64);
}

/// As many ranks as the field takes do not stop the window: what is the same for all is computed once.
void TestEditing::manyRanks()
{
    Bench bench;
    bench.window.showPage("worksheet");
    std::string id = bench.document().plan().worksheet.groups.front().id;
    for (const StateTensor& tensor : bench.document().plan().worksheet.groups.front().tensors)
        QVERIFY(
            bench.document()
                .setField(QString::fromStdString("worksheet.groups." + id + ".tensors." + tensor.id + ".heads"), "1")
                .ok());
    QElapsedTimer timer;
    timer.start();
    QVERIFY(bench.document().setField("deployment.tp", "65536").ok());
    QCoreApplication::processEvents();
    QVERIFY(bench.document().estimate());
    QCOMPARE(bench.document().estimate()->engine.ranks.size(), std::size_t(65536));
    QVERIFY(bench.document().figure("ranks.65535.bytesPerToken"));
    QVERIFY(!bench.document().figure("ranks.65536.bytesPerToken"));
    QVERIFY2(timer.elapsed() < 2000, qPrintable(QString::number(timer.elapsed())));
}

QTEST_MAIN(TestEditing)
#include "tst_editing.moc"
