// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/mainwindow.h"

#include "blockmap/blockmappage.h"
#include "capacity/capacitypage.h"
#include "deployment/deploymentpage.h"
#include "explain/explainpanel.h"
#include "forms/fieldform.h"
#include "live/liveprobepage.h"
#include "models/explainpath.h"
#include "models/numbertext.h"
#include "plan/plan.h"
#include "prediction/predictionnotice.h"
#include "prediction/predictionpage.h"
#include "prediction/predictionrunner.h"
#include "problems/importnotice.h"
#include "problems/problemspanel.h"
#include "report/reportpage.h"
#include "settings/settingsdialog.h"
#include "shell/commandfield.h"
#include "shell/fieldhelp.h"
#include "shell/filenotice.h"
#include "shell/messagebar.h"
#include "shell/page.h"
#include "shell/pendingedits.h"
#include "shell/rail.h"
#include "style/elidedlabel.h"
#include "style/focusframe.h"
#include "style/icons.h"
#include "style/plaintext.h"
#include "style/workbenchstyle.h"
#include "tenants/tenantspage.h"
#include "workload/workloadpage.h"
#include "worksheet/startpanel.h"
#include "worksheet/worksheetpage.h"

#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenuBar>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolBar>
#include <QToolButton>
#include <QUndoStack>
#include <QVBoxLayout>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr QLatin1String refusalCause("refused");
constexpr QLatin1String inputCause("input"); // what somebody did on the page; gone with the page

} // namespace

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent)
    , m_predictions(new PredictionRunner(m_document, this))
    , m_rail(new Rail(this))
    , m_pages(new QStackedWidget(this))
    , m_message(new MessageBar(this))
{
    setObjectName(QStringLiteral("mainWindow"));
    setAcceptDrops(true);
    useWorkbenchStyle();
    showTextPlain();
    new FocusFrame(this);
    qApp->installEventFilter(new UndoKeys(this));
    m_document.setCommitPending([this] { return commitPending(); });

    auto* right = new QVBoxLayout;
    right->setContentsMargins(0, 0, 0, 0);
    right->setSpacing(0);
    right->addWidget(m_pages, 1);
    auto* central = new QWidget(this);
    auto* layout = new QHBoxLayout(central);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_rail);
    layout->addLayout(right, 1);
    setCentralWidget(central);

    makeDocks();
    makeActions();
    makeStatusBar();
    addPage(new WorksheetPage(m_document, this), QStringLiteral("worksheet"));
    connectStart();
    addPage(new DeploymentPage(m_document, this), QStringLiteral("deployment"));
    addPage(new TenantsPage(m_document, this), QStringLiteral("tenants"));
    addPage(new WorkloadPage(m_document, this), QStringLiteral("workload"));
    auto* blockMap = new BlockMapPage(m_document, this);
    auto* prediction = new PredictionPage(m_document, *m_predictions, this);
    addPage(blockMap, QStringLiteral("blockmap"));
    addPage(new CapacityPage(m_document, this), QStringLiteral("capacity"));
    addPage(prediction, QStringLiteral("prediction"));
    connect(prediction, &PredictionPage::requestActivated, this, [this, blockMap](quint32 request) {
        showPage(QStringLiteral("blockmap"));
        blockMap->showRequest(request);
    });
    new PredictionNotice(m_document, *m_predictions, *m_message, this);
    addLiveProbe();
    auto* report = new ReportPage(m_document, this);
    addPage(report, QStringLiteral("report"));
    QMenu* file = menuBar()->actions().front()->menu();
    file->insertAction(file->actions().back(), report->exportAction());
    auto* bar = findChild<QToolBar*>(QStringLiteral("mainToolBar"));
    bar->addSeparator();
    bar->addAction(report->exportAction());
    qobject_cast<QToolButton*>(bar->widgetForAction(report->exportAction()))
        ->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    makeCommandField();
    connect(m_message, &MessageBar::shownChanged, this, [this] { currentPage()->showMessage(m_message->isShown()); });
    connect(&m_document, &PlanDocument::refusalCleared, this, [this] { m_message->dismissCause(refusalCause); });
    auto* files = new FileNotice(m_document, *m_message, this);
    connect(files, &FileNotice::reopenRequested, this, [this] { openAsked(m_document.path()); });
    m_imported = new ImportNotice(m_document, *m_message, this);
    connect(m_imported, &ImportNotice::goToField, this, &MainWindow::goToField);
    connect(m_rail, &QListWidget::currentRowChanged, this, &MainWindow::currentPageChanged);
    connect(&m_document, &PlanDocument::fileChanged, this, &MainWindow::refreshTitle);
    connect(&m_document, &PlanDocument::planChanged, this, [this] {
        refreshTitle();
        refreshBadges();
    });
    connect(&m_document, &PlanDocument::reset, this, [this] {
        m_selectionStatus->setText({});
        m_savedStatus->setText({});
        m_message->dismiss(); // what it says is of another plan
    });
    m_rail->setCurrentRow(0);
    orderTabs();
    refreshTitle();
    refreshBadges();
    refreshRecent();
    openAtFittingSize();
}

