// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worker/endings.h"

#include "models/numbertext.h"
#include "worker/worker_main.h"

#include <QCoreApplication>

#include <algorithm>
#include <csignal>

namespace kvw::gui {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("WorkerEndings", text);
}

QString signalClause(int number)
{
    switch (number) {
    case SIGKILL:
        return tr("was killed (signal %1)").arg(number);
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
        return tr("was told to end (signal %1)").arg(number);
    case SIGABRT:
        return tr("gave up (signal %1)").arg(number);
    default:
        return tr("crashed (signal %1)").arg(number);
    }
}

QString codeClause(int code)
{
    switch (static_cast<worker::WorkerExit>(code)) {
    case worker::WorkerExit::Ended:
        return tr("ended by itself");
    case worker::WorkerExit::Protocol:
        return tr("did not understand this program");
    case worker::WorkerExit::Version:
        return tr("speaks another version of the worker protocol");
    case worker::WorkerExit::Watchdog:
        return tr("heard nothing of this program for too long and ended");
    case worker::WorkerExit::OutputLost:
        return tr("could not send its output");
    case worker::WorkerExit::Stuck:
        return tr("ended because the run did not stop: a call into the device did not return");
    case worker::WorkerExit::Internal:
        return tr("ran out of memory or failed inside");
    }
    return tr("ended with exit code %1").arg(code);
}

} // namespace

QString phaseTitle(ProbePhase phase)
{
    switch (phase) {
    case ProbePhase::Setup:
        return tr("Predict");
    case ProbePhase::Ceilings:
        return tr("Memory rates");
    case ProbePhase::Reserve:
        return tr("Reserve");
    case ProbePhase::Steps:
        return tr("Step run");
    case ProbePhase::Count:
        return tr("Count bytes");
    case ProbePhase::Release:
        return tr("Release");
    case ProbePhase::Evidence:
        break;
    }
    return tr("Evidence");
}

std::optional<ProbePhase> runningPhase(const RunProgress& progress)
{
    const auto running = std::find_if(progress.phases.begin(), progress.phases.end(),
        [](const PhaseStatus& phase) { return phase.state == PhaseStatus::State::Running; });
    return running == progress.phases.end() ? std::nullopt : std::optional(running->phase);
}

QString whereText(const RunProgress& progress)
{
    const std::optional<ProbePhase> phase = runningPhase(progress);
    if (phase == ProbePhase::Steps && progress.predictedSteps > 0)
        return tr(" at step %1 of %2").arg(countText(progress.step), countText(progress.predictedSteps));
    if (phase)
        return tr(" in the phase \"%1\"").arg(phaseTitle(*phase));
    return {};
}

QString errorClause(const Error& error)
{
    QString text = QString::fromStdString(error.text());
    while (text.endsWith(QLatin1Char('.')))
        text.chop(1);
    return text;
}

QString endingSentence(QProcess::ExitStatus status, int code, const std::optional<Error>& told, const QString& where)
{
    QString out = tr("The worker %1").arg(status == QProcess::CrashExit ? signalClause(code) : codeClause(code));
    out += where;
    if (told)
        out += QStringLiteral(": ") + errorClause(*told);
    return out + QLatin1Char('.');
}

} // namespace kvw::gui
