// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>

namespace kvw::gui {

class MessageBar;
class PlanDocument;

/// Says so in the message bar when another program writes the file of the open plan, and offers to open it again.
class FileNotice : public QObject
{
    Q_OBJECT

public:
    FileNotice(PlanDocument& document, MessageBar& bar, QObject* parent = nullptr);

signals:
    /// The user wants what is in the file now.
    void reopenRequested();

private:
    void follow();
    void look();

    PlanDocument& m_document;
    MessageBar& m_bar;
    QFileSystemWatcher m_watcher;
    QTimer m_rest; ///< a write is several events
    QString m_shown;
};

} // namespace kvw::gui
