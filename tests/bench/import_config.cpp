// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// How long a config.json takes from its bytes to layer groups: files of usual size, and large ones by their rate.
//   bench_import_config [repeats = 20] [file …]

#include "import/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace kvw;

namespace {

/// A configuration of `layers` layers with lists as long, and `padding` bytes of other fields.
std::string configOf(int layers, std::size_t padding)
{
    std::string out
        = fmt::format(R"({{"model_type":"gemma4_text","vocab_size":262144,"num_hidden_layers":{},)"
                      R"("hidden_size":5376,"num_attention_heads":32,"num_key_value_heads":16,"head_dim":256,)"
                      R"("sliding_window":1024,"global_head_dim":512,"layer_types":[)",
            layers);
    for (int i = 0; i < layers; ++i)
        out += fmt::format("{}\"{}\"", i ? "," : "", i % 6 == 5 ? "full_attention" : "sliding_attention");
    out += "],\"id2label\":{";
    for (std::size_t i = 0; out.size() < padding; ++i)
        out += fmt::format("{}\"{}\":\"LABEL_{}\"", i ? "," : "", i, i);
    return out + "}}";
}

/// `bytes` of what a file says for each layer, as objects, lists and numbers of every kind.
std::string configOfNumbers(std::size_t bytes)
{
    std::string out = configOf(60, 0);
    out.pop_back();
    out += ",\"notes\":[";
    for (int i = 0; out.size() < bytes; ++i)
        out += fmt::format(
            "{}\n    {{\"block\": {}, \"scale\": {}, \"shape\": [{}, -{}, 1e-{}], \"kept\": {}, \"next\": null}}",
            i ? "," : "", i, i * 0.37, i * 8, i % 7, i % 30, i % 2 == 0);
    return out + "]}";
}

double medianSeconds(const std::string& text, int repeats)
{
    std::vector<double> seconds;
    for (int i = 0; i < repeats; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const Result<JsonDocument> document = parseJson(text, "config.json");
        const Result<ModelSpec> model
            = document ? importHuggingFaceConfig(*document) : Result<ModelSpec>(document.error());
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        if (!model) {
            fmt::print("{}\n", model.error().text());
            std::exit(1);
        }
        seconds.push_back(passed.count());
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

void report(const std::string& name, const std::string& text, int repeats)
{
    const double seconds = medianSeconds(text, repeats);
    fmt::print("{:<28}{:>12} B  {:>9.3f} ms  {:>7.1f} MB/s\n", name, text.size(), seconds * 1e3,
        static_cast<double>(text.size()) / seconds / 1e6);
}

} // namespace

int main(int argc, char** argv)
{
    const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 20;
    for (int i = 2; i < argc; ++i) {
        std::ifstream file(argv[i], std::ios::binary);
        report(argv[i], {std::istreambuf_iterator<char>(file), {}}, repeats);
    }
    if (argc > 2)
        return 0;
    report("60 layers", configOf(60, 0), repeats);
    report("60 layers, 100 kB", configOf(60, 100'000), repeats);
    report("10,000 layers", configOf(10'000, 0), repeats);
    report("60 layers, 1 MB", configOf(60, 1'000'000), repeats);
    report("numbers, 1 MB", configOfNumbers(1'000'000), repeats);
    report("60 layers, 10 MB", configOf(60, 10'000'000), std::max(1, repeats / 5));
    report("60 layers, 60 MB", configOf(60, 60'000'000), std::max(1, repeats / 10));
    return 0;
}
