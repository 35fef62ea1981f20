// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QLineEdit>
#include <QVector>

#include <functional>

class QListWidget;

namespace kvw::gui {

/// One thing that the command field finds.
struct Command
{
    QString name; ///< "Predict", "Layers of full"
    QString kind; ///< "command", "page", "field", "figure"
    QString detail; ///< shortcut, value or path: dim at the right
    QString keywords; ///< found too, never shown: the path
    std::function<void()> run;
    bool enabled = true;
    QString otherWords {}; ///< found too, never shown: what else people call it
};

/// Ctrl+K: finds any command, page, plan field or figure by words of its name, and goes there. The list drops below the
/// field while it has the focus; up and down choose, Enter goes, Esc leaves.
class CommandField : public QLineEdit
{
    Q_OBJECT

public:
    explicit CommandField(QWidget* parent = nullptr);
    ~CommandField() override;

    /// Asked for each time the field gets the focus.
    void setSource(std::function<QVector<Command>()> source);
    /// Names of what is listed now, in order: for tests.
    QStringList listed() const;

protected:
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void filter();
    void place();
    void accept();
    void leave();

    std::function<QVector<Command>()> m_source;
    QVector<Command> m_commands;
    QListWidget* m_list;
    QWidget* m_cameFrom = nullptr;
};

/// Positions of `commands` that `words` finds, the best first: every word must occur in name, kind, detail or keywords;
/// a path that is just what was typed comes first, then names that start with the first word, then commands and pages
/// before fields and figures.
QVector<int> matchCommands(const QVector<Command>& commands, const QString& words);

} // namespace kvw::gui
