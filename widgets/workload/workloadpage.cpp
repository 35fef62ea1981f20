// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "workload/workloadpage.h"

#include "document/plandocument.h"
#include "forms/fieldform.h"
#include "models/numbertext.h"
#include "models/tableview.h"
#include "plot/plotview.h"
#include "report/report_words.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"
#include "workload/requestmodel.h"
#include "workload/workloadpreview.h"

#include <QEvent>
#include <QFontDatabase>
#include <QGridLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>

namespace kvw::gui {

namespace {

/// A histogram as the outline of its bars.
PlotSeries outline(const QString& name, const Histogram& histogram, const QColor& color)
{
    PlotSeries out {name, {}, {}, color, Qt::SolidLine, true};
    out.step = true;
    out.x.push_back(static_cast<double>(histogram.first));
    out.y.push_back(0);
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        out.x.push_back(static_cast<double>(histogram.first + static_cast<std::int64_t>(i) * histogram.width));
        out.y.push_back(static_cast<double>(histogram.counts[i]));
    }
    out.x.push_back(
        static_cast<double>(histogram.first + static_cast<std::int64_t>(histogram.counts.size()) * histogram.width));
    out.y.push_back(0);
    return out;
}

QString rangeText(const Histogram& histogram, const QString& unit)
{
    if (histogram.counts.empty())
        return {};
    return histogram.least == histogram.most
        ? WorkloadPage::tr("all %1 %2").arg(countText(histogram.least), unit)
        : WorkloadPage::tr("%1 – %2 %3, %4 a bar")
              .arg(countText(histogram.least), countText(histogram.most), unit, countText(histogram.width));
}

QString percent(std::int64_t part, std::int64_t whole)
{
    const double share = whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
    return QLocale().toString(share, 'f', 1) + QStringLiteral(" %");
}

} // namespace

WorkloadPage::WorkloadPage(PlanDocument& document, QWidget* parent)
    : Page(QStringLiteral("workload"), tr("Workload"), tr("What arrives: lengths, sharing, tenants, times"), parent)
    , m_document(document)
    , m_preview(new WorkloadPreview(this))
    , m_form(nullptr)
    , m_prompts(new PlotView(this))
    , m_outputs(new PlotView(this))
    , m_arrivals(new PlotView(this))
    , m_promptsAbout(new ElidedLabel({}, this))
    , m_outputsAbout(new ElidedLabel({}, this))
    , m_arrivalsAbout(new ElidedLabel({}, this))
    , m_sharing(new QLabel(this))
    , m_requests(new RequestModel(this))
    , m_table(new TableView(this))
    , m_tableAbout(new ElidedLabel({}, this))
    , m_digest(new QLineEdit(this))
{
    m_table->setModel(m_requests);
    m_table->setAccessibleName(tr("Requests"));
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setColumnsFitted();
    m_digest->setObjectName(QStringLiteral("workloadDigest"));
    m_digest->setReadOnly(true);
    m_digest->setFrame(false);
    m_digest->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_digest->setAccessibleName(tr("SHA-256 of the workload"));
    auto* digest = new QWidget(this);
    auto* digestRow = new QHBoxLayout(digest);
    digestRow->setContentsMargins(8, 2, 8, 2);
    digestRow->addWidget(new QLabel(tr("SHA-256"), digest));
    digestRow->addWidget(m_digest, 1);

    auto* upper = new QSplitter(Qt::Horizontal, this);
    upper->setObjectName(QStringLiteral("workloadUpper"));
    upper->setChildrenCollapsible(false);
    upper->addWidget(makeFields());
    upper->addWidget(makePreview());
    upper->setStretchFactor(0, 0);
    upper->setStretchFactor(1, 1);
    upper->setSizes({340, 620});
    auto* split = new QSplitter(Qt::Vertical, this);
    split->setObjectName(QStringLiteral("workloadSplit"));
    split->setChildrenCollapsible(false);
    split->addWidget(upper);
    split->addWidget(pane(tr("Requests"), m_tableAbout, m_table, digest));
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 2);
    content()->addWidget(split, 1);

    connect(m_preview, &WorkloadPreview::changed, this, &WorkloadPage::refresh);
    connect(&document, &PlanDocument::planChanged, this, &WorkloadPage::planChanged);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
        emit selectionText(index.isValid() ? m_requests->headerData(index.column(), Qt::Horizontal).toString()
                    + QStringLiteral(": ") + index.data().toString()
                                           : QString());
    });
}

QWidget* WorkloadPage::makeFields()
{
    auto* scroll = new QScrollArea(this);
    auto* inside = new QWidget(scroll);
    auto* layout = new QVBoxLayout(inside);
    layout->setContentsMargins(8, 4, 8, 8);
    m_form = new FieldForm(m_document,
        {"workload.name", "workload.seed", "workload.requests", "workload.commonPrefixTokens",
            "workload.sharedPrefixes", "workload.sharedPrefixTokens", "workload.promptTokensMin",
            "workload.promptTokensMax", "workload.outputTokensMin", "workload.outputTokensMax",
            "workload.burstRequests", "workload.burstGapSteps"},
        1, inside);
    connect(m_form, &FieldForm::refused, this, [this](const QString&, const QString& why) { emit message(why); });
    layout->addWidget(m_form);
    layout->addStretch(1);
    scroll->setWidget(inside);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    return pane(tr("Generator"), new ElidedLabel(tr("the tenants take turns"), this), scroll, nullptr);
}

