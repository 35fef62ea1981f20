// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "serving/live_request.h"

#include "device/content.h"

#include <algorithm>

namespace kvw {

std::int64_t LiveRequest::mostTokens() const
{
    return record.promptTokens + sequence.request->outputTokens - 1;
}

std::int64_t LiveRequest::noteComputed(std::int64_t from, std::int64_t to)
{
    if (static_cast<std::int64_t>(everComputed.size()) < to)
        everComputed.resize(static_cast<std::size_t>(to));
    std::int64_t again = 0;
    for (std::int64_t position = from; position < to; ++position) {
        again += everComputed[static_cast<std::size_t>(position)] ? 1 : 0;
        everComputed[static_cast<std::size_t>(position)] = true;
    }
    return again;
}

void LiveRequest::extendChains(std::int64_t end)
{
    const auto first = static_cast<std::int64_t>(chains.size());
    if (end <= first)
        return;
    std::vector<TokenId> tokens(static_cast<std::size_t>(end - first));
    sequence.request->tokens(first, tokens);
    std::uint64_t chain = first == 0 ? chainStart(sequence.domain.id) : chains.back();
    for (const TokenId token : tokens) {
        chain = chainNext(chain, token);
        chains.push_back(chain);
    }
}

void LiveRequest::addSpans(const PoolLayout& layout, const BlockTables& tables, std::int64_t from, std::int64_t to,
    std::vector<EntrySpan>& out) const
{
    for (std::size_t g = 0; g < layout.groups.size(); ++g) {
        const std::int64_t blockTokens = layout.groups[g].blockTokens;
        const std::vector<BlockId>& table = tables.groups[g];
        for (std::int64_t at = from; at < to;) {
            const std::int64_t number = at / blockTokens;
            const std::int64_t end = std::min(to, (number + 1) * blockTokens);
            const BlockId block
                = static_cast<std::size_t>(number) < table.size() ? table[static_cast<std::size_t>(number)] : noBlock;
            if (block != noBlock) {
                EntrySpan span;
                span.group = static_cast<std::uint32_t>(g);
                span.block = block;
                span.slot = static_cast<std::int32_t>(at % blockTokens);
                span.count = static_cast<std::int32_t>(end - at);
                span.request = record.id;
                span.domain = static_cast<std::uint16_t>(sequence.domain.id);
                span.position = at;
                span.chains = chains.empty() ? nullptr : chains.data() + at;
                out.push_back(span);
            }
            at = end;
        }
    }
}

} // namespace kvw
