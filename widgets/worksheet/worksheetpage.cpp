// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worksheet/worksheetpage.h"

#include "document/plandocument.h"
#include "models/numberdelegate.h"
#include "models/numbertext.h"
#include "models/roles.h"
#include "plan/identity.h"
#include "plot/plotview.h"
#include "style/tokens.h"
#include "units/format.h"
#include "worksheet/groupedheader.h"
#include "worksheet/worksheetmodel.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QLabel>
#include <QSplitter>
#include <QTreeView>
#include <QVBoxLayout>

#include <cmath>

namespace kvw::gui {

namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

/// A widget with a title strip over a plot and a note under it.
QWidget* pane(QWidget* parent, QLabel* title, QWidget* main, QLabel* note)
{
    auto* out = new QWidget(parent);
    auto* layout = new QVBoxLayout(out);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(title);
    layout->addWidget(main, 1);
    if (note)
        layout->addWidget(note);
    return out;
}

} // namespace

WorksheetPage::WorksheetPage(PlanDocument& document, QWidget* parent)
    : Page(QStringLiteral("worksheet"), tr("Worksheet"),
        tr("What attention holds, group by group, and what the engine will reserve for it"), parent)
    , m_document(document)
    , m_identity(new QWidget(this))
    , m_view(new QTreeView(this))
    , m_header(new GroupedHeader(m_view))
    , m_model(new WorksheetModel(document, this))
    , m_excludes(new QLabel(this))
    , m_bridgeTitle(paneTitle({}, this))
    , m_bridge(new PlotView(this))
    , m_bridgeNote(new QLabel(this))
    , m_sequence(new PlotView(this))
{
    m_identity->setLayout(new QGridLayout);
    m_view->setHeader(m_header);
    m_view->setModel(m_model);
    m_view->setItemDelegate(new NumberDelegate(m_view));
    m_view->setSelectionBehavior(QAbstractItemView::SelectItems);
    m_view->setEditTriggers(
        QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed | QAbstractItemView::AnyKeyPressed);
    m_view->setAlternatingRowColors(true);
    m_view->setUniformRowHeights(true);
    m_view->setTabKeyNavigation(false);
    m_view->setAccessibleName(tr("Layer groups"));
    m_excludes->setForegroundRole(QPalette::PlaceholderText);
    m_excludes->setWordWrap(true);
    m_bridgeNote->setForegroundRole(QPalette::PlaceholderText);
    m_bridgeNote->setWordWrap(true);
    m_bridge->setAxisTitles(tr("GiB"), {});
    m_sequence->setAxisTitles(tr("tokens in one sequence"), tr("GiB"));

    auto* lower = new QSplitter(Qt::Horizontal, this);
    lower->addWidget(pane(lower, m_bridgeTitle, m_bridge, m_bridgeNote));
    lower->addWidget(pane(lower, paneTitle(tr("One sequence: bytes over tokens"), lower), m_sequence, nullptr));
    lower->setStretchFactor(0, 3);
    lower->setStretchFactor(1, 2);
    auto* upper = new QWidget(this);
    auto* upperLayout = new QVBoxLayout(upper);
    upperLayout->setContentsMargins(0, 0, 0, 0);
    upperLayout->setSpacing(4);
    upperLayout->addWidget(m_view, 1);
    upperLayout->addWidget(m_excludes);
    auto* split = new QSplitter(Qt::Vertical, this);
    split->addWidget(upper);
    split->addWidget(lower);
    split->setStretchFactor(0, 1);
    split->setStretchFactor(1, 1);
    content()->addWidget(m_identity);
    content()->addWidget(split, 1);

    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, &WorksheetPage::selectionChanged);
    connect(
        m_model, &WorksheetModel::editRefused, this, [this](const QString&, const QString& why) { emit message(why); });
    connect(m_model, &QAbstractItemModel::modelReset, this, [this] {
        m_view->expandAll();
        refreshHeader();
    });
    connect(&document, &PlanDocument::planChanged, this, &WorksheetPage::refresh);
    m_view->expandAll();
    refreshHeader();
    refresh();
    for (int column = 0; column < m_model->columnCount(); ++column)
        m_view->resizeColumnToContents(column);
}

QStringList WorksheetPage::fieldPrefixes() const
{
    return {QStringLiteral("worksheet."), QStringLiteral("model."), QStringLiteral("cache.")};
}

