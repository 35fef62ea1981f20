// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "serving/shown_samples.h"

#include <algorithm>

namespace kvw {

std::vector<std::size_t> shownSamples(
    std::size_t count, std::size_t columns, const std::function<double(std::size_t)>& height)
{
    const std::size_t room = std::max<std::size_t>(columns, 1);
    const std::size_t group = std::max<std::size_t>(1, (count + room - 1) / room);
    std::vector<std::size_t> out;
    for (std::size_t from = 0; from < count; from += group) {
        std::size_t best = from;
        for (std::size_t i = from + 1; i < std::min(count, from + group); ++i) {
            if (height(i) > height(best))
                best = i;
        }
        out.push_back(best);
    }
    return out;
}

} // namespace kvw
