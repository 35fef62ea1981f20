// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/gguf_arch.h"

#include <algorithm>
#include <array>

namespace kvw {

namespace {

using Window = GgufWindow;
using Recurrence = GgufRecurrence;
using State = GgufState;
using Indexer = GgufIndexer;

// Architectures with rules of their own.
constexpr GgufArch special[] = {
    {.name = "afmoe", .window = Window::Period, .period = 4},
    {.name = "cohere2", .window = Window::Period, .windowRequired = true, .period = 4},
    {.name = "cohere2moe", .window = Window::PerLayer, .windowRequired = true},
    {.name = "deepseek32", .indexer = Indexer::EveryLayer, .draftsApart = true},
    {.name = "deepseek4",
        .window = Window::Every,
        .windowRequired = true,
        .indexer = Indexer::Compressed,
        .draftsApart = true},
    {.name = "exaone4", .window = Window::Period, .windowTokens = 4096, .period = 4, .onlyLayers = 64},
    {.name = "exaone-moe", .window = Window::Period, .windowTokens = 128, .period = 4},
    {.name = "falcon-h1", .recurrence = Recurrence::Beside, .state = State::Mamba2},
    {.name = "gemma2", .window = Window::Period, .windowTokens = 4096, .period = 2},
    {.name = "gemma3", .window = Window::Period, .period = 6},
    {.name = "gemma3n", .window = Window::Period, .windowRequired = true, .period = 5, .ownLayers = 20},
    {.name = "gemma4", .window = Window::PerLayer, .windowRequired = true, .sharedLayersKey = true},
    {.name = "glm-dsa", .indexer = Indexer::ByTypes, .draftsApart = true},
    {.name = "gpt-oss", .window = Window::Period, .windowRequired = true, .period = 2},
    {.name = "granitehybrid", .recurrence = Recurrence::NoHeads, .state = State::Mamba2},
    {.name = "hy_v3", .draftsApart = true},
    {.name = "jamba", .recurrence = Recurrence::NoHeads, .state = State::Mamba1},
    {.name = "kimi-linear", .recurrence = Recurrence::NoHeads, .state = State::Kda},
    {.name = "lfm2", .recurrence = Recurrence::NoHeads, .state = State::ShortConvolution},
    {.name = "lfm2moe", .recurrence = Recurrence::NoHeads, .state = State::ShortConvolution},
    {.name = "llama4",
        .window = Window::Period,
        .windowTokens = 8192,
        .windowFixed = true,
        .chunked = true,
        .period = 4},
    {.name = "mamba", .recurrence = Recurrence::Every, .state = State::Mamba1},
    {.name = "mamba2", .recurrence = Recurrence::Every, .state = State::Mamba2},
    {.name = "mimo2", .window = Window::PerLayer, .windowRequired = true, .draftsApart = true},
    {.name = "minimax-01", .recurrence = Recurrence::Interval, .state = State::Lightning, .interval = 8},
    {.name = "minimax-m3", .indexer = Indexer::AfterDense},
    {.name = "nemotron_h", .recurrence = Recurrence::NoHeadsNoFeedForward, .state = State::Mamba2, .draftsApart = true},
    {.name = "nemotron_h_moe",
        .recurrence = Recurrence::NoHeadsNoFeedForward,
        .state = State::Mamba2,
        .draftsApart = true},
    {.name = "olmo2", .window = Window::Period, .period = 4},
    {.name = "plamo2", .recurrence = Recurrence::NoHeads, .state = State::Mamba2},
    {.name = "plamo3", .window = Window::Period, .period = 8},
    {.name = "qwen35", .recurrence = Recurrence::Interval, .state = State::GatedDeltaNet, .draftsApart = true},
    {.name = "qwen35moe", .recurrence = Recurrence::Interval, .state = State::GatedDeltaNet, .draftsApart = true},
    {.name = "qwen3next", .recurrence = Recurrence::Interval, .state = State::GatedDeltaNet, .draftsApart = true},
    {.name = "arwkv7", .recurrence = Recurrence::Every, .state = State::Wkv},
    {.name = "rwkv6", .recurrence = Recurrence::Every, .state = State::Wkv},
    {.name = "rwkv6qwen2", .recurrence = Recurrence::Every, .state = State::Wkv},
    {.name = "rwkv7", .recurrence = Recurrence::Every, .state = State::Wkv},
    {.name = "smallthinker",
        .window = Window::Period,
        .windowTokens = 4096,
        .windowFixed = true,
        .period = 4,
        .fullFirst = true},
    {.name = "step35", .window = Window::PerLayer, .windowRequired = true, .draftsApart = true},
};

// Architectures that keep keys and values of all their layers.
constexpr std::string_view plain[] = {"apertus", "arcee", "arctic", "baichuan", "bailingmoe", "bailingmoe2", "bitnet",
    "bloom", "chameleon", "chatglm", "codeshell", "cogvlm", "command-r", "dbrx", "deci", "deepseek", "deepseek2",
    "deepseek2-ocr", "dots1", "ernie4_5", "ernie4_5-moe", "exaone", "falcon", "gemma", "glm4", "glm4moe", "gpt2",
    "gptj", "gptneox", "granite", "granitemoe", "grok", "grovemoe", "hunyuan-dense", "hunyuan-moe", "internlm2", "jais",
    "jais2", "llama", "maincoder", "minicpm", "minicpm3", "minimax-m2", "mistral3", "mistral4", "mpt", "nemotron",
    "olmo", "olmoe", "openelm", "orion", "paddleocr", "pangu-embedded", "phi2", "phi3", "phimoe", "plamo", "plm",
    "qwen", "qwen2", "qwen2moe", "qwen2vl", "qwen3", "qwen3moe", "qwen3vl", "qwen3vlmoe", "refact", "seed_oss",
    "smollm3", "stablelm", "starcoder", "starcoder2", "xverse"};

// Architectures for which llama.cpp makes no cache.
constexpr std::string_view encoders[]
    = {"bert", "dream", "eurobert", "gemma-embedding", "jina-bert-v2", "jina-bert-v3", "llada", "llada-moe",
        "modern-bert", "neo-bert", "nomic-bert", "nomic-bert-moe", "rnd1", "t5encoder", "wavtokenizer-dec"};

constexpr GgufArch encoder {.name = "encoder", .encoder = true};

} // namespace

const GgufArch* findGgufArch(std::string_view name)
{
    for (const GgufArch& arch : special) {
        if (arch.name == name)
            return &arch;
    }
    if (std::find(std::begin(plain), std::end(plain), name) != std::end(plain))
        return &plainGgufArch();
    if (std::find(std::begin(encoders), std::end(encoders), name) != std::end(encoders))
        return &encoder;
    return nullptr;
}

const GgufArch& plainGgufArch()
{
    static constexpr GgufArch arch {.name = "plain"};
    return arch;
}

} // namespace kvw
