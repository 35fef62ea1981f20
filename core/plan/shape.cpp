// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/shape.h"

#include "plan/choices.h"

#include <fmt/format.h>

namespace kvw {

std::string tensorWord(const StateTensor& tensor)
{
    return std::string(choiceTitle(tensorRoleNames(), static_cast<std::size_t>(tensor.role)));
}

namespace {

TensorShape tensorShape(const Plan& plan, const PlanInputs& inputs, const LayerGroup& group, const StateTensor& tensor)
{
    const std::string base = fmt::format("worksheet.groups.{}.tensors.{}.", group.id, tensor.id);
    const std::string word = tensorWord(tensor);
    TensorShape out;
    out.tensor = &tensor;
    const bool own = tensor.elementType != ElementType::NotStated;
    out.elementType = own ? tensor.elementType : plan.cache.elementType;
    out.heads = inputs.number(base + "heads", word + " heads");
    const Quantity width = inputs.number(base + "width", word + " width");
    const std::string typePath = own ? base + "elementType" : "cache.elementType";
    if (out.elementType == ElementType::NotStated) {
        out.rowBytes = width
            * inputWithoutValue(
                "bytes per element", Unit::None, "cache element type is not stated", inputs.source(typePath));
    } else {
        out.rowBytes = rowBytes(out.elementType, width, inputs.source(typePath));
    }
    out.entryBytes = out.heads * out.rowBytes;
    out.growth.entries = inputs.number(base + "entries", word + " entries per sequence");
    out.growth.offset = inputs.number(base + "offset", word + " offset");
    out.growth.stride = inputs.number(base + "stride", word + " stride");
    out.growth.chunk = inputs.number(base + "chunk", "chunk");
    if (tensor.growth.limit)
        out.growth.limit = inputs.number(base + "limit", "window");
    if (tensor.growth.form != GrowthForm::Fixed) {
        if (tensor.growth.variable == GrowthVariable::EncoderTokens)
            out.variable = inputs.number("limits.encoderTokens", "encoder tokens");
        else if (tensor.growth.variable == GrowthVariable::ImageTokens)
            out.variable = inputs.number("limits.imageTokens", "image tokens");
    }
    return out;
}

} // namespace

bool keepsState(const Plan& plan, const LayerGroup& group)
{
    return !group.tensors.empty() && (group.use != GroupUse::Speculation || plan.engine.speculation == Switch::On);
}

std::optional<std::int64_t> entriesIn(const Plan& plan, const StateTensor& tensor, std::int64_t tokens)
{
    std::optional<std::int64_t> v = tokens;
    if (tensor.growth.form != GrowthForm::Fixed) {
        if (tensor.growth.variable == GrowthVariable::EncoderTokens)
            v = plan.limits.encoderTokens;
        else if (tensor.growth.variable == GrowthVariable::ImageTokens)
            v = plan.limits.imageTokens;
    }
    return v ? std::optional(tensor.growth.at(*v)) : std::nullopt;
}

Quantity TensorShape::entries(const Quantity& v) const
{
    return entriesAt(tensor->growth, growth, variable.value_or(v));
}

std::vector<GroupShape> shapeOf(const Plan& plan, const PlanInputs& inputs)
{
    std::vector<GroupShape> out;
    for (const LayerGroup& group : plan.worksheet.groups) {
        GroupShape shape;
        shape.group = &group;
        shape.layers = inputs.number("worksheet.groups." + group.id + ".layers", "layers");
        if (!keepsState(plan, group)) {
            out.push_back(std::move(shape));
            continue;
        }
        for (const StateTensor& tensor : group.tensors)
            shape.tensors.push_back(tensorShape(plan, inputs, group, tensor));
        out.push_back(std::move(shape));
    }
    return out;
}

} // namespace kvw
