// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// kvw-cases FILE…: runs files of reference cases, one JSON object a line, through the product's own code. A line per
// case: agrees, explained with a reason, or differs with what was expected and got; a total per file. Exit status 0
// only when nothing differs and every file could be read.

#include "case_verdict.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <iostream>
#include <map>

namespace cases {

std::string Comparison::show(double value)
{
    return fmt::format("{}", value);
}

std::int64_t wholeOr(const kvw::JsonView& object, std::string_view key, std::int64_t fallback)
{
    const std::optional<kvw::JsonView> value = object.findValue(key);
    if (!value || !value->isNumber())
        return fallback;
    const kvw::Result<std::int64_t> whole = value->integer();
    return whole.ok() ? *whole : fallback;
}

bool trueOr(const kvw::JsonView& object, std::string_view key, bool fallback)
{
    const std::optional<kvw::JsonView> value = object.findValue(key);
    return value && value->isBoolean() ? *value->boolean() : fallback;
}

std::string textOr(const kvw::JsonView& object, std::string_view key, std::string fallback)
{
    const std::optional<kvw::JsonView> value = object.findValue(key);
    return value && value->isString() ? *value->string() : fallback;
}

std::vector<std::int64_t> wholes(const kvw::JsonView& value)
{
    std::vector<std::int64_t> out;
    if (value.isNumber())
        out.push_back(value.integer().ok() ? *value.integer() : 0);
    for (std::size_t i = 0; value.isArray() && i < value.size(); ++i) {
        for (const std::int64_t whole : wholes(value.at(i)))
            out.push_back(whole);
    }
    return out;
}

namespace {

/// Who compares a case: by what it holds, not by the file's name.
Verdict verdictOn(const kvw::JsonView& line)
{
    const std::string engine = textOr(line, "engine");
    if (line.find("layer_specs")) {
        for (const char* key : {"layer_order_rle", "model_level", "inputs", "outputs"}) {
            if (!line.find(key))
                return explained(std::string(key) + " is not in the case");
        }
        return vllmOracle(line);
    }
    if (line.find("right_value"))
        return explained("a report about planning: no engine's figure to compare with");
    if (line.find("ops") || line.find("steps"))
        return explained("the cache's behaviour step by step is not covered by this program yet");
    if (engine == "vLLM")
        return vllmLog(line);
    if (engine.empty())
        return explained("the case names no engine");
    return explained("the engine " + engine + " is not in the product yet");
}

struct Totals
{
    std::size_t agree = 0;
    std::size_t explained = 0;
    std::size_t differ = 0;
};

bool runFile(const std::string& path)
{
    std::ifstream in(path);
    if (!in) {
        std::cerr << path << ": cannot be read\n";
        return false;
    }
    Totals totals;
    std::string text;
    for (std::size_t number = 1; std::getline(in, text); ++number) {
        if (text.find_first_not_of(" \t\r") == std::string::npos)
            continue;
        const kvw::Result<kvw::JsonDocument> document = kvw::parseJson(text, fmt::format("{}:{}", path, number));
        if (!document.ok()) {
            std::cerr << document.error().text() << '\n';
            ++totals.differ;
            continue;
        }
        const kvw::JsonView line(*document);
        const Verdict verdict = verdictOn(line);
        const std::array words {"agrees", "explained", "differs"};
        ++(verdict.kind == Verdict::Kind::Agrees           ? totals.agree
                : verdict.kind == Verdict::Kind::Explained ? totals.explained
                                                           : totals.differ);
        std::cout << fmt::format("{}: {}: {}\n", textOr(line, "id", fmt::format("line {}", number)),
            words[static_cast<std::size_t>(verdict.kind)], verdict.text);
    }
    std::cout << fmt::format(
        "{}: {} agree, {} explained, {} differ\n", path, totals.agree, totals.explained, totals.differ);
    return totals.differ == 0;
}

} // namespace

} // namespace cases

int main(int argc, char** argv)
{
    if (argc < 2) {
        std::cerr << "usage: kvw-cases FILE...\n";
        return 2;
    }
    bool ok = true;
    for (int i = 1; i < argc; ++i)
        ok = cases::runFile(argv[i]) && ok;
    return ok ? 0 : 1;
}
