// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The peer of bench_startup: a program with nothing but an empty QMainWindow.

#include "shell/readiness.h"

#include <QApplication>
#include <QMainWindow>

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    QApplication::setStyle(QStringLiteral("Fusion"));
    QMainWindow window;
    window.resize(1280, 720);
    kvw::gui::endWhenReady(window);
    window.show();
    return QApplication::exec();
}
