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

    /// From here on the columns fill the width: each as wide as its cells and its title in at most two lines. What is
    /// left over all share, what lacks the widest give.
    void setColumnsFitted();
    /// Does it once, after new content.
    void fitColumns();

protected:
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    bool m_fitted = false;
};

} // namespace kvw::gui
