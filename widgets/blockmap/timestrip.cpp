// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/timestrip.h"

#include "models/numbertext.h"
#include "style/tokens.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace kvw::gui {

namespace {

constexpr int tickMs = 100; ///< at most ten repaints a second
constexpr int laneHeight = 12;
constexpr double futureShare = 0.5; ///< how much of its colour the future keeps

QFont smallFont(QFont font)
{
    font.setPointSizeF(font.pointSizeF() * 0.92);
    return font;
}

/// What is drawn in one column of pixels.
struct Slice
{
    const StepCounts* last = nullptr;
    std::int64_t evictions = 0;
    std::int64_t preemptions = 0;
};

} // namespace

TimeChart::TimeChart(MapState& map, QWidget* parent)
    : QWidget(parent)
    , m_map(map)
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Blocks over steps"));
    connect(&map, &MapState::sourceChanged, this, [this] {
        m_dirty = true;
        update();
    });
    connect(&map, &MapState::changed, this, [this] {
        setAccessibleDescription(tr("Step %1").arg(countText(m_map.step())));
        update();
    });
}

QSize TimeChart::sizeHint() const
{
    return {600, 76};
}

QSize TimeChart::minimumSizeHint() const
{
    return {200, 64};
}

QRect TimeChart::plotRect() const
{
    const int labels = QFontMetrics(smallFont(font())).horizontalAdvance(tr("Preempted")) + 12;
    return {labels, 8, std::max(1, width() - labels - 10), std::max(1, height() - 8 - 2 * laneHeight - 2)};
}

int TimeChart::xOf(std::uint32_t step) const
{
    const QRect area = plotRect();
    const double last = std::max<std::uint32_t>(1, m_map.source() ? m_map.replay().lastStep() : 1);
    return area.left() + static_cast<int>(step / last * (area.width() - 1));
}

std::uint32_t TimeChart::stepAt(int x) const
{
    const QRect area = plotRect();
    const double share = std::clamp((x - area.left()) / std::max(1.0, area.width() - 1.0), 0.0, 1.0);
    return static_cast<std::uint32_t>(std::lround(share * (m_map.source() ? m_map.replay().lastStep() : 0)));
}

void TimeChart::renderLanes(QPainter& painter, const QRect& area)
{
    const Tokens& tokens = tokensFor(palette());
    const std::vector<StepCounts>& steps = m_map.replay().steps();
    std::vector<Slice> slices(static_cast<std::size_t>(area.width()));
    for (const StepCounts& counts : steps) {
        const int column = std::clamp(xOf(counts.step) - area.left(), 0, area.width() - 1);
        Slice& slice = slices[static_cast<std::size_t>(column)];
        slice.last = &counts;
        slice.evictions += counts.evictions;
        slice.preemptions += counts.preemptions;
    }
    std::int64_t mostEvictions = 1;
    for (const Slice& slice : slices)
        mostEvictions = std::max(mostEvictions, slice.evictions);
    const StepCounts& any = steps.front();
    const double all = static_cast<double>(std::max<std::int64_t>(1, any.active + any.cached + any.free + any.held));
    const StepCounts* counts = nullptr;
    painter.fillRect(area, tokens.blockFree);
    for (int i = 0; i < area.width(); ++i) {
        const Slice& slice = slices[static_cast<std::size_t>(i)];
        if (slice.last)
            counts = slice.last;
        if (!counts)
            continue;
        const double unit = area.height() / all;
        double y = area.bottom() + 1;
        const auto stack = [&](std::int64_t blocks, const QBrush& brush) {
            const double h = static_cast<double>(blocks) * unit;
            painter.fillRect(QRectF(area.left() + i, y - h, 1, h), brush);
            y -= h;
        };
        stack(counts->held, tokens.blockHeld);
        stack(counts->active, tokens.blockActive);
        const double cachedTop = y - static_cast<double>(counts->cached) * unit;
        const double cachedBottom = y;
        stack(counts->cached, tokens.blockCached);
        painter.fillRect(QRectF(area.left() + i, cachedTop, 1, cachedBottom - cachedTop),
            QBrush(tokens.blockCachedLine, Qt::BDiagPattern));
        if (slice.evictions > 0) {
            const double h
                = std::max(1.0, laneHeight * static_cast<double>(slice.evictions) / static_cast<double>(mostEvictions));
            painter.fillRect(QRectF(area.left() + i, area.bottom() + 1 + laneHeight - h, 1, h), tokens.dimText);
        }
        if (slice.preemptions > 0) {
            const double x = area.left() + i + 0.5;
            const double top = area.bottom() + 2 + laneHeight;
            painter.setPen(Qt::NoPen);
            painter.setBrush(tokens.differs);
            painter.drawPolygon(QPolygonF {{x, top}, {x + 4, top + laneHeight - 2}, {x - 4, top + laneHeight - 2}});
        }
    }
}

