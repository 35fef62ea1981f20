// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/legendview.h"

#include "blockmap/cellpainter.h"
#include "blockmap/legendtext.h"
#include "models/numberdelegate.h"
#include "models/numbertext.h"
#include "style/tokens.h"

#include <QHeaderView>
#include <QPainter>
#include <QPixmap>

namespace kvw::gui {

namespace {

constexpr int swatchSize = 13;

} // namespace

LegendView::LegendView(MapState& map, QWidget* parent)
    : QTableView(parent)
    , m_map(map)
    , m_model(new CellTableModel({tr("Blocks"), tr("count"), tr("bytes")}, this))
{
    setModel(m_model);
    setItemDelegate(new NumberDelegate(this));
    setAccessibleName(tr("Legend"));
    setTabKeyNavigation(false);
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setWordWrap(false);
    setSelectionBehavior(SelectRows);
    setSelectionMode(SingleSelection);
    setEditTriggers(NoEditTriggers);
    setIconSize({swatchSize, swatchSize});
    QFont small = font();
    small.setPointSizeF(small.pointSizeF() * 0.92);
    setFont(small);
    setMinimumHeight(7 * (fontMetrics().height() + 6)); // the states and their sum
    horizontalHeader()->hide();
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    connect(this, &QTableView::clicked, this, [this](const QModelIndex& index) {
        const bool row = m_map.source() && index.row() < static_cast<int>(m_map.legend().rows.size());
        const bool again = index.row() == m_map.legendFilter();
        m_map.setLegendFilter(row && !again ? index.row() : -1);
    });
    connect(&map, &MapState::changed, this, &LegendView::refresh);
}

QSize LegendView::sizeHint() const
{
    return {280, 11 * (fontMetrics().height() + 6)};
}

QVariant LegendView::swatch(const MapVisual& look) const
{
    const double ratio = devicePixelRatioF();
    QPixmap out = QPixmap::fromImage(CellPainter::swatch(look, m_map.palette(), static_cast<int>(swatchSize * ratio)));
    out.setDevicePixelRatio(ratio);
    return out;
}

QVector<Cell> LegendView::line(int row) const
{
    const LegendCount& count = m_map.legend().rows[static_cast<std::size_t>(row)];
    Cell name = Cell::words(legendName(m_map, count));
    name.exact = tr("%1\n%2. A click shows only these, another click all.").arg(name.text, legendNote(m_map, count));
    name.strong = row == m_map.legendFilter();
    name.decoration = swatch(m_map.legendVisual(row));
    return {name, Cell::count(count.blocks), Cell::bytes(count.bytes)};
}

QVector<Cell> LegendView::underline(
    const MapVisual* look, const QString& name, const QString& count, const QString& note) const
{
    Cell first = Cell::words(name);
    Cell second = Cell::words(count);
    second.number = true;
    Cell third = Cell::words(note);
    third.number = true;
    if (look) {
        first.decoration = swatch(*look);
    } else { // hollow, dashed: holds no block
        const double ratio = devicePixelRatioF();
        QPixmap hollow(QSize(swatchSize, swatchSize) * ratio);
        hollow.setDevicePixelRatio(ratio);
        hollow.fill(m_map.palette().color(QPalette::Base));
        QPainter painter(&hollow);
        painter.setPen(QPen(tokensFor(m_map.palette()).dimText, 1, Qt::DashLine));
        painter.drawRect(QRectF(0.5, 0.5, swatchSize - 2, swatchSize - 2));
        first.decoration = hollow;
    }
    return {first, second, third};
}

void LegendView::refresh()
{
    QVector<QVector<Cell>> rows;
    if (m_map.source()) {
        const Legend& legend = m_map.legend();
        for (int row = 0; row < static_cast<int>(legend.rows.size()); ++row)
            rows.push_back(line(row));
        Cell total = Cell::words(tr("Device pools"));
        Cell blocks = Cell::count(legend.blocks);
        Cell bytes = Cell::bytes(legend.bytes);
        total.strong = blocks.strong = bytes.strong = true;
        rows.push_back({total, blocks, bytes});
        rows.push_back(underline(nullptr, tr("Window-dropped"), countText(legend.windowDropped), QStringLiteral("–")));
    }
    m_model->setRows(rows);
    emit titleChanged(legendTitle(m_map.colouring()));
}

} // namespace kvw::gui
