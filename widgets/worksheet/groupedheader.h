// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QHeaderView>
#include <QVector>

namespace kvw::gui {

/// A header with two lines above its sections: titles that span several of them ("Configured maximum") and, below each,
/// where the reading is from.
class GroupedHeader : public QHeaderView
{
    Q_OBJECT

public:
    /// The mark that plots and budgets use for the same thing.
    enum Sign {
        NoSign,
        DashedOutline, ///< configured maximum
        SolidFill, ///< presently retained
        PaleFill, ///< reserved
    };
    struct Span
    {
        int first = 0;
        int last = 0;
        QString title;
        QString note; ///< where the reading is from
        bool tinted = false;
        bool warned = false; ///< the note says that something is missing
        Sign sign = NoSign;
    };

    explicit GroupedHeader(QWidget* parent = nullptr);

    void setSpans(const QVector<Span>& spans);
    const QVector<Span>& spans() const;
    QSize sizeHint() const override;

protected:
    void paintSection(QPainter* painter, const QRect& rect, int section) const override;
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    void paintSpan(QPainter& painter, const Span& span, int line) const;

    QVector<Span> m_spans;
};

} // namespace kvw::gui
