// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/readiness.h"

#include <QCoreApplication>
#include <QEvent>
#include <QTimer>
#include <QWidget>

#include <cstdio>

namespace kvw::gui {

namespace {

class FirstPaint : public QObject
{
public:
    using QObject::QObject;

    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (event->type() == QEvent::Paint && !m_seen) {
            m_seen = true;
            // A timer of 0 ms fires when no event waits any more; those that the first paint asked for come before it.
            QTimer::singleShot(0, this, [this] { QTimer::singleShot(0, this, &FirstPaint::end); });
        }
        return QObject::eventFilter(watched, event);
    }

private:
    static void end()
    {
        std::puts("ready");
        std::fflush(stdout);
        QCoreApplication::quit();
    }

    bool m_seen = false;
};

} // namespace

void endWhenReady(QWidget& window)
{
    window.installEventFilter(new FirstPaint(&window));
}

} // namespace kvw::gui