void TimeChart::render()
{
    m_dirty = false;
    const double ratio = devicePixelRatioF();
    m_cache = QPixmap(size() * ratio);
    m_cache.setDevicePixelRatio(ratio);
    m_cache.fill(palette().color(QPalette::Base));
    if (!m_map.source() || m_map.replay().steps().empty())
        return;
    QPainter painter(&m_cache);
    const QRect area = plotRect();
    renderLanes(painter, area);
    painter.setFont(smallFont(font()));
    painter.setPen(tokensFor(palette()).dimText);
    const int width = area.left() - 8;
    painter.drawText(QRect(0, area.top(), width, area.height()), Qt::AlignRight | Qt::AlignVCenter, tr("Blocks"));
    painter.drawText(QRect(0, area.bottom() + 1, width, laneHeight), Qt::AlignRight | Qt::AlignVCenter, tr("Evicted"));
    painter.drawText(QRect(0, area.bottom() + 1 + laneHeight, width, laneHeight), Qt::AlignRight | Qt::AlignVCenter,
        tr("Preempted"));
}

void TimeChart::paintEvent(QPaintEvent*)
{
    if (m_dirty || m_cache.size() != size() * devicePixelRatioF())
        render();
    QPainter painter(this);
    painter.drawPixmap(0, 0, m_cache);
    if (!m_map.source())
        return;
    const QRect area = plotRect();
    const int x = xOf(m_map.step());
    QColor veil = palette().color(QPalette::Base);
    veil.setAlphaF(static_cast<float>(1 - futureShare));
    painter.fillRect(QRect(x + 1, area.top(), area.right() - x, height() - area.top()), veil);
    const Tokens& tokens = tokensFor(palette());
    painter.setPen(Qt::NoPen);
    painter.setBrush(tokens.text);
    painter.drawRect(QRect(x - 1, 4, 2, height() - 6));
    painter.drawRect(QRect(x - 5, 0, 10, 7));
    if (hasFocus()) {
        painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(1, 1, -1, -1));
    }
}

void TimeChart::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton)
        m_map.setStep(stepAt(event->pos().x()));
}

void TimeChart::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons().testFlag(Qt::LeftButton))
        m_map.setStep(stepAt(event->pos().x()));
}

void TimeChart::keyPressEvent(QKeyEvent* event)
{
    const std::uint32_t step = m_map.step();
    const std::uint32_t last = m_map.source() ? m_map.replay().lastStep() : 0;
    const std::uint32_t page = std::max<std::uint32_t>(1, last / 20);
    switch (event->key()) {
    case Qt::Key_Left:
        return m_map.setStep(step > 0 ? step - 1 : 0);
    case Qt::Key_Right:
        return m_map.setStep(step + 1);
    case Qt::Key_PageUp:
        return m_map.setStep(step > page ? step - page : 0);
    case Qt::Key_PageDown:
        return m_map.setStep(step + page);
    case Qt::Key_Home:
        return m_map.setStep(0);
    case Qt::Key_End:
        return m_map.setStep(last);
    default:
        QWidget::keyPressEvent(event);
    }
}

void TimeChart::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        m_dirty = true;
    QWidget::changeEvent(event);
}

