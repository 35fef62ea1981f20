// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "units/quantity.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kvw {

/// How one element of state is stored. 0 is "not stated", so that a plan's field can be empty.
enum class ElementType : std::uint8_t {
    NotStated,
    Fp32,
    Fp16,
    Bf16,
    Fp8E4M3,
    Fp8E5M2,
    Int8,
    NvFp4, ///< 4-bit values, one fp8 scale per 16: 9/16 byte per element
    Q8_0, ///< llama.cpp: 32 int8 values and one fp16 scale
};

/// The facts of an element type. A row of width w takes w × bits ÷ 8 bytes plus, where blockElements is not 0,
/// ⌈w ÷ blockElements⌉ × scaleBytes.
struct ElementTypeFacts
{
    ElementType type;
    std::string_view name; ///< "bf16": stable, used in plans and JSON
    std::int64_t bits; ///< of one element, without scales
    std::int64_t blockElements; ///< elements that share a scale; 0: no scales stored with the elements
    std::int64_t scaleBytes; ///< bytes of one scale
};

const ElementTypeFacts& factsOf(ElementType type);
/// All names in the order of the enumerators; the first ("" for NotStated) included.
std::span<const std::string_view> elementTypeNames();
std::optional<ElementType> elementTypeFromName(std::string_view name);

/// Bytes of one row of `width` elements, scales included: a whole number.
/// REQUIRES type != NotStated. The element type enters as inputs with `source`.
Quantity rowBytes(ElementType type, const Quantity& width, const std::shared_ptr<const Source>& source);
/// The same as a plain number.
std::int64_t rowBytes(ElementType type, std::int64_t width);

} // namespace kvw
