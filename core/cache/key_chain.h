// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/identity.h"
#include "workload/request.h"

#include <cstdint>
#include <span>
#include <vector>

namespace kvw {

/// Hands out consecutive stretches of a request's tokens. Reads ahead, since finding a place in a prompt of many runs
/// costs more than the tokens themselves.
class TokenReader
{
public:
    /// Tokens from `end` on are not read. `buffer` is only lent, so that reading allocates nothing once it has grown.
    TokenReader(const Request& request, std::int64_t end, std::vector<TokenId>& buffer);

    /// Tokens [first, first + count). REQUIRES first + count ≤ end. Valid until the next call.
    std::span<const TokenId> read(std::int64_t first, std::int64_t count);
    const Request& request() const;

private:
    const Request& m_request;
    std::vector<TokenId>& m_buffer;
    std::int64_t m_end;
    std::int64_t m_first = 0; ///< position of m_buffer's first token
    std::int64_t m_filled = 0;
    std::int64_t m_ahead = 256;
};

/// What a block holds: its identity, and a fingerprint of the same content whoever may use it.
struct BlockIdentity
{
    BlockKey key {};
    /// Chain over tokens and multimodal items without domain, adapter and revisions. Only explains misses; never makes
    /// a hit.
    std::uint64_t content = 0;
};

/// The identities of one request's blocks, each computed once, for every block size of a layout.
class KeyChain
{
public:
    /// Without a request: isOf() is false for every one.
    KeyChain() = default;
    /// `sizes`: the block sizes of the layout.
    KeyChain(const Request& request, const SharingDomain& domain, const CacheBehaviour& behaviour, std::size_t sizes);

    /// True when the chain is about this content: prompt, items, adapter and domain are compared, not just the
    /// request's number.
    bool isOf(const Request& request, const SharingDomain& domain) const;
    /// Block `number` of blocks of `blockTokens` tokens, which is the layout's size `size`. REQUIRES that the reader's
    /// end covers it.
    const BlockIdentity& at(TokenReader& reader, std::size_t size, std::int64_t blockTokens, std::int64_t number);

private:
    std::vector<TokenRun> m_prompt;
    std::vector<MultimodalItem> m_multimodal;
    std::string m_adapter;
    SharingDomain m_domain;
    std::uint64_t m_outputStream = 0;
    BlockKey m_root;
    std::vector<std::vector<BlockIdentity>> m_blocks; ///< by size
};

} // namespace kvw
