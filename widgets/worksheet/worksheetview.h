// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QTreeView>

namespace kvw::gui {

class GroupedHeader;
class WorksheetModel;

/// The worksheet's table: columns that fit the width there is, hair lines, the rules that part the token columns, and
/// one merged cell where there are no ranks.
///
/// When the width is short, the columns that a planner can do without go first: Fixed, Per token, Place, Kind. What
/// follows the last pair scrolls only if even that is not enough.
class WorksheetView : public QTreeView
{
    Q_OBJECT

public:
    explicit WorksheetView(WorksheetModel& model, QWidget* parent = nullptr);

    /// Chooses columns and widths for the present width. Call after the cells changed; while all still fits it changes
    /// nothing.
    void fitColumns();
    GroupedHeader* groupedHeader() const;
    /// Rows that can be seen without scrolling, header included: the height that shows all.
    int heightForRows() const;

protected:
    void drawRow(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void measure();
    int lowestRow() const;

    WorksheetModel& m_model;
    GroupedHeader* m_header;
    QVector<int> m_wanted; // width that each column's content needs
};

} // namespace kvw::gui
