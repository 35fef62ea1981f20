// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// What a preset makes of a layer group: which numbers carry over, and where each of its fields comes from then.

#include "plan/field_table.h"
#include "plan/group_edits.h"
#include "plan/group_presets.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace kvw {

namespace {

std::string pathOf(std::string_view group)
{
    return fmt::format("worksheet.groups.{}", group);
}

/// Fields of a tensor that presets set by number.
constexpr std::array<std::string_view, 6> numberFields {"heads", "width", "limit", "chunk", "stride", "entries"};

/// What the field says, where it counts for the tensor's growth.
std::optional<std::int64_t> valueOf(const StateTensor& tensor, std::string_view field)
{
    const GrowthLaw& growth = tensor.growth;
    if (field == "heads")
        return tensor.heads;
    if (field == "width")
        return tensor.width;
    if (field == "limit" && growth.form == GrowthForm::Linear)
        return growth.limit;
    if (field == "stride" && growth.form == GrowthForm::Linear)
        return growth.stride;
    if (field == "chunk" && growth.form == GrowthForm::Chunked)
        return growth.chunk;
    if (field == "entries" && growth.form == GrowthForm::Fixed)
        return growth.entries;
    return std::nullopt;
}

bool isState(TensorRole role)
{
    return role == TensorRole::RecurrentState || role == TensorRole::ConvolutionState || role == TensorRole::Buffer;
}

/// Makes the tensors of a preset from a group's, and says of each field where it comes from.
class Retyper
{
public:
    Retyper(Plan& plan, LayerGroup& group, const GroupPreset& preset, std::vector<PresetValue> values)
        : m_plan(plan)
        , m_group(group)
        , m_preset(preset)
        , m_values(std::move(values))
        , m_base(pathOf(group.id))
        , m_old(group.tensors)
    {}

    void run()
    {
        for (const auto& [path, source] : m_plan.provenance.entries()) {
            if (path.starts_with(m_base + ".tensors."))
                m_oldSources.emplace(path, *source);
        }
        const Assumptions before = m_plan.assumptions;
        std::erase_if(m_plan.assumptions,
            [&](const Assumption& assumption) { return assumption.path.starts_with(m_base + ".tensors."); });
        m_plan.provenance.removeBelow(m_base + ".tensors");
        m_group.tensors = m_preset.readsOther() ? std::vector<StateTensor>() : make({});
        std::set<std::size_t> claimed;
        for (StateTensor& tensor : m_group.tensors) {
            const StateTensor* like = nullptr;
            for (std::size_t i = 0; i < m_old.size() && !like; ++i) {
                if (m_old[i].role == tensor.role && claimed.insert(i).second)
                    like = &m_old[i];
            }
            setType(tensor, like, before);
            for (const std::string_view field : numberFields) {
                if (valueOf(tensor, field))
                    setSource(tensor, field, like, before);
            }
        }
    }

private:
    /// The preset's tensors; `changed`: with one more in that number.
    std::vector<StateTensor> make(std::optional<std::size_t> changed) const
    {
        std::vector<std::int64_t> numbers;
        for (std::size_t i = 0; i < m_values.size(); ++i)
            numbers.push_back(m_values[i].value + (changed == i ? 1 : 0));
        return m_preset.tensors(numbers);
    }

    std::string fieldPath(const StateTensor& tensor, std::string_view field) const
    {
        return fmt::format("{}.tensors.{}.{}", m_base, tensor.id, field);
    }

    /// The field as it was: its source and what was assumed of it.
    void keep(const std::string& from, const std::string& to, const Assumptions& before)
    {
        if (const auto known = m_oldSources.find(from); known != m_oldSources.end()) {
            Source source = known->second;
            if (source.kind == Source::Kind::User)
                source.at = to;
            m_plan.provenance.set(to, std::move(source));
        }
        for (const Assumption& assumption : before) {
            if (assumption.path == from)
                m_plan.assumptions.push_back({assumption.id, assumption.text, to});
        }
    }

