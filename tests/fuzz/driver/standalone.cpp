// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// A fuzz program without libFuzzer: the seeds, random changes of them and noise, or the files that are named.
//   try_NAME [--rounds=N] [FILE …]
// The input at which the process ended is left in try_NAME.input in the current folder.

#include "fuzz/fuzz.h"
#include "support/wire_mutation.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
#include <unistd.h>

namespace {

std::string inputFile;
std::string input;

/// Only what a signal handler may call.
void keepInput(int signal)
{
    const int file = ::open(inputFile.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file >= 0 && ::write(file, input.data(), input.size()) >= 0)
        (void)::close(file);
    (void)std::signal(signal, SIG_DFL);
    (void)std::raise(signal);
}

void feed(std::string bytes)
{
    constexpr std::chrono::seconds longest(10);
    input = std::move(bytes);
    const auto start = std::chrono::steady_clock::now();
    kvw::fuzz::require(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()) == 0);
    kvw::fuzz::require(std::chrono::steady_clock::now() - start < longest);
}

/// The start of one seed and the end of another.
std::string joined(const std::string& a, const std::string& b, std::mt19937& dice)
{
    return a.substr(0, dice() % (a.size() + 1)) + b.substr(dice() % (b.size() + 1));
}

void feedChanges(const std::vector<std::string>& seeds, int rounds)
{
    std::mt19937 dice(61);
    const auto any = [&]() -> const std::string& { return seeds[dice() % seeds.size()]; };
    for (int round = 0; round < rounds; ++round)
        feed(kvw::test::mutated(any(), dice));
    for (int round = 0; round < rounds / 4; ++round)
        feed(joined(any(), any(), dice));
    constexpr std::string_view letters = "{}[]\",:0123456789\\utx. \n\xc3\xa9";
    for (int round = 0; round < rounds; ++round) {
        std::string bytes(dice() % 90, '\0');
        for (char& byte : bytes)
            byte = round % 2 == 0 ? static_cast<char>(dice()) : letters[dice() % letters.size()];
        feed(round % 3 == 0 ? any().substr(0, dice() % 16) + bytes : bytes);
    }
}

} // namespace

int main(int argc, char** argv)
{
    const std::string_view program = argv[0];
    inputFile = std::string(program.substr(program.rfind('/') + 1)) + ".input";
    for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGTERM})
        (void)std::signal(signal, keepInput);
    int rounds = 10'000;
    bool files = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        constexpr std::string_view option = "--rounds=";
        if (argument.starts_with(option)) {
            rounds = std::max(0, std::atoi(argv[i] + option.size()));
            continue;
        }
        files = true;
        std::ifstream file(argv[i], std::ios::binary);
        feed({std::istreambuf_iterator<char>(file), {}});
        std::printf("%s holds\n", argv[i]);
    }
    if (files)
        return 0;
    if (const char* scale = std::getenv("KVW_TEST_SCALE"))
        rounds = static_cast<int>(rounds * std::atof(scale));
    const std::vector<std::string> seeds = kvw::fuzz::seeds();
    feed({});
    for (const std::string& seed : seeds)
        feed(seed);
    feedChanges(seeds, rounds);
    std::printf("%zu seeds and %d changes hold\n", seeds.size(), rounds * 9 / 4);
    return 0;
}
