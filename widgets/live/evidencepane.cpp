// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "live/evidencepane.h"

#include "document/plandocument.h"
#include "evidence/explain.h"
#include "live/livecontroller.h"
#include "live/livepreview.h"
#include "models/numberdelegate.h"
#include "models/numbertext.h"
#include "models/roles.h"
#include "report/report_words.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr int mostTitleWidth = 230;

} // namespace

EvidencePane::EvidencePane(const PlanDocument& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_about(new QLabel(this))
    , m_counts(new QLabel(this))
    , m_model(new EvidenceModel(this))
    , m_table(new QTableView(this))
{
    m_about->setForegroundRole(QPalette::PlaceholderText);
    m_about->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_counts->setTextFormat(Qt::RichText);
    m_table->setModel(m_model);
    m_table->setItemDelegate(new NumberDelegate(m_table));
    m_table->setObjectName(QStringLiteral("evidenceTable"));
    m_table->setAccessibleName(tr("Evidence"));
    m_table->setAlternatingRowColors(true);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setTabKeyNavigation(false);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() + 6);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setSectionResizeMode(EvidenceModel::Instrument, QHeaderView::Stretch);
    auto* title = new QLabel(tr("Evidence"), this);
    title->setFont(strongFont(title->font()));
    auto* line = new QHBoxLayout;
    line->setSpacing(8);
    line->addWidget(title);
    line->addWidget(m_about, 1);
    line->addWidget(m_counts);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addLayout(line);
    layout->addWidget(m_table, 1);
    m_table->setTextElideMode(Qt::ElideMiddle); // rows of several tenants differ at their ends
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
        if (m_restoring)
            return; // nobody chose it
        m_chosen = true;
        emit figureSelected(index.data(FigureRole).toString());
        emit selectionText(m_model->detail(index.row()).section(QLatin1Char('\n'), 0, 0));
    });
}

EvidencePane::Table EvidencePane::ofRun(const std::shared_ptr<const LiveResult>& run) const
{
    Table out;
    out.context.run = run->id.toStdString();
    out.context.device = run->device.toStdString();
    out.context.planHash = run->planHash;
    out.context.rules = run->setup.behaviour.rule;
    out.context.poolFraction = run->setup.poolFraction;
    out.context.stale = m_document.isStale(*run);
    out.rows = run->rows;
    out.run = run;
    return out;
}

EvidencePane::Table EvidencePane::ofReference(const RunReference& reference) const
{
    Table out;
    out.context.run = reference.id;
    out.context.device = reference.device;
    out.context.planHash = reference.planHash;
    out.context.poolFraction = reference.poolFraction;
    out.context.stale = reference.planHash != m_document.hash();
    std::vector<EvidenceSummary> stored = m_document.plan().evidence;
    std::erase_if(stored, [&](const EvidenceSummary& row) { return row.run != reference.id; });
    out.rows = rowsOf(stored);
    return out;
}

std::optional<EvidencePane::Table> EvidencePane::ofPreview() const
{
    if (!m_preview || m_preview->rows.empty())
        return std::nullopt;
    Table out;
    out.context.planHash = m_preview->planHash;
    out.context.rules = m_preview->setup.behaviour.rule;
    out.context.poolFraction = m_preview->setup.poolFraction;
    out.context.stale = m_preview->planHash != m_document.hash();
    out.rows = m_preview->rows;
    out.preview = m_preview;
    return out;
}

/// The rows of a run by its id; of what is expected for an empty one.
std::optional<EvidencePane::Table> EvidencePane::tableOf(const QString& run) const
{
    if (run.isEmpty())
        return ofPreview();
    for (const std::shared_ptr<const LiveResult>& one : m_document.runs()) {
        if (one->id == run)
            return ofRun(one);
    }
    for (const RunReference& reference : m_document.plan().runs) {
        if (reference.id == run.toStdString())
            return ofReference(reference);
    }
    return std::nullopt;
}

/// Whose rows these are, and of what plan.
QString EvidencePane::aboutText(const Shown& shown, const Table& table, Kind kind) const
{
    const QString stale = kind == Kind::Stale ? QStringLiteral("~ ") + tr("of an earlier plan · ") : QString();
    const QString ending = shown.ending.isEmpty() ? QString() : QStringLiteral(", ") + shown.ending;
    if (table.run)
        return stale
            + tr("%1%2 · all of the same scaled plan: rank %3, %4 % of the planned blocks")
                  .arg(runTitle(table.run->id), ending)
                  .arg(table.run->setup.layout.rank)
                  .arg(QLocale().toString(table.run->setup.poolFraction * 100, 'f', 1));
    if (shown.reference)
        return stale
            + tr("%1, from the plan file, %2")
                  .arg(runTitle(QString::fromStdString(shown.reference->id)),
                      QString::fromStdString(stampText(shown.reference->at)));
    if (!shown.run)
        return table.rows.empty() ? QString() : tr("what a run will be compared with");
    const QString run = runTitle(shown.run->id);
    if (shown.running) {
        const QString own
            = table.rows.empty() ? tr("its prediction comes with its evidence") : tr("what it will be compared with");
        return m_document.isStale(*shown.run) ? tr("~ %1 is of an earlier plan · %2").arg(run, own)
                                              : tr("%1 · %2").arg(run, own);
    }
    const QString left = tr("%1 has no evidence%2").arg(run, ending);
    return table.rows.empty() ? left : tr("%1 · below: what a run will be compared with").arg(left);
}

