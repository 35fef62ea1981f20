// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/identity.h"

#include "units/sha256.h"

#include <array>
#include <cstddef>

namespace kvw {

namespace {

/// What a field of an identity is. The numbers are part of every identity: never reuse one.
enum class Field : std::uint8_t {
    ModelRevision = 1,
    TokenizerRevision = 2,
    Adapter = 3,
    Domain = 4,
    Parent = 5,
    Tokens = 6,
    ItemDigest = 7,
    ItemOffset = 8,
};

/// A SHA-256 whose input is a sequence of fields, each with its type and its length before it. So no two different
/// sequences of fields are the same bytes, and a field that is left out differs from one that is empty.
class FramedHash
{
public:
    void text(Field field, std::string_view value)
    {
        frame(field, value.size());
        flush();
        m_sha.update(value);
    }

    void number(Field field, std::uint64_t value)
    {
        frame(field, 8);
        put(value, 8);
    }

    void key(Field field, const BlockKey& value)
    {
        frame(field, 16);
        put(value.high, 8);
        put(value.low, 8);
    }

    void tokens(Field field, std::span<const TokenId> values)
    {
        frame(field, 4 * static_cast<std::uint64_t>(values.size()));
        for (const TokenId value : values)
            put(value, 4);
    }

    BlockKey first128()
    {
        flush();
        const Sha256::Digest digest = m_sha.digest();
        BlockKey out;
        for (std::size_t i = 0; i < 8; ++i) {
            out.high = (out.high << 8) | digest[i];
            out.low = (out.low << 8) | digest[8 + i];
        }
        return out;
    }

private:
    void frame(Field field, std::uint64_t length)
    {
        put(static_cast<std::uint8_t>(field), 1);
        put(length, 8);
    }

    /// `bytes` bytes of `value`, the lowest first.
    void put(std::uint64_t value, std::size_t bytes)
    {
        if (m_used + bytes > m_buffer.size())
            flush();
        for (std::size_t i = 0; i < bytes; ++i)
            m_buffer[m_used++] = static_cast<std::byte>(value >> (8 * i));
    }

    void flush()
    {
        m_sha.update(std::span<const std::byte>(m_buffer.data(), m_used));
        m_used = 0;
    }

    Sha256 m_sha;
    std::array<std::byte, 256> m_buffer;
    std::size_t m_used = 0;
};

} // namespace

BlockKey rootKey(const CacheBehaviour& behaviour, const SharingDomain& domain, const std::string& adapter)
{
    FramedHash hash;
    hash.text(Field::ModelRevision, behaviour.modelRevision);
    hash.text(Field::TokenizerRevision, behaviour.tokenizerRevision);
    if (!adapter.empty())
        hash.text(Field::Adapter, adapter);
    if (domain.id != 0 || !domain.key.empty())
        hash.text(Field::Domain, domain.key);
    return hash.first128();
}

bool overlaps(const MultimodalItem& item, std::int64_t position, std::size_t tokens)
{
    const auto first = static_cast<std::uint64_t>(position);
    // Written so that nothing can wrap, wherever a file says the item lies.
    if (item.position >= first)
        return item.tokens > 0 && item.position - first < tokens;
    return item.tokens > first - item.position;
}

BlockKey nextKey(const BlockKey& parent, std::span<const TokenId> tokens, std::int64_t position,
    std::span<const MultimodalItem> multimodal)
{
    FramedHash hash;
    hash.key(Field::Parent, parent);
    hash.tokens(Field::Tokens, tokens);
    for (const MultimodalItem& item : multimodal) {
        if (!overlaps(item, position, tokens.size()))
            continue;
        hash.text(Field::ItemDigest, item.digest);
        // Negative for an item that began in an earlier block; two's complement keeps every offset apart.
        hash.number(Field::ItemOffset, item.position - static_cast<std::uint64_t>(position));
    }
    return hash.first128();
}

} // namespace kvw
