// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace kvw::gui {

/// One line between header and content for what failed or went stale: glyph, sentence, at most one button, close. Never
/// modal.
class MessageBar : public QWidget
{
    Q_OBJECT

public:
    explicit MessageBar(QWidget* parent = nullptr);

    /// `action`: text of the button, empty for none.
    void show(const QString& sentence, const QString& action = {});
    QString text() const;
    void dismiss();

signals:
    void actionTriggered();

protected:
    void changeEvent(QEvent* event) override;

private:
    void refreshGround();

    QLabel* m_text;
    QPushButton* m_action;
};

} // namespace kvw::gui