TimeStrip::TimeStrip(MapState& map, QWidget* parent)
    : QWidget(parent)
    , m_map(map)
    , m_previous(new QToolButton(this))
    , m_play(new QToolButton(this))
    , m_next(new QToolButton(this))
    , m_kind(new QComboBox(this))
    , m_speed(new QComboBox(this))
    , m_label(new QLabel(this))
    , m_chart(new TimeChart(map, this))
{
    m_previous->setText(QStringLiteral("|◀"));
    m_previous->setToolTip(tr("To the previous event of this kind ( [ )"));
    m_previous->setAccessibleName(tr("Previous event"));
    m_play->setText(QStringLiteral("▶"));
    m_play->setCheckable(true);
    m_play->setToolTip(tr("Play or pause (Space)"));
    m_play->setAccessibleName(tr("Play"));
    m_next->setText(QStringLiteral("▶|"));
    m_next->setToolTip(tr("To the next event of this kind ( ] )"));
    m_next->setAccessibleName(tr("Next event"));
    for (QToolButton* button : {m_previous, m_play, m_next})
        button->setAutoRaise(true);
    m_kind->addItem(tr("eviction"), int(EventKind::Evict));
    m_kind->addItem(tr("preemption"), int(EventKind::Preempt));
    m_kind->addItem(tr("hit"), int(EventKind::Reference));
    m_kind->addItem(tr("admission"), int(EventKind::Admit));
    m_kind->addItem(tr("completion"), int(EventKind::Complete));
    m_kind->addItem(tr("rejection"), int(EventKind::Reject));
    m_kind->setAccessibleName(tr("Kind of event to step to"));
    for (const int speed : {5, 20, 100, 500})
        m_speed->addItem(tr("%1 steps/s").arg(speed), speed);
    m_speed->setCurrentIndex(2);
    m_speed->setAccessibleName(tr("Speed"));
    auto* controls = new QHBoxLayout;
    controls->setSpacing(4);
    controls->addWidget(m_previous);
    controls->addWidget(m_play);
    controls->addWidget(m_next);
    controls->addSpacing(8);
    controls->addWidget(new QLabel(tr("Next"), this));
    controls->addWidget(m_kind);
    controls->addSpacing(8);
    controls->addWidget(new QLabel(tr("Speed"), this));
    controls->addWidget(m_speed);
    controls->addStretch(1);
    m_label->setTextFormat(Qt::RichText);
    controls->addWidget(m_label);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addLayout(controls);
    layout->addWidget(m_chart, 1);
    m_timer.setInterval(tickMs);
    connect(&m_timer, &QTimer::timeout, this, &TimeStrip::tick);
    connect(m_previous, &QToolButton::clicked, this, [this] { goToEvent(false); });
    connect(m_next, &QToolButton::clicked, this, [this] { goToEvent(true); });
    connect(m_kind, &QComboBox::currentIndexChanged, this, &TimeStrip::refresh);
    connect(m_play, &QToolButton::toggled, this, &TimeStrip::setPlaying);
    connect(&map, &MapState::changed, this, &TimeStrip::refresh);
    connect(&map, &MapState::sourceChanged, this, [this] { setPlaying(false); });
}

bool TimeStrip::isPlaying() const
{
    return m_timer.isActive();
}

void TimeStrip::setPlaying(bool playing)
{
    playing = playing && m_map.source();
    m_play->setChecked(playing);
    m_play->setText(playing ? QStringLiteral("❚❚") : QStringLiteral("▶"));
    if (playing == m_timer.isActive())
        return;
    if (!playing) {
        m_timer.stop();
        return;
    }
    if (m_map.step() >= m_map.replay().lastStep())
        m_map.setStep(0);
    m_owed = 0;
    m_timer.start();
}

void TimeStrip::tick()
{
    if (!isVisible()) // nobody looks
        return setPlaying(false);
    m_owed += m_speed->currentData().toInt() * tickMs / 1000.0;
    const auto whole = static_cast<std::uint32_t>(m_owed);
    if (whole == 0)
        return;
    m_owed -= whole;
    m_map.setStep(m_map.step() + whole);
    if (m_map.step() >= m_map.replay().lastStep())
        setPlaying(false);
}

EventKind TimeStrip::kind() const
{
    return static_cast<EventKind>(m_kind->currentData().toInt());
}

void TimeStrip::goToEvent(bool forward)
{
    if (!m_map.source())
        return;
    const Replay& replay = m_map.replay();
    const std::optional<std::uint32_t> step
        = forward ? replay.nextStep(m_map.step(), kind()) : replay.previousStep(m_map.step(), kind());
    if (step)
        m_map.setStep(*step);
}

void TimeStrip::refresh()
{
    if (!m_map.source()) {
        m_label->clear();
        m_label->setMinimumWidth(0);
        return;
    }
    const Replay& replay = m_map.replay();
    const StepCounts* counts = replay.countsAt(m_map.step());
    QString text = tr("<b>step %1</b> of 0 to %2").arg(countText(m_map.step()), countText(replay.lastStep()));
    if (counts)
        text += tr(" &nbsp; evictions <b>%1</b> &nbsp; preemptions <b>%2</b>")
                    .arg(countText(counts->evictionsSoFar), countText(counts->preemptionsSoFar));
    if (!m_map.source()->domains.empty())
        text += tr(" &nbsp; cross-domain blocks <b>%1</b>").arg(countText(m_map.crossDomain()));
    m_label->setText(text);
    // It never gives way, and it does not pull its neighbours to and fro with each digit.
    m_label->setMinimumWidth(std::max(m_label->minimumWidth(), m_label->sizeHint().width()));
    m_previous->setEnabled(replay.previousStep(m_map.step(), kind()).has_value());
    m_next->setEnabled(replay.nextStep(m_map.step(), kind()).has_value());
}

} // namespace kvw::gui