MainWindow::~MainWindow()
{
    // An editor that is still open commits as it loses the focus: now, while there is a document.
    if (QWidget* focus = focusWidget())
        focus->clearFocus();
}

PlanDocument& MainWindow::document()
{
    return m_document;
}

void MainWindow::addPage(Page* page, const QString& icon)
{
    m_pages->addWidget(page);
    m_rail->addPage(gui::icon(icon), page->name());
    if (page->side())
        m_sides->addWidget(page->side());
    connect(page, &Page::figureSelected, m_explain, &ExplainPanel::showFigure);
    connect(page, &Page::figureChanged, m_explain, &ExplainPanel::refresh);
    if (const auto* source = dynamic_cast<const ExplanationSource*>(page))
        m_explain->addSource(source);
    connect(page, &Page::selectionText, this, [this, page](const QString& text) {
        if (page == currentPage())
            m_selectionStatus->setText(text);
    });
    static const QStringList inputPages {QStringLiteral("worksheet"), QStringLiteral("deployment"),
        QStringLiteral("tenants"), QStringLiteral("workload")};
    const QString cause = inputPages.contains(page->id()) ? QString(inputCause) : QString();
    connect(page, &Page::message, this, [this, cause](const QString& text) {
        m_message->show(text, {}, text == m_document.refusal() ? QString(refusalCause) : cause);
    });
    connect(page, &Page::done, m_message, &MessageBar::showDone);
    connect(page, &Page::badgeChanged, this, &MainWindow::refreshBadges);
    connect(page, &Page::badgeChanged, this, &MainWindow::refreshSource);
    connect(page, &Page::sourceTextChanged, this, &MainWindow::refreshSource);
    connect(page, &Page::fieldRequested, this, &MainWindow::goToField);
    connect(page, &Page::sideRequested, this, &MainWindow::showSide);
}

void MainWindow::connectStart()
{
    auto* start = findChild<StartPanel*>();
    connect(start, &StartPanel::libraryRequested, this, &MainWindow::newPlan);
    connect(start, &StartPanel::openRequested, this, &MainWindow::openDialog);
    connect(start, &StartPanel::folderRequested, this, &MainWindow::openFolderDialog);
    connect(start, &StartPanel::exampleRequested, this, &MainWindow::openExample);
    // Not at once: the list that the button stands in is filled anew.
    connect(start, &StartPanel::recentRequested, this, &MainWindow::openAsked, Qt::QueuedConnection);
}

