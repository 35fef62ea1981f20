// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/blockmappage.h"

#include "blockmap/legendview.h"
#include "blockmap/lensview.h"
#include "blockmap/mapbar.h"
#include "blockmap/maplog.h"
#include "blockmap/poolview.h"
#include "blockmap/requestsview.h"
#include "blockmap/storyview.h"
#include "blockmap/timestrip.h"
#include "document/plandocument.h"
#include "models/numbertext.h"

#include <QComboBox>
#include <QDockWidget>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMainWindow>
#include <QShortcut>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <QtConcurrent>

namespace kvw::gui {

namespace {

QVBoxLayout* column(QWidget* parent, int spacing)
{
    auto* out = new QVBoxLayout(parent);
    out->setContentsMargins(0, 0, 0, 0);
    out->setSpacing(spacing);
    return out;
}

} // namespace

BlockMapPage::BlockMapPage(PlanDocument& document, QWidget* parent)
    : Page(QStringLiteral("blockmap"), tr("Block map"), tr("Who holds which block, and why"), parent)
    , m_document(document)
    , m_sources(new QComboBox(this))
    , m_stack(new QStackedWidget(this))
    , m_empty(new QLabel(this))
    , m_requestsTitle(paneTitle({}, this))
    , m_requests(new RequestsView(m_map, this))
    , m_poolTitle(paneTitle(tr("Device pool"), this))
    , m_pool(new PoolView(m_map, this))
    , m_bar(new MapBar(m_map, *m_pool, this))
    , m_lensTitle(paneTitle({}, this))
    , m_lens(new LensView(m_map, *m_pool, this))
    , m_time(new TimeStrip(m_map, this))
    , m_story(new StoryView(m_map, this))
    , m_legend(new LegendView(m_map, this))
    , m_legendTitle(paneTitle(tr("Legend"), this))
    , m_side(nullptr)
{
    m_map.setPalette(palette());
    m_sources->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_sources->setAccessibleName(tr("Source"));
    headerActions()->addWidget(new QLabel(tr("Source"), this));
    headerActions()->addWidget(m_sources);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_empty->setText(tr("No event log yet. Predict (F5), or run live."));
    auto* results = new QWidget(m_stack);
    QVBoxLayout* layout = column(results, 8);
    layout->addWidget(m_bar);
    layout->addWidget(makeMaps(), 1);
    layout->addWidget(m_time);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(results);
    content()->addWidget(m_stack, 1);

    connect(m_sources, &QComboBox::activated, this, [this] { load(m_sources->currentData().toString()); });
    connect(&m_loading, &QFutureWatcherBase::finished, this, &BlockMapPage::loaded);
    connect(&document, &PlanDocument::predictionChanged, this, &BlockMapPage::refreshSources);
    connect(&document, &PlanDocument::runsChanged, this, &BlockMapPage::refreshSources);
    connect(&document, &PlanDocument::planChanged, this, &BlockMapPage::refreshSources);
    connect(&m_map, &MapState::sourceChanged, this, [this] {
        emit sourceTextChanged();
        if (m_map.source())
            m_poolTitle->setText(tr("Device pool, rank %1").arg(m_map.header().layout.rank));
    });
    connect(&m_map, &MapState::selectionChanged, this, &BlockMapPage::refreshText);
    connect(&m_map, &MapState::selectionChanged, this, &BlockMapPage::showSelected);
    connect(&m_map, &MapState::changed, this, [this] {
        if (isVisible() && m_map.selectedBlock())
            emit figureChanged(); // the block at another step
    });
    connect(m_bar, &MapBar::notFound, this,
        [this](const QString& text) { emit message(tr("%1 is not in the map at this step.").arg(text)); });
    connect(m_requests, &RequestsView::titleChanged, this,
        [this](const QString& title) { m_requestsTitle->setText(tr("Requests: %1").arg(title)); });
    connect(m_lens, &LensView::titleChanged, m_lensTitle, &QLabel::setText);
    connect(m_legend, &LegendView::titleChanged, this, [this](const QString& title) {
        m_legendTitle->setText(title);
        if (m_legendDock)
            m_legendDock->setWindowTitle(title);
    });
    // Wherever the focus is, but in a field that takes digits.
    for (std::size_t i = 0; i < colouringCount; ++i) {
        auto* key = new QShortcut(QKeySequence(Qt::Key_1 + static_cast<int>(i)), this);
        connect(key, &QShortcut::activated, this, [this, i] { m_bar->chooseColouring(static_cast<Colouring>(i)); });
    }
    orderTabs();
    refreshSources();
}

/// Filters, the main view, the second one, the lens, time.
void BlockMapPage::orderTabs()
{
    QWidgetList order;
    const auto addThoseOf = [&](QWidget* part) {
        if (part->focusPolicy() != Qt::NoFocus)
            order.push_back(part);
        for (QWidget* inside : part->findChildren<QWidget*>()) {
            if (inside->focusPolicy() != Qt::NoFocus
                && inside->window() == window()) // lists that drop down are windows
                order.push_back(inside);
        }
    };
    for (QWidget* part : std::initializer_list<QWidget*> {m_bar, m_requests, m_pool, m_lens, m_time})
        addThoseOf(part);
    for (qsizetype i = 1; i < order.size(); ++i)
        setTabOrder(order[i - 1], order[i]);
}

BlockMapPage::~BlockMapPage()
{
    m_loading.waitForFinished();
}

QWidget* BlockMapPage::makeMaps()
{
    auto* maps = new QSplitter(Qt::Horizontal, this);
    maps->setChildrenCollapsible(false);
    maps->setHandleWidth(8);
    auto* logical = new QWidget(maps);
    QVBoxLayout* layout = column(logical, 0);
    layout->addWidget(m_requestsTitle);
    layout->addWidget(m_requests, 1);
    auto* physical = new QSplitter(Qt::Vertical, maps);
    physical->setChildrenCollapsible(false);
    auto* pool = new QWidget(physical);
    layout = column(pool, 0);
    layout->addWidget(m_poolTitle);
    layout->addWidget(m_pool, 1);
    auto* lens = new QWidget(physical);
    layout = column(lens, 0);
    layout->addWidget(m_lensTitle);
    layout->addWidget(m_lens, 1);
    physical->addWidget(pool);
    physical->addWidget(lens);
    physical->setHandleWidth(8);
    physical->setSizes({320, 150});
    physical->setStretchFactor(0, 3);
    physical->setStretchFactor(1, 1);
    maps->addWidget(logical);
    maps->addWidget(physical);
    maps->addWidget(makeSide());
    maps->setSizes({540, 400, 260});
    maps->setStretchFactor(0, 5);
    maps->setStretchFactor(1, 4);
    maps->setStretchFactor(2, 0);
    return maps;
}

QWidget* BlockMapPage::makeSide()
{
    m_side = new QWidget(this);
    QVBoxLayout* layout = column(m_side, 0);
    layout->addWidget(paneTitle(tr("Story of the block"), m_side));
    layout->addWidget(m_story, 1);
    layout->addWidget(m_legendTitle);
    layout->addWidget(m_legend);
    return m_side;
}

/// Story and legend go into the window's docks, beside Explain and Problems, where there are some.
void BlockMapPage::placeSide()
{
    auto* window = qobject_cast<QMainWindow*>(this->window());
    if (!window || m_storyDock)
        return;
    m_storyDock = new QDockWidget(tr("Story of the block"), window);
    m_storyDock->setObjectName(QStringLiteral("storyDock"));
    m_storyDock->setWidget(m_story);
    m_legendDock = new QDockWidget(m_legendTitle->text(), window);
    m_legendDock->setObjectName(QStringLiteral("legendDock"));
    m_legendDock->setWidget(m_legend);
    m_side->hide();
    const QList<std::pair<QDockWidget*, const char*>> places {
        {m_storyDock, "explainDock"}, {m_legendDock, "problemsDock"}};
    for (const auto& [dock, beside] : places) {
        dock->setMinimumWidth(240);
        window->addDockWidget(Qt::RightDockWidgetArea, dock);
        if (auto* known = window->findChild<QDockWidget*>(QString::fromLatin1(beside)))
            window->tabifyDockWidget(known, dock);
    }
    window->resizeDocks({m_storyDock, m_legendDock}, {3, 2}, Qt::Vertical);
}

void BlockMapPage::showEvent(QShowEvent* event)
{
    Page::showEvent(event);
    placeSide();
    for (QDockWidget* dock : {m_storyDock.data(), m_legendDock.data()}) {
        if (dock) {
            dock->show();
            dock->raise();
        }
    }
    refreshSources();
}

void BlockMapPage::hideEvent(QHideEvent* event)
{
    m_time->setPlaying(false);
    for (QDockWidget* dock : {m_storyDock.data(), m_legendDock.data()}) {
        if (dock)
            dock->hide();
    }
    Page::hideEvent(event);
}

bool BlockMapPage::isBusy() const
{
    return m_loading.isRunning() || (m_sources->count() > 0 && !m_map.source());
}

QString BlockMapPage::source() const
{
    return m_map.source() ? m_map.source()->key : QString();
}

void BlockMapPage::setSource(const QString& key)
{
    const int row = m_sources->findData(key);
    if (row < 0)
        return;
    m_sources->setCurrentIndex(row);
    load(key);
}

void BlockMapPage::showRequest(quint32 request)
{
    m_wanted = request;
    if (source() == predictionLogKey() && !m_loading.isRunning())
        loaded();
    else
        setSource(predictionLogKey());
}

MapState& BlockMapPage::map()
{
    return m_map;
}

PoolView& BlockMapPage::pool()
{
    return *m_pool;
}

RequestsView& BlockMapPage::requests()
{
    return *m_requests;
}

LegendView& BlockMapPage::legend()
{
    return *m_legend;
}

QString BlockMapPage::sourceText() const
{
    return m_map.source() ? tr("event log: %1").arg(m_sources->currentText()) : tr("no event log yet");
}

void BlockMapPage::refreshSources()
{
    const QStringList keys = mapLogKeys(m_document);
    const QString current = m_sources->currentData().toString();
    m_sources->clear();
    for (const QString& key : keys)
        m_sources->addItem(mapLog(m_document, key).title, key);
    m_sources->setCurrentIndex(std::max(0, m_sources->findData(current)));
    m_sources->setEnabled(keys.size() > 1);
    m_empty->setText(
        keys.isEmpty() ? tr("No event log yet. Predict (F5), or run live.") : tr("Reading the event log…"));
    if (keys.isEmpty()) {
        m_shown = nullptr;
        m_wanted.reset();
        m_stack->setCurrentIndex(0);
        m_map.setSource(nullptr);
        return;
    }
    load(m_sources->currentData().toString());
}

void BlockMapPage::load(const QString& key)
{
    if (m_loading.isRunning())
        return; // loaded() looks again
    const MapLog log = mapLog(m_document, key);
    if (!log.events || !(isVisible() || m_wanted))
        return; // read when somebody looks
    if (m_shown == log.events.get() && m_shownEvents == log.events->events().size() && source() == key
        && m_tenants == log.tenants)
        return;
    m_tenants = log.tenants;
    m_shown = log.events.get();
    m_shownEvents = log.events->events().size();
    m_loadingLog = log.events.get();
    if (log.grows) {
        // Others write to it: it can only be read here.
        m_loadingLog = nullptr;
        m_stack->setCurrentIndex(1);
        m_map.setSource(log.read());
        return;
    }
    m_loading.setFuture(QtConcurrent::run([log] { return log.read(); }));
}

void BlockMapPage::loaded()
{
    if (m_loading.isRunning())
        return;
    if (m_loadingLog) {
        const bool wanted = m_loadingLog == m_shown;
        m_loadingLog = nullptr;
        if (wanted) {
            const std::shared_ptr<MapSource> source = m_loading.result();
            if (source->replay->error())
                emit message(tr("The event log contradicts itself: %1. The map ends before that.")
                                 .arg(QString::fromStdString(source->replay->error()->text())));
            m_stack->setCurrentIndex(1);
            m_map.setSource(source);
        }
        if (m_sources->count() > 0)
            load(m_sources->currentData().toString()); // something newer may have come
    }
    if (m_wanted && source() == predictionLogKey() && !m_loading.isRunning()) {
        const quint32 request = *m_wanted;
        m_wanted.reset();
        m_map.showRequest(request);
    }
}

std::optional<Explanation> BlockMapPage::explanationOf(const QString& figure) const
{
    const QStringList parts = figure.split(QLatin1Char('.'));
    if (!m_map.source() || parts.size() != 3 || parts[0] != QLatin1String("block"))
        return std::nullopt;
    const BlockRef ref {parts[1].toUInt(), parts[2].toUInt()};
    const PoolLayout& layout = m_map.header().layout;
    if (ref.pool >= layout.pools.size() || std::int64_t {ref.block} >= layout.pools[ref.pool].blocks.value)
        return std::nullopt;
    const auto input = [&](const char* name, std::int64_t value, Unit unit) {
        return kvw::input(name, value, unit, Source {Source::Kind::EngineRule, "the run's layout"});
    };
    std::vector<Quantity> groups;
    for (const GroupLayout& group : layout.groups) {
        if (group.pool == ref.pool && groups.empty()) // the groups of a pool have blocks of one size
            groups.push_back(input("layers of a block", group.layers, Unit::Layer)
                * input("bytes of one layer's page", group.pageBytes, Unit::Byte));
    }
    QStringList words = m_map.describe(ref).split(QStringLiteral(", "));
    Explanation out;
    out.title = words.takeFirst().toStdString();
    if (!groups.empty())
        out.quantity = named(groups.front(), "bytes of the block", Unit::Byte);
    out.of = tr("step %1 of the event log: %2").arg(countText(m_map.step()), m_sources->currentText()).toStdString();
    out.facts.emplace_back(tr("Now").toStdString(), words.join(QStringLiteral(", ")).toStdString());
    out.facts.emplace_back(
        tr("Life").toStdString(), tr("in the dock Story of the block, event by event").toStdString());
    return out;
}

/// The selected block's story comes to the front, and Explain opens the block.
void BlockMapPage::showSelected()
{
    const std::optional<BlockRef> block = m_map.selectedBlock();
    if (!m_map.source() || !block || !isVisible())
        return;
    if (m_storyDock)
        m_storyDock->raise();
    emit figureSelected(QStringLiteral("block.%1.%2").arg(block->pool).arg(block->block));
}

void BlockMapPage::refreshText()
{
    if (!m_map.source())
        return;
    const std::optional<std::uint32_t> request = m_map.selectedRequest();
    const auto found = request ? m_map.state().requests.find(*request) : m_map.state().requests.end();
    if (found == m_map.state().requests.end()) {
        emit selectionText(m_map.selectedBlock() ? m_map.describe(*m_map.selectedBlock()) : QString());
        return;
    }
    const RequestBlocks blocks = requestBlocks(m_map.header(), m_map.state(), found->second);
    emit selectionText(tr("r%1 (%2): %3 blocks, %4; %5 shared")
                           .arg(QString::number(*request), QString::fromUtf8(requestPhaseName(found->second.phase)),
                               countText(blocks.blocks), bytesText(blocks.bytes).exact, countText(blocks.shared)));
}

void BlockMapPage::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return m_pool->zoomIn();
    case Qt::Key_Minus:
        return m_pool->zoomOut();
    case Qt::Key_0:
        return m_pool->zoomFit();
    case Qt::Key_BracketLeft:
        return m_time->goToEvent(false);
    case Qt::Key_BracketRight:
        return m_time->goToEvent(true);
    case Qt::Key_Space:
        return m_time->setPlaying(!m_time->isPlaying());
    default:
        Page::keyPressEvent(event);
    }
}

void BlockMapPage::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange)
        m_map.setPalette(palette());
    Page::changeEvent(event);
}

} // namespace kvw::gui
