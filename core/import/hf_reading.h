// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/hf_family.h"
#include "import/hf_fields.h"
#include "model/model_spec.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kvw {

/// One configuration while it is read: its fields, its family, and the model that grows of them.
struct HfReading
{
    const HfFields& fields;
    const HfFamily& family;
    ModelSpec& model;

    /// `value` in place of the field `instead` that the file lacks: an assumption of the model that leads to the plan's
    /// field `path` ("full.tensors.k.width", below worksheet.groups).
    Stated assume(
        std::string id, const std::string& path, std::string_view instead, std::int64_t value, std::string text) const;
    /// The first of `names`, else the class's own default, which is then an assumption about `path`.
    Result<Stated> numberOr(HfFields::Names names, std::int64_t minimum, std::int64_t maximum, std::int64_t byDefault,
        const std::string& path) const;
    /// A note or warning that leads to a field of the text part.
    void note(std::string id, std::string message, std::string_view field, Severity severity = Severity::Note) const;
};

/// "bfloat16", "torch.float16", "fp32": an element type that models compute in; nothing for others.
std::optional<ElementType> elementTypeNamed(std::string_view name);

/// Largest numbers that a field may state; beyond them it is refused.
inline constexpr std::int64_t mostLayers = 10'000;
inline constexpr std::int64_t mostHeads = 65'536;
inline constexpr std::int64_t mostWidth = 1'000'000;
inline constexpr std::int64_t mostTokens = std::int64_t {1} << 40;

/// What one layer keeps, before it is known how many layers do: a group without layers, and where its numbers come from
/// ("tensors.k.heads", "readsGroup").
struct LayerState
{
    LayerGroup group;
    std::map<std::string, Source> sources {};

    /// Adds a tensor with the sources of its shape.
    void add(StateTensor tensor, const Source& heads, const Source& width);
};

/// Gathers layers that keep the same into groups.
class LayerGroups
{
public:
    /// Layers arrive in ascending order. A group of the same id but other tensors gets an id of its own. Error:
    /// import.unsupported beyond 256 groups.
    Result<void> add(std::int64_t layer, const LayerState& state, const HfFields& fields);
    bool isEmpty() const { return m_parts.empty(); }
    /// The id of the first group that `layer` is in; "" when it is in none.
    std::string idOf(std::int64_t layer) const;
    /// Adds the groups to the model: attention first, what is shared last.
    void finish(ModelSpec& model, const Source& layersSource);

private:
    struct Part
    {
        LayerState state;
        LayerGroup asked; ///< as it was asked for, before its id was made unique
        std::vector<std::int64_t> layers;
    };
    std::vector<Part> m_parts;
};

} // namespace kvw
