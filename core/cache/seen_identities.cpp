// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/seen_identities.h"

#include <algorithm>
#include <bit>

namespace kvw {

namespace {

constexpr std::size_t ways = 8;
constexpr std::uint64_t fewest = std::uint64_t {1} << 16;
constexpr std::uint64_t most = std::uint64_t {1} << 22;

std::uint64_t fingerprint(const BlockKey& key, std::uint8_t group)
{
    const std::uint64_t print = key.high + group * 0x9e3779b97f4a7c15ULL;
    return print == 0 ? 1 : print;
}

} // namespace

SeenIdentities::SeenIdentities(std::int64_t blocks)
{
    if (blocks <= 0)
        return;
    const auto wanted = static_cast<std::uint64_t>(std::min(blocks, std::int64_t {1} << 32)) * 4;
    m_prints.assign(static_cast<std::size_t>(std::clamp(std::bit_ceil(wanted), fewest, most)), 0);
}

void SeenIdentities::add(const BlockKey& key, std::uint8_t group)
{
    if (m_prints.empty())
        return;
    const std::uint64_t print = fingerprint(key, group);
    const std::size_t first = bucket(print);
    for (std::size_t i = first; i < first + ways; ++i) {
        if (m_prints[i] == print)
            return;
        if (m_prints[i] == 0) {
            m_prints[i] = print;
            return;
        }
    }
    m_prints[first + m_victim++ % ways] = print;
}

bool SeenIdentities::contains(const BlockKey& key, std::uint8_t group) const
{
    if (m_prints.empty())
        return false;
    const std::uint64_t print = fingerprint(key, group);
    const auto first = m_prints.begin() + static_cast<std::ptrdiff_t>(bucket(print));
    return std::find(first, first + ways, print) != first + ways;
}

std::size_t SeenIdentities::bucket(std::uint64_t print) const
{
    return static_cast<std::size_t>(print) & (m_prints.size() - ways);
}

} // namespace kvw
