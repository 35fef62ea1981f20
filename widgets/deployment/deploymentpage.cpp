// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "deployment/deploymentpage.h"

#include "document/plandocument.h"
#include "forms/fieldform.h"
#include "models/numberdelegate.h"
#include "models/numbertext.h"
#include "models/roles.h"
#include "plot/plotview.h"
#include "style/tokens.h"

#include <QGridLayout>
#include <QGroupBox>
#include <QHeaderView>
#include <QLabel>
#include <QTableWidget>
#include <QVBoxLayout>

namespace kvw::gui {

namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

struct Line
{
    QString title;
    QString figure;
    const std::optional<Quantity>* quantity;
};

} // namespace

DeploymentPage::DeploymentPage(PlanDocument& document, QWidget* parent)
    : Page(QStringLiteral("deployment"), tr("Deployment"),
        tr("On what hardware and by which engine's rules, and what is left for state"), parent)
    , m_document(document)
    , m_budget(new PlotView(this))
    , m_figures(new QTableWidget(this))
    , m_note(new QLabel(this))
{
    const QList<std::pair<QString, QStringList>> groups {
        {tr("Engine"),
            {"engine.name", "engine.version", "engine.blockTokens", "engine.maxBatchedTokens", "engine.maxSequences",
                "cache.elementType", "cache.allocation", "reuse.prefixCaching"}},
        {tr("Devices and ranks"),
            {"deployment.gpu", "deployment.memoryBytes", "deployment.tp", "deployment.pp", "deployment.dp",
                "loaded.weightBytes", "loaded.weightSource"}},
        {tr("Limits and admission"),
            {"limits.maxModelLen", "limits.promptTokens", "limits.outputTokens", "limits.concurrentSequences",
                "admission.whenExhausted", "admission.reservation", "admission.maxWaitSteps"}},
        {tr("Budget of one rank"),
            {"budget.kvBytesPerRank", "budget.utilization", "budget.activationBytes", "budget.otherBytes"}},
    };
    auto* grid = new QGridLayout;
    grid->setSpacing(8);
    int at = 0;
    for (const auto& [title, paths] : groups) {
        auto* box = new QGroupBox(title, this);
        auto* layout = new QVBoxLayout(box);
        layout->setContentsMargins(8, 8, 8, 8);
        auto* form = new FieldForm(document, paths, 1, box);
        layout->addWidget(form);
        layout->addStretch(1);
        connect(form, &FieldForm::refused, this, [this](const QString&, const QString& why) { emit message(why); });
        m_forms.push_back(form);
        grid->addWidget(box, at / 2, at % 2);
        ++at;
    }
    m_figures->setColumnCount(2);
    m_figures->horizontalHeader()->setVisible(false);
    m_figures->verticalHeader()->setVisible(false);
    m_figures->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_figures->horizontalHeader()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    m_figures->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_figures->setItemDelegate(new NumberDelegate(m_figures));
    m_figures->setTabKeyNavigation(false);
    m_figures->setAccessibleName(tr("What the engine makes of it"));
    connect(m_figures, &QTableWidget::currentCellChanged, this, [this](int row) {
        const QTableWidgetItem* item = row >= 0 ? m_figures->item(row, 1) : nullptr;
        emit figureSelected(item ? item->data(FigureRole).toString() : QString());
        emit selectionText(item ? item->data(ExactRole).toString() : QString());
    });
    m_note->setWordWrap(true);
    m_note->setForegroundRole(QPalette::PlaceholderText);
    m_budget->setAxisTitles(tr("GiB"), {});
    m_budget->setMaximumHeight(150);

    auto* right = new QVBoxLayout;
    right->setSpacing(4);
    right->addWidget(paneTitle(tr("What the engine makes of it"), this));
    right->addWidget(m_figures, 1);
    right->addWidget(paneTitle(tr("Budget of one rank"), this));
    right->addWidget(m_budget);
    right->addWidget(m_note);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    row->addLayout(grid, 3);
    row->addLayout(right, 2);
    content()->addLayout(row, 1);
    connect(&document, &PlanDocument::planChanged, this, &DeploymentPage::refresh);
    refresh();
}