    void assume(const std::string& path, std::string text)
    {
        m_plan.provenance.set(path, Source {Source::Kind::Assumption, "usual value", {}, {}, {}, {}, text});
        m_plan.assumptions.push_back({"plan.preset_value", std::move(text), path});
    }

    void setSource(
        const StateTensor& tensor, std::string_view field, const StateTensor* like, const Assumptions& before)
    {
        const std::string path = fieldPath(tensor, field);
        if (like && valueOf(*like, field) == valueOf(tensor, field))
            return keep(fieldPath(*like, field), path, before);
        // The numbers that the field is made of are those whose change changes it.
        const auto at = static_cast<std::size_t>(&tensor - m_group.tensors.data());
        const PresetValue* only = nullptr;
        std::size_t parts = 0;
        std::string usual;
        for (std::size_t i = 0; i < m_values.size(); ++i) {
            if (valueOf(make(i)[at], field) == valueOf(tensor, field))
                continue;
            ++parts;
            only = &m_values[i];
            if (m_values[i].carriedFrom.empty() && m_values[i].value == m_preset.numbers[i].usual)
                usual += fmt::format(
                    "{}{} {}", usual.empty() ? "" : ", ", m_preset.numbers[i].title, grouped(m_values[i].value));
        }
        if (parts == 0)
            m_plan.provenance.set(path,
                Source {Source::Kind::Definition, fmt::format("preset {}", m_preset.title), {}, {}, {}, {},
                    std::string(m_preset.keeps)});
        else if (!usual.empty())
            assume(path,
                fmt::format(
                    "{}: a usual value of the preset {} ({}); nobody stated it.", m_group.id, m_preset.title, usual));
        else if (parts == 1 && !only->carriedFrom.empty() && only->value == valueOf(tensor, field))
            keep(only->carriedFrom, path, before);
        else
            m_plan.provenance.set(path, Source {Source::Kind::User, "entered", path});
    }

    /// The element type of the tensor of that role; else what all cached rows have; a state's is not the cache's.
    void setType(StateTensor& tensor, const StateTensor* like, const Assumptions& before)
    {
        const StateTensor* from = like;
        if (!from && !isState(tensor.role)) {
            for (const StateTensor& old : m_old) {
                if (isState(old.role))
                    continue;
                if (from && from->elementType != old.elementType)
                    return;
                from = &old;
            }
        }
        if (from) {
            tensor.elementType = from->elementType;
            return keep(fieldPath(*from, "elementType"), fieldPath(tensor, "elementType"), before);
        }
        if (!isState(tensor.role) || m_plan.model.dtype == ElementType::NotStated)
            return;
        tensor.elementType = m_plan.model.dtype;
        assume(fieldPath(tensor, "elementType"),
            fmt::format("{}: the {} has the model's own element type, {}; nobody stated it.", m_group.id, tensor.id,
                factsOf(m_plan.model.dtype).name));
    }

