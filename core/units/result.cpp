// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/result.h"

namespace kvw {

std::string Error::text() const
{
    std::string out;
    if (!where.file.empty())
        out += where.file + ": ";
    if (!where.at.empty())
        out += where.at + ": ";
    out += message;
    if (!found.empty())
        out += "; found " + found;
    if (!expected.empty())
        out += (found.empty() ? "; expected " : ", expected ") + expected;
    return out;
}

} // namespace kvw
