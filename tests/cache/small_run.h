// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/cache_manager.h"

#include <deque>
#include <memory>
#include <string>

/// A little run with everything in it: two groups in two pools, held blocks, hits, drops, evictions, unfinished
/// requests.
struct SmallRun
{
    static kvw::EventLogHeader header()
    {
        kvw::EventLogHeader out;
        out.source = "prediction";
        out.planHash = "p1";
        out.workloadHash = "w1";
        out.created = "2026-01-01T00:00:00Z";
        out.tenants = {"blue", "r\xc3\xb6t \"q\""};
        out.layout.rank = 2;
        out.layout.pools
            = {{kvw::Bytes(4096), kvw::Blocks(10), kvw::Blocks(1)}, {kvw::Bytes(512), kvw::Blocks(7), kvw::Blocks(2)}};
        kvw::GroupLayout full;
        full.id = "full";
        full.layers = 4;
        full.blockTokens = 4;
        full.pageBytes = 1024;
        kvw::GroupLayout sliding = full;
        sliding.id = "sliding";
        sliding.kind = kvw::LayerKind::Sliding;
        sliding.pool = 1;
        sliding.window = 6;
        out.layout.groups = {full, sliding};
        return out;
    }

    /// Adds the events of `rounds` rounds.
    static void play(kvw::EventLog& log, int rounds = 3)
    {
        kvw::CacheManager cache(log.header().layout, {}, &log);
        std::deque<kvw::Request> requests;
        const auto step = [&](std::int64_t number) {
            kvw::Event event;
            event.step = static_cast<std::uint32_t>(number);
            event.value = static_cast<std::uint32_t>(requests.size());
            log.add(event);
            cache.setStep(number);
        };
        std::int64_t now = 0;
        for (int round = 0; round < rounds; ++round) {
            step(++now);
            kvw::Request request;
            request.id = static_cast<std::uint32_t>(round);
            request.tenant = static_cast<std::uint16_t>(round % 2);
            request.prompt = {{1, 0, 9}, {static_cast<std::uint64_t>(round), 0, 3}};
            request.outputTokens = 8;
            requests.push_back(request);
            const kvw::Sequence sequence {&requests.back(), {}};
            const kvw::Hit hit = cache.lookup(sequence, 12);
            std::int64_t computed = hit.tokens;
            bool room = cache.allocate(sequence, &hit, computed, 12 - computed);
            for (computed = 12; room && computed < 20 - round; ++computed) {
                step(++now);
                room = cache.allocate(sequence, nullptr, computed, 1);
            }
            if (round + 1 < rounds)
                cache.release(request.id);
        }
    }
};
