// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QWidget>

class QPushButton;
class QToolButton;

namespace kvw::gui {

class ElidedLabel;

/// One line in the page's header, over the page's purpose, for what failed or went stale: glyph, sentence, at most one
/// button, close. What does not fit is elided and opens whole. Never modal, and nothing moves when it comes or goes.
class MessageBar : public QWidget
{
    Q_OBJECT

public:
    explicit MessageBar(QWidget* parent = nullptr);

    /// `action`: text of the button, empty for none. `cause`: what dismissCause() takes it back by.
    void show(const QString& sentence, const QString& action = {}, const QString& cause = {});
    /// The same for what went well.
    void showDone(const QString& sentence);
    /// What is shown, as plain text; empty when nothing is.
    QString text() const;
    void dismiss();
    /// Dismisses a message whose cause is mended.
    void dismissCause(const QString& cause);
    bool isShown() const;

signals:
    void actionTriggered();
    /// It came, or went.
    void shownChanged();

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void put(const QString& text, const QString& action, const QString& cause);
    void refreshGround();
    void refreshDetails();
    void showWhole();

    ElidedLabel* m_text;
    QPushButton* m_action;
    QToolButton* m_details;
    QString m_cause;
    bool m_shown = false;
};

} // namespace kvw::gui
