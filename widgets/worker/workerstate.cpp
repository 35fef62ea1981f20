// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worker/workerstate.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

namespace kvw::gui {

bool mayFollow(WorkerState from, WorkerState to)
{
    using S = WorkerState;
    switch (to) {
    case S::Dead:
        return from != S::Dead;
    case S::Starting:
        return from == S::Dead;
    case S::Handshake:
        return from == S::Starting;
    case S::Idle:
        return from == S::Handshake || from == S::Busy;
    case S::Busy:
        return from == S::Idle;
    case S::Stopping:
        return from == S::Handshake || from == S::Idle || from == S::Busy;
    }
    return false;
}

QString stateName(WorkerState state)
{
    switch (state) {
    case WorkerState::Dead:
        break;
    case WorkerState::Starting:
        return QCoreApplication::translate("WorkerState", "starting");
    case WorkerState::Handshake:
        return QCoreApplication::translate("WorkerState", "handshake");
    case WorkerState::Idle:
        return QCoreApplication::translate("WorkerState", "idle");
    case WorkerState::Busy:
        return QCoreApplication::translate("WorkerState", "busy");
    case WorkerState::Stopping:
        return QCoreApplication::translate("WorkerState", "stopping");
    }
    return QCoreApplication::translate("WorkerState", "not running");
}

QString workerProgram()
{
    const QString beside = QCoreApplication::applicationDirPath() + QStringLiteral("/kvw");
    if (QFileInfo(beside).isExecutable() && QFileInfo(beside).isFile())
        return beside;
    const QString inPath = QStandardPaths::findExecutable(QStringLiteral("kvw"));
    return inPath.isEmpty() ? qEnvironmentVariable("KVW_BINARY") : inPath;
}

QString defaultRunsFolder()
{
    const QString data = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
    return (data.isEmpty() ? QDir::tempPath() + QStringLiteral("/kvworkbench") : data) + QStringLiteral("/runs");
}

} // namespace kvw::gui
