// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker/probe_outcome.h"

#include "worker/object_reader.h"

#include <algorithm>

namespace kvw::worker {

namespace {

constexpr std::int64_t never = -1; // a step that did not come

template <typename Enum, std::size_t count>
std::optional<Enum> fromName(std::string_view name, const char* (*nameOf)(Enum))
{
    for (std::size_t i = 0; i < count; ++i) {
        if (name == nameOf(static_cast<Enum>(i)))
            return static_cast<Enum>(i);
    }
    return std::nullopt;
}

std::optional<Outcome> outcomeFromName(std::string_view name)
{
    return fromName<Outcome, outcomeCount>(name, outcomeName);
}

std::optional<MissCause> missCauseFromName(std::string_view name)
{
    return fromName<MissCause, missCauseCount>(name, missCauseName);
}

Result<RequestRecord> requestFrom(const JsonView& view, const std::vector<TenantRecord>& tenants)
{
    ObjectReader reader(view);
    RequestRecord out;
    out.id = static_cast<std::uint32_t>(reader.integer("id", 0, UINT32_MAX));
    const std::string tenant = reader.string("tenant");
    const auto known
        = std::find_if(tenants.begin(), tenants.end(), [&](const TenantRecord& one) { return one.id == tenant; });
    out.tenant = static_cast<std::uint16_t>(known == tenants.end() ? 0 : known - tenants.begin());
    out.outcome = reader.choice<Outcome>("outcome", outcomeFromName);
    out.reason = reader.string("reason");
    out.promptTokens = reader.integer("promptTokens");
    out.outputTokens = reader.integer("outputTokens");
    out.arrivalStep = reader.integer("arrivalStep");
    out.admitStep = reader.integer("admitStep", never);
    out.firstTokenStep = reader.integer("firstTokenStep", never);
    out.endStep = reader.integer("endStep", never);
    out.hitTokens = reader.integer("hitTokens");
    out.neverComputed = reader.integer("neverComputed");
    out.recomputedTokens = reader.integer("recomputedTokens");
    out.preemptions = reader.integer("preemptions");
    out.mostBlocks = reader.integer("mostBlocks");
    out.missCause = reader.choice<MissCause>("missCause", missCauseFromName);
    out.warm = reader.boolean("warm");
    const Result<void> read = reader.finishOpen();
    return read ? Result<RequestRecord>(std::move(out)) : Result<RequestRecord>(read.error());
}

Result<RunRecord> recordFrom(const JsonView& view)
{
    ObjectReader reader(view);
    RunRecord out;
    out.kind = reader.string("kind");
    out.device = reader.string("device");
    out.complete = reader.boolean("complete");
    out.stopReason = reader.string("stopReason");
    out.steps = reader.integer("steps");
    out.preemptions = reader.integer("preemptions");
    out.recomputedTokens = reader.integer("recomputedTokens");
    out.computedTokens = reader.integer("computedTokens");
    out.appendedBytes = reader.integer("appendedBytes");
    out.evictions = reader.integer("evictions");
    out.readBackEntries = reader.integer("readBackEntries");
    for (const JsonView& tenant : reader.list("tenants")) {
        ObjectReader inner(tenant);
        out.tenants.push_back({inner.string("id"), {}, 0, 0, 0, {}});
        reader.include(inner.finishOpen());
    }
    for (const JsonView& request : reader.list("requests"))
        out.requests.push_back(reader.take(requestFrom(request, out.tenants)));
    const Result<void> read = reader.finishOpen();
    return read ? Result<RunRecord>(std::move(out)) : Result<RunRecord>(read.error());
}

Result<DeviceInfo> deviceFrom(const JsonView& view)
{
    ObjectReader reader(view);
    DeviceInfo out;
    out.id = reader.string("id");
    out.name = reader.string("name");
    out.totalBytes = reader.integer("totalBytes");
    out.availableBytes = reader.integer("availableBytes");
    out.memorySource = reader.string("memorySource");
    const Result<void> read = reader.finishOpen();
    return read ? Result<DeviceInfo>(std::move(out)) : Result<DeviceInfo>(read.error());
}

Error stopFrom(const JsonView& view)
{
    ObjectReader reader(view);
    Error out {reader.string("code"), reader.string("message")};
    for (const auto& [key, text] : {std::pair<const char*, std::string*> {"file", &out.where.file},
             {"at", &out.where.at}, {"found", &out.found}, {"expected", &out.expected}}) {
        if (view.findValue(key))
            *text = reader.string(key);
    }
    return out;
}

} // namespace

Result<ProbeOutcome> probeOutcomeFromJson(std::string_view text, const std::string& place)
{
    const Result<JsonDocument> document = parseJson(text, place);
    if (!document)
        return document.error();
    const JsonView root(*document);
    ObjectReader reader(root);
    ProbeOutcome out;
    if (const std::optional<JsonView> live = reader.member("live"))
        out.live = reader.take(recordFrom(*live));
    if (const std::optional<JsonView> device = reader.member("device"))
        out.device = reader.take(deviceFrom(*device));
    out.live.planHash = reader.string("planHash");
    out.live.workloadHash = reader.string("workloadHash");
    out.live.poolFraction = reader.real("poolFraction");
    if (const std::optional<JsonView> stopped = reader.optional("stopped"))
        out.stopped = stopFrom(*stopped);
    out.samplesLeftOut = reader.optional("samplesLeftOut").has_value();
    const Result<void> read = reader.finishOpen();
    return read ? Result<ProbeOutcome>(std::move(out)) : Result<ProbeOutcome>(read.error());
}

} // namespace kvw::worker
