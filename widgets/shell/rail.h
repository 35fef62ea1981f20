// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QListWidget>

namespace kvw::gui {

/// The list of pages at the window's left: icon, name, badge at the right. Compact: icons alone, a badge as a dot,
/// names as tooltips.
class Rail : public QListWidget
{
    Q_OBJECT

public:
    /// How a badge is drawn.
    enum BadgeKind {
        Quiet, ///< "▶"
        Warning, ///< "2 !", "stale"
        Error, ///< "2 ✗"
    };

    explicit Rail(QWidget* parent = nullptr);

    void addPage(const QIcon& icon, const QString& name);
    void setBadge(int row, const QString& badge, BadgeKind kind, const QString& explanation);
    QString badge(int row) const;
    void setCompact(bool compact);
    bool isCompact() const;

private:
    bool m_compact = false;
};

} // namespace kvw::gui