QStringList DeploymentPage::fieldPrefixes() const
{
    return {QStringLiteral("engine."), QStringLiteral("deployment."), QStringLiteral("budget."),
        QStringLiteral("limits."), QStringLiteral("admission."), QStringLiteral("loaded."), QStringLiteral("cache."),
        QStringLiteral("reuse.")};
}

bool DeploymentPage::showField(const QString& path)
{
    for (FieldForm* form : std::as_const(m_forms)) {
        if (form->showField(path))
            return true;
    }
    return false;
}

void DeploymentPage::refresh()
{
    const Estimate* estimate = m_document.estimate();
    m_figures->setRowCount(0);
    m_note->clear();
    if (!estimate) {
        m_note->setText(m_document.estimateError());
        m_budget->clear();
        return;
    }
    const EngineSizing& engine = estimate->engine;
    const QList<Line> lines {{tr("Bytes of a block, one rank"), "engine.bytesPerBlock", &engine.bytesPerBlock},
        {tr("Available for state, per rank"), "engine.availableBytes", &engine.availableBytes},
        {tr("Blocks"), "engine.blocks", &engine.blocks}, {tr("Pool, per rank"), "engine.poolBytes", &engine.poolBytes},
        {tr("Tokens, as the engine prints"), "engine.tokens", &engine.tokens},
        {tr("Maximum concurrency, as printed"), "engine.maxConcurrency", &engine.maxConcurrency},
        {tr("Need of one request"), "engine.needBytes", &engine.needBytes},
        {tr("Longest request that fits"), "engine.largestLength", &engine.largestLength},
        {tr("Engine need, all ranks"), "engine.engineNeedBytes", &engine.engineNeedBytes}};
    for (const Line& line : lines) {
        const int row = m_figures->rowCount();
        m_figures->insertRow(row);
        m_figures->setItem(row, 0, new QTableWidgetItem(line.title));
        auto* item = new QTableWidgetItem;
        if (*line.quantity) {
            const NumberText text = numberText(**line.quantity);
            item->setText(text.number);
            item->setData(UnitRole, text.unit);
            item->setData(ExactRole, text.exact);
            item->setData(FigureRole, line.figure);
            item->setData(SortRole, text.sort);
            item->setToolTip(tr("%1 · F4 to explain").arg(text.exact));
        } else {
            item->setText(QStringLiteral("–"));
        }
        item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        m_figures->setItem(row, 1, item);
    }
    QStringList notes;
    if (!engine.refusal.empty())
        notes.push_back(QStringLiteral("✗ ") + QString::fromStdString(engine.refusal));
    for (const std::string& missing : engine.unstated)
        notes.push_back(QStringLiteral("⚠ ") + QString::fromStdString(missing));
    notes.push_back(tr("Rules: %1").arg(QString::fromStdString(engine.rules)));
    m_note->setText(notes.join(QLatin1Char('\n')));

    const Tokens& tokens = tokensFor(palette());
    const Plan& plan = m_document.plan();
    PlotBar bar {tr("rank 0"), {}};
    double top = 0;
    const auto stack = [&](const QString& name, double bytes, const QColor& color, Qt::BrushStyle pattern) {
        if (bytes <= 0)
            return;
        bar.parts.push_back({name, top, top + bytes / gib, color, pattern});
        top += bytes / gib;
    };
    const double ranks = static_cast<double>(std::max<std::size_t>(1, engine.ranks.size()));
    stack(tr("weights"), static_cast<double>(plan.loaded.weightBytes.value_or(0)) / ranks, tokens.blockHeld,
        Qt::SolidPattern);
    stack(tr("activation"), static_cast<double>(plan.budget.activationBytes.value_or(0)), tokens.dimText,
        Qt::BDiagPattern);
    stack(tr("other"), static_cast<double>(plan.budget.otherBytes.value_or(0)), tokens.dimText, Qt::CrossPattern);
    if (engine.poolBytes)
        stack(tr("pool"), engine.poolBytes->real(), tokens.idealNeed, Qt::SolidPattern);
    QVector<PlotLimit> limits;
    if (plan.deployment.memoryBytes)
        limits.push_back({tr("device"), static_cast<double>(*plan.deployment.memoryBytes) / gib, true});
    m_budget->setBars(bar.parts.isEmpty() ? QVector<PlotBar>() : QVector<PlotBar> {bar}, limits);
}

} // namespace kvw::gui