void MainWindow::addLiveProbe()
{
    auto* live = new LiveProbePage(m_document, this);
    addPage(live, QStringLiteral("liveprobe"));
    auto* bar = findChild<QToolBar*>(QStringLiteral("mainToolBar"));
    m_runMenu->insertAction(m_stop, live->runAction());
    bar->insertAction(m_stop, live->runAction());
    if (auto* button = qobject_cast<QToolButton*>(bar->widgetForAction(live->runAction())))
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    // One Stop for whatever runs.
    QAction* stop = live->stopAction();
    stop->setShortcut({});
    connect(m_stop, &QAction::triggered, stop, &QAction::trigger);
    const auto refresh = [this, stop] { m_stop->setEnabled(stop->isEnabled() || m_predictions->isRunning()); };
    connect(stop, &QAction::enabledChanged, this, refresh);
    connect(m_predictions, &PredictionRunner::started, this, refresh);
    connect(m_predictions, &PredictionRunner::finished, this, refresh);
    connect(live->runAction(), &QAction::triggered, this, [this] {
        m_message->dismiss(); // what it says is of an earlier run
        showPage(QStringLiteral("liveprobe"));
    });
    auto* worker = new QLabel(live->controller().statusText(), this);
    worker->setObjectName(QStringLiteral("workerStatus"));
    statusBar()->addWidget(worker);
    connect(live, &LiveProbePage::statusChanged, worker, &QLabel::setText);
}

void MainWindow::makeDocks()
{
    m_explain = new ExplainPanel(m_document, this);
    m_problems = new ProblemsPanel(m_document, this);
    m_sides = new QStackedWidget(this);
    const auto dock = [this](const char* name, const QString& title, QWidget* inside) {
        auto* out = new QDockWidget(title, this);
        out->setObjectName(QString::fromLatin1(name));
        out->setWidget(inside);
        out->setMinimumWidth(240);
        addDockWidget(Qt::RightDockWidgetArea, out);
        return out;
    };
    m_explainDock = dock("explainDock", tr("Explain"), m_explain);
    m_problemsDock = dock("problemsDock", tr("Problems"), m_problems);
    m_sideDock = dock("sideDock", tr("Fields"), m_sides);
    setTabPosition(Qt::RightDockWidgetArea, QTabWidget::North);
    connect(m_explain, &ExplainPanel::goToField, this, &MainWindow::goToField);
    // A field that is being edited is a number too.
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
        if (now && isAncestorOf(now) && !m_explain->isAncestorOf(now) && !fieldUnder(*now).isEmpty())
            m_explain->showFigure(fieldPath(fieldUnder(*now)));
    });
    connect(m_problems, &ProblemsPanel::goToField, this, &MainWindow::goToField);
    connect(m_problems, &ProblemsPanel::summaryChanged, this, &MainWindow::refreshDockTitles);
}

