// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/maplooks.h"
#include "blockmap/mapsource.h"

#include <QObject>
#include <QPalette>
#include <QString>

#include <memory>
#include <optional>

namespace kvw::gui {

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
    /// Looks in force; visualsOf() gives indices into it.
    const QVector<MapVisual>& visuals() const;
    /// By block of a pool: index into visuals(), with fadedBit when the filter leaves it out.
    const std::vector<std::uint16_t>& visualsOf(std::uint32_t pool) const;
    static constexpr std::uint16_t fadedBit = MapLooks::fadedBit;
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

    QString tenantName(std::uint16_t tenant) const;
    /// Steps since the block was allocated for what it holds. REQUIRES that it is active or cached.
    std::int64_t age(const BlockRef& ref) const;
    /// What the colour of a block says, short enough for a large cell: tenants as letters, "D1" for a domain, "G1" for
    /// a group, its age ("1k" from 1,000 steps on). Empty for free and held ones.
    QString cellText(const BlockRef& ref) const;
    /// "Block 176, shared, in 10 tables", and what the colouring shows.
    QString describe(const BlockRef& ref) const;

signals:
    void sourceChanged();
    /// The moment, colouring, filter or palette changed: everything is drawn anew.
    void changed();
    void selectionChanged();
    void hoverChanged();

private:
    void filterAgain();
    bool findDigest(const QString& digits);

    std::shared_ptr<MapSource> m_source;
    std::uint32_t m_step = 0;
    Colouring m_colouring = Colouring::State;
    MapFilter m_filter;
    QPalette m_palette;
    MapLooks m_looks;
    std::optional<BlockRef> m_selected;
    std::optional<std::uint32_t> m_selectedRequest;
    std::optional<BlockRef> m_hovered;
    std::optional<std::uint32_t> m_hoveredRequest;
};

} // namespace kvw::gui
