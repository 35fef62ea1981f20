// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// How close the host device comes to what memory can do: append, verify and the device's own counting beside the
// ceilings, taken in turn in one run. Only the ratios mean anything.
//   bench_device [pool MiB = 256] [threads = 1] [repeats = 9]

#include "device/ceilings.h"
#include "device/host_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

using namespace kvw;

namespace {

constexpr std::int64_t mebibyte = std::int64_t {1} << 20;

struct Shape
{
    const char* name = "";
    std::int64_t layers = 0;
    std::vector<std::int64_t> entryBytes {}; // by tensor
};

struct Settings
{
    std::int64_t poolBytes = 256 * mebibyte;
    int threads = 1;
    int repeats = 9;
};

PoolLayout layoutOf(const Shape& shape, std::int64_t poolBytes)
{
    constexpr std::int64_t blockTokens = 16;
    GroupLayout group;
    group.id = shape.name;
    group.layers = shape.layers;
    group.blockTokens = blockTokens;
    for (const std::int64_t bytes : shape.entryBytes) {
        TensorLayout tensor;
        tensor.entryBytes = bytes;
        tensor.entriesPerBlock = blockTokens;
        tensor.pageOffset = group.pageBytes;
        group.pageBytes += bytes * blockTokens;
        group.tensors.push_back(tensor);
    }
    const std::int64_t blockBytes = group.pageBytes * group.layers;
    PoolLayout layout;
    layout.pools.push_back(PoolSpec {Bytes(blockBytes), Blocks(poolBytes / blockBytes), Blocks(0)});
    layout.groups.push_back(std::move(group));
    return layout;
}

Rate difference(const Rate& later, const Rate& earlier)
{
    return {later.bytes - earlier.bytes, later.seconds - earlier.seconds};
}

std::string line(const char* name, const Rate& rate, const char* ceiling, double ofCeiling)
{
    return fmt::format("  {:<12}{:>7.2f} GB/s   {:>4.2f} of {}\n", name, rate.perSecond() / 1e9, ofCeiling, ceiling);
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[(values.size() - 1) / 2];
}

// All spans of the pool, each a whole block, in an order that jumps about as a cache's free list does after a while.
std::vector<EntrySpan> spansOf(const PoolLayout& layout, const std::vector<std::uint64_t>& chains)
{
    const auto blocks = static_cast<std::uint32_t>(layout.pools[0].blocks.value);
    std::vector<EntrySpan> spans;
    for (std::uint32_t i = 0; i < blocks; ++i) {
        EntrySpan span;
        span.block = i % 2 == 0 ? i / 2 : blocks - 1 - i / 2;
        span.count = static_cast<std::int32_t>(layout.groups[0].blockTokens);
        span.domain = 1;
        span.position = static_cast<std::int64_t>(i) * span.count;
        span.chains = chains.data() + span.position;
        spans.push_back(span);
    }
    return spans;
}

bool run(const Shape& shape, const Settings& settings)
{
    const PoolLayout layout = layoutOf(shape, settings.poolBytes);
    HostDevice device(HostDeviceOptions {.threads = settings.threads});
    const Result<void> reserved = device.reserve(layout);
    if (!reserved) {
        fmt::print(stderr, "{}\n", reserved.error().text());
        return false;
    }
    std::vector<std::uint64_t> chains;
    std::uint64_t chain = chainStart(1);
    for (std::int64_t i = 0; i < layout.pools[0].blocks.value * layout.groups[0].blockTokens; ++i)
        chains.push_back(chain = chainNext(chain, static_cast<TokenId>(i)));
    const std::vector<EntrySpan> spans = spansOf(layout, chains);

    std::vector<Rate> appends, verifies, counts, copies, reads, writes;
    std::vector<double> appendRatios, verifyRatios, countRatios;
    for (int repeat = 0; repeat < settings.repeats; ++repeat) {
        const Result<MemoryCeilings> ceilings = measureCeilings(workingSetFor(settings.poolBytes), settings.threads, 1);
        const Rate appendBefore = device.appendRate();
        const Rate verifyBefore = device.verifyRate();
        const Rate countBefore = device.instrumentRate();
        const Result<void> appended = device.append(spans);
        const Result<VerifyCount> verified = device.verify(spans);
        if (!ceilings || !appended || !verified || verified->mismatched != 0)
            return false;
        appends.push_back(difference(device.appendRate(), appendBefore));
        verifies.push_back(difference(device.verifyRate(), verifyBefore));
        counts.push_back(difference(device.instrumentRate(), countBefore));
        copies.push_back(ceilings->copy);
        reads.push_back(ceilings->read);
        writes.push_back(ceilings->write);
        appendRatios.push_back(appends.back().perSecond() / writes.back().perSecond());
        verifyRatios.push_back(verifies.back().perSecond() / reads.back().perSecond());
        countRatios.push_back(counts.back().perSecond() / copies.back().perSecond());
    }
    fmt::print(
        "{}: {} blocks of {} bytes\n", shape.name, layout.pools[0].blocks.value, layout.pools[0].blockBytes.value);
    fmt::print("{}{}{}", line("append", medianRate(appends), "write", median(appendRatios)),
        line("verify", medianRate(verifies), "read", median(verifyRatios)),
        line("count+poison", medianRate(counts), "copy", median(countRatios)));
    fmt::print("  ceilings: write {:.2f}, read {:.2f}, copy {:.2f} GB/s (copied bytes counted once)\n",
        medianRate(writes).perSecond() / 1e9, medianRate(reads).perSecond() / 1e9,
        medianRate(copies).perSecond() / 1e9);
    return true;
}

} // namespace

int main(int argc, char** argv) // NOLINT(bugprone-exception-escape): a bench may end so
{
    Settings settings;
    if (argc > 1)
        settings.poolBytes = std::max<std::int64_t>(std::atoll(argv[1]), 16) * mebibyte;
    if (argc > 2)
        settings.threads = std::max(std::atoi(argv[2]), 1);
    if (argc > 3)
        settings.repeats = std::max(std::atoi(argv[3]), 1);
    fmt::print("{} MiB, {} threads, medians of {} interleaved repeats, seconds of writing and reading alone\n",
        settings.poolBytes / mebibyte, settings.threads, settings.repeats);
    const std::vector<Shape> shapes {{"K and V, 8 heads x 128, bf16, 32 layers", 32, {2048, 2048}},
        {"MLA 512 + 64, bf16, 27 layers", 27, {1024, 128}}, {"K and V, 1 head x 128, fp8, 36 layers", 36, {128, 128}}};
    for (const Shape& shape : shapes) {
        if (!run(shape, settings))
            return 1;
    }
    return 0;
}
