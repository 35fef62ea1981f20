// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/choices.h"

#include "model/element_type.h"
#include "model/layer_group.h"
#include "workload/admission.h"

#include <array>

namespace kvw {

std::span<const std::string_view> modelBasisNames()
{
    static constexpr std::array<std::string_view, 4> names {"", "config_file", "library", "hypothetical"};
    return names;
}

std::span<const std::string_view> switchNames()
{
    static constexpr std::array<std::string_view, 3> names {"", "off", "on"};
    return names;
}

std::span<const std::string_view> modelRunnerNames()
{
    static constexpr std::array<std::string_view, 3> names {"", "v1", "v2"};
    return names;
}

std::span<const std::string_view> stateModeNames()
{
    static constexpr std::array<std::string_view, 4> names {"", "none", "align", "all"};
    return names;
}

std::span<const std::string_view> allocationNames()
{
    static constexpr std::array<std::string_view, 4> names {
        "", "paged_pool", "static_contiguous", "growing_contiguous"};
    return names;
}

std::span<const std::string_view> retainedFromNames()
{
    static constexpr std::array<std::string_view, 5> names {"", "entered", "prediction", "live_run", "engine_metrics"};
    return names;
}

std::span<const std::string_view> identitySourceNames()
{
    static constexpr std::array<std::string_view, 6> names {
        "", "mutual_tls", "verified_token", "gateway_header", "client_field", "none"};
    return names;
}

std::span<const std::string_view> saltSourceNames()
{
    static constexpr std::array<std::string_view, 5> names {"", "gateway_hmac", "gateway_random", "client", "none"};
    return names;
}

std::span<const std::string_view> eligibilityNames()
{
    static constexpr std::array<std::string_view, 3> names {"", "tenant", "group"};
    return names;
}

std::span<const std::string_view> retentionNames()
{
    static constexpr std::array<std::string_view, 3> names {"", "engine_lru", "time_to_live"};
    return names;
}

std::span<const std::string_view> loggingBoundaryNames()
{
    static constexpr std::array<std::string_view, 6> names {
        "", "nothing", "counters", "keyed_hashes", "plain_hashes", "token_ids"};
    return names;
}

namespace {

struct TitledChoices
{
    std::span<const std::string_view> names;
    std::span<const std::string_view> titles;
};

template <std::size_t count>
TitledChoices titled(std::span<const std::string_view> names, const std::array<std::string_view, count>& titles)
{
    return {names, titles};
}

/// Of the plan's own choices.
std::span<const TitledChoices> planChoices()
{
    static constexpr std::array<std::string_view, 4> basis {"", "model file", "library", "hypothetical"};
    static constexpr std::array<std::string_view, 4> allocation {
        "", "paged pool", "static contiguous", "growing contiguous"};
    static constexpr std::array<std::string_view, 5> retainedFrom {
        "", "entered", "prediction", "live run", "engine metrics"};
    static constexpr std::array<std::string_view, 6> identity {
        "", "mutual TLS subject", "verified token claim", "gateway header", "client's own field", "none"};
    static constexpr std::array<std::string_view, 5> salt {
        "", "gateway: HMAC of group", "gateway: random", "client", "none"};
    static constexpr std::array<std::string_view, 3> eligibility {"", "tenant only", "sharing group"};
    static constexpr std::array<std::string_view, 3> retention {"", "engine's eviction (LRU)", "time to live"};
    static constexpr std::array<std::string_view, 6> logging {
        "", "nothing", "counters", "keyed hashes", "plain hashes", "token ids"};
    static const std::array out {
        titled(modelBasisNames(), basis),
        titled(allocationNames(), allocation),
        titled(retainedFromNames(), retainedFrom),
        titled(identitySourceNames(), identity),
        titled(saltSourceNames(), salt),
        titled(eligibilityNames(), eligibility),
        titled(retentionNames(), retention),
        titled(loggingBoundaryNames(), logging),
    };
    return out;
}

/// Of the layers' state and of admission.
std::span<const TitledChoices> otherChoices()
{
    static constexpr std::array<std::string_view, 8> roles {
        "K", "V", "latent", "rotary key", "index key", "recurrent state", "convolution state", "buffer"};
    static constexpr std::array<std::string_view, 2> sharding {"by heads", "replicated"};
    static constexpr std::array<std::string_view, 9> kinds {
        "full", "sliding", "chunked", "MLA", "sparse MLA", "compressed", "recurrent", "cross", "shared"};
    static constexpr std::array<std::string_view, 3> variables {"tokens", "encoder tokens", "image tokens"};
    static constexpr std::array<std::string_view, 3> uses {"", "always", "while speculation is on"};
    static constexpr std::array<std::string_view, 4> exhausted {"", "wait", "reject", "preempt and recompute"};
    static constexpr std::array<std::string_view, 3> reservation {"", "on demand", "for the full output"};
    static const std::array out {
        titled(tensorRoleNames(), roles),
        titled(shardRuleNames(), sharding),
        titled(layerKindNames(), kinds),
        titled(growthVariableNames(), variables),
        titled(groupUseNames(), uses),
        titled(whenExhaustedNames(), exhausted),
        titled(reservationNames(), reservation),
    };
    return out;
}

} // namespace

std::span<const std::string_view> choiceTitles(std::span<const std::string_view> names)
{
    for (const std::span<const TitledChoices> list : {planChoices(), otherChoices()}) {
        for (const TitledChoices& one : list) {
            if (one.names.data() == names.data())
                return one.titles;
        }
    }
    return {};
}

std::string_view choiceTitle(std::span<const std::string_view> names, std::size_t value)
{
    const std::span<const std::string_view> titles = choiceTitles(names);
    const std::string_view out = titles.empty() ? names[value] : titles[value];
    return out.empty() ? "not stated" : out;
}

} // namespace kvw
