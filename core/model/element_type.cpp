// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "model/element_type.h"

#include <array>

namespace kvw {

namespace {

constexpr std::array<ElementTypeFacts, 9> facts {{
    {ElementType::NotStated, "", 0, 0, 0},
    {ElementType::Fp32, "fp32", 32, 0, 0},
    {ElementType::Fp16, "fp16", 16, 0, 0},
    {ElementType::Bf16, "bf16", 16, 0, 0},
    {ElementType::Fp8E4M3, "fp8_e4m3", 8, 0, 0},
    {ElementType::Fp8E5M2, "fp8_e5m2", 8, 0, 0},
    {ElementType::Int8, "int8", 8, 0, 0},
    {ElementType::NvFp4, "nvfp4", 4, 16, 1},
    {ElementType::Q8_0, "q8_0", 8, 32, 2},
}};

constexpr auto names = [] {
    std::array<std::string_view, facts.size()> out;
    for (std::size_t i = 0; i < facts.size(); ++i)
        out[i] = facts[i].name;
    return out;
}();

} // namespace

const ElementTypeFacts& factsOf(ElementType type)
{
    return facts[static_cast<std::size_t>(type)];
}

std::span<const std::string_view> elementTypeNames()
{
    return names;
}

std::optional<ElementType> elementTypeFromName(std::string_view name)
{
    for (const ElementTypeFacts& fact : facts) {
        if (fact.name == name && fact.type != ElementType::NotStated)
            return fact.type;
    }
    return std::nullopt;
}

Quantity rowBytes(ElementType type, const Quantity& width, const std::shared_ptr<const Source>& source)
{
    const ElementTypeFacts& fact = factsOf(type);
    const std::string name(fact.name);
    Quantity values;
    if (fact.bits % 8 == 0)
        values = width * input("bytes per " + name + " element", fact.bits / 8, Unit::BytesPerElement, source);
    else
        values = ceilDivide(width * input("bits per " + name + " element", fact.bits, Unit::Bit, source), constant(8));
    if (fact.blockElements == 0)
        return values;
    const Quantity blocks
        = ceilDivide(width, input(name + " elements per scale", fact.blockElements, Unit::Element, source));
    return values + blocks * input("bytes per " + name + " scale", fact.scaleBytes, Unit::Byte, source);
}

std::int64_t rowBytes(ElementType type, std::int64_t width)
{
    const ElementTypeFacts& fact = factsOf(type);
    const std::int64_t values = (width * fact.bits + 7) / 8;
    const std::int64_t scales = fact.blockElements == 0 ? 0 : (width + fact.blockElements - 1) / fact.blockElements;
    return values + scales * fact.scaleBytes;
}

} // namespace kvw
