// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/inputs.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

FieldReference reference(const Plan& plan, const std::string& path)
{
    // The table hands out writable slots; here they are only read.
    const Result<FieldReference> found = findField(const_cast<Plan&>(plan), path);
    return found.value();
}

std::optional<Number> numberIn(const FieldSlot& slot)
{
    if (const auto* whole = std::get_if<std::optional<std::int64_t>*>(&slot))
        return **whole ? std::optional<Number>(***whole) : std::nullopt;
    if (const auto* count = std::get_if<std::int64_t*>(&slot))
        return Number {**count};
    if (const auto* real = std::get_if<std::optional<double>*>(&slot))
        return **real ? std::optional<Number>(***real) : std::nullopt;
    return std::nullopt;
}

} // namespace

PlanInputs::PlanInputs(const Plan& plan)
    : m_plan(plan)
{}

std::shared_ptr<const Source> PlanInputs::source(const std::string& path) const
{
    if (std::shared_ptr<const Source> recorded = m_plan.provenance.find(path))
        return recorded;
    return std::make_shared<const Source>(Source {Source::Kind::User, "entered in the plan", path});
}

bool PlanInputs::isStated(const std::string& path) const
{
    return kvw::isStated(reference(m_plan, path).slot);
}

Quantity PlanInputs::number(const std::string& path, std::string name) const
{
    const FieldReference found = reference(m_plan, path);
    if (name.empty())
        name = found.field->title;
    const std::optional<Number> value = numberIn(found.slot);
    if (value)
        return input(std::move(name), *value, found.field->unit, source(path));
    return inputWithoutValue(std::move(name), found.field->unit,
        fmt::format("{} ({}) is not stated", found.field->title, path), source(path));
}

Quantity PlanInputs::numberOr(
    const std::string& path, std::int64_t fallback, Source::Kind kind, std::string why, std::string name)
{
    if (isStated(path))
        return number(path, std::move(name));
    const FieldReference found = reference(m_plan, path);
    if (name.empty())
        name = found.field->title;
    Source source {kind, kind == Source::Kind::Assumption ? "assumed" : "default", path, {}, {}, {}, why};
    assume({"default." + path, fmt::format("{} is not stated: {}", found.field->title, why), path});
    return input(std::move(name), fallback, found.field->unit, std::move(source));
}

const Assumptions& PlanInputs::assumptions() const
{
    return m_assumptions;
}

void PlanInputs::assume(Assumption assumption)
{
    const auto same = [&](const Assumption& known) { return known.id == assumption.id; };
    if (std::none_of(m_assumptions.begin(), m_assumptions.end(), same))
        m_assumptions.push_back(std::move(assumption));
}

} // namespace kvw
