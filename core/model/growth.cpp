// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "model/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kvw {

std::span<const std::string_view> growthVariableNames()
{
    static constexpr std::array<std::string_view, 3> names {"tokens", "encoder_tokens", "image_tokens"};
    return names;
}

std::span<const std::string_view> growthFormNames()
{
    static constexpr std::array<std::string_view, 3> names {"fixed", "linear", "chunked"};
    return names;
}

std::span<const std::string_view> roundingNames()
{
    static constexpr std::array<std::string_view, 3> names {"down", "up", "nearest"};
    return names;
}

std::int64_t GrowthLaw::at(std::int64_t v) const
{
    switch (form) {
    case GrowthForm::Fixed:
        return v > 0 ? entries : 0;
    case GrowthForm::Chunked:
        return v > 0 ? (v - 1) % chunk + 1 : 0;
    case GrowthForm::Linear:
        break;
    }
    const std::int64_t moved
        = std::max<std::int64_t>(v + offset, 0); // a negative offset starts later, never below nothing
    std::int64_t count = 0;
    switch (rounding) {
    case Rounding::Down:
        count = moved / stride;
        break;
    case Rounding::Up:
        count = (moved + stride - 1) / stride;
        break;
    case Rounding::Nearest:
        count = (2 * moved + stride) / (2 * stride);
        break;
    }
    return limit ? std::min(count, *limit) : count;
}

bool GrowthLaw::isUnbounded() const
{
    return form == GrowthForm::Linear && !limit;
}

bool GrowthLaw::growsWithTokens() const
{
    return isUnbounded() && variable == GrowthVariable::Tokens;
}

std::optional<std::int64_t> GrowthLaw::saturation() const
{
    switch (form) {
    case GrowthForm::Fixed:
        return entries;
    case GrowthForm::Chunked:
        return chunk;
    case GrowthForm::Linear:
        break;
    }
    return limit;
}

Quantity entriesAt(const GrowthLaw& law, const GrowthInputs& inputs, const Quantity& v)
{
    switch (law.form) {
    case GrowthForm::Fixed:
        // One per started sequence: min(v, 1) is 0 at 0 and 1 from the first token on.
        return inputs.entries * minimum(v, constant(1));
    case GrowthForm::Chunked: {
        const Quantity done = floorDivide(maximum(v - constant(1), constant(0)), inputs.chunk);
        return v - done * inputs.chunk;
    }
    case GrowthForm::Linear:
        break;
    }
    Quantity moved = law.offset == 0 ? v : v + inputs.offset;
    if (law.offset < 0)
        moved = maximum(moved, constant(0));
    Quantity count = moved;
    if (law.stride != 1) {
        switch (law.rounding) {
        case Rounding::Down:
            count = floorDivide(moved, inputs.stride);
            break;
        case Rounding::Up:
            count = ceilDivide(moved, inputs.stride);
            break;
        case Rounding::Nearest:
            count = floorDivide(constant(2) * moved + inputs.stride, constant(2) * inputs.stride);
            break;
        }
    }
    return law.limit ? minimum(count, inputs.limit) : count;
}

std::string growthText(const GrowthLaw& law)
{
    static constexpr std::array<const char*, 3> symbols {"v", "e", "i"};
    const char* v = symbols[static_cast<std::size_t>(law.variable)];
    if (law.form == GrowthForm::Fixed)
        return fmt::format("{} (fixed)", law.entries);
    if (law.form == GrowthForm::Chunked)
        return fmt::format("(({} − 1) mod {}) + 1", v, law.chunk);
    std::string moved = v;
    if (law.offset > 0)
        moved = fmt::format("{} + {}", v, law.offset);
    else if (law.offset < 0)
        moved = fmt::format("max({} − {}, 0)", v, -law.offset);
    if (law.stride != 1) {
        const std::string inner = law.offset > 0 ? "(" + moved + ")" : moved;
        if (law.rounding == Rounding::Nearest)
            moved = fmt::format("round({} ÷ {})", inner, law.stride);
        else
            moved = law.rounding == Rounding::Down ? fmt::format("⌊{} ÷ {}⌋", inner, law.stride)
                                                   : fmt::format("⌈{} ÷ {}⌉", inner, law.stride);
    }
    return law.limit ? fmt::format("min({}, {})", moved, *law.limit) : moved;
}

} // namespace kvw
