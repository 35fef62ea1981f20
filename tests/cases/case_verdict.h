// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/json.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cases {

/// What became of one case.
struct Verdict
{
    enum class Kind : std::uint8_t {
        Agrees,
        Explained, ///< not comparable, and why: an input that the case lacks, a line that contradicts it, no such
                   ///< engine
        Differs,
    };
    Kind kind = Kind::Agrees;
    std::string text {};
};

inline Verdict explained(std::string why)
{
    return {Verdict::Kind::Explained, std::move(why)};
}

/// Collects what was compared and what differed.
class Comparison
{
public:
    template <typename T>
    void expect(const std::string& what, const T& expected, const T& got)
    {
        ++m_compared;
        if (!(expected == got))
            differ(what, show(expected), show(got));
    }
    void differ(const std::string& what, const std::string& expected, const std::string& got)
    {
        m_differences.push_back(what + ": expected " + expected + ", got " + got);
    }
    bool differs() const { return !m_differences.empty(); }

    Verdict verdict() const
    {
        if (m_differences.empty())
            return {Verdict::Kind::Agrees, std::to_string(m_compared) + " figures"};
        std::string text;
        for (const std::string& difference : m_differences)
            text += (text.empty() ? "" : "; ") + difference;
        return {Verdict::Kind::Differs, text};
    }

private:
    static std::string show(const std::string& value) { return '"' + value + '"'; }
    static std::string show(bool value) { return value ? "true" : "false"; }
    static std::string show(std::int64_t value) { return std::to_string(value); }
    static std::string show(double value);
    static std::string show(const std::vector<std::int64_t>& values)
    {
        std::string text = "[";
        for (const std::int64_t value : values)
            text += (text.size() == 1 ? "" : ", ") + std::to_string(value);
        return text + "]";
    }

    std::size_t m_compared = 0;
    std::vector<std::string> m_differences;
};

/// A line of vllm_oracle.jsonl, from its layer_specs: what vLLM's own sizing code computed, exactly.
Verdict vllmOracle(const kvw::JsonView& line);
/// The same from the library's model of that name, through a plan and its estimate. Explained where the library has
/// none, or where the rules do not cover it from the worksheet.
Verdict vllmFromModel(const kvw::JsonView& line);
/// A line of vllm.jsonl: what a vLLM printed on somebody's machine, within the precision of the print.
Verdict vllmLog(const kvw::JsonView& line);

// Shorthands for fields that a case must have; a case without them is reported, not guessed.
std::int64_t wholeOr(const kvw::JsonView& object, std::string_view key, std::int64_t fallback);
bool trueOr(const kvw::JsonView& object, std::string_view key, bool fallback);
std::string textOr(const kvw::JsonView& object, std::string_view key, std::string fallback = {});
std::vector<std::int64_t> wholes(const kvw::JsonView& value);

} // namespace cases
