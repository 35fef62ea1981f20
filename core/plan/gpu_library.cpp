// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/gpu_library.h"

#include "plan/built_in_data.h"
#include "plan/library_reader.h"

#include <algorithm>
#include <set>

namespace kvw {

namespace {

constexpr std::int64_t most = std::int64_t {1} << 60;
constexpr std::size_t mostGpus = 10'000;

bool isSameLetter(char a, char b)
{
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return lower(a) == lower(b);
}

Result<LibraryGpu> readGpu(const JsonView& view)
{
    LibraryGpu out;
    LibraryReader reader;
    reader.text("name", out.name)
        .text("architecture", out.architecture)
        .count("marketedGigabytes", out.marketedGigabytes, 1, 1'000'000)
        .maybeCount("memoryBytes", out.memoryBytes, 1, most)
        .text("memoryBasis", out.memoryBasis)
        .text("memoryBasisKind", out.memoryBasisKind)
        .maybeCount("bandwidthBytesPerSecond", out.bandwidthBytesPerSecond, 1, most)
        .maybeCount("linkBytesPerSecond", out.linkBytesPerSecond, 1, most)
        .maybeText("link", out.link)
        .maybeCount("perNode", out.perNode, 1, 1'000'000)
        .maybeCount("rackDevices", out.rackDevices, 1, 1'000'000)
        .maybeText("node", out.node)
        .maybeCount("watts", out.watts, 1, 1'000'000)
        .maybeTexts("sources", out.sources)
        .text("verified", out.verified)
        .maybeTexts("notes", out.notes)
        .other("otherMemory");
    if (const Result<void> read = reader.read(view); !read)
        return read.error();
    const std::optional<JsonView> others = view.find("otherMemory");
    for (std::size_t i = 0; others && i < others->size(); ++i) {
        GpuMemory reading;
        const Result<void> read
            = LibraryReader().count("bytes", reading.bytes, 1, most).text("basis", reading.basis).read(others->at(i));
        if (!read)
            return read.error();
        out.otherMemory.push_back(std::move(reading));
    }
    return out;
}

} // namespace

Result<std::vector<LibraryGpu>> readGpuLibrary(const JsonDocument& document)
{
    const Result<JsonView> list = libraryList(document, "kvgpus", "gpus", mostGpus);
    if (!list)
        return list.error();
    std::vector<LibraryGpu> out;
    std::set<std::string> names;
    for (std::size_t i = 0; i < list->size(); ++i) {
        Result<LibraryGpu> gpu = readGpu(list->at(i));
        if (!gpu)
            return gpu.error();
        if (!names.insert(gpu->name).second)
            return list->at(i).error("library.id", "two devices have the same name");
        out.push_back(std::move(*gpu));
    }
    return out;
}

const std::vector<LibraryGpu>& builtInGpus()
{
    static const std::vector<LibraryGpu> gpus = [] {
        const Result<JsonDocument> document = parseJson(builtInGpusJson(), "built-in devices");
        return readGpuLibrary(document.value()).value(); // a test reads it: it cannot be wrong here
    }();
    return gpus;
}

const LibraryGpu* gpuNamed(std::string_view name)
{
    for (const LibraryGpu& gpu : builtInGpus()) {
        if (std::equal(name.begin(), name.end(), gpu.name.begin(), gpu.name.end(), isSameLetter))
            return &gpu;
    }
    return nullptr;
}

} // namespace kvw
