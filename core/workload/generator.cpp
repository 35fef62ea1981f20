// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "workload/generator.h"

namespace kvw {

namespace {

/// SplitMix64: small, fixed, and the same everywhere (the standard distributions are not).
class Dice
{
public:
    explicit Dice(std::uint64_t seed)
        : m_state(seed)
    {}

    std::uint64_t next()
    {
        m_state += 0x9e3779b97f4a7c15;
        std::uint64_t z = m_state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    std::int64_t between(std::int64_t least, std::int64_t most)
    {
        const auto span = static_cast<std::uint64_t>(most - least) + 1;
        return least + static_cast<std::int64_t>(next() % span);
    }

private:
    std::uint64_t m_state;
};

} // namespace

Workload generate(const GeneratorSettings& settings)
{
    Dice dice(settings.seed);
    // Streams of prefixes and requests are parted by the seed, so that two workloads share no text by accident.
    const std::uint64_t base = dice.next() & ~std::uint64_t {0xffffffff};
    const std::uint64_t prefixBase = base + 1;
    const std::uint64_t requestBase = base + 0x100000000;

    Workload out;
    out.name = settings.name;
    out.tenants = settings.tenants;
    for (std::int64_t i = 0; i < settings.requests; ++i) {
        Request request;
        request.id = static_cast<std::uint32_t>(i);
        request.tenant = static_cast<std::uint16_t>(i % static_cast<std::int64_t>(settings.tenants.size()));
        request.arrivalStep = i / settings.burstRequests * settings.burstGapSteps;
        if (settings.commonPrefixTokens > 0)
            request.prompt.push_back({base, 0, static_cast<std::uint64_t>(settings.commonPrefixTokens)});
        if (settings.sharedPrefixes > 0 && settings.sharedPrefixTokens > 0) {
            const auto prefix = static_cast<std::uint64_t>(dice.between(0, settings.sharedPrefixes - 1));
            request.prompt.push_back({prefixBase + prefix, 0, static_cast<std::uint64_t>(settings.sharedPrefixTokens)});
        }
        const std::uint64_t own = requestBase + 2 * static_cast<std::uint64_t>(i);
        const std::int64_t length = dice.between(settings.promptTokensMin, settings.promptTokensMax);
        request.prompt.push_back({own, 0, static_cast<std::uint64_t>(length)});
        request.outputTokens = dice.between(settings.outputTokensMin, settings.outputTokensMax);
        request.outputStream = own + 1;
        out.requests.push_back(std::move(request));
    }
    return out;
}

} // namespace kvw