    Plan& m_plan;
    LayerGroup& m_group;
    const GroupPreset& m_preset;
    std::vector<PresetValue> m_values;
    std::string m_base;
    std::vector<StateTensor> m_old;
    std::map<std::string, Source> m_oldSources;
};

/// The numbers to use. Errors: plan.unknown_field, plan.range.
Result<std::vector<PresetValue>> chosenValues(
    const Plan& plan, const LayerGroup& group, const GroupPreset& preset, const Retyping& retyping)
{
    std::vector<PresetValue> out = presetValues(plan, group.id, preset);
    for (const auto& [id, value] : retyping.numbers) {
        const auto known = std::find_if(preset.numbers.begin(), preset.numbers.end(),
            [&wanted = id](const PresetNumber& one) { return one.id == wanted; });
        if (known == preset.numbers.end())
            return Error {"plan.unknown_field", fmt::format("the preset {} has no such number", preset.title),
                {{}, pathOf(group.id)}, id};
        if (value < known->minimum || value > known->maximum)
            return Error {"plan.range", fmt::format("{} is out of range", known->title), {{}, pathOf(group.id)},
                fmt::format("{}", value), fmt::format("{} to {}", grouped(known->minimum), grouped(known->maximum))};
        PresetValue& chosen = out[static_cast<std::size_t>(known - preset.numbers.begin())];
        if (chosen.value != value)
            chosen = {value, {}};
    }
    return out;
}

/// Error: plan.reads.
Result<void> checkReads(const Plan& plan, const LayerGroup& group, const std::string& reads)
{
    const std::string at = pathOf(group.id) + ".readsGroup";
    const Result<std::size_t> position = groupPosition(plan, reads);
    if (!position || reads == group.id || plan.worksheet.groups[*position].kind == LayerKind::Shared)
        return Error {"plan.reads", "the group that is read must be another one that keeps state", {{}, at},
            reads.empty() ? "not stated" : reads, "the id of such a group"};
    for (const LayerGroup& other : plan.worksheet.groups) {
        if (other.readsGroup == group.id)
            return Error {"plan.reads", "another group reads the state of this one",
                {{}, pathOf(other.id) + ".readsGroup"}, group.id, "a group that keeps state"};
    }
    return {};
}

std::string nameFor(const GroupPreset& preset, const std::vector<PresetValue>& values)
{
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (preset.kind == LayerKind::Sliding && preset.numbers[i].id == "window")
            return fmt::format("Sliding window {}", values[i].value);
        if (preset.kind == LayerKind::Chunked && preset.numbers[i].id == "chunk")
            return fmt::format("Chunks of {}", values[i].value);
    }
    return std::string(preset.title);
}

} // namespace

std::vector<PresetValue> presetValues(const Plan& plan, std::string_view group, const GroupPreset& preset)
{
    const LayerGroup& from = plan.worksheet.groups[groupPosition(plan, group).value()];
    std::vector<PresetValue> out;
    for (const PresetNumber& number : preset.numbers) {
        PresetValue value {number.usual, {}};
        for (const StateTensor& tensor : from.tensors) {
            const std::optional<std::int64_t> said
                = tensor.role == number.role && !number.field.empty() ? valueOf(tensor, number.field) : std::nullopt;
            if (!said || *said < number.minimum || *said > number.maximum)
                continue;
            value = {*said, fmt::format("{}.tensors.{}.{}", pathOf(group), tensor.id, number.field)};
            break;
        }
        out.push_back(std::move(value));
    }
    return out;
}

Result<void> retypeGroup(Plan& plan, std::string_view group, const Retyping& retyping)
{
    const Result<std::size_t> position = groupPosition(plan, group);
    if (!position)
        return position.error();
    const GroupPreset* preset = groupPreset(retyping.preset);
    if (!preset)
        return Error {"plan.unknown_field", "there is no such preset", {{}, pathOf(group) + ".kind"}, retyping.preset};
    LayerGroup& changed = plan.worksheet.groups[*position];
    if (preset->readsOther()) {
        if (Result<void> checked = checkReads(plan, changed, retyping.readsGroup); !checked)
            return checked;
    }
    Result<std::vector<PresetValue>> values = chosenValues(plan, changed, *preset, retyping);
    if (!values)
        return values.error();
    const auto entered = [&](const char* field) {
        const std::string path = fmt::format("{}.{}", pathOf(group), field);
        plan.provenance.set(path, Source {Source::Kind::User, "entered", path});
    };
    const auto namedBy = plan.provenance.find(pathOf(group) + ".name");
    if (!namedBy || namedBy->kind != Source::Kind::User)
        changed.name = nameFor(*preset, *values);
    Retyper(plan, changed, *preset, std::move(*values)).run();
    if (preset->readsOther()) {
        changed.readsGroup = retyping.readsGroup;
        entered("readsGroup");
    } else if (changed.kind != preset->kind) {
        changed.readsGroup.clear();
        plan.provenance.remove(pathOf(group) + ".readsGroup");
    }
    changed.kind = preset->kind;
    entered("kind");
    return {};
}

} // namespace kvw
