// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "cache/map_legend.h"
#include "cache/replay.h"

#include <QColor>
#include <QObject>
#include <QPalette>
#include <QString>
#include <QVector>

#include <memory>
#include <optional>

namespace kvw::gui {

/// An event log to draw, and what is needed to name things in it. Immutable but for the replay's position.
struct MapSource
{
    QString key; ///< "prediction" or the id of a run
    QString title;
    std::shared_ptr<const EventLog> log; ///< keeps header and events alive; null when they are copies
    EventLogHeader header;
    std::vector<Event> copy; ///< of a log that still grows
    std::vector<BlockKey> digests;
    std::vector<SharingDomain> domains; ///< by tenant; empty when not known
    QString rule; ///< whose cache rules the run followed; empty when not known
    std::unique_ptr<Replay> replay;
};
/// Reads the whole log once. `grows`: others still add to it, so that it is copied first.
std::shared_ptr<MapSource> makeMapSource(const QString& key, const QString& title, std::shared_ptr<const EventLog> log,
    const std::vector<SharingDomain>& domains, bool grows);

/// A block of one pool.
struct BlockRef
{
    std::uint32_t pool = 0;
    std::uint32_t block = 0;

    bool operator==(const BlockRef&) const = default;
};

enum class Colouring {
    State,
    Tenant,
};

/// How a kind of block looks, in one colouring.
struct MapVisual
{
    enum Pattern {
        Plain,
        Diagonals, ///< thin lines, of cached blocks by state
        WideDiagonals, ///< base-coloured, of cached blocks by tenant
        Cross, ///< held
        Alarm, ///< must not occur
    };

    QColor fill;
    QColor lower; ///< of the lower half; invalid: all of it is `fill`
    Pattern pattern = Plain;
    QColor line;
    QString letter; ///< of the tenants, "" for none
    bool fills = false; ///< drawn filled by its tokens
};

/// What the views of one block map share: the moment, colouring, filter, selection and hover. Everything drawn comes
/// from here, so that logical and physical view cannot differ.
class MapState : public QObject
{
    Q_OBJECT

public:
    explicit MapState(QObject* parent = nullptr);

    void setSource(std::shared_ptr<MapSource> source);
    const MapSource* source() const;
    const EventLogHeader& header() const; ///< REQUIRES a source
    const ReplayState& state() const; ///< REQUIRES a source
    const Replay& replay() const; ///< REQUIRES a source

    std::uint32_t step() const;
    void setStep(std::uint32_t step);

    Colouring colouring() const;
    void setColouring(Colouring colouring);
    /// −1: all.
    void setTenantFilter(int tenant);
    int tenantFilter() const;
    void setGroupFilter(int group);
    int groupFilter() const;
    /// A line of the legend, by its index in legend().rows; −1: none.
    void setLegendFilter(int row);
    int legendFilter() const;
    void setPalette(const QPalette& palette);
    const QPalette& palette() const;

    const Legend& legend() const; ///< of the colouring in force
    std::int64_t crossDomain() const;
    /// Looks in force; visualOf() gives indices into it.
    const QVector<MapVisual>& visuals() const;
    /// By block of a pool: index into visuals(), with fadedBit when the filter leaves it out.
    const std::vector<std::uint8_t>& visualsOf(std::uint32_t pool) const;
    static constexpr std::uint8_t fadedBit = 0x80;
    /// The look of a line of the legend.
    const MapVisual& legendVisual(int row) const;
    bool passes(const BlockRef& ref) const;
    const BlockSnapshot& block(const BlockRef& ref) const;
    TenantSet tenants(const BlockRef& ref) const;
    std::int64_t blockTokens(const BlockRef& ref) const;

    std::optional<BlockRef> selectedBlock() const;
    std::optional<std::uint32_t> selectedRequest() const;
    /// Selects a block, and the request through which it was reached: without one, the first whose table names it.
    void select(std::optional<BlockRef> block, std::optional<std::uint32_t> request = {});
    /// Selects a request, going to a step in which it holds something.
    void showRequest(std::uint32_t request);
    std::optional<BlockRef> hoveredBlock() const;
    std::optional<std::uint32_t> hoveredRequest() const;
    void hover(std::optional<BlockRef> block, std::optional<std::uint32_t> request = {});
    /// Goes to what `text` names: "r12" a request, "b176" or "1:176" a block (of pool 1), a tenant's name (filters), or
    /// the first digits of an identity. False when there is none at this moment.
    bool find(const QString& text);
    /// The block that rings and the lens are about: hovered, else selected.
    std::optional<BlockRef> focusBlock() const;
    std::optional<std::uint32_t> focusRequest() const;

    static QString tenantLetter(std::uint16_t tenant);
    QString tenantName(std::uint16_t tenant) const;
    QString tenantsText(TenantSet tenants) const; ///< "A+B"
    /// "Block 176, shared, in 10 tables".
    QString describe(const BlockRef& ref) const;

signals:
    void sourceChanged();
    /// The moment, colouring, filter or palette changed: everything is drawn anew.
    void changed();
    void selectionChanged();
    void hoverChanged();

private:
    void refresh();
    bool findDigest(const QString& digits);
    std::uint8_t visualFor(BlockClass what, TenantSet tenants);
    MapVisual makeVisual(BlockClass what, TenantSet tenants) const;
    QColor tenantColor(std::uint16_t tenant) const;

    std::shared_ptr<MapSource> m_source;
    std::uint32_t m_step = 0;
    Colouring m_colouring = Colouring::State;
    int m_tenant = -1;
    int m_group = -1;
    int m_row = -1;
    QPalette m_palette;
    Legend m_legend;
    std::int64_t m_crossDomain = 0;
    std::vector<std::vector<TenantSet>> m_tenants;
    QVector<MapVisual> m_visuals;
    QVector<int> m_legendVisuals;
    std::map<std::pair<BlockClass, TenantSet>, std::uint8_t> m_known;
    std::vector<std::vector<std::uint8_t>> m_byBlock;
    std::optional<BlockRef> m_selected;
    std::optional<std::uint32_t> m_selectedRequest;
    std::optional<BlockRef> m_hovered;
    std::optional<std::uint32_t> m_hoveredRequest;
};

} // namespace kvw::gui
