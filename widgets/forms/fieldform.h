// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"

#include <QColor>
#include <QMap>
#include <QWidget>

class QGridLayout;

namespace kvw {
struct FieldReference;
}

namespace kvw::gui {

class ElidedLabel;

/// Property of editors and views: the plan field that they edit, for help (F1).
constexpr const char* fieldProperty = "kvwField";

/// A form over plan fields: one editor for each path, made from the field table (title, help, choices, range).
///
/// Text is committed when editing is finished, as one undo step; what is refused keeps its text, turns to the colour of
/// what differs and shows the reason, and the plan keeps the old value.
class FieldForm : public QWidget
{
    Q_OBJECT

public:
    /// `columns`: pairs of label and editor side by side.
    FieldForm(PlanDocument& document, const QStringList& paths, int columns, QWidget* parent = nullptr);

    /// Label above its editor and source below it, for narrow places.
    void setStacked(bool stacked);
    /// What labels leave out because the form's own title says it: ", per rank".
    void setImplied(const QString& words);
    QStringList paths() const;
    /// Focuses the field's editor and scrolls to it.
    bool showField(const QString& path);
    /// Commits what is still being typed. Gives the path of a field that holds what it cannot take, and tells why by
    /// refused(); empty when all is well.
    QString commitPending();
    /// The editor of a field, null when it is not in the form: for tests and for tab order.
    QWidget* editor(const QString& path) const;

signals:
    void refused(const QString& path, const QString& why);

protected:
    bool eventFilter(QObject* object, QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Row
    {
        ElidedLabel* label = nullptr;
        QWidget* editor = nullptr;
        ElidedLabel* note = nullptr; ///< where the value came from
        QString refusal; ///< why the text that stands in the editor was refused; empty: it was not
        QString error; ///< why the plan cannot have the value that it states; empty: it can
        QColor ink; ///< that the editor has; invalid: the palette's
    };
    void place();
    bool isWords(const QString& path, const Row& row) const;
    void refresh();
    void refreshRow(const QString& path, Row& row);
    void commit(const QString& path, const QString& text);
    void restore(const QString& path);
    static void forgetTyped(Row& row);
    static QString pathOf(const QObject* editor);
    void refreshNote(const FieldReference& field, Row& row);
    QString errorAt(const QString& path) const;
    QString labelOf(const Field& field) const;
    int noteWidth() const;
    void setInk(Row& row, const QColor& ink, bool italic);
    QWidget* makeEditor(const QString& path);

    PlanDocument& m_document;
    QStringList m_paths;
    int m_columns;
    QString m_implied;
    bool m_stacked = false;
    bool m_filled = false;
    bool m_stale = false; ///< the plan changed while the form was hidden
    QGridLayout* m_grid;
    QMap<QString, Row> m_rows;
};

} // namespace kvw::gui
