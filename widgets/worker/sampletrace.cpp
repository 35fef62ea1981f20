// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worker/sampletrace.h"

#include <algorithm>

namespace kvw::gui {

SampleTrace::SampleTrace(std::size_t most)
    : m_most(std::max<std::size_t>(most, 2))
{}

void SampleTrace::add(const StepSample& sample)
{
    if (m_total % m_stride == 0) {
        if (m_kept.size() == m_most) {
            std::size_t kept = 0;
            for (std::size_t i = 0; i < m_kept.size(); i += 2)
                m_kept[kept++] = m_kept[i];
            m_kept.resize(kept);
            m_stride *= 2;
        }
        if (m_total % m_stride == 0)
            m_kept.push_back(sample);
    }
    m_last = sample;
    ++m_total;
}

std::vector<StepSample> SampleTrace::samples() const
{
    std::vector<StepSample> out = m_kept;
    if (m_total > 0 && (m_total - 1) % m_stride != 0)
        out.push_back(m_last);
    return out;
}

std::size_t SampleTrace::stride() const
{
    return m_stride;
}

std::size_t SampleTrace::total() const
{
    return m_total;
}

} // namespace kvw::gui