bool WorksheetPage::showField(const QString& path)
{
    const QModelIndex index = m_model->indexOfField(path);
    if (!index.isValid())
        return false;
    m_view->setCurrentIndex(index);
    m_view->scrollTo(index);
    m_view->setFocus(Qt::OtherFocusReason);
    return true;
}

void WorksheetPage::refresh()
{
    refreshIdentity();
    refreshHeader();
    refreshBridge();
    refreshSequence();
    const Estimate* estimate = m_document.estimate();
    QString excludes;
    QString headline;
    if (estimate) {
        QStringList items;
        for (const std::string& item : estimate->excludes)
            items.push_back(QString::fromStdString(item));
        excludes = tr("Totals exclude %1. Nothing is divided by the number of devices: each rank has its own column, "
                      "by the engine's sharding rule.")
                       .arg(items.join(QStringLiteral(", ")));
        if (!estimate->label.empty())
            excludes.prepend(tr("This is %1. ").arg(QString::fromStdString(estimate->label)));
        if (!estimate->engine.refusal.empty())
            headline = QStringLiteral("✗ ") + tr("Engine: %1").arg(QString::fromStdString(estimate->engine.refusal));
        else if (estimate->engine.maxConcurrency)
            headline
                = tr("Fits: %1 sequences of %2 tokens; %3 planned")
                      .arg(QLocale().toString(std::floor(estimate->engine.maxConcurrency->real() * 10) / 10, 'f', 1),
                          countText(m_document.plan().limits.maxModelLen.value_or(0)),
                          countText(m_document.plan().limits.concurrentSequences.value_or(1)));
    } else {
        headline = QStringLiteral("✗ ") + m_document.estimateError();
    }
    m_excludes->setText(excludes);
    setHeadline(headline);
    selectionChanged();
}

void WorksheetPage::refreshHeader()
{
    const Plan& plan = m_document.plan();
    const QString sequences = countText(plan.limits.concurrentSequences.value_or(1));
    const QString length = plan.limits.maxModelLen ? countText(*plan.limits.maxModelLen) : tr("not stated");
    const QString retained = plan.worksheet.retainedAt.empty()
        ? tr("⚠ no reading")
        : tr("reading of %1").arg(QString::fromStdString(plan.worksheet.retainedAt));
    const Estimate* estimate = m_document.estimate();
    const bool pool = estimate && estimate->engine.poolBytes;
    m_header->setSpans({
        {WorksheetModel::ConfiguredTokens, WorksheetModel::ConfiguredBytes, tr("┄ Configured maximum"),
            tr("%1 × %2 tokens").arg(sequences, length), false},
        {WorksheetModel::RetainedTokens, WorksheetModel::RetainedBytes, tr("■ Presently retained"), retained, true},
        {WorksheetModel::ReservedTokens, WorksheetModel::ReservedBytes, tr("▣ Reserved"),
            pool ? tr("by the pool, all ranks") : tr("by admission"), false},
        {WorksheetModel::FirstRank, m_model->columnCount() - 1, tr("By rank"),
            estimate && !estimate->engine.ranks.empty()
                ? tr("%n rank(s)", nullptr, static_cast<int>(estimate->engine.ranks.size()))
                : QString(),
            false},
    });
}

void WorksheetPage::refreshIdentity()
{
    auto* grid = qobject_cast<QGridLayout*>(m_identity->layout());
    while (QLayoutItem* item = grid->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    grid->setContentsMargins(8, 4, 8, 4);
    grid->setHorizontalSpacing(16);
    grid->setVerticalSpacing(2);
    std::vector<IdentityRow> rows = identityOf(m_document.plan());
    rows.push_back({"loaded", "Loaded",
        m_document.plan().loaded.weightBytes
            ? std::optional(format(Bytes(*m_document.plan().loaded.weightBytes)) + " weights")
            : std::nullopt,
        {}});
    constexpr int columns = 4;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto* title = new QLabel(QString::fromStdString(rows[i].title), m_identity);
        title->setForegroundRole(QPalette::PlaceholderText);
        QFont small = font();
        small.setPointSizeF(small.pointSizeF() * 0.92);
        title->setFont(small);
        const bool stated = rows[i].text.has_value();
        const QString full = stated ? QString::fromStdString(*rows[i].text) : QStringLiteral("⚠ ") + tr("not stated");
        auto* value = new QLabel(fontMetrics().elidedText(full, Qt::ElideRight, 260), m_identity);
        value->setToolTip(full);
        value->setTextInteractionFlags(Qt::TextSelectableByMouse);
        if (!stated) {
            QPalette palette = value->palette();
            palette.setColor(QPalette::WindowText, tokensFor(palette).warning);
            value->setPalette(palette);
        }
        const int row = static_cast<int>(i) / columns * 2;
        const int column = static_cast<int>(i) % columns;
        grid->addWidget(title, row, column);
        grid->addWidget(value, row + 1, column);
        grid->setColumnStretch(column, 1);
    }
}

