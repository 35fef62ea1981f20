// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/field_table.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kvw::test {

/// Path of a plan under resources/examples.
inline std::string examplePath(const std::string& name)
{
    const char* source = std::getenv("KVW_SOURCE_DIR");
    if (source == nullptr)
        throw std::runtime_error("KVW_SOURCE_DIR is not set");
    return (std::filesystem::path(source) / "resources" / "examples" / name).string();
}

/// A plan with elements in every collection and nothing stated in them.
inline Plan skeleton()
{
    Plan plan;
    plan.worksheet.groups.resize(2);
    plan.worksheet.groups[0].id = "full";
    plan.worksheet.groups[1].id = "Sliding_2";
    for (LayerGroup& group : plan.worksheet.groups) {
        group.tensors.resize(2);
        group.tensors[0].id = "k";
        group.tensors[1].id = "v";
    }
    plan.tenants.resize(2);
    plan.tenants[0].id = "acme";
    plan.tenants[1].id = "b-2";
    plan.evidence.resize(2);
    plan.evidence[0].id = "pool_bytes";
    plan.evidence[1].id = "hits";
    plan.runs.resize(1);
    plan.runs[0].id = "run1";
    return plan;
}

/// Every field of the plan as text, by path.
inline std::map<std::string, std::string> textsOf(const Plan& plan)
{
    std::map<std::string, std::string> out;
    forEachField(plan,
        [&](const FieldReference& reference) { out[reference.path] = fieldText(*reference.field, reference.slot); });
    return out;
}

/// Values that fields take, by the table's own ranges: the ends of a range come often.
class RandomValues
{
public:
    explicit RandomValues(std::uint32_t seed)
        : m_random(seed)
    {}

    std::uint64_t below(std::uint64_t bound) { return m_random() % bound; }

    std::string text()
    {
        constexpr std::string_view pieces[] {
            "a", "B", "7", " ", "\"", "\\", "\n", "\t", "{", "/", "~1", ".", ",", "é", "×", "日", "😀", "\x01", "null"};
        std::string out;
        for (std::uint64_t i = below(12) + 1; i > 0; --i)
            out += pieces[below(std::size(pieces))];
        return out;
    }

    std::int64_t integer(std::int64_t least, std::int64_t most)
    {
        switch (below(4)) {
        case 0:
            return least;
        case 1:
            return most;
        default:
            const std::uint64_t span = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
            const std::uint64_t offset = (m_random() >> below(60)) % (span == UINT64_MAX ? span : span + 1);
            return static_cast<std::int64_t>(static_cast<std::uint64_t>(least) + offset);
        }
    }

    double real(const Field& field)
    {
        if (field.minimum == 0 && field.maximum == 1)
            return below(5) == 0 ? 1.0 : static_cast<double>(below(1'000'001)) / 1'000'000;
        const double part = static_cast<double>(m_random()) / 0x1p64 - 0.5;
        return below(3) == 0 ? static_cast<double>(below(1000)) : part * (below(2) == 0 ? 1e6 : 1e18);
    }

    /// A text that states the field: never the empty one.
    std::string valueFor(const Field& field)
    {
        switch (field.type) {
        case FieldType::Text:
            return text();
        case FieldType::Integer:
        case FieldType::Count:
            return std::to_string(integer(field.minimum, field.maximum));
        case FieldType::Real:
            return fmt::format("{}", real(field));
        case FieldType::Choice:
            break;
        }
        const std::size_t first = field.choices[0].empty() && field.choices.size() > 2 ? 1 : 0;
        return std::string(field.choices[first + below(field.choices.size() - first)]);
    }

    /// The skeleton with about `share` of 8 fields stated.
    Plan plan(std::uint64_t share)
    {
        Plan out = skeleton();
        forEachField(out, [&](const FieldReference& reference) {
            if (below(8) >= share)
                return;
            const std::string value = valueFor(*reference.field);
            if (const Result<void> set = assignField(reference, value); !set)
                throw std::runtime_error(reference.path + ": " + set.error().text());
        });
        return out;
    }

private:
    std::mt19937_64 m_random;
};

} // namespace kvw::test
