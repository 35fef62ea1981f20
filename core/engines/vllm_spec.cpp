// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/vllm_spec.h"

#include "units/amount.h"

#include <algorithm>
#include <array>
#include <set>

namespace kvw::vllm {

namespace {

struct KindName
{
    SpecKind kind;
    std::string_view name;
};

constexpr std::array kindNames {
    KindName {SpecKind::Full, "full"},
    KindName {SpecKind::SinkFull, "sink_full"},
    KindName {SpecKind::Mla, "mla"},
    KindName {SpecKind::Sliding, "sliding"},
    KindName {SpecKind::SlidingMla, "sliding_mla"},
    KindName {SpecKind::ChunkedLocal, "chunked_local"},
    KindName {SpecKind::Cross, "cross"},
    KindName {SpecKind::Mamba, "mamba"},
    KindName {SpecKind::Ring, "ring"},
};

std::optional<std::int64_t> product(std::span<const std::int64_t> factors)
{
    std::optional<std::int64_t> out = 1;
    for (const std::int64_t factor : factors)
        out = out ? checkedMultiply(*out, factor) : out;
    return out;
}

std::optional<std::int64_t> stateBytes(const LayerSpec& spec)
{
    std::optional<std::int64_t> out = 0;
    for (const StateArray& array : spec.arrays) {
        const std::optional<std::int64_t> elements = product(array.shape);
        const std::optional<std::int64_t> bytes = elements ? checkedMultiply(*elements, array.elementBytes) : elements;
        out = out && bytes ? checkedAdd(*out, *bytes) : std::nullopt;
    }
    return out;
}

std::int64_t ceiling(std::int64_t a, std::int64_t b)
{
    return ceilDivide(a, b).value_or(0);
}

/// What layers of one group must share: everything that decides where a token lies in a page.
bool sameLayout(const LayerSpec& a, const LayerSpec& b)
{
    return a.blockTokens == b.blockTokens && a.heads == b.heads && a.headSize == b.headSize
        && a.valueSize == b.valueSize && a.elementBytes == b.elementBytes && a.headSlots == b.headSlots
        && a.contentBytes == b.contentBytes && a.compression == b.compression && a.alignment == b.alignment
        && a.paddedPage == b.paddedPage && a.stridedPages == b.stridedPages && a.quantization == b.quantization;
}

} // namespace

std::string_view specKindName(SpecKind kind)
{
    return kindNames[static_cast<std::size_t>(kind)].name;
}

std::optional<SpecKind> specKindFromName(std::string_view name)
{
    for (const KindName& known : kindNames) {
        if (known.name == name)
            return known.kind;
    }
    return std::nullopt;
}

std::string_view mambaModeName(MambaMode mode)
{
    return mode == MambaMode::None ? "none" : mode == MambaMode::Align ? "align" : "all";
}

bool isFullKind(SpecKind kind)
{
    return kind == SpecKind::Full || kind == SpecKind::SinkFull || kind == SpecKind::Mla;
}

bool isSlidingKind(SpecKind kind)
{
    return kind == SpecKind::Sliding || kind == SpecKind::SlidingMla;
}

bool isAttentionKind(SpecKind kind)
{
    return kind != SpecKind::Mamba;
}

std::optional<std::int64_t> unpaddedPageBytes(const LayerSpec& spec, const Rules& rules)
{
    if (spec.kind == SpecKind::Mamba)
        return stateBytes(spec);
    const bool windowed
        = spec.kind == SpecKind::Sliding || spec.kind == SpecKind::ChunkedLocal || spec.kind == SpecKind::Cross;
    const std::int64_t value = windowed && !rules.windowsHaveValueWidth ? spec.headSize : spec.valueSize;
    const std::optional<std::int64_t> width = checkedAdd(spec.headSize, value);
    const std::optional<std::int64_t> content = spec.contentBytes ? spec.contentBytes
        : width                                                   ? checkedMultiply(*width, spec.elementBytes)
                                                                  : width;
    if (!content)
        return std::nullopt;
    return product(std::array {spec.headSlots.value_or(spec.heads), spec.blockTokens / spec.compression, *content});
}

std::optional<std::int64_t> pageBytes(const LayerSpec& spec, const Rules& rules)
{
    if (spec.paddedPage)
        return spec.paddedPage;
    const std::optional<std::int64_t> unpadded = unpaddedPageBytes(spec, rules);
    if (!unpadded || !spec.alignment)
        return unpadded;
    return checkedMultiply(ceiling(*unpadded, *spec.alignment), *spec.alignment);
}

std::int64_t blocksPerRequest(const LayerSpec& spec, const Rules& rules, const RequestTerms& terms, std::int64_t length)
{
    switch (spec.kind) {
    case SpecKind::Full:
    case SpecKind::SinkFull:
    case SpecKind::Mla:
        return ceiling(ceiling(length, terms.contextRanks), spec.blockTokens);
    case SpecKind::Sliding:
    case SpecKind::SlidingMla: {
        const std::int64_t kept = spec.window.value_or(1) - 1 + spec.retained + terms.inFlightTokens;
        return ceiling(std::min(kept, length), spec.blockTokens) + 1;
    }
    case SpecKind::ChunkedLocal: {
        if (!rules.boundsChunks)
            return ceiling(length, spec.blockTokens);
        return ceiling(std::min(spec.chunk.value_or(0) + terms.inFlightTokens, length), spec.blockTokens);
    }
    case SpecKind::Cross:
        return ceiling(terms.encoderTokens, spec.blockTokens);
    case SpecKind::Mamba:
        if (terms.mambaMode == MambaMode::All)
            return ceiling(length, spec.blockTokens) + spec.draftBlocks;
        return (terms.mambaMode == MambaMode::Align ? 2 : 1) + spec.draftBlocks;
    case SpecKind::Ring:
        return 1;
    }
    return 0;
}

bool areMergeable(std::span<const LayerSpec* const> specs)
{
    const LayerSpec& first = *specs.front();
    if (!isFullKind(first.kind))
        return std::all_of(specs.begin(), specs.end(), [&](const LayerSpec* spec) { return *spec == first; });
    std::set<std::int64_t> windows;
    std::set<std::int64_t> chunks;
    for (const LayerSpec* spec : specs) {
        const bool same = first.kind == SpecKind::Mla ? spec->kind == SpecKind::Mla
                && spec->cacheType == first.cacheType && spec->modelVersion == first.modelVersion
                                                      : isFullKind(spec->kind) && spec->kind != SpecKind::Mla;
        if (!same || !sameLayout(*spec, first))
            return false;
        if (spec->window)
            windows.insert(*spec->window);
        if (spec->chunk)
            chunks.insert(*spec->chunk);
    }
    return windows.size() + chunks.size() <= 1;
}

bool areUniform(std::span<const LayerSpec* const> specs)
{
    const LayerSpec& first = *specs.front();
    return std::all_of(specs.begin(), specs.end(), [&](const LayerSpec* spec) {
        if (spec->blockTokens != first.blockTokens)
            return false;
        if (isFullKind(first.kind))
            return isFullKind(spec->kind);
        if (first.kind == SpecKind::Sliding)
            return isSlidingKind(spec->kind) && spec->window == first.window;
        if (spec->kind != first.kind)
            return false;
        switch (first.kind) {
        case SpecKind::SlidingMla:
            return spec->window == first.window;
        case SpecKind::ChunkedLocal:
            return spec->chunk == first.chunk;
        case SpecKind::Mamba:
            return spec->draftBlocks == first.draftBlocks;
        default:
            return true;
        }
    });
}

} // namespace kvw::vllm
