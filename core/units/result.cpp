// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/result.h"

#include "units/format.h"

namespace kvw {

std::string shortened(const std::string& text)
{
    constexpr std::size_t most = 400;
    if (text.size() <= most)
        return text;
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end; // not inside a character
    return text.substr(0, end) + "… (" + std::to_string(text.size()) + " bytes)";
}

std::string Error::text() const
{
    std::string out;
    if (!where.file.empty())
        out += shortened(where.file) + ": ";
    if (!where.at.empty())
        out += shortened(where.at) + ": ";
    out += shortened(message);
    if (!found.empty())
        out += "; found " + shortened(found);
    if (!expected.empty())
        out += (found.empty() ? "; expected " : ", expected ") + shortened(expected);
    return printable(out);
}

} // namespace kvw
