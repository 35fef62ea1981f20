// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worker/runstore.h"

#include "document/plandocument.h"

#include <QDir>
#include <QFileInfo>
#include <QLockFile>
#include <QRegularExpression>

namespace kvw::gui {

namespace {

const QStringList runFiles {QStringLiteral("events.kvev"), QStringLiteral("result.json"), QStringLiteral("worker.log"),
    QStringLiteral("record.jsonl")};

bool isLocked(const QString& folder)
{
    const QString path = folder + QLatin1Char('/') + runLockName();
    if (!QFile::exists(path))
        return false;
    QLockFile lock(path);
    lock.setStaleLockTime(0); // a lock of a process that is gone counts for nothing, a long run's stays
    return !lock.tryLock(0);
}

} // namespace

QString runLockName()
{
    return QStringLiteral("run.lock");
}

QVector<StoredRun> storedRuns(const QString& runsFolder)
{
    static const QRegularExpression name(QStringLiteral("^\\d{8}-\\d{6}-"));
    const QDir folder(runsFolder);
    // Names begin with the time: the order of names is that of time.
    const QStringList entries
        = folder.entryList(QDir::Dirs | QDir::NoDotAndDotDot | QDir::NoSymLinks, QDir::Name | QDir::Reversed);
    QVector<StoredRun> out;
    for (const QString& entry : entries) {
        StoredRun run;
        run.folder = folder.absoluteFilePath(entry);
        if (!name.match(entry).hasMatch() || !QFile::exists(run.folder + QLatin1Char('/') + runFiles.back()))
            continue;
        for (const QString& file : runFiles)
            run.bytes += QFileInfo(run.folder + QLatin1Char('/') + file).size();
        run.running = isLocked(run.folder);
        out.push_back(run);
    }
    return out;
}

QVector<StoredRun> oldRuns(const QVector<StoredRun>& runs, int keep, const QStringList& inUse)
{
    qsizetype surplus = runs.size() - keep;
    QVector<StoredRun> out;
    for (auto run = runs.crbegin(); run != runs.crend() && surplus > 0; ++run) {
        if (run->running || inUse.contains(run->folder))
            continue;
        out.push_back(*run);
        --surplus;
    }
    return out;
}

int removeRuns(const QVector<StoredRun>& runs)
{
    int out = 0;
    for (const StoredRun& run : runs) {
        if (isLocked(run.folder))
            continue;
        bool gone = true;
        for (const QString& file : runFiles) // the record last: until then the folder is seen as a run
            gone = gone
                && (!QFile::exists(run.folder + QLatin1Char('/') + file)
                    || QFile::remove(run.folder + QLatin1Char('/') + file));
        QFile::remove(run.folder + QLatin1Char('/') + runLockName());
        if (gone) {
            QDir().rmdir(run.folder); // stays when somebody put something else there
            ++out;
        }
    }
    return out;
}

QStringList runFoldersOf(const PlanDocument& document)
{
    QStringList out;
    const auto add = [&](const QString& file) {
        if (!file.isEmpty())
            out.push_back(QFileInfo(file).absolutePath());
    };
    for (const RunReference& run : document.plan().runs) {
        add(QString::fromStdString(run.events));
        add(QString::fromStdString(run.record));
    }
    for (const std::shared_ptr<const LiveResult>& run : document.runs()) {
        add(run->eventsFile);
        add(run->recordFile);
    }
    return out;
}

} // namespace kvw::gui
