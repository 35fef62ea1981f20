// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/engine_rules.h"

#include "engines/none.h"
#include "engines/vllm.h"

#include <fmt/format.h>

#include <array>

namespace kvw {

namespace {

const std::array<const EngineRules*, 2>& allRules()
{
    static const NoEngine none;
    static const Vllm vllm;
    static const std::array<const EngineRules*, 2> rules {&none, &vllm};
    return rules;
}

} // namespace

EngineRules::~EngineRules() = default;

Result<const EngineRules*> engineRules(std::string_view name)
{
    std::string known;
    for (const EngineRules* rules : allRules()) {
        if (rules->name() == name || (name.empty() && rules->name() == "none"))
            return rules;
        known += (known.empty() ? "" : ", ") + std::string(rules->name());
    }
    return Error {
        "engine.unknown", "no rules for this engine", {{}, "engine.name"}, fmt::format("\"{}\"", name), known};
}

std::vector<std::string_view> engineNames()
{
    std::vector<std::string_view> out;
    for (const EngineRules* rules : allRules())
        out.push_back(rules->name());
    return out;
}

std::vector<Quantity> allHeads(const GroupShape& shape)
{
    std::vector<Quantity> out;
    for (const TensorShape& tensor : shape.tensors)
        out.push_back(tensor.heads);
    return out;
}

Quantity growingBytes(const GroupShape& shape, const std::vector<Quantity>& headsOnRank)
{
    std::vector<Quantity> terms;
    for (std::size_t i = 0; i < shape.tensors.size(); ++i) {
        const TensorShape& tensor = shape.tensors[i];
        if (!tensor.tensor->growth.growsWithTokens())
            continue;
        const Quantity bytes = named(headsOnRank[i] * tensor.rowBytes,
            "bytes of one " + tensorWord(*tensor.tensor) + " entry", Unit::BytesPerEntry);
        terms.push_back(tensor.tensor->growth.stride == 1 ? bytes : ratio(bytes, tensor.growth.stride));
    }
    if (terms.empty())
        return constant(0);
    return shape.layers * (terms.size() == 1 ? terms.front() : sum(terms));
}

Quantity saturatedBytes(const GroupShape& shape, const std::vector<Quantity>& headsOnRank)
{
    std::vector<Quantity> terms;
    for (std::size_t i = 0; i < shape.tensors.size(); ++i) {
        const TensorShape& tensor = shape.tensors[i];
        if (tensor.tensor->growth.growsWithTokens())
            continue;
        Quantity entries = tensor.growth.limit;
        if (tensor.variable)
            entries = tensor.entries(constant(0)); // of the encoder or the images: the same at any length
        else if (tensor.tensor->growth.form == GrowthForm::Fixed)
            entries = tensor.growth.entries;
        else if (tensor.tensor->growth.form == GrowthForm::Chunked)
            entries = tensor.growth.chunk;
        terms.push_back(entries * headsOnRank[i] * tensor.rowBytes);
    }
    if (terms.empty())
        return constant(0);
    return shape.layers * (terms.size() == 1 ? terms.front() : sum(terms));
}

GroupLayout groupLayout(
    const Plan& plan, const LayerGroup& group, std::int64_t blockTokens, const std::vector<std::int64_t>& heads)
{
    GroupLayout out;
    out.id = group.id;
    out.kind = group.kind;
    out.layers = group.layers;
    out.blockTokens = blockTokens;
    out.window = group.retentionLimit();
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < group.tensors.size(); ++i) {
        const StateTensor& tensor = group.tensors[i];
        TensorLayout laid;
        laid.id = tensor.id;
        laid.elementType = tensor.elementType == ElementType::NotStated ? plan.cache.elementType : tensor.elementType;
        laid.heads = heads[i];
        laid.width = tensor.width;
        laid.entryBytes = heads[i] * rowBytes(laid.elementType, tensor.width);
        laid.entriesPerBlock = blockTokens / tensor.growth.stride;
        laid.pageOffset = offset;
        offset += laid.entryBytes * laid.entriesPerBlock;
        out.tensors.push_back(std::move(laid));
    }
    out.pageBytes = offset;
    return out;
}

} // namespace kvw
