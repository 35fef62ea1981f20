// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"

#include <QMap>
#include <QWidget>

class QLabel;

namespace kvw::gui {

/// A form over plan fields: one editor for each path, made from the field table (title, help, choices, range).
///
/// Text is committed when editing is finished, as one undo step; what is refused keeps its text, gets a frame and the
/// reason as tooltip, and the plan keeps the old value.
class FieldForm : public QWidget
{
    Q_OBJECT

public:
    /// `columns`: pairs of label and editor side by side.
    FieldForm(PlanDocument& document, const QStringList& paths, int columns, QWidget* parent = nullptr);

    QStringList paths() const;
    bool showField(const QString& path);

signals:
    void refused(const QString& path, const QString& why);

private:
    void refresh();
    void commit(const QString& path, const QString& text);
    QWidget* makeEditor(const QString& path);

    PlanDocument& m_document;
    QStringList m_paths;
    QMap<QString, QWidget*> m_editors;
    QMap<QString, QLabel*> m_notes; // where the value came from
};

} // namespace kvw::gui
