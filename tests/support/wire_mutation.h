// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <random>
#include <string>

namespace kvw::test {

/// The bytes with one to four small changes: bits turned, bytes replaced, parts left out, doubled or put in, the end
/// cut off. The same dice give the same bytes.
inline std::string mutated(std::string bytes, std::mt19937& dice)
{
    const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : dice() % limit; };
    for (std::size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
        const std::size_t at = below(bytes.size());
        const std::size_t length = 1 + below(std::min<std::size_t>(40, bytes.size() - at));
        switch (below(6)) {
        case 0:
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
            break;
        case 1:
            bytes[at] = static_cast<char>(dice());
            break;
        case 2:
            bytes.erase(at, length);
            break;
        case 3:
            bytes.insert(at, bytes.substr(at, length));
            break;
        case 4: {
            std::string random(length, '\0');
            for (char& byte : random)
                byte = static_cast<char>(dice());
            bytes.insert(at, random);
            break;
        }
        default:
            bytes.resize(at);
            break;
        }
    }
    return bytes;
}

} // namespace kvw::test