void MainWindow::makeActions()
{
    const auto icon = [](const char* name) { return gui::icon(QString::fromLatin1(name)); };
    QMenu* file = menuBar()->addMenu(tr("&File"));
    file->addAction(tr("&New…"), QKeySequence::New, this, &MainWindow::newPlan);
    QAction* open = file->addAction(icon("open"), tr("&Open…"), QKeySequence::Open, this, &MainWindow::openDialog);
    file->addAction(tr("Open &folder…"), QKeySequence(tr("Ctrl+Shift+O")), this, &MainWindow::openFolderDialog);
    m_recent = file->addMenu(tr("Open &recent"));
    QMenu* examples = file->addMenu(tr("Open an &example"));
    for (const auto& [name, title] : PlanDocument::examples())
        examples->addAction(title, this, [this, name = name] { openExample(name); });
    QAction* saveAction = file->addAction(icon("save"), tr("&Save"), QKeySequence::Save, this, [this] { save(); });
    file->addAction(tr("Save &as…"), QKeySequence(tr("Ctrl+Shift+S")), this, [this] { saveAs(); });
    file->addAction(tr("Save the &model to the own library…"), this, &MainWindow::saveModel);
    file->addSeparator();
    file->addAction(tr("&Quit"), QKeySequence(tr("Ctrl+Q")), this, &QWidget::close);

    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    QAction* undo = m_document.undoStack()->createUndoAction(this, tr("&Undo"));
    undo->setShortcut(QKeySequence(tr("Ctrl+Z")));
    undo->setIcon(icon("undo"));
    QAction* redo = m_document.undoStack()->createRedoAction(this, tr("&Redo"));
    redo->setShortcut(QKeySequence(tr("Ctrl+Shift+Z")));
    redo->setIcon(icon("redo"));
    edit->addAction(undo);
    edit->addAction(redo);
    edit->addSeparator();
    edit->addAction(
        tr("Se&ttings…"), QKeySequence(tr("Ctrl+,")), this, [this] { SettingsDialog::open(m_document, this); });

    for (int i = 0; i < 9; ++i) {
        auto* action = new QAction(this);
        action->setShortcut(QKeySequence(QStringLiteral("Ctrl+%1").arg(i + 1)));
        connect(action, &QAction::triggered, this, [this, i] {
            if (i < m_rail->count())
                enterPage(pageIds().at(i));
        });
        addAction(action);
    }
    makeViewMenu();

    m_runMenu = menuBar()->addMenu(tr("&Run"));
    QAction* predict = m_runMenu->addAction(icon("predict"), tr("&Predict"), QKeySequence(Qt::Key_F5), this, [this] {
        m_predictions->start();
        currentPage()->predict();
    });
    m_stop = m_runMenu->addAction(
        icon("stop"), tr("&Stop"), QKeySequence(Qt::Key_Escape), m_predictions, &PredictionRunner::cancel);
    m_stop->setEnabled(false);

    QMenu* help = menuBar()->addMenu(tr("&Help"));
    help->addAction(tr("&Help for what has the focus"), QKeySequence(Qt::Key_F1), this, &MainWindow::showHelp);
    help->addAction(tr("&About KV Workbench"), this, [this] {
        m_message->showDone(tr("KV Workbench %1. The window is under GPL-3.0-or-later, its core under Apache-2.0.")
                                .arg(QApplication::applicationVersion()));
    });

    QToolBar* bar = addToolBar(tr("Main"));
    bar->setObjectName(QStringLiteral("mainToolBar"));
    bar->setMovable(false);
    bar->setIconSize({16, 16});
    bar->addAction(open);
    bar->addAction(saveAction);
    bar->addSeparator();
    bar->addAction(undo);
    bar->addAction(redo);
    bar->addSeparator();
    for (QAction* action : {predict, m_stop}) {
        bar->addAction(action);
        qobject_cast<QToolButton*>(bar->widgetForAction(action))->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    }
}

void MainWindow::makeStatusBar()
{
    m_selectionStatus = new ElidedLabel({}, this);
    m_sourceStatus = new QLabel(this);
    m_savedStatus = new QLabel(this);
    statusBar()->addWidget(m_selectionStatus, 1);
    statusBar()->addWidget(m_sourceStatus);
    statusBar()->addPermanentWidget(m_savedStatus);
}

QStringList MainWindow::pageIds() const
{
    QStringList out;
    for (int i = 0; i < m_pages->count(); ++i)
        out.push_back(m_pages->widget(i)->objectName());
    return out;
}

Page* MainWindow::page(const QString& id) const
{
    for (int i = 0; i < m_pages->count(); ++i) {
        if (m_pages->widget(i)->objectName() == id)
            return qobject_cast<Page*>(m_pages->widget(i));
    }
    return nullptr;
}

void MainWindow::showPage(const QString& id)
{
    const auto row = static_cast<int>(pageIds().indexOf(id));
    if (row >= 0)
        m_rail->setCurrentRow(row);
}

void MainWindow::enterPage(const QString& id)
{
    showPage(id);
    if (QWidget* view = page(id)->mainView())
        view->setFocus(Qt::TabFocusReason);
}

