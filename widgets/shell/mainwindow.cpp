// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/mainwindow.h"

#include "deployment/deploymentpage.h"
#include "explain/explainpanel.h"
#include "models/numbertext.h"
#include "plan/plan.h"
#include "problems/problemspanel.h"
#include "report/reportpage.h"
#include "shell/messagebar.h"
#include "shell/page.h"
#include "style/icons.h"
#include "worksheet/worksheetpage.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTime>
#include <QToolBar>
#include <QUndoStack>
#include <QVBoxLayout>

namespace kvw::gui {

namespace {

constexpr int mostRecent = 10;
constexpr auto recentKey = "files/recent";

} // namespace

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent)
    , m_rail(new QListWidget(this))
    , m_pages(new QStackedWidget(this))
    , m_message(new MessageBar(this))
{
    setObjectName(QStringLiteral("mainWindow"));
    setAcceptDrops(true);
    resize(1440, 900);
    m_rail->setObjectName(QStringLiteral("rail"));
    m_rail->setAccessibleName(tr("Pages"));
    m_rail->setFixedWidth(132);
    m_rail->setFrameShape(QFrame::NoFrame);
    m_rail->setIconSize({16, 16});
    m_rail->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);

    auto* right = new QVBoxLayout;
    right->setContentsMargins(0, 0, 0, 0);
    right->setSpacing(0);
    right->addWidget(m_message);
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
    addPage(new DeploymentPage(m_document, this), QStringLiteral("deployment"));
    auto* report = new ReportPage(m_document, this);
    addPage(report, QStringLiteral("report"));
    QMenu* file = menuBar()->actions().front()->menu();
    file->insertAction(file->actions().back(), report->exportAction());
    findChild<QToolBar*>(QStringLiteral("mainToolBar"))->addAction(report->exportAction());
    connect(m_rail, &QListWidget::currentRowChanged, this, &MainWindow::currentPageChanged);
    connect(&m_document, &PlanDocument::fileChanged, this, &MainWindow::refreshTitle);
    connect(&m_document, &PlanDocument::planChanged, this, [this] {
        refreshTitle();
        refreshBadges();
    });
    m_rail->setCurrentRow(0);
    refreshTitle();
    refreshBadges();
    refreshRecent();
}

MainWindow::~MainWindow() = default;

PlanDocument& MainWindow::document()
{
    return m_document;
}

void MainWindow::addPage(Page* page, const QString& icon)
{
    m_pages->addWidget(page);
    auto* item = new QListWidgetItem(gui::icon(icon), page->name(), m_rail);
    item->setSizeHint({132, 30});
    connect(page, &Page::figureSelected, m_explain, &ExplainPanel::showFigure);
    connect(page, &Page::selectionText, this, [this](const QString& text) { m_selectionStatus->setText(text); });
    connect(page, &Page::message, this, [this](const QString& text) { m_message->show(text); });
    connect(page, &Page::badgeChanged, this, &MainWindow::refreshBadges);
}

void MainWindow::makeDocks()
{
    m_explain = new ExplainPanel(m_document, this);
    m_problems = new ProblemsPanel(m_document, this);
    m_explainDock = new QDockWidget(tr("Explain"), this);
    m_explainDock->setObjectName(QStringLiteral("explainDock"));
    m_explainDock->setWidget(m_explain);
    m_problemsDock = new QDockWidget(tr("Problems"), this);
    m_problemsDock->setObjectName(QStringLiteral("problemsDock"));
    m_problemsDock->setWidget(m_problems);
    for (QDockWidget* dock : {m_explainDock, m_problemsDock}) {
        dock->setMinimumWidth(240);
        addDockWidget(Qt::RightDockWidgetArea, dock);
    }
    resizeDocks({m_explainDock}, {292}, Qt::Horizontal);
    connect(m_explain, &ExplainPanel::goToField, this, &MainWindow::goToField);
    connect(m_problems, &ProblemsPanel::goToField, this, &MainWindow::goToField);
    connect(m_problems, &ProblemsPanel::summaryChanged, this,
        [this] { m_problemsDock->setWindowTitle(tr("Problems: %1").arg(m_problems->summary())); });
    m_problemsDock->setWindowTitle(tr("Problems: %1").arg(m_problems->summary()));
}

void MainWindow::makeActions()
{
    const auto icon = [](const char* name) { return gui::icon(QString::fromLatin1(name)); };
    QMenu* file = menuBar()->addMenu(tr("&File"));
    QAction* open = file->addAction(icon("open"), tr("&Open…"), QKeySequence::Open, this, &MainWindow::openDialog);
    m_recent = file->addMenu(tr("Open &recent"));
    QAction* saveAction = file->addAction(icon("save"), tr("&Save"), QKeySequence::Save, this, [this] { save(); });
    file->addAction(tr("Save &as…"), QKeySequence(tr("Ctrl+Shift+S")), this, [this] { saveAs(); });
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

    QMenu* view = menuBar()->addMenu(tr("&View"));
    for (int i = 0; i < 9; ++i) {
        auto* action = new QAction(this);
        action->setShortcut(QKeySequence(QStringLiteral("Ctrl+%1").arg(i + 1)));
        connect(action, &QAction::triggered, this, [this, i] {
            if (i < m_rail->count())
                m_rail->setCurrentRow(i);
        });
        addAction(action);
    }
    view->addAction(m_explainDock->toggleViewAction());
    view->addAction(m_problemsDock->toggleViewAction());
    view->addSeparator();
    view->addAction(tr("Go to &Explain"), QKeySequence(Qt::Key_F4), this, [this] {
        m_explainDock->show();
        m_explainDock->raise();
        m_explain->setFocus();
    });
    view->addAction(tr("&Pin Explain"), QKeySequence(tr("Ctrl+Space")), this,
        [this] { m_explain->setPinned(!m_explain->isPinned()); });
    view->addAction(tr("&Next problem"), QKeySequence(Qt::Key_F8), this, [this] { m_problems->step(1); });
    view->addAction(tr("Pre&vious problem"), QKeySequence(tr("Shift+F8")), this, [this] { m_problems->step(-1); });

    QMenu* help = menuBar()->addMenu(tr("&Help"));
    help->addAction(tr("&About KV Workbench"), this, [this] {
        m_message->show(tr("KV Workbench. The window is under GPL-3.0-or-later, its core under Apache-2.0."));
    });

    QToolBar* bar = addToolBar(tr("Main"));
    bar->setObjectName(QStringLiteral("mainToolBar"));
    bar->setMovable(false);
    bar->addAction(open);
    bar->addAction(saveAction);
    bar->addSeparator();
    bar->addAction(undo);
    bar->addAction(redo);
}

