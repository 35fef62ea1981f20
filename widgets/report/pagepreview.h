// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "report/flow.h"
#include "report/pageops.h"

#include <QAbstractScrollArea>
#include <QHash>
#include <QImage>

#include <memory>
#include <optional>

namespace kvw::gui {

/// A laid out report: what the PDF would hold.
struct RenderedReport
{
    ReportFonts fonts;
    Paper paper = Paper::A4;
    std::vector<ReportSheet> sheets;
    QString title;
};

/// The pages as they will print, light on any theme. Draws the same operations as the PDF; only what is in sight.
class PagePreview : public QAbstractScrollArea
{
    Q_OBJECT

public:
    enum class Zoom {
        WholePage, ///< as many side by side as fit
        PageWidth,
    };

    explicit PagePreview(QWidget* parent = nullptr);

    /// Null clears it. The place that was read stays, as far as it exists.
    void setReport(std::shared_ptr<const RenderedReport> report);
    const std::shared_ptr<const RenderedReport>& report() const;
    void setZoom(Zoom zoom);
    /// In the middle while there is nothing to show.
    void setPlaceholder(const QString& text);
    /// Number of the page at the top, from 0.
    int currentPage() const;
    /// Marks every place with `text`, whatever its case, and scrolls to the first one from here on.
    void search(const QString& text);
    /// To the next place, or with −1 to the one before; goes round.
    void step(int direction);
    int matchCount() const;
    /// Of the current match, from 0; −1 when there is none.
    int currentMatch() const;

signals:
    void matchesChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Match
    {
        int page = 0;
        QRectF rect; ///< page units
    };

    void layOut();
    void findMatches();
    void showMatch();
    QRect pageRect(int page) const; ///< in the viewport
    const QImage& image(int page);

    std::shared_ptr<const RenderedReport> m_report;
    Zoom m_zoom = Zoom::WholePage;
    QString m_placeholder;
    double m_scale = 0; ///< pixels per page unit
    int m_columns = 1;
    QSize m_page;
    QHash<int, QImage> m_images;
    QString m_needle;
    std::vector<Match> m_matches;
    int m_match = -1;
};

} // namespace kvw::gui
