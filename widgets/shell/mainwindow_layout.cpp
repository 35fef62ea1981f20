// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Where things stand in the window: docks and splitters, remembered for each page and for each of four sizes of the
// window (narrow or wide, low or high), so that a layout that was made on a large screen does not come up on a small
// one.

#include "explain/explainpanel.h"
#include "problems/problemspanel.h"
#include "shell/mainwindow.h"
#include "shell/page.h"
#include "shell/rail.h"

#include <QDockWidget>
#include <QEvent>
#include <QScreen>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QStyle>
#include <QTabBar>

namespace kvw::gui {

namespace {

constexpr int narrowWidth = 1400; // below it the rail shows icons only
constexpr int lowHeight = 800; // below it Problems starts behind Explain
constexpr int dockNarrow = 240;
constexpr int dockWide = 292;
constexpr int layoutVersion = 1; // raised when docks change
constexpr auto geometryKey = "window/geometry";

} // namespace

Page* MainWindow::currentPage() const
{
    return qobject_cast<Page*>(m_pages->currentWidget());
}

QString MainWindow::layoutKey() const
{
    const Page* page = currentPage();
    return QStringLiteral("layout%1/%2/%3-%4")
        .arg(layoutVersion)
        .arg(page ? page->id() : QString(), width() < narrowWidth ? QStringLiteral("narrow") : QStringLiteral("wide"),
            height() < lowHeight ? QStringLiteral("low") : QStringLiteral("high"));
}

void MainWindow::saveLayout()
{
    if (m_layoutKey.isEmpty() || !isVisible())
        return;
    QSettings settings;
    settings.setValue(m_layoutKey + QStringLiteral("/docks"), saveState());
    for (const QSplitter* splitter : currentPage()->findChildren<QSplitter*>()) {
        if (!splitter->objectName().isEmpty() && !splitter->property(automaticProperty).toBool())
            settings.setValue(m_layoutKey + QLatin1Char('/') + splitter->objectName(), splitter->saveState());
    }
}

void MainWindow::restoreLayout()
{
    const Page* page = currentPage();
    if (!isVisible() || !page)
        return;
    m_layoutKey = layoutKey();
    const QSettings settings;
    const QByteArray docks = settings.value(m_layoutKey + QStringLiteral("/docks")).toByteArray();
    if (page->side())
        m_sides->setCurrentWidget(page->side());
    if (docks.isEmpty() || !restoreState(docks))
        applyDefaultDocks();
    else if (!page->side())
        m_sideDock->hide();
    m_sideDock->toggleViewAction()->setVisible(page->side() != nullptr);
    for (QSplitter* splitter : page->findChildren<QSplitter*>()) {
        const QByteArray state = settings.value(m_layoutKey + QLatin1Char('/') + splitter->objectName()).toByteArray();
        if (!splitter->objectName().isEmpty() && !state.isEmpty())
            splitter->setProperty(restoredProperty, splitter->restoreState(state));
    }
    refreshDockTitles();
}

void MainWindow::applyDefaultDocks()
{
    const bool low = height() < lowHeight;
    const Page* page = currentPage();
    for (QDockWidget* dock : {m_explainDock, m_problemsDock, m_sideDock}) {
        removeDockWidget(dock);
        addDockWidget(Qt::RightDockWidgetArea, dock);
        dock->show();
    }
    if (low)
        tabifyDockWidget(m_explainDock, m_problemsDock);
    tabifyDockWidget(m_problemsDock, m_sideDock);
    m_sideDock->setVisible(page->side() != nullptr);
    (low ? m_explainDock : m_problemsDock)->raise();
    const int wanted = width() < narrowWidth ? dockNarrow : dockWide;
    resizeDocks({m_explainDock}, {wanted}, Qt::Horizontal);
    if (!low)
        resizeDocks({m_explainDock, m_problemsDock}, {height() * 6 / 10, height() * 3 / 10}, Qt::Vertical);
}

void MainWindow::adaptToSize()
{
    if (m_rail->isCompact() != (width() < narrowWidth))
        m_rail->setCompact(width() < narrowWidth);
    if (!isVisible() || layoutKey() == m_layoutKey)
        return;
    saveLayout();
    restoreLayout();
}

void MainWindow::showSide()
{
    m_sideDock->show();
    m_sideDock->raise();
}

void MainWindow::refreshDockTitles()
{
    // A tab has room for less than a title bar.
    const bool tabbed = !tabifiedDockWidgets(m_problemsDock).isEmpty();
    m_problemsDock->setWindowTitle(tabbed ? m_problems->shortTitle() : m_problems->title());
    m_problemsDock->setToolTip(m_problems->title());
    if (const Page* page = currentPage(); page && page->side())
        m_sideDock->setWindowTitle(page->sideTitle());
}

void MainWindow::openAtFittingSize()
{
    const QByteArray geometry = QSettings().value(QLatin1String(geometryKey)).toByteArray();
    if (!geometry.isEmpty() && restoreGeometry(geometry))
        return;
    const QSize room = screen()->availableGeometry().size();
    const int frame = style()->pixelMetric(QStyle::PM_TitleBarHeight);
    const QSize wanted(1440, 900);
    resize(wanted.boundedTo(QSize(room.width(), room.height() - frame)));
    if (room.width() < wanted.width() || room.height() < wanted.height() + frame)
        setWindowState(windowState() | Qt::WindowMaximized);
}

void MainWindow::showEvent(QShowEvent* event)
{
    QMainWindow::showEvent(event);
    adaptToSize();
}

void MainWindow::resizeEvent(QResizeEvent* event)
{
    QMainWindow::resizeEvent(event);
    adaptToSize();
}

void MainWindow::changeEvent(QEvent* event)
{
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        // Icons are drawn in the palette's colour; caches of them are not told.
        for (QWidget* widget : findChildren<QWidget*>())
            widget->update();
    }
}

} // namespace kvw::gui
