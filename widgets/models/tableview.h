// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QTableView>

namespace kvw::gui {

/// A table as the workbench has them: rows as high as the font asks for, cells edited in place, Ctrl+C and Ctrl+V as a
/// spreadsheet has them, the tab key leaves it, Enter and F2 edit.
class TableView : public QTableView
{
    Q_OBJECT

public:
    explicit TableView(QWidget* parent = nullptr);

    /// The height that shows every row without scrolling.
    int heightForRows() const;

protected:
    void keyPressEvent(QKeyEvent* event) override;
};

} // namespace kvw::gui
