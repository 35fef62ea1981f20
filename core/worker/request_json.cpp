// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker/request_json.h"

#include "plan/plan_json.h"
#include "worker/object_reader.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>

namespace kvw::worker {

namespace {

constexpr double negativeLimit = -1e300;

Result<Plan> planFrom(const JsonView& view, const JsonDocument& document)
{
    // A document of its own that shares the tree: the plan's reader takes its root.
    return planFromJson(
        JsonDocument {std::shared_ptr<const Json>(document.root, &view.json()), document.file + ", /plan", {}});
}

Result<RequestBody> probeFrom(ObjectReader& reader, const JsonDocument& document)
{
    ProbeRequest out;
    if (const std::optional<JsonView> fraction = reader.optional("fraction")) {
        out.options.fraction = reader.take(fraction->real());
        if (*out.options.fraction <= 0 || *out.options.fraction > 1)
            reader.fail(fraction->error("protocol.format", "not a share", "more than 0, at most 1"));
    }
    if (const std::optional<JsonView> bytes = reader.optional("maximumBytes"))
        out.options.maximumBytes = reader.take(bytes->integer(1));
    if (const std::optional<JsonView> device = reader.optional("device"))
        out.options.device = reader.take(device->string());
    if (const std::optional<JsonView> ceilings = reader.optional("ceilings"))
        out.options.ceilings = reader.take(ceilings->boolean());
    if (const std::optional<JsonView> events = reader.optional("events"))
        out.options.eventsFile = reader.take(events->string());
    if (const std::optional<JsonView> record = reader.optional("record"))
        out.options.recordFile = reader.take(record->string());
    if (const std::optional<JsonView> holdBack = reader.optional("holdBack"))
        out.holdBack = reader.take(holdBack->boolean());
    if (const std::optional<JsonView> plan = reader.member("plan"); plan && reader.ok())
        out.plan = reader.take(planFrom(*plan, document));
    return reader.finish(RequestBody(std::move(out)));
}

std::optional<Number> numberFrom(ObjectReader& reader, const char* key)
{
    const std::optional<JsonView> value = reader.optional(key);
    if (!value)
        return std::nullopt;
    if (value->json().is_number_integer())
        return Number(reader.take(value->integer()));
    return Number(reader.take(value->real()));
}

std::optional<Unit> unitFromName(std::string_view name)
{
    for (auto unit = static_cast<int>(Unit::None); unit <= static_cast<int>(Unit::Ratio); ++unit) {
        if (unitName(static_cast<Unit>(unit)) == name)
            return static_cast<Unit>(unit);
    }
    return std::nullopt;
}

std::optional<Verdict> verdictFromName(std::string_view name)
{
    for (const Verdict verdict :
        {Verdict::Agrees, Verdict::Differs, Verdict::NotComparable, Verdict::SameCounter, Verdict::NotTested}) {
        if (verdictName(verdict) == name)
            return verdict;
    }
    return std::nullopt;
}

Result<EvidenceRow> rowFrom(const JsonView& view)
{
    ObjectReader reader(view);
    EvidenceRow out;
    out.id = reader.string("id");
    out.title = reader.string("title");
    out.unit = reader.choice<Unit>("unit", unitFromName);
    out.estimated = numberFrom(reader, "estimated");
    out.predicted = numberFrom(reader, "predicted");
    out.measured = numberFrom(reader, "measured");
    out.instrument = reader.string("instrument");
    if (reader.optional("difference"))
        out.difference = reader.real("difference", negativeLimit);
    if (const std::optional<JsonView> tolerance = reader.member("tolerance")) {
        ObjectReader inner(*tolerance);
        out.below = inner.real("below");
        out.above = inner.real("above");
        out.toleranceReason = inner.string("reason");
        reader.include(inner.finish());
    }
    out.verdict = reader.choice<Verdict>("verdict", verdictFromName);
    out.reason = reader.string("reason");
    return reader.finish(std::move(out));
}

} // namespace

std::string toJson(const DevicesRequest&)
{
    return R"({"kind":"devices"})";
}

std::string toJson(const ProbeRequest& request)
{
    const ProbeOptions& options = request.options;
    OrderedJson json {{"kind", "probe"}};
    if (options.fraction)
        json["fraction"] = *options.fraction;
    json["maximumBytes"] = options.maximumBytes;
    json["device"] = options.device;
    json["ceilings"] = options.ceilings;
    if (!options.eventsFile.empty())
        json["events"] = options.eventsFile;
    if (!options.recordFile.empty())
        json["record"] = options.recordFile;
    json["holdBack"] = request.holdBack;
    // The plan is text already; its line feed is white space.
    std::string text = json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    text.back() = ',';
    return text + "\"plan\":" + planToJson(request.plan) + "}";
}

Result<RequestBody> requestFromJson(std::string_view text, const std::string& place)
{
    const Result<JsonDocument> document = parseJson(text, place);
    if (!document)
        return document.error();
    const JsonView root(*document);
    ObjectReader reader(root);
    const std::string kind = reader.string("kind");
    if (!reader.ok())
        return reader.finishOpen().error();
    if (kind == "devices")
        return reader.finish(RequestBody(DevicesRequest {}));
    if (kind == "probe")
        return probeFrom(reader, *document);
    return root.find("kind")->error("protocol.request", "the worker takes no such request", "devices or probe");
}

Result<std::vector<EvidenceRow>> evidenceFromJson(std::string_view text, const std::string& place)
{
    const Result<JsonDocument> document = parseJson(text, place);
    if (!document)
        return document.error();
    const JsonView root(*document);
    if (!root.isArray())
        return root.error("protocol.format", "not a list", "a list");
    std::vector<EvidenceRow> out;
    for (std::size_t i = 0; i < root.size(); ++i) {
        Result<EvidenceRow> row = rowFrom(root.at(i));
        if (!row)
            return row.error();
        out.push_back(std::move(*row));
    }
    return out;
}

} // namespace kvw::worker
