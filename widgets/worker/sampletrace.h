// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "serving/run_record.h"

#include <cstddef>
#include <vector>

namespace kvw::gui {

/// Samples of a run of any length in bounded memory: every one at first; each time there are too many, every second one
/// goes, and only every second, fourth … later one is taken. The last one is always there.
class SampleTrace
{
public:
    explicit SampleTrace(std::size_t most = 4096);

    void add(const StepSample& sample);
    /// In order of steps.
    std::vector<StepSample> samples() const;
    std::size_t stride() const; ///< 1: all of them
    std::size_t total() const; ///< added so far

private:
    std::size_t m_most;
    std::size_t m_stride = 1;
    std::size_t m_total = 0;
    std::vector<StepSample> m_kept {}; // those whose number is a multiple of m_stride
    StepSample m_last {};
};

} // namespace kvw::gui
