// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QHeaderView>
#include <QVector>

namespace kvw::gui {

/// A header with a second line above its sections: titles that span several of them ("Configured maximum").
class GroupedHeader : public QHeaderView
{
    Q_OBJECT

public:
    struct Span
    {
        int first = 0;
        int last = 0;
        QString title;
        QString note; ///< where the reading is from
        bool tinted = false;
    };

    explicit GroupedHeader(QWidget* parent = nullptr);

    void setSpans(const QVector<Span>& spans);
    QSize sizeHint() const override;

protected:
    void paintSection(QPainter* painter, const QRect& rect, int section) const override;
    void paintEvent(QPaintEvent* event) override;

private:
    QVector<Span> m_spans;
};

} // namespace kvw::gui
