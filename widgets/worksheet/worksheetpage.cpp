// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worksheet/worksheetpage.h"

#include "document/plandocument.h"
#include "forms/fieldform.h"
#include "models/numbertext.h"
#include "models/roles.h"
#include "plot/plotview.h"
#include "style/elidedlabel.h"
#include "worksheet/bridgeview.h"
#include "worksheet/groupedheader.h"
#include "worksheet/identitypanel.h"
#include "worksheet/rowactions.h"
#include "worksheet/startpanel.h"
#include "worksheet/worksheetmodel.h"
#include "worksheet/worksheetview.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QLabel>
#include <QMenu>
#include <QScrollArea>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr int leastLower = 190; // a bridge of four bars, and its title

} // namespace

WorksheetPage::WorksheetPage(PlanDocument& document, QWidget* parent)
    : Page(QStringLiteral("worksheet"), tr("Worksheet"),
        tr("What attention holds, group by group, and what the engine will reserve for it"), parent)
    , m_document(document)
    , m_start(new StartPanel(this))
    , m_identity(new IdentityPanel(document, this))
    , m_model(new WorksheetModel(document, this))
    , m_view(new WorksheetView(*m_model, this))
    , m_excludes(new QLabel(this))
    , m_bridgeAbout(new ElidedLabel({}, this))
    , m_bridge(new BridgeView(this))
    , m_bridgeNote(new QLabel(this))
    , m_sequenceAbout(new ElidedLabel({}, this))
    , m_sequence(new PlotView(this))
    , m_split(new QSplitter(Qt::Vertical, this))
    , m_side(new QScrollArea(this))
    , m_rowTitle(new QLabel(this))
    , m_rowPlace(new QWidget(this))
{
    m_excludes->setForegroundRole(QPalette::PlaceholderText);
    m_excludes->setWordWrap(true);
    m_excludes->setFont(smallFont(font()));
    auto* upper = new QWidget(this);
    auto* upperLayout = new QVBoxLayout(upper);
    upperLayout->setContentsMargins(0, 0, 0, 0);
    upperLayout->setSpacing(4);
    upperLayout->addWidget(m_view, 1);
    upperLayout->addWidget(m_excludes);
    m_split->setObjectName(QStringLiteral("worksheetSplit"));
    m_split->addWidget(upper);
    m_split->addWidget(makeLower());
    m_split->setStretchFactor(0, 1);
    m_split->setStretchFactor(1, 1);
    m_split->setChildrenCollapsible(false);
    content()->addWidget(m_start, 1);
    content()->addWidget(m_identity);
    content()->addWidget(m_split, 1);
    makeSide();
    makeActions();

    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, &WorksheetPage::selectionChanged);
    connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this, &WorksheetPage::selectionChanged);
    connect(
        m_model, &WorksheetModel::editRefused, this, [this](const QString&, const QString& why) { emit message(why); });
    connect(m_model, &QAbstractItemModel::modelAboutToBeReset, this, [this] {
        m_keptElement = m_model->elementOf(m_view->currentIndex());
        m_keptColumn = m_view->currentIndex().column();
    });
    connect(m_model, &QAbstractItemModel::modelReset, this, [this] {
        refreshHeader();
        m_view->expandAll();
        m_view->fitColumns();
        shareHeight();
        // The row that was current stays so, where there still is one.
        const QModelIndex row = m_model->indexOfElement(m_keptElement);
        if (row.isValid())
            m_view->setCurrentIndex(row.siblingAtColumn(std::min(m_keptColumn, m_model->columnCount() - 1)));
        showRowFields();
    });
    connect(m_split, &QSplitter::splitterMoved, this, [this] {
        m_splitByUser = true;
        m_split->setProperty(automaticProperty, false);
    });
    connect(m_bridge, &BridgeView::figureSelected, this, &WorksheetPage::figureSelected);
    connect(m_start, &StartPanel::groupRequested, m_rows, &RowActions::addGroup);
    connect(m_identity, &IdentityPanel::goToField, this, &WorksheetPage::fieldRequested);
    connect(&document, &PlanDocument::planChanged, this, &WorksheetPage::refresh);
    m_sequenceTimer.setSingleShot(true);
    m_sequenceTimer.setInterval(0);
    connect(&m_sequenceTimer, &QTimer::timeout, this, &WorksheetPage::refreshSequence);
    m_view->expandAll();
    refresh();
    m_view->fitColumns();
}

QWidget* WorksheetPage::makeLower()
{
    auto* lower = new QSplitter(Qt::Horizontal, this);
    lower->setObjectName(QStringLiteral("worksheetLower"));
    lower->setChildrenCollapsible(false);
    m_bridgeNote->setForegroundRole(QPalette::PlaceholderText);
    m_bridgeNote->setFont(smallFont(font()));
    m_bridgeNote->setWordWrap(true);
    m_bridgeNote->setMargin(4);
    m_bridgeNote->setAutoFillBackground(true);
    m_bridgeNote->setBackgroundRole(QPalette::Base);
    m_sequence->setAxisTitles(tr("tokens in one sequence"), tr("GiB"));
    QWidget* bridge = pane(tr("From ideal need to engine need"), m_bridgeAbout, m_bridge, m_bridgeNote);
    lower->addWidget(bridge);
    lower->addWidget(pane(tr("One sequence"), m_sequenceAbout, m_sequence, nullptr));
    lower->setStretchFactor(0, 3);
    lower->setStretchFactor(1, 2);
    return lower;
}

