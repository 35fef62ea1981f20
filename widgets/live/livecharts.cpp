// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "live/livecharts.h"

#include "live/livecontroller.h"
#include "models/numbertext.h"
#include "plot/plotview.h"
#include "plot/stateseries.h"
#include "style/tokens.h"
#include "units/format.h"

#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr double gigabyte = 1e9;

/// Measured figure of a row in GB/s, if the evidence has it.
std::optional<double> rateOf(const std::vector<EvidenceRow>& rows, const char* id)
{
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const EvidenceRow& row) { return row.id == id; });
    if (found == rows.end() || !found->measured)
        return std::nullopt;
    return std::visit([](auto plain) { return static_cast<double>(plain); }, *found->measured) / gigabyte;
}

} // namespace

LiveChart::LiveChart(QWidget* parent)
    : QWidget(parent)
    , m_title(new QLabel(this))
    , m_plot(new PlotView(this))
    , m_sentence(new QLabel(this))
{
    QFont strong = m_title->font();
    strong.setWeight(QFont::DemiBold);
    m_title->setFont(strong);
    m_title->setMinimumHeight(m_title->fontMetrics().height() + 8);
    m_sentence->setAlignment(Qt::AlignCenter);
    m_sentence->setWordWrap(true);
    m_sentence->setForegroundRole(QPalette::PlaceholderText);
    m_sentence->setAutoFillBackground(true);
    m_sentence->setBackgroundRole(QPalette::Base);
    m_plot->hide();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(m_title);
    layout->addWidget(m_plot, 1);
    layout->addWidget(m_sentence, 1);
}

void LiveChart::setTitle(const QString& title)
{
    m_title->setText(title);
}

void LiveChart::showSentence(const QString& sentence)
{
    m_sentence->setText(sentence);
    m_plot->hide();
    m_sentence->show();
}

PlotView* LiveChart::showPlot()
{
    m_sentence->hide();
    m_plot->show();
    return m_plot;
}

BlocksChart::BlocksChart(QWidget* parent)
    : LiveChart(parent)
{
    showPlot()->setAxisTitles(tr("step"), tr("blocks"));
    setRun(nullptr, nullptr);
}

void BlocksChart::setRun(const LiveResult* run, const RunProgress* progress)
{
    setTitle(tr("Blocks over steps"));
    if (!run || run->samples.empty()) {
        const bool going = run && stateOf(*run) == RunState::Running;
        showSentence(going ? tr("The first step is still to come.")
                : run      ? tr("No step of %1 was run.").arg(runTitle(run->id))
                           : tr("No run yet. Run live (F6)."));
        return;
    }
    setTitle(tr("Blocks over steps, of %1").arg(poolBlocksText(run->setup.layout)));
    QVector<PlotLimit> limits;
    if (progress && progress->predictedSteps > 0)
        limits.push_back({tr("predicted end"), static_cast<double>(progress->predictedSteps), true});
    showPlot()->setSeries(stateSeries(run->samples, run->setup.layout, tokensFor(palette())), limits);
}

RatesChart::RatesChart(QWidget* parent)
    : LiveChart(parent)
{
    setTitle(tr("Rates beside this machine's own"));
    showPlot()->setAxisTitles(tr("GB/s"), {});
    setRun(nullptr, nullptr);
}

void RatesChart::setRun(const LiveResult* run, const RunProgress* progress)
{
    const std::optional<MemoryCeilings> ceilings = progress ? progress->ceilings : std::nullopt;
    const std::optional<double> append = run ? rateOf(run->rows, "append_rate") : std::nullopt;
    const std::optional<double> read = run ? rateOf(run->rows, "read_rate") : std::nullopt;
    if (!ceilings && !append && !read) {
        setTitle(tr("Rates beside this machine's own"));
        showSentence(!run                            ? tr("No run yet: rates are measured, never assumed.")
                : stateOf(*run) == RunState::Running ? tr("Rates come with the phases that measure them.")
                                                     : tr("%1 measured no rates.").arg(runTitle(run->id)));
        return;
    }
    const Tokens& tokens = tokensFor(palette());
    const auto bar
        = [](const QString& name, const std::optional<double>& value, const QColor& color, Qt::BrushStyle pattern) {
              PlotBar out {name, {}};
              if (value)
                  out.parts.push_back({name, 0, *value, color, pattern});
              return out;
          };
    QVector<PlotLimit> limits;
    bool disturbed = false;
    if (ceilings) {
        const auto ceiling = [&](const QString& name, const Rate& rate, const std::optional<double>& measured) {
            const double most = rate.perSecond() / gigabyte;
            limits.push_back({name.arg(QString::fromStdString(formatRate(rate.perSecond()))), most, true});
            disturbed = disturbed || (measured && *measured > most);
        };
        ceiling(tr("ceiling, write %1"), ceilings->write, append);
        ceiling(tr("ceiling, read %1"), ceilings->read, read);
    }
    setTitle(
        disturbed ? tr("Rates: a ceiling was disturbed, the run was faster") : tr("Rates beside this machine's own"));
    showPlot()->setBars({bar(tr("append"), append, tokens.tenants[0], Qt::SolidPattern),
                            bar(tr("read back"), read, tokens.tenants[5], Qt::BDiagPattern)},
        limits);
}

} // namespace kvw::gui
