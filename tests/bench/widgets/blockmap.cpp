// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// How long the block map takes to show a pool of 10^5 blocks: median of many repaints, from repaint() to its return.

#include "blockmap/mapstate.h"
#include "blockmap/poolview.h"
#include "style/tokens.h"

#include <QApplication>
#include <QElapsedTimer>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>
#include <vector>

using namespace kvw;
using namespace kvw::gui;

namespace {

constexpr std::uint32_t blocks = 100'000;
constexpr std::uint32_t requests = 400;
constexpr int repeats = 51;

/// A log whose last steps have every state in a random mix: shared, private, cached, free.
std::shared_ptr<EventLog> makeLog()
{
    EventLogHeader header;
    header.source = "bench";
    header.tenants = {"a", "b", "c"};
    header.layout.pools = {{Bytes(294'912), Blocks(blocks), Blocks(1)}};
    GroupLayout group;
    group.id = "full";
    header.layout.groups = {group};
    auto log = std::make_shared<EventLog>(header);
    std::mt19937 dice(1);
    const auto roll
        = [&](std::uint32_t below) { return std::uniform_int_distribution<std::uint32_t>(0, below - 1)(dice); };
    log->add({EventKind::Hold, 0, 0, 0, 0, 0, 0, 0});
    std::vector<std::uint32_t> positions(requests);
    for (std::uint32_t step = 1; step <= 20; ++step) {
        log->add({EventKind::Step, 0, 0, 0, 0, 0, step, requests});
        for (std::uint32_t b = step; b < blocks; b += 20) {
            const std::uint32_t what = roll(10);
            if (what == 0)
                continue; // stays free
            const std::uint32_t owner = roll(requests);
            const auto tenant = static_cast<std::uint16_t>(owner % 3);
            const auto full = static_cast<std::uint32_t>(group.blockTokens);
            const std::uint32_t position = positions[owner]++;
            log->add({EventKind::Allocate, 0, tenant, b, owner, position, step, 0});
            log->add({EventKind::Append, 0, tenant, b, owner, position, step, what < 3 ? 5 : full});
            if (what < 3)
                continue; // private, not full
            log->add({EventKind::Index, 0, tenant, b, owner, position, step, log->addDigest({b, step})});
            if (what < 6) { // shared
                const std::uint32_t other = (owner + 3) % requests;
                log->add({EventKind::Reference, 0, tenant, b, other, positions[other]++, step, 0});
            } else if (what < 9) { // cached
                log->add({EventKind::Release, 0, tenant, b, owner, position, step, 0});
            }
        }
    }
    return log;
}

double medianMs(const std::function<void(int)>& once)
{
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
        QElapsedTimer clock;
        clock.start();
        once(i);
        times.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
    }
    std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
    return times[repeats / 2];
}

} // namespace

int main(int argc, char** argv)
{
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(argc, argv);
    QApplication::setPalette(lightPalette());
    MapState map;
    map.setPalette(lightPalette());
    PoolView pool(map);
    QElapsedTimer clock;
    const std::shared_ptr<EventLog> log = makeLog();
    clock.start();
    map.setSource(makeMapSource(QStringLiteral("bench"), {}, log, {}, false));
    std::printf("pool of %u blocks, %zu events; log read in %.1f ms\n", blocks, log->events().size(),
        static_cast<double>(clock.nsecsElapsed()) / 1e6);
    for (const QSize size : {QSize(400, 500), QSize(1600, 1000)}) {
        pool.resize(size);
        pool.show();
        for (int i = 0; i < 20; ++i) // nothing is painted before the window is exposed
            QApplication::processEvents();
        pool.zoomFit();
        for (const int zooms : {0, 4, 8}) {
            pool.zoomFit();
            for (int i = 0; i < zooms; ++i)
                pool.zoomIn();
            map.setStep(20);
            // Everything drawn anew, as after a change of palette, filter or moment.
            const double drawn = medianMs([&](int i) {
                map.setTenantFilter(i % 2 - 1);
                pool.viewport()->repaint();
            });
            map.setTenantFilter(-1);
            const double step = medianMs([&](int i) {
                map.setStep(i % 2 == 0 ? 20 : 19);
                pool.viewport()->repaint();
            });
            // Only rings move.
            const double hover = medianMs([&](int i) {
                map.hover(BlockRef {0, static_cast<std::uint32_t>(i)});
                pool.viewport()->repaint();
            });
            std::printf("%4d x %4d, cell %2d px: filter and repaint %.2f ms, step and repaint %.2f ms, hover %.2f ms\n",
                size.width(), size.height(), pool.cellSize(), drawn, step, hover);
        }
    }
    return 0;
}
