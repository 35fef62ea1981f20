// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace kvw {

/// A stretch of a text, in bytes.
struct TextPlace
{
    std::size_t offset = 0;
    std::size_t length = 0;

    bool operator==(const TextPlace&) const = default;
};

/// Where an error's place lies in the JSON text that was read: of a JSON pointer ("/text_config/num_hidden_layers")
/// the value; of one that is not there the name of the innermost object or array that is, or its first sign; of
/// "line 3, column 7" the rest of the word there. Nothing for another notation. The text need not be valid: what
/// stands before the place is read as far as it goes, in time linear in the text.
std::optional<TextPlace> jsonPlace(std::string_view text, std::string_view at);

} // namespace kvw