void WorksheetPage::refreshBridge()
{
    const Estimate* estimate = m_document.estimate();
    const Tokens& tokens = tokensFor(palette());
    QVector<PlotBar> bars;
    QVector<PlotLimit> limits;
    QStringList zero;
    if (estimate && estimate->idealBytes) {
        double at = estimate->idealBytes->real() / gib;
        bars.push_back({tr("Ideal need"), {{tr("Ideal need"), 0, at, tokens.idealNeed, Qt::SolidPattern}}});
        for (const NeedDifference& difference : estimate->engine.differences) {
            const double step = difference.bytes.real() / gib;
            const QString name = QString::fromStdString(difference.title);
            if (step == 0) {
                zero.push_back(name);
                continue;
            }
            bars.push_back({QStringLiteral("+ ") + name, {{name, at, at + step, tokens.difference, Qt::BDiagPattern}}});
            at += step;
        }
        if (estimate->engine.engineNeedBytes)
            bars.push_back({tr("Engine need"),
                {{tr("Engine need"), 0, estimate->engine.engineNeedBytes->real() / gib, tokens.engineNeed,
                    Qt::SolidPattern}}});
        if (estimate->reservedBytes && estimate->engine.poolBytes)
            limits.push_back({tr("pool %1").arg(QString::fromStdString(formatQuantity(*estimate->reservedBytes))),
                estimate->reservedBytes->real() / gib, true});
    }
    m_bridgeTitle->setText(tr("From ideal need to engine need"));
    m_bridge->setBars(bars, limits);
    QString note;
    if (!zero.isEmpty())
        note = tr("0 here: %1.").arg(zero.join(QStringLiteral(", ")));
    if (estimate && !estimate->engine.refusal.empty())
        note = tr("No engine need: %1").arg(QString::fromStdString(estimate->engine.refusal));
    else if (estimate && !estimate->engine.engineNeedBytes)
        note = tr("No engine need: no engine is chosen.");
    m_bridgeNote->setText(note);
}

void WorksheetPage::refreshSequence()
{
    const Plan& plan = m_document.plan();
    const Estimate* estimate = m_document.estimate();
    if (!estimate || !plan.limits.maxModelLen) {
        m_sequence->clear();
        return;
    }
    // The ideal line from the growth laws themselves, at a hundred lengths.
    const Tokens& tokens = tokensFor(palette());
    PlotSeries ideal {tr("ideal"), {}, {}, tokens.idealNeed};
    const std::int64_t most = *plan.limits.maxModelLen;
    for (int i = 0; i <= 100; ++i) {
        const std::int64_t v = most * i / 100;
        double bytes = 0;
        for (const LayerGroup& group : plan.worksheet.groups) {
            for (const StateTensor& tensor : group.tensors) {
                const ElementType type
                    = tensor.elementType == ElementType::NotStated ? plan.cache.elementType : tensor.elementType;
                bytes += static_cast<double>(group.layers) * static_cast<double>(tensor.growth.at(v))
                    * static_cast<double>(tensor.heads * rowBytes(type, tensor.width));
            }
        }
        ideal.x.push_back(static_cast<double>(v));
        ideal.y.push_back(bytes / gib);
    }
    QVector<PlotLimit> limits {{tr("configured"), static_cast<double>(most), true}};
    if (plan.worksheet.retainedTokens)
        limits.push_back({tr("retained"), static_cast<double>(*plan.worksheet.retainedTokens), true});
    m_sequence->setSeries({ideal}, limits);
}

void WorksheetPage::selectionChanged()
{
    const QModelIndex index = m_view->currentIndex();
    emit figureSelected(index.data(FigureRole).toString());
    emit selectionText(index.isValid() ? index.data(ExactRole).toString() : QString());
}

} // namespace kvw::gui
