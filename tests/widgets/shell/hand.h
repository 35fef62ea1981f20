// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QPoint>
#include <QProcess>
#include <QStringList>
#include <QTest>
#include <QWidget>

namespace kvw::test {

/// Presses keys and mouse buttons through the X server, as a hand would: window manager, focus and shortcuts are in
/// between. Events are served meanwhile, so dialogs may open and close.
class Hand
{
public:
    /// A chord as xdotool names it: "ctrl+e", "F5", "Return".
    bool press(const QString& chord) { return run(QStringLiteral("xdotool"), {QStringLiteral("key"), chord}); }
    bool type(const QString& text)
    {
        return run(QStringLiteral("xdotool"),
            {QStringLiteral("type"), QStringLiteral("--delay"), QStringLiteral("4"), QStringLiteral("--"), text});
    }
    /// The left button, at a point of the widget.
    bool click(const QWidget& widget, const QPoint& at)
    {
        const QPoint global = widget.mapToGlobal(at) * widget.devicePixelRatioF();
        return run(QStringLiteral("xdotool"),
            {QStringLiteral("mousemove"), QStringLiteral("--sync"), QString::number(global.x()),
                QString::number(global.y()), QStringLiteral("click"), QStringLiteral("1")});
    }
    bool click(const QWidget& widget) { return click(widget, widget.rect().center()); }
    /// Opens a dialog by `chord`, waits until a window whose title begins so is the active one, types, and accepts.
    bool answer(const QString& chord, const QString& title, const QString& text)
    {
        return run(QStringLiteral("bash"),
            {QStringLiteral("-euc"),
                QStringLiteral("xdotool key \"$1\"\n"
                               "for ((i = 0; i < 200; ++i)); do\n"
                               "  [[ $(xdotool getactivewindow getwindowname) != \"$2\"* ]] || break\n"
                               "  sleep 0.05\n"
                               "done\n"
                               "xdotool key ctrl+a type --delay 4 -- \"$3\"\n"
                               "xdotool key Return\n"),
                QStringLiteral("answer"), chord, title, text});
    }
    /// What the last failed program said.
    QByteArray error() const { return m_error; }

private:
    bool run(const QString& program, const QStringList& arguments)
    {
        QProcess process;
        process.start(program, arguments);
        const bool ended = QTest::qWaitFor([&] { return process.state() == QProcess::NotRunning; }, 30'000);
        m_error = process.readAllStandardError();
        return ended && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
    }

    QByteArray m_error;
};

} // namespace kvw::test
