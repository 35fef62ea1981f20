// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "live/phasestrip.h"

#include "live/livecontroller.h"
#include "models/numbertext.h"
#include "style/tokens.h"
#include "worker/endings.h"

#include <QAccessible>
#include <QLocale>
#include <QPainter>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr int clockTime = 500;
constexpr int barHeight = 3;

QString glyphOf(PhaseStatus::State state)
{
    switch (state) {
    case PhaseStatus::State::Waiting:
        break;
    case PhaseStatus::State::Running:
        return QStringLiteral("▶");
    case PhaseStatus::State::Done:
        return QStringLiteral("✓");
    case PhaseStatus::State::CutShort:
        return QStringLiteral("✗");
    }
    return QStringLiteral("○");
}

QString secondsText(double seconds)
{
    return QLocale().toString(seconds, 'f', 1) + QStringLiteral(" s");
}

} // namespace

PhaseStrip::PhaseStrip(QWidget* parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("phaseStrip"));
    setAccessibleName(tr("Phases of the run"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_clock.setInterval(clockTime);
    connect(&m_clock, &QTimer::timeout, this, QOverload<>::of(&QWidget::update));
}

void PhaseStrip::setProgress(const std::shared_ptr<const RunProgress>& progress, bool ceilings)
{
    const bool another = !m_progress || !progress || m_progress->id != progress->id;
    m_progress = progress;
    m_ceilings = ceilings;
    const std::optional<ProbePhase> running = progress ? runningPhase(*progress) : std::nullopt;
    if (running && (another || running != m_running))
        m_since.start();
    m_running = running;
    if (running)
        m_clock.start();
    else
        m_clock.stop();
    setAccessibleDescription(texts().join(QStringLiteral(", ")));
    update();
}

void PhaseStrip::setReservation(const QString& text)
{
    m_reservation = text;
    update();
}

std::vector<PhaseStatus> PhaseStrip::phases() const
{
    if (m_progress && !m_progress->phases.empty())
        return m_progress->phases;
    std::vector<PhaseStatus> out;
    for (std::size_t i = 0; i < probePhaseCount; ++i) {
        const auto phase = static_cast<ProbePhase>(i);
        if (phase != ProbePhase::Ceilings || m_ceilings)
            out.push_back({phase, PhaseStatus::State::Waiting, 0});
    }
    return out;
}

/// The phase in which a run was cancelled: it ended in good order, but early.
bool PhaseStrip::isCancelled(const PhaseStatus& phase) const
{
    using State = PhaseStatus::State;
    if (!m_progress || !m_progress->cancelling || phase.state == State::Running || phase.state == State::Waiting)
        return false;
    if (phase.phase == ProbePhase::Steps)
        return m_progress->step + 1 < m_progress->predictedSteps;
    // Before the steps: none came after it.
    const auto& all = m_progress->phases;
    const auto next = std::find_if(
        all.begin(), all.end(), [&](const PhaseStatus& other) { return other.phase == ProbePhase::Steps; });
    return phase.phase < ProbePhase::Steps && next != all.end() && next->state == State::Waiting
        && std::none_of(all.begin(), next,
            [&](const PhaseStatus& other) { return other.phase > phase.phase && other.state != State::Waiting; });
}

QString PhaseStrip::noteOf(const PhaseStatus& phase) const
{
    using State = PhaseStatus::State;
    const bool steps = phase.phase == ProbePhase::Steps && m_progress && m_progress->predictedSteps > 0;
    if (isCancelled(phase))
        return cancelledText(*m_progress);
    if (phase.state == State::Done)
        return steps ? tr("%1 · %2").arg(countText(m_progress->step + 1), secondsText(phase.seconds))
                     : secondsText(phase.seconds);
    if (steps && (phase.state == State::Running || phase.state == State::CutShort))
        return tr("%1 of %2").arg(countText(m_progress->step), countText(m_progress->predictedSteps));
    if (phase.state == State::Running)
        return secondsText(static_cast<double>(m_since.elapsed()) / 1000);
    return phase.phase == ProbePhase::Reserve && phase.state == State::Waiting ? m_reservation : QString();
}

std::vector<PhaseStrip::Cell> PhaseStrip::cells() const
{
    std::vector<Cell> out;
    for (const PhaseStatus& phase : phases()) {
        Cell cell {
            phaseTitle(phase.phase), noteOf(phase), isCancelled(phase) ? PhaseStatus::State::CutShort : phase.state, 0};
        if (phase.phase == ProbePhase::Steps && m_progress && m_progress->predictedSteps > 0)
            cell.share = static_cast<double>(m_progress->step) / static_cast<double>(m_progress->predictedSteps);
        out.push_back(std::move(cell));
    }
    return out;
}

QStringList PhaseStrip::texts() const
{
    QStringList out;
    for (const Cell& cell : cells())
        out.push_back(QStringLiteral("%1 %2 %3").arg(glyphOf(cell.state), cell.name, cell.note).trimmed());
    return out;
}

QSize PhaseStrip::sizeHint() const
{
    return {600, fontMetrics().height() + 10};
}

QSize PhaseStrip::minimumSizeHint() const
{
    return {300, sizeHint().height()};
}

void PhaseStrip::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const Tokens& tokens = tokensFor(palette());
    painter.fillRect(rect(), palette().base());
    const std::vector<Cell> all = cells();
    // Room by need: a cell gets what its text takes and its part of what is left.
    std::vector<int> needs;
    int needed = 0;
    for (const Cell& cell : all) {
        const QString text = glyphOf(cell.state) + cell.name + cell.note;
        needs.push_back(fontMetrics().horizontalAdvance(text) + 30);
        needed += needs.back();
    }
    const double spare = static_cast<double>(width() - 1 - needed) / static_cast<double>(all.size());
    double left = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Cell& cell = all[i];
        const double cellWidth = std::max(20.0, needs[i] + spare);
        const QRectF area(left, 0, cellWidth, height() - 1);
        left += cellWidth;
        const bool running = cell.state == PhaseStatus::State::Running;
        if (running) {
            QColor ground = tokens.highlight;
            ground.setAlphaF(0.18F);
            painter.fillRect(area, ground);
            if (cell.share > 0)
                painter.fillRect(
                    QRectF(area.left(), height() - barHeight, area.width() * std::min(1.0, cell.share), barHeight),
                    tokens.highlight);
        }
        painter.setPen(tokens.line);
        painter.drawRect(area);
        const QRectF inner = area.adjusted(8, 0, -8, -1);
        const QString glyph = glyphOf(cell.state);
        const double glyphWidth = fontMetrics().horizontalAdvance(glyph) + 6;
        painter.setPen(cell.state == PhaseStatus::State::Done ? tokens.agrees
                : cell.state == PhaseStatus::State::CutShort  ? tokens.differs
                : running                                     ? tokens.derived
                                                              : tokens.dimText);
        painter.drawText(inner, Qt::AlignLeft | Qt::AlignVCenter, glyph);
        painter.setPen(cell.state == PhaseStatus::State::Waiting ? tokens.dimText : tokens.text);
        const double noteWidth = cell.note.isEmpty() ? 0 : fontMetrics().horizontalAdvance(cell.note) + 6;
        const QRectF nameArea = inner.adjusted(glyphWidth, 0, -noteWidth, 0);
        painter.drawText(nameArea, Qt::AlignLeft | Qt::AlignVCenter,
            fontMetrics().elidedText(cell.name, Qt::ElideRight, static_cast<int>(nameArea.width()) + 1));
        painter.setPen(tokens.dimText);
        painter.drawText(inner, Qt::AlignRight | Qt::AlignVCenter, cell.note);
    }
}

} // namespace kvw::gui