void MainWindow::makeStatusBar()
{
    m_selectionStatus = new QLabel(this);
    m_rulesStatus = new QLabel(this);
    m_savedStatus = new QLabel(this);
    statusBar()->addWidget(m_selectionStatus, 1);
    statusBar()->addWidget(m_rulesStatus);
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

MessageBar* MainWindow::messageBar() const
{
    return m_message;
}

ExplainPanel* MainWindow::explain() const
{
    return m_explain;
}

void MainWindow::currentPageChanged(int row)
{
    m_pages->setCurrentIndex(row);
    if (const auto* page = qobject_cast<Page*>(m_pages->currentWidget()))
        m_problems->setPagePrefixes(page->fieldPrefixes());
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

void MainWindow::refreshTitle()
{
    setWindowTitle(tr("%1[*] — KV Workbench").arg(m_document.displayName()));
    setWindowModified(m_document.isModified());
    m_rulesStatus->setText(m_document.estimate()
            ? tr("Rules: %1").arg(QString::fromStdString(m_document.estimate()->engine.rules))
            : QString());
}

void MainWindow::refreshBadges()
{
    for (int i = 0; i < m_pages->count(); ++i) {
        const auto* page = qobject_cast<Page*>(m_pages->widget(i));
        const auto [errors, warnings] = countProblems(m_document.diagnostics(), page->fieldPrefixes());
        QString badge = page->badge();
        if (badge.isEmpty() && errors > 0)
            badge = QStringLiteral("%1 ✗").arg(errors);
        else if (badge.isEmpty() && warnings > 0)
            badge = QStringLiteral("%1 !").arg(warnings);
        m_rail->item(i)->setText(badge.isEmpty() ? page->name() : page->name() + QStringLiteral("  ") + badge);
        m_rail->item(i)->setToolTip(m_rail->item(i)->text());
    }
}

void MainWindow::refreshRecent()
{
    m_recent->clear();
    const QStringList files = QSettings().value(QLatin1String(recentKey)).toStringList();
    for (const QString& file : files) {
        QAction* action = m_recent->addAction(file, this, [this, file] {
            if (confirmDiscard())
                openPath(file);
        });
        action->setEnabled(QFileInfo::exists(file));
    }
    m_recent->setEnabled(!files.isEmpty());
}

bool MainWindow::openPath(const QString& path)
{
    const Result<void> opened = m_document.open(path);
    if (!opened) {
        m_message->show(
            tr("%1 was not opened: %2").arg(QFileInfo(path).fileName(), QString::fromStdString(opened.error().text())));
        return false;
    }
    m_message->dismiss();
    QStringList files = QSettings().value(QLatin1String(recentKey)).toStringList();
    const QString full = QFileInfo(path).absoluteFilePath();
    files.removeAll(full);
    files.prepend(full);
    QSettings().setValue(QLatin1String(recentKey), QStringList(files.mid(0, mostRecent)));
    refreshRecent();
    return true;
}

bool MainWindow::saveTo(const QString& path)
{
    const Result<void> saved = m_document.save(path);
    if (!saved) {
        m_message->show(tr("Not saved: %1").arg(QString::fromStdString(saved.error().text())));
        return false;
    }
    m_savedStatus->setText(tr("Saved %1").arg(QTime::currentTime().toString(QStringLiteral("HH:mm"))));
    return true;
}

bool MainWindow::save()
{
    return m_document.path().isEmpty() ? saveAs() : saveTo(m_document.path());
}

bool MainWindow::saveAs()
{
    const QString path
        = QFileDialog::getSaveFileName(this, tr("Save the plan"), m_document.path(), tr("Plans (*.kvplan)"));
    return !path.isEmpty() && saveTo(path);
}

void MainWindow::openDialog()
{
    if (!confirmDiscard())
        return;
    const QString path = QFileDialog::getOpenFileName(this, tr("Open a plan or a model file"), m_document.path(),
        tr("Plans and config.json (*.kvplan *.json);;All files (*)"));
    if (!path.isEmpty())
        openPath(path);
}

bool MainWindow::confirmDiscard()
{
    if (!m_document.isModified())
        return true;
    const auto answer = QMessageBox::question(this, tr("Unsaved changes"),
        tr("%1 has changes that are not saved.").arg(m_document.displayName()),
        QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Save);
    if (answer == QMessageBox::Save)
        return save();
    return answer == QMessageBox::Discard;
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    event->setAccepted(confirmDiscard());
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.size() == 1 && urls.front().isLocalFile())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    const QString path = event->mimeData()->urls().front().toLocalFile();
    if (confirmDiscard())
        openPath(path);
}

} // namespace kvw::gui
