// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "settings/preferences.h"

#include "worker/workerstate.h"

#include <QSettings>

#include <algorithm>

namespace kvw::gui {

namespace {

struct Entry
{
    const char* path;
    QVariant initial;
};

const Entry& entryOf(Preferences::Key key)
{
    static const Entry table[] {{"runs/folder", QString()}, {"runs/kept", 20}, {"report/paper", QStringLiteral("A4")},
        {"report/author", QString()}};
    return table[key];
}

} // namespace

Preferences& Preferences::instance()
{
    static Preferences one;
    return one;
}

QVariant Preferences::value(Key key) const
{
    const Entry& entry = entryOf(key);
    return QSettings().value(QLatin1String(entry.path), entry.initial);
}

void Preferences::setValue(Key key, const QVariant& value)
{
    if (this->value(key).toString() == value.toString())
        return;
    QSettings().setValue(QLatin1String(entryOf(key).path), value);
    emit changed(key);
}

QString Preferences::runsFolder() const
{
    const QString chosen = value(RunsFolder).toString();
    return chosen.isEmpty() ? defaultRunsFolder() : chosen;
}

int Preferences::keptRuns() const
{
    bool ok = false;
    const qint64 kept = value(KeptRuns).toLongLong(&ok); // a file that somebody wrote by hand may hold anything
    return ok ? static_cast<int>(std::clamp<qint64>(kept, 1, mostKeptRuns)) : entryOf(KeptRuns).initial.toInt();
}

bool Preferences::usesLetter() const
{
    return value(PaperSize).toString().compare(QLatin1String("Letter"), Qt::CaseInsensitive) == 0;
}

} // namespace kvw::gui
