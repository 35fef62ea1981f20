// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "explain/formulaview.h"

#include <QAbstractTextDocumentLayout>
#include <QEvent>
#include <QResizeEvent>
#include <QTextDocument>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr int mostLines = 10;

} // namespace

FormulaView::FormulaView(QWidget* parent)
    : QPlainTextEdit(parent)
{
    setReadOnly(true);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setTabChangesFocus(true);
    setUndoRedoEnabled(false);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    document()->setDocumentMargin(3);
    viewport()->setAutoFillBackground(false); // on the ground of the panel, as the labels are
    fitHeight();
}

void FormulaView::setText(const QString& text)
{
    if (text == toPlainText())
        return;
    setPlainText(text);
    fitHeight();
}

QString FormulaView::text() const
{
    return toPlainText();
}

void FormulaView::resizeEvent(QResizeEvent* event)
{
    QPlainTextEdit::resizeEvent(event);
    if (event->size().width() != event->oldSize().width())
        fitHeight();
}

void FormulaView::changeEvent(QEvent* event)
{
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        fitHeight();
}

void FormulaView::fitHeight()
{
    // The layout of plain text counts in lines, wrapped ones included.
    const int lines = std::clamp(static_cast<int>(document()->documentLayout()->documentSize().height()), 1, mostLines);
    const int height = lines * fontMetrics().lineSpacing() + 2 * static_cast<int>(document()->documentMargin())
        + 2 * frameWidth() + 1;
    if (minimumHeight() != height || maximumHeight() != height)
        setFixedHeight(height);
}

} // namespace kvw::gui
