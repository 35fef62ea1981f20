// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/filenotice.h"

#include "document/plandocument.h"
#include "shell/messagebar.h"

#include <QFile>

namespace kvw::gui {

namespace {

constexpr int restTime = 150; // milliseconds
constexpr auto cause = "file changed";

} // namespace

FileNotice::FileNotice(PlanDocument& document, MessageBar& bar, QObject* parent)
    : QObject(parent)
    , m_document(document)
    , m_bar(bar)
{
    m_rest.setSingleShot(true);
    m_rest.setInterval(restTime);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, &m_rest, qOverload<>(&QTimer::start));
    connect(&m_rest, &QTimer::timeout, this, &FileNotice::look);
    connect(&document, &PlanDocument::fileChanged, this, &FileNotice::follow);
    connect(&bar, &MessageBar::actionTriggered, this, [this] {
        if (!m_shown.isEmpty() && m_bar.text() == m_shown)
            emit reopenRequested();
    });
}

/// The document has another file, or wrote its own.
void FileNotice::follow()
{
    const QString path = m_document.path();
    if (m_watcher.files() != QStringList(path) || path.isEmpty()) {
        if (!m_watcher.files().isEmpty())
            m_watcher.removePaths(m_watcher.files());
        if (!path.isEmpty() && QFile::exists(path))
            m_watcher.addPath(path);
    }
    if (!m_document.isFileChanged())
        m_bar.dismissCause(QLatin1String(cause));
}

void FileNotice::look()
{
    follow(); // a file that was replaced is another one, which nobody watches yet
    if (!m_document.isFileChanged())
        return;
    m_bar.show(
        tr("%1 was changed by another program. This window still shows what it was.").arg(m_document.displayName()),
        tr("Open it again"), QLatin1String(cause));
    m_shown = m_bar.text();
}

} // namespace kvw::gui
