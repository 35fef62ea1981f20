// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QPlainTextEdit>

namespace kvw::gui {

/// A formula to read, select and copy: as high as its text, up to ten lines, then it scrolls. Unlike a label it lays
/// out its text once, and of a long sum, printed a term a line, only the terms that are seen: the sum of a worksheet
/// with many groups has thousands of characters.
class FormulaView : public QPlainTextEdit
{
    Q_OBJECT
    Q_PROPERTY(QString text READ text WRITE setText)

public:
    explicit FormulaView(QWidget* parent = nullptr);

    void setText(const QString& text);
    QString text() const; ///< as it was set

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void fitHeight();

    QString m_text;
};

} // namespace kvw::gui
