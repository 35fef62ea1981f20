// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// How fast headers of models go by, beside a plain read and a plain SHA-256 of the same bytes, taken in turn in one
// run. The files are in the page cache. Only the ratios mean anything.
//   bench_headers [repeats = 7]

#include "../support/gguf_writer.h"
#include "import/checkpoint.h"
#include "import/gguf_file.h"
#include "units/sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

using namespace kvw;

namespace {

namespace fs = std::filesystem;

void require(bool condition, const char* what)
{
    if (condition)
        return;
    std::fprintf(stderr, "bench_headers: %s\n", what);
    std::exit(1);
}

/// A header, and behind it a hole as large as its tensors.
void writeFile(const fs::path& path, const std::string& start, std::uint64_t size)
{
    std::ofstream(path, std::ios::binary) << start;
    fs::resize_file(path, size);
}

/// Headers of a mixture of experts, in as many files; the bytes of all headers and of the index.
std::uint64_t writeCheckpoint(const fs::path& folder, int files, int tensorsInEach)
{
    std::uint64_t bytes = 0;
    std::string map;
    for (int file = 0; file < files; ++file) {
        const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", file + 1, files);
        std::string json = "{\"__metadata__\":{\"format\":\"pt\"}";
        std::int64_t at = 0;
        for (int i = 0; i < tensorsInEach; ++i) {
            const std::string tensor = fmt::format("model.layers.{}.mlp.experts.{}.down_proj.weight", file, i);
            json += fmt::format(",\"{}\":{{\"dtype\":\"F8_E4M3\",\"shape\":[7168,2048],\"data_offsets\":[{},{}]}}",
                tensor, at, at + 14'680'064);
            at += 14'680'064;
            map += fmt::format("{}\n    \"{}\": \"{}\"", map.empty() ? "" : ",", tensor, name);
        }
        json += "}";
        std::string start;
        for (int i = 0; i < 8; ++i)
            start += static_cast<char>(json.size() >> (8 * i) & 0xff);
        start += json;
        writeFile(folder / name, start, start.size() + static_cast<std::uint64_t>(at));
        bytes += start.size();
    }
    const std::string index = fmt::format("{{\n  \"metadata\": {{}},\n  \"weight_map\": {{{}\n  }}\n}}\n", map);
    writeFile(folder / "model.safetensors.index.json", index, index.size());
    return bytes + index.size();
}

/// A GGUF header of a large model with a vocabulary of some megabytes.
std::uint64_t writeGguf(const fs::path& path)
{
    test::GgufWriter writer("llama");
    writer.u32("block_count", 100).u32("embedding_length", 8192).u32("attention.head_count", 64);
    std::vector<std::string> tokens;
    for (int i = 0; i < 260'000; ++i)
        tokens.push_back(fmt::format("token {}", i));
    writer.texts("tokenizer.ggml.tokens", tokens).texts("tokenizer.ggml.merges", tokens);
    writer.u32s("tokenizer.ggml.token_type", std::vector<std::uint32_t>(tokens.size(), 1));
    for (int layer = 0; layer < 100; ++layer) {
        for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_gate", "ffn_down"})
            writer.tensor(fmt::format("blk.{}.{}.weight", layer, name), {8192, 8192}, 12, 8192 * 8192 / 256 * 144);
    }
    const std::string header = writer.header();
    writeFile(path, header, writer.fileBytes());
    return header.size();
}

/// Seconds of the quickest of `repeats` runs.
double quickest(int repeats, const std::function<void()>& run)
{
    double best = 1e9;
    for (int i = 0; i < repeats; ++i) {
        const auto start = std::chrono::steady_clock::now();
        run();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

/// Reads the first `bytes` of a file in pieces and drops them.
void readPlainly(const fs::path& path, std::uint64_t bytes, Sha256* hash)
{
    static std::vector<char> piece(64 << 10);
    const int file = ::open(path.c_str(), O_RDONLY);
    while (bytes > 0) {
        const ssize_t got = ::read(file, piece.data(), std::min<std::uint64_t>(bytes, piece.size()));
        require(got > 0, "a file cannot be read");
        if (hash)
            hash->update(std::string_view(piece.data(), static_cast<std::size_t>(got)));
        bytes -= static_cast<std::uint64_t>(got);
    }
    ::close(file);
}

void report(const char* name, std::uint64_t bytes, int repeats, const std::function<void()>& import,
    const std::function<void(Sha256*)>& plain)
{
    const double megabytes = static_cast<double>(bytes) / 1e6;
    const double own = megabytes / quickest(repeats, import);
    const double read = megabytes / quickest(repeats, [&] { plain(nullptr); });
    const double hash = megabytes / quickest(repeats, [&] {
        Sha256 sum;
        plain(&sum);
        (void)sum.digest();
    });
    std::printf("%-28s %7.1f MB  import %7.0f MB/s   plain read %7.0f MB/s   read and SHA-256 %7.0f MB/s\n", name,
        megabytes, own, read, hash);
}

} // namespace

int main(int argc, char** argv)
{
    const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 7;
    const fs::path folder = fs::temp_directory_path() / fmt::format("bench_headers.{}", ::getpid());
    fs::create_directories(folder / "checkpoint");

    const int files = 163;
    const std::uint64_t checkpoint = writeCheckpoint(folder / "checkpoint", files, 570);
    std::vector<std::pair<fs::path, std::uint64_t>> headers;
    for (const auto& entry : fs::directory_iterator(folder / "checkpoint")) {
        std::uint64_t size = entry.file_size();
        if (entry.path().extension() == ".safetensors") {
            std::ifstream in(entry.path(), std::ios::binary);
            in.read(reinterpret_cast<char*>(&size), 8); // little-endian machines
            size += 8;
        }
        headers.emplace_back(entry.path(), size);
    }
    report(
        "safetensors, 163 files", checkpoint, repeats,
        [&] { require(readCheckpoint((folder / "checkpoint").string()).ok(), "the checkpoint was refused"); },
        [&](Sha256* hash) {
            for (const auto& [path, size] : headers)
                readPlainly(path, size, hash);
        });

    const fs::path gguf = folder / "model.gguf";
    const std::uint64_t header = writeGguf(gguf);
    report(
        "GGUF, one file", header, repeats, [&] { require(importGguf(gguf.string()).ok(), "the file was refused"); },
        [&](Sha256* hash) { readPlainly(gguf, header, hash); });

    fs::remove_all(folder);
    return 0;
}
