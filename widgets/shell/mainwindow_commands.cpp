// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The View menu, the command field, help, and the ways to fields and figures.

#include "explain/explainpanel.h"
#include "models/numbertext.h"
#include "newplan/newplandialog.h"
#include "plan/field_table.h"
#include "plan/model_library.h"
#include "problems/problemspanel.h"
#include "shell/commandfield.h"
#include "shell/fieldhelp.h"
#include "shell/mainwindow.h"
#include "shell/messagebar.h"
#include "shell/page.h"
#include "shell/rail.h"
#include "style/theme.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>
#include <QStackedWidget>
#include <QToolBar>
#include <QWhatsThis>

#include <memory>

namespace kvw::gui {

void MainWindow::makeViewMenu()
{
    QMenu* view = menuBar()->addMenu(tr("&View"));
    view->addAction(m_explainDock->toggleViewAction());
    view->addAction(m_problemsDock->toggleViewAction());
    view->addAction(m_sideDock->toggleViewAction());
    view->addAction(tr("&Reset this page's layout"), this, &MainWindow::applyDefaultDocks);
    view->addSeparator();
    view->addAction(tr("Go to &Explain, and back"), QKeySequence(Qt::Key_F4), this, &MainWindow::toggleExplain);
    view->addAction(tr("&Pin Explain"), QKeySequence(tr("Ctrl+Space")), this,
        [this] { m_explain->setPinned(!m_explain->isPinned()); });
    const auto step = [this](int direction) {
        if (m_document.diagnostics().empty())
            m_message->showDone(tr("The plan has no problems."));
        else
            m_problems->step(direction);
    };
    view->addAction(tr("&Next problem"), QKeySequence(Qt::Key_F8), this, [step] { step(1); });
    view->addAction(tr("Pre&vious problem"), QKeySequence(tr("Shift+F8")), this, [step] { step(-1); });
    view->addAction(tr("&Find a command or number…"), QKeySequence(tr("Ctrl+K")), this,
        [this] { m_commandField->setFocus(Qt::ShortcutFocusReason); });
    view->addSeparator();
    QMenu* theme = view->addMenu(tr("&Theme"));
    auto* group = new QActionGroup(this);
    for (const auto& [name, title] : {std::pair {Theme::System, tr("As the &system")},
             std::pair {Theme::Light, tr("&Light")}, std::pair {Theme::Dark, tr("&Dark")}}) {
        QAction* action = theme->addAction(title, this, [name = name] { chooseTheme(name); });
        action->setCheckable(true);
        action->setChecked(chosenTheme() == name);
        group->addAction(action);
        connect(theme, &QMenu::aboutToShow, action,
            [action, name = name] { action->setChecked(chosenTheme() == name); }); // the settings choose too
    }
}

void MainWindow::makeCommandField()
{
    auto* bar = findChild<QToolBar*>(QStringLiteral("mainToolBar"));
    auto* spacer = new QWidget(bar);
    spacer->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    bar->addWidget(spacer);
    m_commandField = new CommandField(bar);
    m_commandField->setFixedWidth(248);
    m_commandField->setSource([this] { return commands(); });
    bar->addWidget(m_commandField);
}

namespace {

void collectActions(QVector<Command>& out, const QList<QAction*>& actions, const QString& menu = {}, bool top = true)
{
    for (QAction* action : actions) {
        if (action->isSeparator() || action->text().isEmpty() || !action->isVisible())
            continue;
        if (action->menu()) {
            // Of a menu in a menu each command is named with it: "Theme: Dark".
            QString title = action->text();
            title.remove(QLatin1Char('&'));
            collectActions(out, action->menu()->actions(), top ? QString() : title + QStringLiteral(": "), false);
            continue;
        }
        QString text = menu + action->text();
        text.remove(QLatin1Char('&'));
        out.push_back({text, MainWindow::tr("command"), action->shortcut().toString(QKeySequence::NativeText), {},
            [action] { action->trigger(); }, action->isEnabled()});
    }
}

/// What else people call a field: words of engines and of papers.
QString otherWords(const QString& path)
{
    static const QVector<std::pair<QString, QString>> words {
        {QStringLiteral("elementType"), QStringLiteral("kv cache dtype precision quantization quantisation fp8 bf16")},
        {QStringLiteral("model.dtype"), QStringLiteral("precision weights")},
        {QStringLiteral("limits.maxModelLen"), QStringLiteral("context length window sequence max_model_len kv")},
        {QStringLiteral("limits.concurrentSequences"), QStringLiteral("users parallel batch")},
        {QStringLiteral("engine.maxSequences"), QStringLiteral("batch size max_num_seqs")},
        {QStringLiteral("engine.maxBatchedTokens"), QStringLiteral("max_num_batched_tokens chunked prefill")},
        {QStringLiteral("engine.blockTokens"), QStringLiteral("kv page size block_size")},
        {QStringLiteral("budget.kvBytesPerRank"), QStringLiteral("kv cache memory pool")},
        {QStringLiteral("budget.utilization"), QStringLiteral("gpu_memory_utilization fraction")},
        {QStringLiteral("deployment.memoryBytes"), QStringLiteral("vram hbm gpu")},
        {QStringLiteral("deployment.tp"), QStringLiteral("tp tensor gpus")},
        {QStringLiteral("deployment.pp"), QStringLiteral("pp gpus")},
        {QStringLiteral("reuse.prefixCaching"), QStringLiteral("apc automatic prefix cache kv")},
        {QStringLiteral(".limit"), QStringLiteral("sliding window")},
        {QStringLiteral(".heads"), QStringLiteral("kv heads gqa")},
        {QStringLiteral(".width"), QStringLiteral("head_dim")},
        {QStringLiteral("saltSource"), QStringLiteral("cache_salt")},
    };
    QStringList out;
    for (const auto& [end, other] : words) {
        if (path.endsWith(end))
            out.push_back(other);
    }
    return out.join(QLatin1Char(' '));
}

} // namespace

QVector<Command> MainWindow::commands()
{
    QVector<Command> out;
    collectActions(out, menuBar()->actions());
    for (int i = 0; i < m_pages->count(); ++i) {
        const auto* page = qobject_cast<Page*>(m_pages->widget(i));
        out.push_back({page->name(), tr("page"), QStringLiteral("Ctrl+%1").arg(i + 1), page->purpose(),
            [this, i] { enterPage(pageIds().at(i)); }});
        if (page == currentPage())
            collectActions(out, page->actions());
    }
    forEachField(m_document.plan(), [&](const FieldReference& field) {
        const QString path = QString::fromStdString(field.path);
        if (path.startsWith(QLatin1String("evidence.")) || path.startsWith(QLatin1String("runs.")))
            return;
        const QString title = fromStd(field.field->title);
        const bool own = fromStd(field.field->path) == path;
        out.push_back({own ? title : tr("%1 of %2").arg(title, path.section(QLatin1Char('.'), 0, -2)), tr("field"),
            QString::fromStdString(fieldDisplay(*field.field, field.slot)), path, [this, path] { goToField(path); },
            true, otherWords(path)});
    });
    addModelCommands(out);
    if (const Estimate* estimate = m_document.estimate()) {
        for (const auto& [path, quantity] : figuresOf(*estimate)) {
            const QString at = QString::fromStdString(path);
            const NumberText text = numberText(quantity);
            out.push_back({QString::fromStdString(quantity.name()), tr("figure"),
                (text.number + QLatin1Char(' ') + text.unit).trimmed(), at, [this, at] { goToFigure(at); }});
        }
    }
    return out;
}

/// A new plan for each model of the user's own library and of the built-in one; what was refused of those says why.
void MainWindow::addModelCommands(QVector<Command>& out)
{
    const auto add = [&](const std::shared_ptr<const LibraryModel>& model) {
        out.push_back(
            {fromStd(model->id), tr("model"), model->own ? tr("own library, new plan") : tr("library, new plan"),
                fromStd(model->family) + QLatin1Char(' ') + fromStd(model->architecture), [this, model] {
                    if (confirmDiscard())
                        openModel(planFromLibrary(*model));
                }});
    };
    std::vector<Error> refused;
    for (LibraryModel& model : ownModels(NewPlanDialog::defaultLibraryFolder().toStdString(), refused))
        add(std::make_shared<const LibraryModel>(std::move(model)));
    for (const LibraryModel& model : builtInModels())
        add(std::shared_ptr<const LibraryModel>(std::shared_ptr<void>(), &model)); // they live as long as the program
    for (const Error& error : refused)
        out.push_back({QStringLiteral("✗ ") + QString::fromStdString(error.text()), tr("model"), tr("own library"), {},
            [] {}, false});
}

void MainWindow::goToField(const QString& path)
{
    if (path.isEmpty())
        return;
    // The current page first: several pages may edit the same field.
    for (int i = 0; i < m_pages->count(); ++i) {
        const int row = (m_pages->currentIndex() + i) % m_pages->count();
        auto* candidate = qobject_cast<Page*>(m_pages->widget(row));
        if (candidate && candidate->showField(path)) {
            m_rail->setCurrentRow(row);
            candidate->showField(path); // focus needs a page that is shown
            return;
        }
    }
    m_message->show(tr("%1 is not edited on a page of this window yet.").arg(path));
}

void MainWindow::goToFigure(const QString& path)
{
    for (int i = 0; i < m_pages->count(); ++i) {
        const int row = (m_pages->currentIndex() + i) % m_pages->count();
        auto* candidate = qobject_cast<Page*>(m_pages->widget(row));
        if (candidate && candidate->showFigure(path)) {
            m_rail->setCurrentRow(row);
            break;
        }
    }
    m_explainDock->show();
    m_explainDock->raise();
    m_explain->showFigure(path);
}

void MainWindow::toggleExplain()
{
    QWidget* focus = focusWidget();
    if (focus && m_explain->isAncestorOf(focus) && m_beforeExplain) {
        m_beforeExplain->setFocus(Qt::ShortcutFocusReason);
        return;
    }
    m_beforeExplain = focus;
    if (focus)
        connect(focus, &QObject::destroyed, this, [this, focus] {
            if (m_beforeExplain == focus)
                m_beforeExplain = nullptr;
        });
    m_explainDock->show();
    m_explainDock->raise();
    m_explain->focusInputs();
}

void MainWindow::showHelp()
{
    QWidget* focus = focusWidget();
    QString text;
    QPoint at = mapToGlobal(rect().center());
    if (focus) {
        text = helpFor(m_document, fieldUnder(*focus));
        at = focus->mapToGlobal(QPoint(0, focus->height()));
    }
    if (text.isEmpty() && currentPage())
        text = pageHelp(currentPage()->name(), currentPage()->purpose());
    QWhatsThis::showText(at, text, focus ? focus : this);
}

} // namespace kvw::gui
