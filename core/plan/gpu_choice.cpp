// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/gpu_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace kvw {

namespace {

constexpr auto memoryPath = "deployment.memoryBytes";

std::string lower(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return out;
}

bool fits(const LibraryGpu& gpu, std::string_view query)
{
    const std::string all = lower(gpu.name) + '\n' + lower(gpu.architecture);
    while (!query.empty()) {
        const std::size_t end = std::min(query.find(' '), query.size());
        if (all.find(query.substr(0, end)) == std::string::npos)
            return false;
        query.remove_prefix(std::min(end + 1, query.size()));
    }
    return true;
}

} // namespace

std::vector<const LibraryGpu*> searchGpus(std::string_view query)
{
    const std::string wanted = lower(query);
    std::vector<const LibraryGpu*> out;
    for (const LibraryGpu& gpu : builtInGpus()) {
        if (fits(gpu, wanted))
            out.push_back(&gpu);
    }
    std::stable_partition(out.begin(), out.end(), [&](const LibraryGpu* gpu) { return lower(gpu->name) == wanted; });
    return out;
}

void chooseGpu(Plan& plan, const LibraryGpu& gpu)
{
    std::string from;
    for (const std::string& source : gpu.sources)
        from += (from.empty() ? "" : "; ") + source;
    const Source library {Source::Kind::Library, "devices: " + gpu.name, from, {}, {}, gpu.verified, gpu.memoryBasis};
    plan.deployment.gpu = gpu.name;
    plan.deployment.memoryBytes = gpu.memoryBytes;
    std::erase_if(plan.assumptions, [](const Assumption& assumption) {
        return assumption.path == memoryPath || assumption.path == "deployment.gpu";
    });
    plan.provenance.set("deployment.gpu", Source {Source::Kind::User, "entered", "deployment.gpu"});
    if (!gpu.memoryBytes) {
        plan.provenance.remove(memoryPath);
        return;
    }
    plan.provenance.set(memoryPath, library);
    if (gpu.memoryBasisKind == "driver reading")
        return;
    Source assumed = library;
    assumed.kind = Source::Kind::Assumption;
    plan.provenance.set(memoryPath, assumed);
    plan.assumptions.push_back({"library.gpu_memory",
        fmt::format("The memory of {} is no reading of a driver: {}.", gpu.name, gpu.memoryBasis), memoryPath});
}

} // namespace kvw