QWidget* WorkloadPage::makePreview()
{
    m_prompts->setAxisTitles(tr("prompt tokens"), tr("requests"));
    m_outputs->setAxisTitles(tr("output tokens"), tr("requests"));
    m_arrivals->setAxisTitles(tr("step"), tr("arrivals"));
    m_sharing->setTextFormat(Qt::RichText);
    m_sharing->setWordWrap(true);
    m_sharing->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_sharing->setMargin(8);
    m_sharing->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_sharing->setAutoFillBackground(true);
    m_sharing->setBackgroundRole(QPalette::Base);
    auto* out = new QWidget(this);
    auto* grid = new QGridLayout(out);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(8);
    grid->addWidget(pane(tr("Prompts"), m_promptsAbout, m_prompts, nullptr), 0, 0);
    grid->addWidget(pane(tr("Outputs"), m_outputsAbout, m_outputs, nullptr), 0, 1);
    grid->addWidget(pane(tr("Arrivals"), m_arrivalsAbout, m_arrivals, nullptr), 1, 0);
    grid->addWidget(pane(tr("What can be shared"), nullptr, m_sharing, nullptr), 1, 1);
    for (int i : {0, 1}) {
        grid->setColumnStretch(i, 1);
        grid->setRowStretch(i, 1);
    }
    return out;
}

QStringList WorkloadPage::fieldPrefixes() const
{
    return {QStringLiteral("workload.")};
}

bool WorkloadPage::showField(const QString& path)
{
    return m_form->showField(path);
}

void WorkloadPage::planChanged()
{
    m_stale = true;
    if (!isVisible())
        return; // computed when somebody looks
    m_stale = false;
    m_preview->setPlan(m_document.plan());
}

void WorkloadPage::showEvent(QShowEvent* event)
{
    Page::showEvent(event);
    if (m_stale)
        planChanged();
}

void WorkloadPage::refresh()
{
    const std::shared_ptr<const WorkloadFacts>& facts = m_preview->facts();
    QStringList names;
    for (const std::string& id : facts->workload.tenants)
        names.push_back(QString::fromStdString(tenantName(&m_document.plan(), id)));
    m_requests->setWorkload(std::shared_ptr<const Workload>(facts, &facts->workload), names);
    m_table->fitColumns();
    m_digest->setText(facts->sha256);
    m_digest->setCursorPosition(0);
    if (!facts->error.isEmpty()) {
        for (PlotView* plot : {m_prompts, m_outputs, m_arrivals})
            plot->clear();
        for (ElidedLabel* about : {m_promptsAbout, m_outputsAbout, m_arrivalsAbout, m_tableAbout})
            about->setText({});
        m_sharing->setText(
            (facts->tooMany ? QStringLiteral("%1") : tr("No workload: %1")).arg(facts->error.toHtmlEscaped()));
        setHeadline(facts->tooMany ? tr("no preview") : QStringLiteral("✗ ") + tr("no run can be set up"));
        return;
    }
    const Tokens& tokens = tokensFor(palette());
    m_prompts->setSeries({outline(tr("requests"), facts->prompts, tokens.tenants[0])});
    m_outputs->setSeries({outline(tr("requests"), facts->outputs, tokens.tenants[0])});
    m_arrivals->setSeries({outline(tr("arrivals"), facts->arrivals, tokens.tenants[0])});
    m_promptsAbout->setText(rangeText(facts->prompts, tr("tokens")));
    m_outputsAbout->setText(rangeText(facts->outputs, tr("tokens")));
    m_arrivalsAbout->setText(rangeText(facts->arrivals, tr("steps")));
    const auto requests = static_cast<std::int64_t>(facts->workload.requests.size());
    m_tableAbout->setText(tr("%1, %2 of prompts, %3 of output")
                              .arg(counted(requests, tr("request"), tr("requests")),
                                  counted(facts->promptTokens, tr("token"), tr("tokens")),
                                  counted(facts->outputTokens, tr("token"), tr("tokens"))));
    m_sharing->setText(tr(
        "<b>%1</b> of the prompt tokens, %2 of %3, follow a prefix that another request of the same sharing domain "
        "brings too.<br><br>If all tenants were one domain: <b>%4</b>, %5 tokens.<br><br>It is the most that any cache "
        "could save: prefixes shared to the token and kept for ever. Blocks, pool and evictions take from it; the "
        "prediction says how much.")
                           .arg(percent(facts->shareable, facts->promptTokens), countText(facts->shareable),
                               countText(facts->promptTokens), percent(facts->shareableByAll, facts->promptTokens),
                               countText(facts->shareableByAll)));
    setHeadline(tr("<b>%1</b> of prompt tokens can be shared").arg(percent(facts->shareable, facts->promptTokens)));
}

void WorkloadPage::changeEvent(QEvent* event)
{
    Page::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        refresh();
}

bool WorkloadPage::isBusy() const
{
    return m_preview->isBusy();
}

} // namespace kvw::gui
