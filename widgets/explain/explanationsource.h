// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "units/explanation.h"

#include <QString>

#include <optional>

namespace kvw::gui {

/// Whoever shows figures that are not the estimate's (a page) and can say how they came about. The panel asks it by the
/// path that figureSelected() gave, and again whenever something changed.
class ExplanationSource
{
public:
    virtual ~ExplanationSource() = default;

    /// Nothing when the path is not one of its figures, or the figure is gone.
    virtual std::optional<Explanation> explanationOf(const QString& figure) const = 0;
};

} // namespace kvw::gui
