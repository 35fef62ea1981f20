// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report/pagepreview.h"

#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr int margin = 12; ///< around and between pages
constexpr qsizetype mostImages = 24;

} // namespace

PagePreview::PagePreview(QWidget* parent)
    : QAbstractScrollArea(parent)
{
    setAccessibleName(tr("Pages of the report"));
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::StrongFocus);
    verticalScrollBar()->setSingleStep(40);
}

void PagePreview::setReport(std::shared_ptr<const RenderedReport> report)
{
    m_report = std::move(report);
    m_images.clear();
    layOut();
    findMatches();
    viewport()->update();
}

const std::shared_ptr<const RenderedReport>& PagePreview::report() const
{
    return m_report;
}

void PagePreview::setZoom(Zoom zoom)
{
    const int page = currentPage();
    m_zoom = zoom;
    m_images.clear();
    layOut();
    if (m_report && m_columns > 0)
        verticalScrollBar()->setValue(page / m_columns * (m_page.height() + margin));
    viewport()->update();
}

void PagePreview::setPlaceholder(const QString& text)
{
    m_placeholder = text;
    viewport()->update();
}

int PagePreview::currentPage() const
{
    if (!m_report || m_page.isEmpty())
        return 0;
    return (verticalScrollBar()->value() + margin) / (m_page.height() + margin) * m_columns;
}

void PagePreview::layOut()
{
    if (!m_report) {
        verticalScrollBar()->setRange(0, 0);
        return;
    }
    const PageGeometry page(m_report->paper);
    const QSize room = viewport()->size() - QSize(2 * margin, 2 * margin);
    const double byWidth = room.width() / page.width;
    m_scale = m_zoom == Zoom::PageWidth ? byWidth : std::min(byWidth, room.height() / page.height);
    m_scale = std::max(m_scale, 0.005);
    const QSize size(qRound(page.width * m_scale), qRound(page.height * m_scale));
    if (size != m_page)
        m_images.clear();
    m_page = size;
    const int count = static_cast<int>(m_report->sheets.size());
    m_columns = std::clamp((room.width() + margin) / (m_page.width() + margin), 1, std::max(1, count));
    const int rows = (count + m_columns - 1) / m_columns;
    const int height = margin + rows * (m_page.height() + margin);
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setRange(0, std::max(0, height - viewport()->height()));
}

QRect PagePreview::pageRect(int page) const
{
    const int used = m_columns * m_page.width() + (m_columns - 1) * margin;
    const int left = (viewport()->width() - used) / 2 + page % m_columns * (m_page.width() + margin);
    const int top = margin + page / m_columns * (m_page.height() + margin) - verticalScrollBar()->value();
    return {QPoint(left, top), m_page};
}

const QImage& PagePreview::image(int page)
{
    const auto known = m_images.constFind(page);
    if (known != m_images.constEnd() && known->devicePixelRatio() == devicePixelRatioF())
        return *known;
    if (m_images.size() >= mostImages)
        m_images.clear();
    QImage out(m_page * devicePixelRatioF(), QImage::Format_RGB32);
    out.fill(Qt::white);
    QPainter painter(&out);
    painter.setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing);
    const double scale = m_scale * devicePixelRatioF();
    painter.scale(scale, scale);
    paintOps(painter, m_report->sheets[static_cast<std::size_t>(page)].ops, m_report->fonts);
    painter.end();
    out.setDevicePixelRatio(devicePixelRatioF());
    return *m_images.insert(page, out);
}

void PagePreview::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), palette().window());
    if (!m_report) {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(viewport()->rect(), Qt::AlignCenter | Qt::TextWordWrap, m_placeholder);
        return;
    }
    for (int page = 0; page < static_cast<int>(m_report->sheets.size()); ++page) {
        const QRect rect = pageRect(page);
        if (!rect.intersects(viewport()->rect()))
            continue;
        painter.drawImage(rect.topLeft(), image(page));
        painter.setPen(palette().color(QPalette::Mid));
        painter.drawRect(rect.adjusted(0, 0, -1, -1));
        for (std::size_t i = 0; i < m_matches.size(); ++i) {
            if (m_matches[i].page != page)
                continue;
            const QRectF& found = m_matches[i].rect;
            QColor color = palette().color(QPalette::Highlight);
            color.setAlpha(static_cast<int>(i) == m_match ? 110 : 45);
            painter.fillRect(QRectF(rect.left() + found.left() * m_scale, rect.top() + found.top() * m_scale,
                                 found.width() * m_scale, found.height() * m_scale),
                color);
        }
    }
}

void PagePreview::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    layOut();
}

void PagePreview::keyPressEvent(QKeyEvent* event)
{
    QScrollBar* bar = verticalScrollBar();
    switch (event->key()) {
    case Qt::Key_Home:
        bar->setValue(0);
        return;
    case Qt::Key_End:
        bar->setValue(bar->maximum());
        return;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void PagePreview::search(const QString& text)
{
    m_needle = text;
    findMatches();
    showMatch();
}

void PagePreview::findMatches()
{
    m_matches.clear();
    m_match = -1;
    if (m_report && !m_needle.isEmpty()) {
        const ReportFonts& fonts = m_report->fonts;
        for (std::size_t page = 0; page < m_report->sheets.size(); ++page) {
            for (const PageOp& op : m_report->sheets[page].ops) {
                const auto* text = std::get_if<TextOp>(&op);
                if (!text)
                    continue;
                for (auto at = text->text.indexOf(m_needle, 0, Qt::CaseInsensitive); at >= 0;
                     at = text->text.indexOf(m_needle, at + 1, Qt::CaseInsensitive)) {
                    const double left = fonts.width(text->text.left(at), text->style);
                    const double right = fonts.width(text->text.left(at + m_needle.size()), text->style);
                    const double ascent = fonts.ascent(text->style);
                    m_matches.push_back({static_cast<int>(page),
                        {text->baseline.x() + left, text->baseline.y() - ascent, right - left,
                            ascent + fonts.descent(text->style)}});
                }
            }
        }
        const int from = currentPage();
        const auto next
            = std::find_if(m_matches.begin(), m_matches.end(), [&](const Match& match) { return match.page >= from; });
        if (!m_matches.empty())
            m_match = next == m_matches.end() ? 0 : static_cast<int>(next - m_matches.begin());
    }
    emit matchesChanged();
}

void PagePreview::step(int direction)
{
    if (m_matches.empty())
        return;
    const int count = matchCount();
    m_match = (m_match + direction + count) % count;
    showMatch();
    emit matchesChanged();
}

void PagePreview::showMatch()
{
    viewport()->update();
    if (m_match < 0)
        return;
    const Match& match = m_matches[static_cast<std::size_t>(m_match)];
    const int y = pageRect(match.page).top() + qRound(match.rect.top() * m_scale);
    if (y < 0 || y > viewport()->height() - 30)
        verticalScrollBar()->setValue(verticalScrollBar()->value() + y - viewport()->height() / 3);
}

int PagePreview::matchCount() const
{
    return static_cast<int>(m_matches.size());
}

int PagePreview::currentMatch() const
{
    return m_match;
}

} // namespace kvw::gui
