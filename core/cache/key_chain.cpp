// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/key_chain.h"

#include <xxhash.h>

#include <algorithm>
#include <cassert>

namespace kvw {

namespace {

constexpr std::int64_t mostAhead = 4096;

std::uint64_t nextContent(std::uint64_t parent, std::span<const TokenId> tokens, std::int64_t position,
    std::span<const MultimodalItem> multimodal)
{
    std::uint64_t out = XXH3_64bits_withSeed(tokens.data(), tokens.size_bytes(), parent);
    for (const MultimodalItem& item : multimodal) {
        if (!overlaps(item, position, tokens.size()))
            continue;
        const std::uint64_t offset = item.position - static_cast<std::uint64_t>(position);
        out = XXH3_64bits_withSeed(&offset, sizeof offset, out);
        out = XXH3_64bits_withSeed(item.digest.data(), item.digest.size(), out);
    }
    return out;
}

} // namespace

TokenReader::TokenReader(const Request& request, std::int64_t end, std::vector<TokenId>& buffer)
    : m_request(request)
    , m_buffer(buffer)
    , m_end(end)
{}

std::span<const TokenId> TokenReader::read(std::int64_t first, std::int64_t count)
{
    assert(first >= 0 && count >= 0 && first + count <= m_end);
    if (first < m_first || first + count > m_first + m_filled) {
        m_first = first;
        m_filled = std::min(std::max(count, m_ahead), m_end - first);
        m_ahead = std::min(2 * m_ahead, mostAhead);
        if (m_buffer.size() < static_cast<std::size_t>(m_filled))
            m_buffer.resize(static_cast<std::size_t>(m_filled));
        m_request.tokens(m_first, std::span(m_buffer).first(static_cast<std::size_t>(m_filled)));
    }
    return std::span(m_buffer).subspan(static_cast<std::size_t>(first - m_first), static_cast<std::size_t>(count));
}

const Request& TokenReader::request() const
{
    return m_request;
}

KeyChain::KeyChain(
    const Request& request, const SharingDomain& domain, const CacheBehaviour& behaviour, std::size_t sizes)
    : m_prompt(request.prompt)
    , m_multimodal(request.multimodal)
    , m_adapter(request.adapter)
    , m_domain(domain)
    , m_outputStream(request.outputStream)
    , m_root(rootKey(behaviour, domain, request.adapter))
    , m_blocks(sizes)
{}

bool KeyChain::isOf(const Request& request, const SharingDomain& domain) const
{
    return !m_blocks.empty() && m_prompt == request.prompt && m_multimodal == request.multimodal
        && m_adapter == request.adapter && m_outputStream == request.outputStream && m_domain.id == domain.id
        && m_domain.key == domain.key;
}

const BlockIdentity& KeyChain::at(TokenReader& reader, std::size_t size, std::int64_t blockTokens, std::int64_t number)
{
    std::vector<BlockIdentity>& blocks = m_blocks[size];
    while (static_cast<std::int64_t>(blocks.size()) <= number) {
        const std::int64_t position = static_cast<std::int64_t>(blocks.size()) * blockTokens;
        const BlockIdentity parent = blocks.empty() ? BlockIdentity {m_root, 0} : blocks.back();
        const std::span<const TokenId> tokens = reader.read(position, blockTokens);
        const std::span<const MultimodalItem> multimodal = reader.request().multimodal;
        blocks.push_back({nextKey(parent.key, tokens, position, multimodal),
            nextContent(parent.content, tokens, position, multimodal)});
    }
    return blocks[static_cast<std::size_t>(number)];
}

} // namespace kvw
