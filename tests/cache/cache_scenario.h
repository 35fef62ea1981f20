// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/cache_manager.h"
#include "support/naive_cache.h"

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <vector>

/// What the model check draws at random.

/// Numbers that are the same with every standard library.
class Random
{
public:
    explicit Random(std::uint64_t seed)
        : m_engine(seed)
    {}
    int below(int n) { return static_cast<int>(m_engine() % static_cast<std::uint64_t>(n)); }
    int between(int a, int b) { return a + below(b - a + 1); }
    bool chance(int percent) { return below(100) < percent; }
    template <typename T>
    const T& oneOf(const std::vector<T>& values)
    {
        return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
    }

private:
    std::mt19937_64 m_engine;
};

/// A layout, a behaviour and requests, all drawn from one seed; and the same for the naive reference.
struct Scenario
{
    static constexpr int requestCount = 48;

    kvw::PoolLayout layout;
    kvw::CacheBehaviour behaviour;
    naive::Rules rules;
    std::deque<kvw::Request> requests;
    std::vector<kvw::SharingDomain> domains; ///< by request

    explicit Scenario(Random& random)
    {
        behaviour.prefixCaching = random.chance(85);
        behaviour.releaseTailsFirst = random.chance(85);
        behaviour.unhashedToFront = random.chance(85);
        behaviour.recomputesLastToken = random.chance(85);
        drawLayout(random);
        drawRequests(random);
        rules.caching = behaviour.prefixCaching;
        rules.tailsFirst = behaviour.releaseTailsFirst;
        rules.unhashedToFront = behaviour.unhashedToFront;
        rules.recomputesLast = behaviour.recomputesLastToken;
    }

    kvw::Sequence sequence(std::size_t request) const { return {&requests[request], domains[request]}; }
    naive::Asker asker(std::size_t request) const
    {
        return {&requests[request], domains[request].id, domains[request].key};
    }

private:
    void drawLayout(Random& random)
    {
        const int shape
            = random.below(5); // full · sliding · full + sliding, one pool · the same, two pools · full + two windows
        const std::vector<int> sizes {1, 2, 2, 4, 4, 4, 4, 4, 8, 8};
        const std::vector<int> windows {1, 3, 4, 6, 8, 11, 16};
        const int groups = shape < 2 ? 1 : shape < 4 ? 2 : 3;
        const int pools = shape == 3 ? 2 : 1;
        for (int p = 0; p < pools; ++p) {
            const int held = random.below(3);
            const int blocks = held + (random.chance(70) ? random.between(4, 40) : random.between(40, 100));
            layout.pools.push_back({kvw::Bytes(1024), kvw::Blocks(blocks), kvw::Blocks(held)});
            rules.pools.push_back({blocks, held});
        }
        for (int g = 0; g < groups; ++g) {
            kvw::GroupLayout group;
            group.id = "group" + std::to_string(g);
            group.pool = static_cast<std::uint32_t>(pools == 2 ? g : 0);
            group.layers = 1;
            group.blockTokens = random.oneOf(sizes);
            if (g > 0 || shape == 1) {
                group.kind = kvw::LayerKind::Sliding;
                group.window = random.oneOf(windows);
            }
            rules.groups.push_back({static_cast<int>(group.pool), static_cast<int>(group.blockTokens),
                static_cast<int>(group.window.value_or(0))});
            layout.groups.push_back(std::move(group));
        }
    }

    void drawRequests(Random& random)
    {
        const int tenants = random.between(1, 3);
        const bool isolated = random.chance(50);
        for (int i = 0; i < requestCount; ++i) {
            kvw::Request request;
            if (i > 0 && random.chance(25))
                request = requests[static_cast<std::size_t>(random.below(i))]; // the same text again
            else {
                for (int run = random.between(1, 3); run > 0; --run) {
                    const auto stream = static_cast<std::uint64_t>(run == 1 ? 100 + i : random.below(3));
                    request.prompt.push_back({stream, 0, static_cast<std::uint64_t>(random.between(1, 20))});
                }
                request.outputTokens = random.between(1, 24);
                request.outputStream = static_cast<std::uint64_t>(1000 + random.below(3));
                request.adapter = random.chance(15) ? "adapter" : "";
            }
            request.id = static_cast<std::uint32_t>(i);
            request.tenant = static_cast<std::uint16_t>(random.below(tenants));
            domains.push_back(isolated
                    ? kvw::SharingDomain {request.tenant, request.tenant > 0 ? std::to_string(request.tenant) : ""}
                    : kvw::SharingDomain {});
            requests.push_back(std::move(request));
        }
    }
};
