// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QString>
#include <QStringList>
#include <QVector>

namespace kvw::gui {

class PlanDocument;

/// A live run's folder on disk.
struct StoredRun
{
    QString folder; ///< absolute
    qint64 bytes = 0; ///< of the files that a run leaves
    bool running = false; ///< somebody still writes to it
};

/// The runs below `runsFolder`, newest first. Only folders that a run made are seen: named after a time, with a run
/// record in them; nothing else there is looked at.
QVector<StoredRun> storedRuns(const QString& runsFolder);

/// Those that would have to go so that at most `keep` remain: the oldest, without running ones and without those in
/// `inUse` (absolute folders), which count among the kept.
QVector<StoredRun> oldRuns(const QVector<StoredRun>& runs, int keep, const QStringList& inUse);

/// Removes what runs left in these folders, and each folder if nothing else is in it. A run that goes by now stays.
/// Returns how many are gone.
int removeRuns(const QVector<StoredRun>& runs);

/// Folders of the runs that the document shows or its plan names.
QStringList runFoldersOf(const PlanDocument& document);

/// The name of the file in a run's folder that is locked (QLockFile) while the run goes.
QString runLockName();

} // namespace kvw::gui