/// Rail, then page by page as each has it, then the docks.
void MainWindow::orderTabs()
{
    QWidgetList order {m_rail};
    for (int i = 0; i < m_pages->count(); ++i)
        order += qobject_cast<Page*>(m_pages->widget(i))->tabOrder();
    for (const QWidget* dock : {m_explainDock, m_problemsDock, m_sideDock}) {
        for (QWidget* inside : dock->findChildren<QWidget*>()) {
            if (inside->focusPolicy() != Qt::NoFocus)
                order.push_back(inside);
        }
    }
    // Menus and lists that drop down are windows of their own.
    order.erase(
        std::remove_if(order.begin(), order.end(), [this](const QWidget* one) { return one->window() != this; }),
        order.end());
    for (qsizetype i = 1; i < order.size(); ++i)
        setTabOrder(order[i - 1], order[i]);
}

bool MainWindow::commitPending()
{
    const std::optional<RefusedEdit> refused = commitPendingEdits(*this);
    if (!refused)
        return true;
    for (int i = 0; i < m_pages->count() && refused->form; ++i) {
        const auto* page = qobject_cast<Page*>(m_pages->widget(i));
        const bool aside = page->side() && page->side()->isAncestorOf(refused->form);
        if (!aside && !page->isAncestorOf(refused->form))
            continue;
        m_rail->setCurrentRow(i);
        if (aside)
            showSide();
        refused->form->showField(refused->field);
        break;
    }
    return false;
}

MessageBar* MainWindow::messageBar() const
{
    return m_message;
}

ExplainPanel* MainWindow::explain() const
{
    return m_explain;
}

CommandField* MainWindow::commandField() const
{
    return m_commandField;
}

void MainWindow::currentPageChanged(int row)
{
    saveLayout();
    m_selectionStatus->setText({});
    m_pages->setCurrentIndex(row);
    for (const QLatin1String cause : {inputCause, refusalCause})
        m_message->dismissCause(cause); // it was about what is no longer seen
    if (Page* page = currentPage()) {
        m_problems->setPagePrefixes(page->fieldPrefixes());
        page->hostMessage(m_message);
        page->showMessage(m_message->isShown());
    }
    refreshSource();
    restoreLayout();
}

void MainWindow::refreshTitle()
{
    setWindowTitle(tr("%1[*] — KV Workbench").arg(m_document.displayName()));
    setWindowModified(m_document.isModified());
    refreshSource();
}

/// Where the page's numbers come from: its own word, or the estimate and its rules.
void MainWindow::refreshSource()
{
    const Page* page = currentPage();
    const QString source = page ? page->sourceText() : QString();
    if (!source.isEmpty())
        m_sourceStatus->setText(tr("Source: %1").arg(source));
    else
        m_sourceStatus->setText(m_document.estimate()
                ? tr("Source: estimate, %1").arg(QString::fromStdString(m_document.estimate()->engine.rules))
                : QString());
}

void MainWindow::refreshBadges()
{
    for (int i = 0; i < m_pages->count(); ++i) {
        const auto* page = qobject_cast<Page*>(m_pages->widget(i));
        const QStringList prefixes = page->fieldPrefixes();
        const ProblemCount count
            = prefixes.isEmpty() ? ProblemCount() : countProblems(m_document.diagnostics(), prefixes);
        if (const QString badge = page->badge(); !badge.isEmpty())
            m_rail->setBadge(i, badge, badge == QStringLiteral("▶") ? Rail::Quiet : Rail::Warning, badge);
        else if (count.errors > 0)
            m_rail->setBadge(i, QStringLiteral("%1 ✗").arg(count.errors), Rail::Error, count.text());
        else if (count.warnings > 0)
            m_rail->setBadge(i, QStringLiteral("%1 !").arg(count.warnings), Rail::Warning, count.text());
        else
            m_rail->setBadge(i, {}, Rail::Quiet, {});
    }
}

} // namespace kvw::gui
