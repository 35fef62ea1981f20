// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/pool_layout.h"

namespace kvw {

std::int64_t GroupLayout::bytesPerToken() const
{
    std::int64_t perBlock = 0;
    for (const TensorLayout& tensor : tensors)
        perBlock += tensor.entryBytes * tensor.entriesPerBlock;
    return layers * perBlock / blockTokens;
}

Result<Bytes> PoolLayout::totalBytes() const
{
    std::int64_t total = 0;
    for (const PoolSpec& pool : pools) {
        const std::optional<std::int64_t> bytes = checkedMultiply(pool.blockBytes.value, pool.blocks.value);
        const std::optional<std::int64_t> next = bytes ? checkedAdd(total, *bytes) : std::nullopt;
        if (!next)
            return Error {"pool.size", "the pools together are larger than 2^63 bytes"};
        total = *next;
    }
    return Bytes(total);
}

} // namespace kvw
