// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.h"

#include "plan/field_table.h"
#include "plan/plan_json.h"
#include "units/format.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace kvw::cli {

/// `inPlace`: the result may take the place of the file that is read.
Result<void> checkOutputs(const Options& options, bool inPlace)
{
    namespace fs = std::filesystem;
    std::vector<std::string> taken;
    if (!inPlace)
        taken.push_back(options.file);
    for (const std::string& out : {options.out, options.events, options.record}) {
        if (out.empty() || out == "/dev/null")
            continue;
        for (const std::string& other : taken) {
            std::error_code ignored;
            const bool same = fs::weakly_canonical(out, ignored) == fs::weakly_canonical(other, ignored);
            if (same || fs::equivalent(out, other, ignored))
                return Error {"usage.output", "this file is read or written already by the same command", {out, {}}};
        }
        taken.push_back(out);
    }
    return {};
}

Result<Loaded> load(const Options& options)
{
    if (Result<void> outputs = checkOutputs(options, options.inPlace); !outputs)
        return outputs.error();
    Result<Loaded> loaded = openPlanOrModel(options.file);
    if (!loaded)
        return loaded;
    // A plan may be changed in its own file; a model file is not ours to write.
    if (Result<void> outputs = checkOutputs(options, options.inPlace && loaded->isPlanFile); !outputs)
        return outputs.error();
    for (const std::string& assignment : options.set) {
        const std::size_t equals = assignment.find('=');
        if (equals == std::string::npos || equals == 0)
            return Error {
                "usage.set", "--set needs path=value", {}, "\"" + assignment + "\"", "such as engine.name=vllm"};
        const Result<void> set = setField(loaded->plan, assignment.substr(0, equals), assignment.substr(equals + 1));
        if (!set)
            return set.error();
    }
    return loaded;
}

ProgressLine::ProgressLine()
    : m_terminal(isatty(STDERR_FILENO) != 0)
    , m_next(std::chrono::steady_clock::now() + std::chrono::seconds(1))
{}

ProgressLine::~ProgressLine()
{
    if (m_shown)
        fmt::print(stderr, "\r\x1b[K");
}

void ProgressLine::show(std::string_view what, const StepSample& sample, std::int64_t of)
{
    if (!m_terminal)
        return;
    const auto now = std::chrono::steady_clock::now();
    if (now < m_next)
        return;
    m_next = now + std::chrono::milliseconds(200);
    m_shown = true;
    const std::string steps = of > 0 ? fmt::format(" of {}", grouped(of)) : "";
    fmt::print(stderr, "\r{}: step {}{}, {} running, {} waiting\x1b[K", what, grouped(sample.step), steps,
        grouped(sample.running), grouped(sample.waiting));
    std::fflush(stderr);
}

int fail(const Options& options, const Error& error, int code)
{
    if (options.json)
        print(errorJson(error));
    fmt::print(stderr, "kvw: {}\n", error.text());
    return error.code.starts_with("usage.") ? usage : code;
}

void print(const OrderedJson& json)
{
    const std::string text = json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
}

void print(const Section& section)
{
    const std::string text = toText(section) + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
}

std::string runsFolder()
{
    namespace fs = std::filesystem;
    const char* state = std::getenv("XDG_STATE_HOME");
    const char* home = std::getenv("HOME");
    fs::path folder = state && *state ? fs::path(state) : fs::path(home && *home ? home : ".") / ".local" / "state";
    folder = folder / "kvworkbench" / "runs";
    std::error_code failed;
    fs::create_directories(folder, failed);
    return failed ? std::string(".") : folder.string();
}

} // namespace kvw::cli
