// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.h"

#include "cache/event_log.h"
#include "estimate/estimate.h"
#include "plan/field_table.h"
#include "plan/identity.h"
#include "plan/plan_json.h"
#include "plan/schema.h"
#include "report/sections.h"
#include "units/format.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace kvw::cli {

namespace {

Table groupTable(const Plan& plan)
{
    Table table;
    table.columns = {{"Group"}, {"Kind"}, {"Layers", true}, {"Which"}, {"Tensor"}, {"Heads", true}, {"Width", true},
        {"Growth, limit"}, {"From"}};
    for (const LayerGroup& group : plan.worksheet.groups) {
        bool first = true;
        if (group.tensors.empty())
            table.rows.push_back(
                {group.id, std::string(layerKindNames()[static_cast<std::size_t>(group.kind)]), grouped(group.layers),
                    group.layerIndices, "", "", "", group.readsGroup.empty() ? "" : "reads " + group.readsGroup, ""});
        for (const StateTensor& tensor : group.tensors) {
            const auto source
                = plan.provenance.find("worksheet.groups." + group.id + ".tensors." + tensor.id + ".width");
            table.rows.push_back({first ? group.id : "",
                first ? std::string(layerKindNames()[static_cast<std::size_t>(group.kind)]) : "",
                first ? grouped(group.layers) : "", first ? group.layerIndices : "", tensor.id, grouped(tensor.heads),
                grouped(tensor.width), growthText(tensor.growth), source ? sourceText(*source) : "entered"});
            first = false;
        }
    }
    return table;
}

Table weightTable(const std::vector<WeightPart>& weights)
{
    Table table;
    table.columns = {{"Weights"}, {"Stored as"}, {"Tensors", true}, {"Elements", true}, {"Bytes", true}};
    WeightPart all;
    for (const WeightPart& part : weights) {
        table.rows.push_back({std::string(weightComponentNames()[static_cast<std::size_t>(part.component)]), part.type,
            grouped(part.tensors), grouped(part.elements), grouped(part.bytes)});
        all.tensors += part.tensors;
        all.elements += part.elements;
        all.bytes += part.bytes;
    }
    table.rows.push_back({"all", "", grouped(all.tensors), grouped(all.elements), grouped(all.bytes)});
    return table;
}

OrderedJson weightsJson(const std::vector<WeightPart>& weights)
{
    OrderedJson out = OrderedJson::array();
    for (const WeightPart& part : weights)
        out.push_back({{"component", weightComponentNames()[static_cast<std::size_t>(part.component)]},
            {"type", part.type}, {"tensors", part.tensors}, {"elements", part.elements}, {"bytes", part.bytes}});
    return out;
}

/// `shown`: nodes whose operands are above already; a node that many use is opened once.
void printTree(const Derivation& node, int depth, std::set<const void*>& shown)
{
    const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
    const std::string name = node->name.empty() ? std::string(operationName(node->operation)) : node->name;
    std::string value = node->error.empty() ? formatNumber(node->value) : "no value: " + node->error;
    if (node->unit != Unit::None)
        value += " " + std::string(unitName(node->unit));
    if (node->operation == Operation::Input) {
        const std::string source = node->source ? sourceText(*node->source) : "";
        fmt::print("{}{} = {}{}\n", indent, name, value, source.empty() ? "" : "   [" + source + "]");
        return;
    }
    fmt::print("{}{} = {}   {}{}\n", indent, name, value, formulaInWords(node),
        node->source ? "   [" + sourceText(*node->source) + "]" : "");
    if (!shown.insert(&*node).second)
        return;
    for (const Derivation& operand : node->operands) {
        if (!operand->name.empty() || operand->operation != Operation::Input)
            printTree(operand, depth + 1, shown);
    }
}

void printExplanation(const std::string& path, const Quantity& quantity, const Estimate& estimate)
{
    Section section {"explain", path + ": " + quantity.name(), {}, {}};
    section.blocks.emplace_back(formulaOf(quantity, "ƒ", quantity.name()));
    if (!estimate.label.empty())
        section.blocks.emplace_back(Paragraph {"This is " + estimate.label + ".", true});
    if (restsOnAssumption(quantity.derivation()))
        section.blocks.emplace_back(Paragraph {"It rests on an assumption: see the inputs marked so.", true});
    print(section);
    fmt::print("Derivation\n");
    std::set<const void*> shown;
    printTree(quantity.derivation(), 1, shown);
}

} // namespace

int runImport(const Options& options)
{
    const Result<Loaded> loaded = load(options);
    if (!loaded)
        return fail(options, loaded.error(), refusedInput);
    if (!options.out.empty()) {
        if (const Result<void> saved = savePlan(loaded->plan, options.out); !saved)
            return fail(options, saved.error(), writeFailed);
    }
    if (options.json) {
        OrderedJson json = importJson(loaded->plan);
        json["weightBytes"]
            = loaded->plan.loaded.weightBytes ? OrderedJson(*loaded->plan.loaded.weightBytes) : OrderedJson(nullptr);
        json["weights"] = weightsJson(loaded->weights);
        print(json);
        return ok;
    }
    Section section {"import", loaded->plan.model.name.empty() ? options.file : loaded->plan.model.name, {}, {}};
    section.blocks.emplace_back(groupTable(loaded->plan));
    if (!loaded->weights.empty())
        section.blocks.emplace_back(weightTable(loaded->weights));
    print(section);
    print(assumptionsSection(loaded->plan.assumptions, {}));
    print(problemsSection(diagnose(loaded->plan)));
    if (!options.out.empty())
        fmt::print("Plan written to {}\n", options.out);
    return ok;
}

