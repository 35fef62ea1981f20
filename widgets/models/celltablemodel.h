// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <QVariant>
#include <QVector>

#include <cstdint>

namespace kvw::gui {

/// One cell of a table that only shows.
struct Cell
{
    QString text;
    QString exact; ///< for tooltip, status bar and clipboard; empty: the text
    QVariant sort; ///< number or text to sort by
    QString unit; ///< drawn dim behind the number
    bool number = false; ///< right-aligned
    bool strong = false; ///< semibold
    bool warns = false; ///< drawn as a warning
    QVariant decoration {}; ///< a pixmap before the text
    QString figure {}; ///< path of the figure, for Explain; empty: cannot be opened

    static Cell words(const QString& text);
    /// Groups of three; `missing` shows "–" and sorts first.
    static Cell count(std::int64_t value, bool missing = false);
    static Cell bytes(std::int64_t value);
};

/// A table of finished cells, as a result has them: immutable until the next one replaces it whole.
class CellTableModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    explicit CellTableModel(const QStringList& headers, QObject* parent = nullptr);

    void setRows(QVector<QVector<Cell>> rows);
    /// Long explanations of the headers, in their order.
    void setHeaderTips(const QStringList& tips);
    /// Of an earlier plan: every number is marked so.
    void setStale(bool stale);

    int rowCount(const QModelIndex& parent = {}) const final;
    int columnCount(const QModelIndex& parent = {}) const final;
    QVariant data(const QModelIndex& index, int role) const final;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const final;

private:
    QStringList m_headers;
    QStringList m_tips;
    QVector<QVector<Cell>> m_rows;
    bool m_stale = false;
};

} // namespace kvw::gui
