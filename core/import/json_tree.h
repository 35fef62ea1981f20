// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/json.h"

namespace kvw {

/// The reading that parseJson() tries first: by Boost's parser, for text without a fault. What it reads is what
/// parseTreeExactly() reads. Nothing when anything at all is amiss (syntax, a cap, a key that is there twice) or rare
/// (a byte order mark, a number that is not finite or beyond the doubles): the exact reading then decides, and says
/// where.
std::optional<Json> parseTreeFast(std::string_view text, const JsonLimits& limits);

/// The reading that knows the place of every byte, through nlohmann's SAX interface; its errors are those of
/// parseJson(), without the file's name.
Result<Json> parseTreeExactly(std::string_view text, const JsonLimits& limits);

} // namespace kvw
