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
constexpr qsizetype longLine = 400; // characters from which a sum is printed a term a line

/// `line` with a break before each + that stands in no bracket.
QString termALine(const QString& line)
{
    static const QString opening = QStringLiteral("(⌈⌊");
    static const QString closing = QStringLiteral(")⌉⌋");
    QString out;
    int depth = 0;
    for (qsizetype i = 0; i < line.size(); ++i) {
        depth += opening.contains(line[i]) ? 1 : closing.contains(line[i]) ? -1 : 0;
        const bool ends
            = depth == 0 && line[i] == QLatin1Char(' ') && i + 1 < line.size() && line[i + 1] == QLatin1Char('+');
        out += ends ? QLatin1Char('\n') : line[i];
    }
    return out;
}

QString broken(const QString& text)
{
    QStringList lines = text.split(QLatin1Char('\n'));
    for (QString& line : lines) {
        if (line.size() > longLine)
            line = termALine(line);
    }
    return lines.join(QLatin1Char('\n'));
}

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
    if (text == m_text)
        return;
    m_text = text;
    setPlainText(broken(text));
    fitHeight();
}

QString FormulaView::text() const
{
    return m_text;
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
