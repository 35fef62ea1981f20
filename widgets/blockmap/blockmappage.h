// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapstate.h"
#include "explain/explanationsource.h"
#include "shell/page.h"

#include <QFutureWatcher>
#include <QPointer>

class QComboBox;
class QDockWidget;
class QLabel;
class QStackedWidget;

namespace kvw::gui {

class LegendView;
class LensView;
class MapBar;
class PlanDocument;
class PoolView;
class RequestsView;
class StoryView;
class TimeStrip;

/// Who holds which block, and why: block tables beside the pools, at any step of an event log. Draws the log of the
/// prediction or of a live run and nothing else.
class BlockMapPage : public Page, public ExplanationSource
{
    Q_OBJECT

public:
    explicit BlockMapPage(PlanDocument& document, QWidget* parent = nullptr);
    ~BlockMapPage() override;

    bool isBusy() const override;
    QString sourceText() const override;
    /// Of a selected block: "block.POOL.NUMBER".
    std::optional<Explanation> explanationOf(const QString& figure) const override;

    /// The source that is drawn: "prediction", the id of a run, or empty.
    QString source() const;
    void setSource(const QString& key);
    /// Goes to a moment in which this request of the prediction holds blocks, and selects it.
    void showRequest(quint32 request);
    /// For tests and other views.
    MapState& map();
    PoolView& pool();
    RequestsView& requests();
    LegendView& legend();

protected:
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void orderTabs();
    QWidget* makeMaps();
    QWidget* makeSide();
    void placeSide();
    void refreshSources();
    void load(const QString& key);
    void loaded();
    void refreshText();
    void showSelected();

    PlanDocument& m_document;
    MapState m_map;
    QComboBox* m_sources;
    QStackedWidget* m_stack;
    QLabel* m_empty;
    QLabel* m_requestsTitle;
    RequestsView* m_requests;
    QLabel* m_poolTitle;
    PoolView* m_pool;
    MapBar* m_bar;
    QLabel* m_lensTitle;
    LensView* m_lens;
    TimeStrip* m_time;
    StoryView* m_story;
    LegendView* m_legend;
    QLabel* m_legendTitle;
    QWidget* m_side; ///< story and legend, inside the page when there is no window with docks around it
    QPointer<QDockWidget> m_storyDock;
    QPointer<QDockWidget> m_legendDock;
    QFutureWatcher<std::shared_ptr<MapSource>> m_loading;
    const void* m_loadingLog = nullptr; ///< dropped when nobody wants it any more by the time it is read
    std::optional<quint32> m_wanted; ///< request to show once the log is read
    std::vector<std::string> m_tenants; ///< as they are called in what is drawn
    const void* m_shown = nullptr; ///< the log that is drawn, to know a new one by
    std::size_t m_shownEvents = 0;
};

} // namespace kvw::gui
