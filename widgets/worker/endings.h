// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "units/result.h"
#include "worker/runstory.h"

#include <QProcess>
#include <QString>

#include <optional>

namespace kvw::gui {

/// What a phase is called wherever people read of it: "Step run".
QString phaseTitle(ProbePhase phase);

/// Where a run was, to end a sentence with: " at step 512 of 900", " in the phase \"Reserve\"", or nothing.
QString whereText(const RunProgress& progress);

/// Why a worker is gone, as a sentence: by signal or by exit code (resources/help/worker-protocol.md). `told`: what it
/// said about the connection before it ended. `where`: whereText() of the run that it took along.
QString endingSentence(QProcess::ExitStatus status, int code, const std::optional<Error>& told, const QString& where);

/// An error as the end of a sentence: its text without a last full stop.
QString errorClause(const Error& error);

} // namespace kvw::gui
