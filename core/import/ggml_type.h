// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kvw {

/// How ggml stores the elements of a tensor: whole blocks of so many bytes.
struct GgmlType
{
    std::uint32_t id; ///< as GGUF files store it
    std::string_view name; ///< "q4_K"
    std::int64_t blockElements;
    std::int64_t blockBytes;
};

/// The types of ggml, ggml/include/ggml.h and src/ggml-common.h of August 2026.
std::span<const GgmlType> ggmlTypes();
/// The type with this id; null for ids that ggml does not know or has given up (4, 5, 31–33, 36–38).
const GgmlType* findGgmlType(std::uint32_t id);

} // namespace kvw
