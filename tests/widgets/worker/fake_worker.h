// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <unistd.h>

namespace kvw::test {

/// A worker that says what is in a file, whatever it is told: `PROGRAM fake FILE FIRST PIECE END`. The first FIRST
/// bytes at once, the rest in pieces of PIECE bytes after a request has come. END: "hang" (it says nothing more, and
/// ends when its input is closed), "exit" (it ends with code 0), "exit7", "abort".
inline int fakeWorker(char** arguments)
{
    std::ifstream file(arguments[2], std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::size_t first = std::min<std::size_t>(bytes.size(), std::stoul(arguments[3]));
    const std::size_t piece = std::stoul(arguments[4]);
    const std::string end = arguments[5];
    std::fwrite(bytes.data(), 1, first, stdout);
    std::fflush(stdout);
    if (first < bytes.size()) {
        // A request with a plan is longer than a hello and some heartbeats.
        char buffer[4096];
        std::size_t heard = 0;
        while (heard < 1024) {
            const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
            if (got <= 0)
                return 0;
            heard += static_cast<std::size_t>(got);
        }
        for (std::size_t at = first; at < bytes.size(); at += piece) {
            if (std::fwrite(bytes.data() + at, 1, std::min(piece, bytes.size() - at), stdout) == 0)
                return 13;
            std::fflush(stdout);
        }
    }
    if (end == "abort")
        std::abort();
    if (end == "hang") {
        char buffer[4096];
        while (::read(STDIN_FILENO, buffer, sizeof buffer) > 0) {}
    }
    return end == "exit7" ? 7 : 0;
}

} // namespace kvw::test
