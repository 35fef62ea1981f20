// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// How long the workbench takes from the start of its process to a window that is painted and waits for input, against
// a program with an empty QMainWindow (bench_emptywindow). Both are started in turns, on the display that
// QT_QPA_PLATFORM and DISPLAY name.
//   bench_startup kvworkbench PLAN bench_emptywindow [rounds = 21]

#include <QTemporaryDir>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

/// Milliseconds from starting `command` to the first byte that it prints; nothing when it fails.
std::optional<double> millisecondsToReady(std::vector<std::string> command)
{
    int ends[2];
    if (pipe(ends) != 0)
        return std::nullopt;
    std::vector<char*> arguments;
    for (std::string& part : command)
        arguments.push_back(part.data());
    arguments.push_back(nullptr);
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(arguments[0], arguments.data());
        _exit(127);
    }
    close(ends[1]);
    char first = 0;
    const bool ready = child > 0 && read(ends[0], &first, 1) == 1;
    const auto end = std::chrono::steady_clock::now();
    close(ends[0]);
    int status = 0;
    if (child > 0)
        waitpid(child, &status, 0);
    if (!ready || status != 0)
        return std::nullopt;
    return std::chrono::duration<double, std::milli>(end - start).count();
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 4) {
        fmt::print(stderr, "bench_startup kvworkbench PLAN bench_emptywindow [rounds]\n");
        return 2;
    }
    const QTemporaryDir settings; // no layout of the user's own
    qputenv("XDG_CONFIG_HOME", settings.path().toUtf8());
    const int rounds = argc > 4 ? std::max(1, std::atoi(argv[4])) : 21;
    std::vector<double> workbench;
    std::vector<double> empty;
    for (int i = -1; i < rounds; ++i) { // the first round only warms the file cache
        const std::optional<double> ours = millisecondsToReady({argv[1], "--theme", "light", "--until-ready", argv[2]});
        const std::optional<double> peer = millisecondsToReady({argv[3]});
        if (!ours || !peer) {
            fmt::print(stderr, "{} did not come up\n", ours ? argv[3] : argv[1]);
            return 1;
        }
        if (i >= 0) {
            workbench.push_back(*ours);
            empty.push_back(*peer);
        }
    }
    fmt::print("workbench {:.1f} ms, empty window {:.1f} ms, ratio {:.2f} (medians of {} rounds)\n", median(workbench),
        median(empty), median(workbench) / median(empty), rounds);
    return 0;
}
