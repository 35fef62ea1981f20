// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"

#include <QListWidget>

namespace kvw::gui {

/// Diagnostics as a list: glyph, sentence, and below it dim where it is. A click, or Enter, leads to the field.
class ProblemList : public QListWidget
{
    Q_OBJECT

public:
    explicit ProblemList(QWidget* parent = nullptr);

    /// Shows these, in this order. An unchanged list keeps its selection.
    void setProblems(const PlanDocument& document, const Diagnostics& problems);
    /// Selects the next (+1) or previous (−1) problem and goes to its field.
    void step(int direction);

signals:
    void goToField(const QString& path);

protected:
    void changeEvent(QEvent* event) override;

private:
    void activate();
};

} // namespace kvw::gui
