// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/weight_layout.h"

#include "units/amount.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace kvw {

namespace {

constexpr std::int64_t mostLayers = 10'000;
constexpr std::size_t mostPatterns = 10'000; // real checkpoints have some dozens
constexpr std::size_t mostDigits = 18;

using Words = std::initializer_list<std::string_view>;

bool endsWithAny(std::string_view text, Words ends)
{
    return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return text.ends_with(end); });
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

} // namespace

const WeightLayout::Pattern& WeightLayout::patternOf(std::string_view name)
{
    m_key.clear();
    m_numbers.clear();
    for (std::size_t i = 0; i < name.size();) {
        if (!isDigit(name[i]) || (i > 0 && name[i - 1] != '.')) {
            // Up to the next dot: numbers stand behind one.
            const std::size_t dot = std::min(name.find('.', i), name.size() - 1);
            for (; i <= dot; ++i)
                m_key += name[i] == '#' ? '?' : name[i]; // # is for numbers alone
            continue;
        }
        std::int64_t number = 0;
        std::size_t digits = 0;
        while (i < name.size() && isDigit(name[i]) && digits < mostDigits) {
            number = 10 * number + (name[i++] - '0');
            ++digits;
        }
        m_numbers.push_back(number);
        m_key += '#';
    }
    const auto found = m_patterns.find(m_key);
    if (found != m_patterns.end())
        return found->second;
    if (m_patterns.size() >= mostPatterns)
        m_patterns.clear();
    return m_patterns.emplace(m_key, readPattern(name)).first->second;
}

WeightLayout::Pattern WeightLayout::readPattern(std::string_view name) const
{
    Pattern out;
    const bool gguf = m_naming == WeightNaming::Gguf;
    out.component = gguf ? componentOfGgufTensor(name) : componentOfCheckpointTensor(name);
    out.ofDraft = out.component == WeightComponent::Draft;
    // Towers and encoders have layers of their own, and so have draft modules that are named so as a whole.
    const bool elsewhere = out.component == WeightComponent::Vision || m_key.find("encoder.") != std::string::npos
        || m_key.starts_with("enc.") || m_key.starts_with("mtp.") || m_key.starts_with("model.mtp");
    if (elsewhere)
        return out;
    for (const std::string_view prefix : {"layers.#.", "blk.#.", "h.#.", "blocks.#.", "layer.#."}) {
        const std::size_t at = m_key.find(prefix);
        if (at == std::string::npos || (at > 0 && m_key[at - 1] != '.'))
            continue;
        out.layerNumber
            = static_cast<int>(std::count(m_key.begin(), m_key.begin() + static_cast<std::ptrdiff_t>(at), '#'));
        break;
    }
    if (out.layerNumber >= 0)
        out.projection = projectionOf(m_key);
    return out;
}

WeightLayout::Projection WeightLayout::projectionOf(std::string_view name) const
{
    if (m_naming == WeightNaming::Gguf) {
        if (endsWithAny(name, {".attn_k.weight"}))
            return Projection::Key;
        if (endsWithAny(name, {".attn_v.weight"}))
            return Projection::Value;
        if (endsWithAny(name, {".attn_kv_a_mqa.weight"}))
            return Projection::Latent;
        return endsWithAny(name, {".indexer.attn_k.weight"}) ? Projection::IndexKey : Projection::None;
    }
    // Of packed weights only those whose outputs are not packed (compressed-tensors) can be held against anything.
    if (endsWithAny(name,
            {"self_attn.k_proj.weight", ".attn.k_proj.weight", ".attention.k_proj.weight", ".attention.wk.weight",
                "self_attn.k_proj.weight_packed", ".mixer.k_proj.weight"}))
        return Projection::Key;
    if (endsWithAny(name,
            {"self_attn.v_proj.weight", ".attn.v_proj.weight", ".attention.v_proj.weight", ".attention.wv.weight",
                "self_attn.v_proj.weight_packed", ".mixer.v_proj.weight"}))
        return Projection::Value;
    if (endsWithAny(name, {"self_attn.kv_a_proj_with_mqa.weight"}))
        return Projection::Latent;
    return endsWithAny(name, {"self_attn.indexer.wk.weight"}) ? Projection::IndexKey : Projection::None;
}

bool WeightLayout::add(std::string_view name, std::string_view type, std::span<const std::int64_t> shape,
    std::int64_t elements, std::int64_t bytes, const std::string& file)
{
    const auto total = checkedAdd(m_bytes, bytes);
    if (!total)
        return false;
    const Pattern& pattern = patternOf(name);
    WeightSum* sum = &m_others;
    const std::int64_t number
        = pattern.layerNumber >= 0 ? m_numbers[static_cast<std::size_t>(pattern.layerNumber)] : mostLayers;
    if (number < mostLayers) {
        if (number != m_lastNumber) {
            m_lastNumber = number;
            m_lastLayer = &m_layers[number];
        }
        Layer& layer = *m_lastLayer;
        sum = &layer.sum;
        layer.isDraft = layer.isDraft || pattern.ofDraft;
        const std::size_t outputs = m_naming == WeightNaming::Gguf ? 1 : 0;
        if (pattern.projection != Projection::None && shape.size() == 2
            && layer.projections.count(pattern.projection) == 0)
            layer.projections[pattern.projection] = Seen {shape[outputs], std::string(name), file};
    }
    if (!sum->add(pattern.component, type, elements, bytes))
        return false;
    m_bytes = *total;
    ++m_tensors;
    return true;
}

