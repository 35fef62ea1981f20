// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QWidget>

class QVBoxLayout;

namespace kvw::gui {

/// What stands in the place of an empty worksheet: one sentence, and the ways to fill it.
class StartPanel : public QWidget
{
    Q_OBJECT

public:
    explicit StartPanel(QWidget* parent = nullptr);

    /// Files that were open before, the last one first.
    void setRecent(const QStringList& files);

signals:
    void libraryRequested();
    void openRequested();
    void folderRequested();
    void exampleRequested(const QString& name);
    void recentRequested(const QString& file);
    /// The user wants to enter the first layer group by hand.
    void groupRequested();

private:
    QVBoxLayout* m_recent;
};

} // namespace kvw::gui
