// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What the worksheet page shows of the document, beside its table.

#include "document/plandocument.h"
#include "estimate/sequence.h"
#include "forms/fieldform.h"
#include "models/explainpath.h"
#include "models/numbertext.h"
#include "models/roles.h"
#include "plan/choices.h"
#include "plot/plotview.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"
#include "worksheet/bridgeview.h"
#include "worksheet/groupedheader.h"
#include "worksheet/identitypanel.h"
#include "worksheet/startpanel.h"
#include "worksheet/worksheetmodel.h"
#include "worksheet/worksheetpage.h"
#include "worksheet/worksheetview.h"

#include <QLabel>
#include <QLayout>
#include <QLocale>
#include <QSplitter>

#include <cmath>

namespace kvw::gui {

namespace {

constexpr double gib = 1024.0 * 1024 * 1024;
constexpr int curvePoints = 64;

QString sentence(const QString& text)
{
    return text.isEmpty() ? text : text.at(0).toUpper() + text.mid(1);
}

QString shown(const Quantity& quantity)
{
    const NumberText text = numberText(quantity);
    return text.unit.isEmpty() ? text.number : text.number + QLatin1Char(' ') + text.unit;
}

} // namespace

void WorksheetPage::refreshStart()
{
    const bool empty = m_document.plan().worksheet.groups.empty();
    m_start->setVisible(empty);
    m_identity->setVisible(!empty);
    m_split->setVisible(!empty);
}

void WorksheetPage::refresh()
{
    refreshStart();
    refreshHeader();
    refreshBridge();
    m_sequenceTimer.start();
    const Estimate* estimate = m_document.estimate();
    QString excludes;
    QString headline;
    QString headlineFigure;
    if (estimate) {
        QStringList items;
        for (const std::string& item : estimate->excludes)
            items.push_back(QString::fromStdString(item));
        excludes = tr("Totals exclude %1. Nothing is divided by the number of devices: each rank by the engine's rule.")
                       .arg(items.join(QStringLiteral(", ")));
        if (!estimate->label.empty())
            excludes.prepend(sentence(QString::fromStdString(estimate->label)) + QStringLiteral(". "));
        if (!estimate->engine.refusal.empty()) {
            headline = QStringLiteral("✗ ")
                + tr("Engine: %1").arg(QString::fromStdString(estimate->engine.refusal).toHtmlEscaped());
        } else if (estimate->engine.maxConcurrency) {
            headline
                = tr("Fits: <a href=\"figure\">%1</a> sequences of %2 tokens; %3 planned")
                      .arg(QLocale().toString(std::floor(estimate->engine.maxConcurrency->real() * 10) / 10, 'f', 1),
                          countText(m_document.plan().limits.maxModelLen.value_or(0)),
                          countText(m_document.plan().limits.concurrentSequences.value_or(1)));
            headlineFigure = QStringLiteral("engine.maxConcurrency");
        }
    } else if (!m_document.plan().worksheet.groups.empty()) {
        headline = QStringLiteral("✗ ") + m_document.estimateError().toHtmlEscaped();
    }
    m_excludes->setText(excludes);
    setHeadline(headline, headlineFigure);
    tellSelection();
}

void WorksheetPage::refreshHeader()
{
    using C = WorksheetColumns;
    const Plan& plan = m_document.plan();
    const QString sequences = countText(plan.limits.concurrentSequences.value_or(1));
    const bool reading = plan.worksheet.retainedTokens.has_value();
    QString retained = tr("⚠ no reading");
    if (reading) {
        const QString at = QString::fromStdString(plan.worksheet.retainedAt);
        QString from = plan.worksheet.retainedFrom == RetainedFrom::NotStated
            ? QString()
            : fromStd(choiceTitle(retainedFromNames(), static_cast<std::size_t>(plan.worksheet.retainedFrom)));
        retained
            = at.isEmpty() ? tr("⚠ no time stated") : tr("%1, %2").arg(from.isEmpty() ? tr("⚠ origin?") : from, at);
    }
    const Estimate* estimate = m_document.estimate();
    const bool pool = estimate && estimate->engine.poolBytes;
    const WorksheetRanks& ranks = m_model->ranks();
    m_view->groupedHeader()->setSpans({
        {C::ConfiguredTokens, C::ConfiguredBytes, tr("Configured maximum"),
            plan.limits.maxModelLen ? tr("%1 × %2 tokens").arg(sequences, countText(*plan.limits.maxModelLen))
                                    : tr("⚠ not stated"),
            false, !plan.limits.maxModelLen, GroupedHeader::DashedOutline},
        {C::RetainedTokens, C::RetainedBytes, tr("Presently retained"), retained, true,
            !reading || plan.worksheet.retainedAt.empty(), GroupedHeader::SolidFill},
        {C::ReservedTokens, C::ReservedBytes, tr("Reserved"),
            pool                                      ? tr("by the pool, all ranks")
                : estimate && estimate->reservedBytes ? tr("by the strategy")
                                                      : tr("not stated"),
            false, false, GroupedHeader::PaleFill},
        {C::FirstRank, m_model->columnCount() - 1,
            ranks.count > 1 ? tr("By rank, of %1").arg(ranks.count) : tr("By rank"),
            ranks.count == 0  ? QString()
                : ranks.alike ? tr("per token, all alike")
                              : tr("per token"),
            false, false, GroupedHeader::NoSign},
    });
}

void WorksheetPage::refreshBridge()
{
    const Estimate* estimate = m_document.estimate();
    const Plan& plan = m_document.plan();
    QString why = m_document.estimateError();
    if (estimate && !plan.limits.maxModelLen)
        why = tr("The configured maximum is not stated: there is no need to draw.");
    m_bridge->setEstimate(estimate, why);
    if (plan.limits.maxModelLen)
        m_bridgeAbout->setText(
            tr("%1 of %2 tokens, all ranks")
                .arg(counted(plan.limits.concurrentSequences.value_or(1), tr("sequence"), tr("sequences")),
                    countText(*plan.limits.maxModelLen)));
    else
        m_bridgeAbout->setText({});
    QStringList notes;
    if (!m_bridge->zeroSteps().isEmpty())
        notes.push_back(tr("All 0 here: %1.").arg(m_bridge->zeroSteps().join(QStringLiteral(", "))));
    if (estimate && !estimate->engine.refusal.empty())
        notes.push_back(tr("No engine need: %1").arg(QString::fromStdString(estimate->engine.refusal)));
    else if (estimate && !estimate->engine.engineNeedBytes)
        notes.push_back(plan.engine.name.empty() || plan.engine.name == "none"
                ? tr("No engine need: no engine is chosen.")
                : tr("No engine need: %1")
                      .arg(QString::fromStdString(estimate->engine.unstated.empty()
                              ? std::string("not stated")
                              : estimate->engine.unstated.front())));
    if (estimate && estimate->engine.blocks && estimate->engine.poolBytes)
        notes.push_back(tr("Pool of one rank: %1 blocks, %2.")
                            .arg(countText(estimate->engine.blocks->integer()), shown(*estimate->engine.poolBytes)));
    m_bridgeNote->setText(notes.join(QLatin1Char(' ')));
    m_bridgeNote->setVisible(!notes.isEmpty());
}

void WorksheetPage::refreshSequence()
{
    const Plan& plan = m_document.plan();
    const Estimate* estimate = m_document.estimate();
    if (!estimate || !plan.limits.maxModelLen) {
        m_sequence->clear();
        m_sequenceAbout->setText({});
        return;
    }
    m_sequenceAbout->setText(
        tr("%1 a token + %2 fixed").arg(shown(estimate->bytesPerToken), shown(estimate->fixedBytes)));
    const std::int64_t most = *plan.limits.maxModelLen;
    std::vector<std::int64_t> lengths;
    for (int i = 0; i <= curvePoints; ++i) {
        const std::int64_t length
            = std::max<std::int64_t>(1, most / curvePoints * i + most % curvePoints * i / curvePoints);
        if (lengths.empty() || length > lengths.back())
            lengths.push_back(length);
    }
    const Result<std::vector<SequenceNeed>> needs = sequenceNeeds(plan, lengths);
    if (!needs) {
        m_sequence->clear();
        return;
    }
    const Tokens& tokens = tokensFor(palette());
    PlotSeries ideal {tr("ideal"), {0}, {0}, tokens.idealNeed};
    PlotSeries engine {tr("engine"), {0}, {0}, tokens.text};
    for (const SequenceNeed& need : *needs) {
        ideal.x.push_back(static_cast<double>(need.tokens));
        ideal.y.push_back(static_cast<double>(need.idealBytes) / gib);
        if (need.engineBytes) {
            engine.x.push_back(static_cast<double>(need.tokens));
            engine.y.push_back(static_cast<double>(*need.engineBytes) / gib);
        }
    }
    QVector<PlotSeries> series {ideal};
    if (engine.x.size() > 1)
        series.push_back(engine);
    QVector<PlotLimit> limits {{tr("┄ configured"), static_cast<double>(most), true}};
    if (plan.worksheet.retainedTokens)
        limits.push_back({tr("■ retained"), static_cast<double>(*plan.worksheet.retainedTokens), true, true});
    m_sequence->setSeries(series, limits);
}

void WorksheetPage::selectionChanged()
{
    const QModelIndex index = m_view->currentIndex();
    emit figureSelected(explainPath(index));
    tellSelection();
    showRowFields();
}

void WorksheetPage::tellSelection()
{
    const QModelIndex index = m_view->currentIndex();
    const QModelIndexList selected = m_view->selectionModel()->selectedIndexes();
    if (selected.size() > 1)
        emit selectionText(tr("%1 selected").arg(counted(selected.size(), tr("cell"), tr("cells"))));
    else if (index.isValid() && !index.data(ExactRole).toString().isEmpty())
        emit selectionText(tr("1 cell: %1").arg(index.data(ExactRole).toString()));
    else
        emit selectionText({});
}

void WorksheetPage::showRowFields()
{
    const QString element = m_model->elementOf(m_view->currentIndex());
    if (element == m_rowElement && (m_rowForm || element.isEmpty()))
        return;
    m_rowElement = element;
    delete m_rowForm;
    m_rowForm = nullptr;
    m_rowTitle->setVisible(!element.isEmpty());
    m_rowPlace->setVisible(!element.isEmpty());
    if (element.isEmpty())
        return;
    m_rowTitle->setText(element.mid(static_cast<int>(qstrlen("worksheet.groups.")))
                            .replace(QLatin1String(".tensors."), QStringLiteral(" · ")));
    const bool tensor = element.contains(QLatin1String(".tensors."));
    const QStringList names = tensor
        ? QStringList {"role", "heads", "width", "elementType", "growth", "variable", "rounding", "entries", "offset",
            "stride", "limit", "chunk", "shard"}
        : QStringList {"name", "kind", "layers", "layerIndices", "readsGroup", "countsWhen", "pipelineStage", "tier"};
    QStringList paths;
    for (const QString& name : names)
        paths.push_back(element + QLatin1Char('.') + name);
    m_rowForm = new FieldForm(m_document, paths, 1, m_rowPlace);
    m_rowForm->setStacked(true);
    connect(m_rowForm, &FieldForm::refused, this, [this](const QString&, const QString& why) { emit message(why); });
    m_rowPlace->layout()->addWidget(m_rowForm);
}

} // namespace kvw::gui