void EvidencePane::setShown(const Shown& shown)
{
    m_preview = shown.preview;
    std::map<std::string, std::string> names;
    for (const Tenant& tenant : m_document.plan().tenants)
        names[tenant.id] = tenant.name.empty() ? tenant.id : tenant.name;
    m_model->setTenantNames(std::move(names));
    std::optional<Table> table;
    Kind kind = shown.running ? Kind::Running : Kind::Expected;
    if (shown.run && !shown.run->rows.empty())
        table = ofRun(shown.run);
    else if (shown.reference)
        table = ofReference(*shown.reference);
    if (table)
        kind = table->context.stale ? Kind::Stale : Kind::Measured;
    else
        table = ofPreview();
    const Table rows = table.value_or(Table());
    m_about->setText(aboutText(shown, rows, kind));
    m_about->setToolTip(m_about->text());
    showCounts(rows.rows, kind);
    const int selected = m_table->currentIndex().row();
    const int column = m_table->currentIndex().column();
    if (!m_model->setRows(rows.rows, kind, QString::fromStdString(rows.context.run)))
        return;
    m_restoring = true;
    if (selected >= 0 && selected < m_model->rowCount())
        m_table->setCurrentIndex(m_model->index(selected, column));
    m_restoring = false;
    if (const QModelIndex now = m_table->currentIndex(); m_chosen && now.isValid() && isVisible()) {
        // The row that somebody chose is of another run now, or has its figures.
        emit figureSelected(now.data(FigureRole).toString());
        emit selectionText(m_model->detail(now.row()).section(QLatin1Char('\n'), 0, 0));
    }
    fitColumns();
}

void EvidencePane::showCounts(const std::vector<EvidenceRow>& rows, Kind kind)
{
    QString text;
    if (kind == Kind::Running && !rows.empty())
        text = tr("… %1 running").arg(countText(static_cast<std::int64_t>(rows.size())));
    else if (kind == Kind::Stale)
        text = QStringLiteral("~ ") + verdictCountText(rows);
    else if (kind == Kind::Measured)
        text = verdictCountRichText(rows, palette());
    m_counts->setText(text);
    QPalette ink = palette();
    if (kind != Kind::Measured)
        ink.setColor(QPalette::WindowText, kind == Kind::Stale ? tokensFor(ink).staleText : tokensFor(ink).noVerdict);
    m_counts->setPalette(ink);
}

void EvidencePane::fitColumns()
{
    if (m_model->rowCount() == 0)
        return;
    for (int column = 0; column < EvidenceModel::ColumnCount; ++column) {
        if (column != EvidenceModel::Instrument)
            m_table->resizeColumnToContents(column);
    }
    m_table->setColumnWidth(EvidenceModel::Row, std::min(m_table->columnWidth(EvidenceModel::Row), mostTitleWidth));
}

/// "evidence.run3.hit_tokens.acme.measured".
std::optional<Explanation> EvidencePane::explanationOf(const QString& figure) const
{
    const QString begin = QStringLiteral("evidence.");
    if (!figure.startsWith(begin))
        return std::nullopt;
    const std::optional<EvidenceFigure> which
        = evidenceFigureFromName(figure.section(QLatin1Char('.'), -1).toStdString());
    const std::optional<Table> table = tableOf(figure.section(QLatin1Char('.'), 1, 1));
    if (!which || !table)
        return std::nullopt;
    const std::string id = figure.section(QLatin1Char('.'), 2, -2).toStdString();
    const auto row
        = std::find_if(table->rows.begin(), table->rows.end(), [&](const EvidenceRow& one) { return one.id == id; });
    if (row == table->rows.end())
        return std::nullopt;
    std::optional<Quantity> derived;
    if (*which == EvidenceFigure::Estimated && !table->context.stale) {
        if (table->preview)
            derived = evidenceEstimate(table->preview->plan, table->preview->setup, *row);
        else if (table->run)
            derived = evidenceEstimate(m_document.plan(), table->run->setup, *row);
    }
    return explainEvidence(*row, *which, table->context, derived);
}

} // namespace kvw::gui
