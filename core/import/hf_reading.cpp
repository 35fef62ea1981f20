// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_reading.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

constexpr std::size_t mostGroups = 256;

/// Where a kind of group stands in the worksheet: what grows first, what keeps nothing last.
int rankOf(LayerKind kind)
{
    switch (kind) {
    case LayerKind::Full:
    case LayerKind::Mla:
    case LayerKind::MlaSparse:
    case LayerKind::Compressed:
        return 0;
    case LayerKind::Sliding:
    case LayerKind::Chunked:
        return 1;
    case LayerKind::Recurrent:
        return 2;
    case LayerKind::Cross:
        return 3;
    case LayerKind::Shared:
        break;
    }
    return 4;
}

} // namespace

std::optional<ElementType> elementTypeNamed(std::string_view name)
{
    if (name.starts_with("torch."))
        name.remove_prefix(6);
    if (name == "bfloat16" || name == "bf16")
        return ElementType::Bf16;
    if (name == "float16" || name == "fp16" || name == "half")
        return ElementType::Fp16;
    if (name == "float32" || name == "fp32" || name == "float")
        return ElementType::Fp32;
    return std::nullopt;
}

Stated HfReading::assume(
    std::string id, const std::string& path, std::string_view instead, std::int64_t value, std::string text) const
{
    const Assumption made {std::move(id), text, "worksheet.groups." + path};
    if (std::find(model.assumptions.begin(), model.assumptions.end(), made) == model.assumptions.end())
        model.assumptions.push_back(made);
    return {value, fields.assumption(fields.pointer(instead), std::move(text))};
}

Result<Stated> HfReading::numberOr(HfFields::Names names, std::int64_t minimum, std::int64_t maximum,
    std::int64_t byDefault, const std::string& path) const
{
    const Result<std::optional<Stated>> stated = fields.integer(names, minimum, maximum);
    if (!stated)
        return stated.error();
    if (*stated)
        return **stated;
    const std::string_view name = *names.begin();
    return assume("import.class_default", path, name, byDefault,
        fmt::format("{} is not stated: its class's default, {}, was taken.", name, byDefault));
}

void HfReading::note(std::string id, std::string message, std::string_view field, Severity severity) const
{
    model.diagnostics.push_back(
        {severity, std::move(id), std::move(message), {}, {fields.root().file(), fields.pointer(field)}});
}

void LayerState::add(StateTensor tensor, const Source& heads, const Source& width)
{
    sources["tensors." + tensor.id + ".heads"] = heads;
    sources["tensors." + tensor.id + ".width"] = width;
    group.tensors.push_back(std::move(tensor));
}

Result<void> LayerGroups::add(std::int64_t layer, const LayerState& state, const HfFields& fields)
{
    const auto same
        = std::find_if(m_parts.begin(), m_parts.end(), [&](const Part& part) { return part.asked == state.group; });
    if (same != m_parts.end()) {
        same->layers.push_back(layer);
        return {};
    }
    if (m_parts.size() == mostGroups)
        return Error {"import.unsupported", fmt::format("the layers keep more than {} kinds of state", mostGroups),
            {fields.root().file(), fields.pointer("num_hidden_layers")}};
    Part part {state, state.group, {layer}};
    const auto taken = [&](const std::string& id) {
        return std::any_of(
            m_parts.begin(), m_parts.end(), [&](const Part& other) { return other.state.group.id == id; });
    };
    for (int number = 2; taken(part.state.group.id); ++number) {
        part.state.group.id = fmt::format("{}_{}", state.group.id, number);
        part.state.group.name = fmt::format("{} ({})", state.group.name, number);
    }
    m_parts.push_back(std::move(part));
    return {};
}

std::string LayerGroups::idOf(std::int64_t layer) const
{
    for (const Part& part : m_parts) {
        if (std::binary_search(part.layers.begin(), part.layers.end(), layer))
            return part.state.group.id;
    }
    return {};
}

void LayerGroups::finish(ModelSpec& model, const Source& layersSource)
{
    std::stable_sort(m_parts.begin(), m_parts.end(), [](const Part& left, const Part& right) {
        return rankOf(left.state.group.kind) < rankOf(right.state.group.kind);
    });
    for (Part& part : m_parts) {
        LayerGroup& group = part.state.group;
        group.layers = static_cast<std::int64_t>(part.layers.size());
        group.layerIndices = layerRanges(part.layers);
        const std::string path = "groups." + group.id + ".";
        model.provenance.set(path + "layers", layersSource);
        model.provenance.set(path + "layerIndices", layersSource);
        for (const auto& [field, source] : part.state.sources)
            model.provenance.set(path + field, source);
        model.groups.push_back(std::move(group));
    }
    m_parts.clear();
}

} // namespace kvw