void WorksheetPage::makeSide()
{
    auto* inside = new QWidget(m_side);
    auto* layout = new QVBoxLayout(inside);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->setSpacing(8);
    m_rowTitle->setFont(strongFont(font()));
    m_rowTitle->setWordWrap(true);
    auto* place = new QVBoxLayout(m_rowPlace);
    place->setContentsMargins(0, 0, 0, 0);
    auto* planTitle = new QLabel(tr("Plan, model and reading"), inside);
    planTitle->setFont(strongFont(font()));
    m_planForm = new FieldForm(m_document,
        {"document.title", "document.author", "document.notes", "model.name", "model.architecture", "model.revision",
            "model.tokenizerRevision", "model.basis", "model.maximumPositions", "model.dtype", "cache.elementType",
            "cache.allocation", "worksheet.retainedTokens", "worksheet.retainedSequences", "worksheet.retainedAt",
            "worksheet.retainedFrom"},
        1, inside);
    m_planForm->setStacked(true);
    connect(m_planForm, &FieldForm::refused, this, [this](const QString&, const QString& why) { emit message(why); });
    layout->addWidget(m_rowTitle);
    layout->addWidget(m_rowPlace);
    layout->addWidget(planTitle);
    layout->addWidget(m_planForm);
    layout->addStretch(1);
    m_side->setWidget(inside);
    m_side->setWidgetResizable(true);
    m_side->setFrameShape(QFrame::NoFrame);
    m_side->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_side->hide();
}

void WorksheetPage::makeActions()
{
    m_rows = new RowActions(m_document, *m_model, *m_view, this);
    connect(m_rows, &RowActions::message, this, &WorksheetPage::message);
    connect(m_rows, &RowActions::fieldRequested, this, &WorksheetPage::showField);
    auto* rows = new QToolButton(this);
    rows->setText(tr("Rows") + QStringLiteral("  ")); // beside its arrow
    rows->setPopupMode(QToolButton::InstantPopup);
    rows->setToolTip(tr("Add, copy, split, merge, retype, move and remove layer groups and tensors"));
    rows->setMenu(m_rows->menu());
    headerActions()->addWidget(rows);
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_view, &QWidget::customContextMenuRequested, this,
        [this](const QPoint& at) { m_rows->menu()->popup(m_view->viewport()->mapToGlobal(at)); });
}

RowActions* WorksheetPage::rowActions() const
{
    return m_rows;
}

QStringList WorksheetPage::fieldPrefixes() const
{
    return {
        QStringLiteral("worksheet."), QStringLiteral("model."), QStringLiteral("cache."), QStringLiteral("document.")};
}

QWidget* WorksheetPage::side() const
{
    return m_side;
}

QString WorksheetPage::sideTitle() const
{
    return tr("Fields");
}

bool WorksheetPage::showField(const QString& path)
{
    QModelIndex index = m_model->indexOfField(path);
    const bool inTable = index.isValid();
    if (!inTable && path.startsWith(QLatin1String("worksheet.groups."))) {
        // A field of a row that has no column: select the row and use its form.
        const bool tensor = path.section(QLatin1Char('.'), 3, 3) == QLatin1String("tensors");
        index = m_model->indexOfField(path.section(QLatin1Char('.'), 0, tensor ? 4 : 2)
            + (tensor ? QLatin1String(".role") : QLatin1String(".name")));
    }
    if (index.isValid()) {
        m_view->setCurrentIndex(index);
        m_view->scrollTo(index);
    }
    if (inTable && !m_view->isColumnHidden(index.column())) {
        m_view->setFocus(Qt::OtherFocusReason);
        return true;
    }
    if (path == QLatin1String("worksheet.groups")) {
        m_view->setFocus(Qt::OtherFocusReason);
        return true;
    }
    for (FieldForm* form : {m_rowForm, m_planForm}) {
        if (form && form->paths().contains(path)) {
            emit sideRequested();
            form->showField(path);
            return true;
        }
    }
    return false;
}

bool WorksheetPage::showFigure(const QString& path)
{
    const QModelIndex index = m_model->indexOfFigure(path);
    if (!index.isValid() || m_view->isColumnHidden(index.column()))
        return false;
    m_view->setCurrentIndex(index);
    m_view->scrollTo(index);
    m_view->setFocus(Qt::OtherFocusReason);
    return true;
}

void WorksheetPage::resizeEvent(QResizeEvent* event)
{
    Page::resizeEvent(event);
    m_identity->foldFor(window()->height());
    shareHeight();
}

void WorksheetPage::shareHeight()
{
    if (m_splitByUser || m_split->property(restoredProperty).toBool() || !isVisible())
        return;
    m_split->setProperty(automaticProperty, true); // nobody chose these sizes: another model has others
    // The table gets what its rows need, and little more than half: the bridge stays in sight.
    const int room = m_split->height();
    const int below = std::min(room * 9 / 20, leastLower);
    const int table = std::clamp(m_view->heightForRows() + m_excludes->height() + 8, 120, std::max(120, room - below));
    m_split->setSizes({table, room - table});
}

void WorksheetPage::changeEvent(QEvent* event)
{
    Page::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        refreshSequence();
}

} // namespace kvw::gui
