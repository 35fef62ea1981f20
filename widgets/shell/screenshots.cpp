// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/screenshots.h"

#include "live/liveprobepage.h"
#include "prediction/predictionrunner.h"
#include "shell/mainwindow.h"

#include <QAction>
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

constexpr int longest = 120'000; // milliseconds

/// Until `busy` is over, within reason.
template <typename Busy>
void waitWhile(const Busy& busy)
{
    QElapsedTimer timer;
    timer.start();
    while (busy() && timer.elapsed() < longest)
        settle(50);
}

/// Predicts and runs live, so that every page has something real to show. Waits for each as long as it takes, within
/// reason.
void runAll(MainWindow& window)
{
    if (auto* runner = window.findChild<PredictionRunner*>()) {
        runner->start();
        waitWhile([&] { return runner->isRunning(); });
    }
    if (auto* live = qobject_cast<LiveProbePage*>(window.page(QStringLiteral("liveprobe")))) {
        window.showPage(QStringLiteral("liveprobe"));
        waitWhile([&] { return !live->runAction()->isEnabled(); });
        live->runAction()->trigger();
        settle(100);
        waitWhile([&] { return live->controller().isRunning(); });
    }
}

} // namespace

int takeScreenshots(MainWindow& window, const QString& folder, QSize size, const QString& suffix)
{
    QDir().mkpath(folder);
    window.setWindowState(Qt::WindowNoState);
    window.show();
    window.resize(size);
    settle(300);
    runAll(window);
    int written = 0;
    for (const QString& id : window.pageIds()) {
        window.showPage(id);
        window.goToFigure(QStringLiteral("idealBytes")); // Explain shows what a total looks like
        window.showPage(id);
        settle(400); // what is done in the background has begun by then
        waitWhile([&] { return window.page(id)->isBusy(); });
        settle(200);
        if (!window.grab().save(QStringLiteral("%1/%2-%3.png").arg(folder, id, suffix)))
            return -1;
        ++written;
    }
    return written;
}

} // namespace kvw::gui
