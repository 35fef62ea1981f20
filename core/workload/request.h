// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kvw {

using TokenId = std::uint32_t;

/// The token at `position` of `stream`: a fixed pseudo-random function. Two runs of the same stream over the same
/// positions are the same text; different streams share nothing but chance.
TokenId streamToken(std::uint64_t stream, std::uint64_t position);

/// `count` tokens of a stream, from `offset` on. A million-token prefix costs three words.
struct TokenRun
{
    std::uint64_t stream = 0;
    std::uint64_t offset = 0;
    std::uint64_t count = 0;

    bool operator==(const TokenRun&) const = default;
};

/// An image, clip or the like inside a prompt. Its content enters the identity of the blocks that it covers.
struct MultimodalItem
{
    std::string digest; ///< of the content
    std::uint64_t position = 0; ///< first prompt token it covers
    std::uint64_t tokens = 0;

    bool operator==(const MultimodalItem&) const = default;
};

/// One request as it arrives. Nothing in it depends on an engine.
struct Request
{
    std::uint32_t id = 0; ///< position in the workload
    std::uint16_t tenant = 0; ///< index into Workload::tenants
    std::int64_t arrivalStep = 0; ///< step at whose start it is there
    std::vector<TokenRun> prompt {};
    std::int64_t outputTokens = 1; ///< generated, then it is complete; at least 1
    std::uint64_t outputStream = 0; ///< what it generates: token n is streamToken(outputStream, n)
    std::int64_t samples = 1; ///< completions from the one prompt
    std::int64_t priority = 0; ///< smaller is more urgent
    std::string adapter {}; ///< LoRA name; empty: none
    std::vector<MultimodalItem> multimodal {};
    std::optional<std::int64_t> cancelStep {}; ///< the client leaves at the start of this step

    bool operator==(const Request&) const = default;

    std::int64_t promptTokens() const;
    /// Token at `position` of prompt and output together. REQUIRES position < promptTokens() + outputTokens.
    TokenId token(std::int64_t position) const;
    /// Tokens [first, first + out.size()) into `out`; cheaper than token() one by one.
    void tokens(std::int64_t first, std::span<TokenId> out) const;
};

/// All requests of a run, in order of arrival.
struct Workload
{
    std::string name {};
    std::vector<std::string> tenants {}; ///< ids, as in the plan
    std::vector<Request> requests {};

    /// SHA-256 over a canonical text of everything above: the frozen workload's name.
    std::string sha256() const;
};

} // namespace kvw
