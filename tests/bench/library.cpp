// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// How long the built-in library takes to load, beside a plain parse of the same text, and an estimate of each model.
//   bench_library [rounds]

#include "estimate/estimate.h"
#include "plan/built_in_data.h"
#include "plan/model_library.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace kvw;

namespace {

template <typename Work>
double milliseconds(const Work& work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double>& values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv)
{
    const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 31;
    const std::string_view text = builtInModelsJson();
    std::vector<double> load;
    std::vector<double> parse;
    std::size_t models = 0;
    for (int i = 0; i < rounds; ++i) { // taken in turn: both see the same machine
        load.push_back(milliseconds([&] {
            const Result<JsonDocument> document = parseJson(text, "library");
            models = readModelLibrary(*document, false)->size();
        }));
        parse.push_back(milliseconds([&] { models += nlohmann::json::parse(text).size() - 3; }));
    }
    std::printf("library of %zu models, %zu bytes: load %.2f ms, plain parse %.2f ms, ratio %.2f (medians of %d)\n",
        models, text.size(), median(load), median(parse), load[load.size() / 2] / parse[parse.size() / 2], rounds);
    std::vector<double> each;
    for (const LibraryModel& model : builtInModels()) {
        const Plan plan = planFromLibrary(model);
        each.push_back(milliseconds([&] { (void)estimate(plan); }));
    }
    std::printf("estimate of a model: median %.3f ms, slowest %.3f ms\n", median(each), each.back());
    return 0;
}