bool WeightLayout::isDraft(std::int64_t number, const Layer& layer) const
{
    return layer.isDraft || number >= m_firstDraft;
}

std::vector<WeightPart> WeightLayout::parts() const
{
    std::map<std::pair<WeightComponent, std::string>, WeightPart> all;
    const auto add = [&](const WeightSum& sum, bool ofDraft) {
        for (WeightPart part : sum.parts()) {
            if (ofDraft)
                part.component = WeightComponent::Draft;
            WeightPart& to = all[{part.component, part.type}];
            to.component = part.component;
            to.type = part.type;
            to.tensors += part.tensors;
            to.elements += part.elements;
            to.bytes += part.bytes; // no overflow: all bytes together fit
        }
    };
    add(m_others, false);
    for (const auto& [number, layer] : m_layers)
        add(layer.sum, isDraft(number, layer));
    std::vector<WeightPart> out;
    for (const auto& [key, part] : all)
        out.push_back(part);
    return out;
}

void WeightLayout::compare(ModelSpec& model) const
{
    if (m_layers.empty())
        return; // the names say nothing about layers
    compareLayers(model);
    for (const LayerGroup& group : model.groups)
        compareGroup(group, model);
}

void WeightLayout::compareLayers(ModelSpec& model) const
{
    std::vector<std::int64_t> stated;
    std::vector<std::int64_t> absent;
    for (const LayerGroup& group : model.groups) {
        const Result<std::vector<std::int64_t>> layers = parseLayerRanges(group.layerIndices);
        if (!layers)
            continue;
        for (const std::int64_t layer : *layers) {
            stated.push_back(layer);
            // Draft layers may be left out of a checkpoint.
            if (m_layers.count(layer) == 0 && group.use != GroupUse::Speculation)
                absent.push_back(layer);
        }
    }
    std::sort(stated.begin(), stated.end());
    std::sort(absent.begin(), absent.end());
    std::vector<std::int64_t> more;
    const Seen* example = nullptr;
    for (const auto& [number, layer] : m_layers) {
        // Layers without attention keep no state and stand in no group.
        if (layer.projections.empty() || isDraft(number, layer)
            || std::binary_search(stated.begin(), stated.end(), number))
            continue;
        more.push_back(number);
        if (!example)
            example = &layer.projections.begin()->second;
    }
    if (!absent.empty())
        model.diagnostics.push_back({Severity::Warning, "import.weights_layers",
            fmt::format("The configuration has layers {}, but there are no weights for them.", layerRanges(absent)), {},
            {m_layers.begin()->second.projections.empty() ? std::string()
                                                          : m_layers.begin()->second.projections.begin()->second.file,
                {}}});
    if (!more.empty())
        model.diagnostics.push_back({Severity::Warning, "import.weights_layers",
            fmt::format("There are weights of attention in layers {}, which the configuration does not have.",
                layerRanges(more)),
            {}, {example->file, example->name}});
}

void WeightLayout::compareGroup(const LayerGroup& group, ModelSpec& model) const
{
    const Result<std::vector<std::int64_t>> layers = parseLayerRanges(group.layerIndices);
    if (!layers)
        return;
    std::map<Projection, std::int64_t> expected;
    for (const StateTensor& tensor : group.tensors) {
        const std::int64_t width = tensor.heads * tensor.width;
        if (tensor.id == "k")
            expected[Projection::Key] += width;
        else if (tensor.id == "v")
            expected[Projection::Value] += width;
        else if (tensor.role == TensorRole::Latent || tensor.role == TensorRole::PositionalKey)
            expected[Projection::Latent] += width;
        else if (tensor.role == TensorRole::IndexKey)
            expected[Projection::IndexKey] += width;
    }
    constexpr std::string_view names[] = {"", "keys", "values", "latents", "index keys"};
    for (const auto& [projection, width] : expected) {
        std::map<std::int64_t, std::pair<std::vector<std::int64_t>, const Seen*>> different; // by what is there
        for (const std::int64_t number : *layers) {
            const auto layer = m_layers.find(number);
            if (layer == m_layers.end())
                continue;
            const auto seen = layer->second.projections.find(projection);
            if (seen == layer->second.projections.end() || seen->second.outputs == width)
                continue;
            auto& [numbers, example] = different[seen->second.outputs];
            numbers.push_back(number);
            example = example ? example : &seen->second;
        }
        for (const auto& [outputs, where] : different)
            model.diagnostics.push_back({Severity::Warning, "import.weights_shape",
                fmt::format(
                    "The weights make {} elements of {} for each token in layers {}; the configuration says {}.",
                    outputs, names[static_cast<std::size_t>(projection)], layerRanges(where.first), width),
                "worksheet.groups." + group.id, {where.second->file, where.second->name}});
    }
}

} // namespace kvw
