// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/screenshots.h"

#include "shell/mainwindow.h"

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QPixmap>

namespace kvw::gui {

namespace {

/// Lets layouts, timers and background previews come to rest.
void settle(int milliseconds)
{
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < milliseconds)
        QApplication::processEvents(QEventLoop::AllEvents, 20);
}

} // namespace

int takeScreenshots(MainWindow& window, const QString& folder, QSize size, const QString& suffix)
{
    QDir().mkpath(folder);
    window.setWindowState(Qt::WindowNoState);
    window.show();
    window.resize(size);
    settle(300);
    int written = 0;
    for (const QString& id : window.pageIds()) {
        window.showPage(id);
        window.goToFigure(QStringLiteral("idealBytes")); // Explain shows what a total looks like
        window.showPage(id);
        settle(500);
        if (!window.grab().save(QStringLiteral("%1/%2-%3.png").arg(folder, id, suffix)))
            return -1;
        ++written;
    }
    return written;
}

} // namespace kvw::gui