int runEstimate(const Options& options)
{
    const Result<Loaded> loaded = load(options);
    if (!loaded)
        return fail(options, loaded.error(), refusedInput);
    const Result<Estimate> result = estimate(loaded->plan);
    if (!result)
        return fail(options, result.error(), refusedInput);
    if (options.json) {
        print(estimateJson(loaded->plan, *result));
        return ok;
    }
    print(worksheetSection(loaded->plan, *result));
    print(needSection(*result));
    print(engineSection(loaded->plan, *result));
    print(strategiesSection(*result));
    print(assumptionsSection(result->assumptions, result->formulaAssumptions));
    print(problemsSection(result->diagnostics));
    return ok;
}

int runExplain(const Options& options)
{
    const Result<Loaded> loaded = load(options);
    if (!loaded)
        return fail(options, loaded.error(), refusedInput);
    const Result<Estimate> result = estimate(loaded->plan);
    if (!result)
        return fail(options, result.error(), refusedInput);
    const std::vector<std::pair<std::string, Quantity>> figures = figuresOf(*result);
    if (options.figure.empty()) {
        OrderedJson all = OrderedJson::object();
        for (const auto& [path, quantity] : figures) {
            if (options.json)
                all[path] = derivationJson(quantity.derivation());
            else
                fmt::print("{:<48} {}\n", path, formatQuantity(quantity));
        }
        if (options.json)
            print(all);
        else if (!result->label.empty())
            fmt::print("\nThis is {}.\n", result->label);
        return ok;
    }
    const auto found = std::find_if(
        figures.begin(), figures.end(), [&](const auto& figure) { return figure.first == options.figure; });
    if (found == figures.end()) {
        return fail(options,
            Error {"explain.unknown_figure", "the estimate has no such figure; kvw explain FILE lists them",
                {{}, options.figure}},
            refusedInput);
    }
    if (options.json)
        print(derivationJson(found->second.derivation()));
    else
        printExplanation(found->first, found->second, *result);
    return ok;
}

int runFields(const Options& options)
{
    const std::vector<std::pair<std::string, const Field*>> fields = fieldPaths();
    if (options.json) {
        OrderedJson out = OrderedJson::array();
        for (const auto& [path, field] : fields) {
            OrderedJson one {{"path", path}, {"type", fieldTypeName(field->type)}, {"unit", unitName(field->unit)},
                {"title", field->title}, {"help", field->help}};
            if (field->type == FieldType::Choice)
                one["choices"] = field->choices;
            if (field->type == FieldType::Integer || field->type == FieldType::Count
                || field->type == FieldType::Real) {
                one["minimum"] = field->minimum;
                one["maximum"] = field->maximum;
            }
            out.push_back(std::move(one));
        }
        print(out);
        return ok;
    }
    Section section {"fields", "Fields of a plan", {}, {}};
    Table table;
    table.columns = {{"Path"}, {"Holds"}, {"Meaning"}};
    for (const auto& [path, field] : fields)
        table.rows.push_back({path, fieldRange(*field), std::string(field->help)});
    section.blocks.emplace_back(std::move(table));
    print(section);
    return ok;
}

int runSchema()
{
    fmt::print("{}", planSchemaJson());
    return ok;
}

int runEvents(const Options& options)
{
    const Result<std::unique_ptr<EventLog>> log = EventLog::open(options.file);
    if (!log)
        return fail(options, log.error(), refusedInput);
    const EventLog& events = **log;
    const Result<BlockMap> map = options.at
        ? events.stateAfter(static_cast<std::uint32_t>(std::clamp<std::int64_t>(*options.at, 0, UINT32_MAX)))
        : events.finalState();
    if (!map)
        return fail(options, map.error(), refusedInput);
    const std::vector<BlockCount> counts = countBlocks(events.header(), *map);
    const std::uint32_t lastStep = events.events().empty() ? 0 : events.events().back().step;
    if (options.json) {
        OrderedJson out {{"source", events.header().source}, {"planHash", events.header().planHash},
            {"workloadHash", events.header().workloadHash}, {"complete", events.complete()},
            {"events", events.events().size()}, {"lastStep", lastStep}, {"step", map->step()}};
        out["counts"] = OrderedJson::array();
        std::map<std::string, std::int64_t> states;
        for (const BlockCount& count : counts) {
            out["counts"].push_back({{"pool", count.pool}, {"state", count.state},
                {"tenant", count.tenant.empty() ? OrderedJson(nullptr) : OrderedJson(count.tenant)},
                {"group", count.group.empty() ? OrderedJson(nullptr) : OrderedJson(count.group)},
                {"blocks", count.blocks}, {"tokens", count.tokens}});
            states[count.state] += count.blocks;
        }
        out["states"] = states;
        print(out);
        return ok;
    }
    Section section {"events",
        fmt::format("{}: {} events, step {} of {}{}", events.header().source,
            grouped(static_cast<std::int64_t>(events.events().size())), map->step(), lastStep,
            events.complete() ? "" : " (the run did not finish)"),
        {}, {}};
    Table table;
    table.columns = {{"Pool"}, {"State"}, {"Tenant"}, {"Group"}, {"Blocks", true}, {"Tokens", true}};
    for (const BlockCount& count : counts)
        table.rows.push_back(
            {count.pool, count.state, count.tenant, count.group, grouped(count.blocks), grouped(count.tokens)});
    section.blocks.emplace_back(std::move(table));
    print(section);
    return ok;
}

} // namespace kvw::cli
