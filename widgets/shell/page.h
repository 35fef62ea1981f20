// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QStringList>
#include <QWidget>

class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace kvw::gui {

/// A page of the workbench: a header line (name, purpose, headline, action) over its content.
class Page : public QWidget
{
    Q_OBJECT

public:
    /// `id`: stable name ("worksheet"), also the object name.
    Page(const QString& id, const QString& name, const QString& purpose, QWidget* parent = nullptr);

    QString id() const;
    QString name() const;
    /// Prefixes of plan paths that are edited here, for problems and "go to field".
    virtual QStringList fieldPrefixes() const;
    /// Shows and focuses the field at `path`; false when it is not here.
    virtual bool showField(const QString& path);
    /// "stale", "▶", or empty: drawn in the rail.
    virtual QString badge() const;

signals:
    /// The user selected a number; empty when the selection has none.
    void figureSelected(const QString& figure);
    /// For the status bar: exact value of the selection.
    void selectionText(const QString& text);
    /// Something failed or was refused: one sentence for the message bar.
    void message(const QString& text);
    void badgeChanged();

protected:
    /// Content goes here.
    QVBoxLayout* content() const;
    /// Right end of the header line: headline figure, primary button.
    QHBoxLayout* headerActions() const;
    void setHeadline(const QString& text);
    /// A 23 px title strip over a pane.
    static QLabel* paneTitle(const QString& text, QWidget* parent);

private:
    QString m_name;
    QLabel* m_headline;
    QHBoxLayout* m_actions;
    QVBoxLayout* m_content;
};

} // namespace kvw::gui
