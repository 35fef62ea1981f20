// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace kvw {

/// Which of `count` samples a picture with room for `columns` shows, on screen and on paper alike: of each group of
/// neighbours the one where `height` is greatest, so that no peak is lost and one-step dips do not hatch the area.
std::vector<std::size_t> shownSamples(
    std::size_t count, std::size_t columns, const std::function<double(std::size_t)>& height);

} // namespace kvw
