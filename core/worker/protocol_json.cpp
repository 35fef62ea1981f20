// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker/protocol_json.h"

#include "worker/device_json.h"
#include "worker/object_reader.h"

#include <nlohmann/json.hpp>

namespace kvw::worker {

namespace {

constexpr std::int64_t mostVersion = 1'000'000;

OrderedJson rateJson(const Rate& rate)
{
    return {{"bytes", rate.bytes}, {"seconds", rate.seconds}};
}

OrderedJson ceilingsJson(const MemoryCeilings& ceilings)
{
    return {{"copy", rateJson(ceilings.copy)}, {"read", rateJson(ceilings.read)}, {"write", rateJson(ceilings.write)},
        {"workingSetBytes", ceilings.workingSetBytes}, {"threads", ceilings.threads}, {"repeats", ceilings.repeats}};
}

OrderedJson reservationJson(const PoolReservation& reservation)
{
    OrderedJson pools = OrderedJson::array();
    for (const PoolSpec& pool : reservation.pools)
        pools.push_back(
            {{"blocks", pool.blocks.value}, {"held", pool.held.value}, {"blockBytes", pool.blockBytes.value}});
    return {{"device", deviceJson(reservation.device)}, {"bytes", reservation.bytes}, {"pools", pools},
        {"poolFraction", reservation.poolFraction}, {"plannedBytes", reservation.plannedBytes},
        {"predictedSteps", reservation.predictedSteps}};
}

OrderedJson sampleJson(const StepSample& sample)
{
    return {{"step", sample.step}, {"running", sample.running}, {"waiting", sample.waiting},
        {"scheduledTokens", sample.scheduledTokens}, {"active", sample.active}, {"cached", sample.cached},
        {"free", sample.free}, {"activeBytes", sample.activeBytes}, {"cachedBytes", sample.cachedBytes},
        {"reservedBytes", sample.reservedBytes}};
}

Rate readRate(ObjectReader& outer, const char* key)
{
    const std::optional<JsonView> view = outer.member(key);
    if (!view)
        return {};
    ObjectReader reader(*view);
    const Rate out {reader.real("bytes"), reader.real("seconds")};
    outer.include(reader.finish());
    return out;
}

Result<MemoryCeilings> readCeilings(const JsonView& view)
{
    ObjectReader reader(view);
    MemoryCeilings out;
    out.copy = readRate(reader, "copy");
    out.read = readRate(reader, "read");
    out.write = readRate(reader, "write");
    out.workingSetBytes = reader.integer("workingSetBytes");
    out.threads = static_cast<int>(reader.integer("threads", 0, 1'000'000));
    out.repeats = static_cast<int>(reader.integer("repeats", 0, 1'000'000));
    return reader.finish(std::move(out));
}

Result<MemoryReading> readMemory(const JsonView& view)
{
    ObjectReader reader(view);
    MemoryReading out;
    out.instrument = reader.string("instrument");
    out.poolBytes = reader.integer("poolBytes");
    out.pageBytes = reader.integer("pageBytes");
    return reader.finish(std::move(out));
}

Result<PoolSpec> readPool(const JsonView& view)
{
    ObjectReader reader(view);
    PoolSpec out;
    out.blocks = Blocks(reader.integer("blocks"));
    out.held = Blocks(reader.integer("held"));
    out.blockBytes = Bytes(reader.integer("blockBytes"));
    return reader.finish(std::move(out));
}

Result<PoolReservation> readReservation(const JsonView& view)
{
    ObjectReader reader(view);
    PoolReservation out;
    if (const std::optional<JsonView> device = reader.member("device"))
        out.device = reader.take(deviceFromJson(*device));
    out.bytes = reader.integer("bytes");
    for (const JsonView& pool : reader.list("pools"))
        out.pools.push_back(reader.take(readPool(pool)));
    out.poolFraction = reader.real("poolFraction");
    out.plannedBytes = reader.integer("plannedBytes");
    out.predictedSteps = reader.integer("predictedSteps");
    return reader.finish(std::move(out));
}

Result<StepSample> readSample(const JsonView& view)
{
    ObjectReader reader(view);
    StepSample out;
    out.step = reader.integer("step");
    out.running = reader.integer("running");
    out.waiting = reader.integer("waiting");
    out.scheduledTokens = reader.integer("scheduledTokens");
    out.active = reader.integer("active");
    out.cached = reader.integer("cached");
    out.free = reader.integer("free");
    out.activeBytes = reader.integer("activeBytes");
    out.cachedBytes = reader.integer("cachedBytes");
    out.reservedBytes = reader.integer("reservedBytes");
    return reader.finish(std::move(out));
}

Result<void> readError(const JsonView& view, Error& out)
{
    ObjectReader reader(view);
    const auto text = [&](const char* key) {
        const std::optional<JsonView> value = reader.optional(key);
        return value ? reader.take(value->string()) : std::string();
    };
    out.code = reader.string("code");
    out.message = reader.string("message");
    out.where = {text("file"), text("at")};
    out.found = text("found");
    out.expected = text("expected");
    return reader.finish();
}

std::string textOf(const OrderedJson& json)
{
    return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

/// Parses the text and reads its root with `read`.
template <typename T, typename Read>
Result<T> fromText(std::string_view text, const std::string& place, Read read)
{
    const Result<JsonDocument> document = parseJson(text, place);
    if (!document)
        return document.error();
    ObjectReader reader {JsonView(*document)};
    return read(reader);
}

} // namespace

std::string toJson(const Hello& message)
{
    return textOf({{"protocol", {{"least", message.protocol.least}, {"most", message.protocol.most}}},
        {"product", message.product}, {"version", message.version}, {"pid", message.process},
        {"heartbeatSeconds", message.heartbeatSeconds}, {"watchdogSeconds", message.watchdogSeconds}});
}

std::string toJson(const Accepted& message)
{
    return textOf({{"kind", message.kind}, {"phases", message.phases}});
}

std::string toJson(const Phase& message)
{
    OrderedJson json {{"phase", phaseName(message.phase)}, {"state", message.begins ? "begin" : "end"}};
    if (message.begins) {
        json["timed"] = message.timed;
        if (message.reservation)
            json["reservation"] = reservationJson(*message.reservation);
        return textOf(json);
    }
    json["seconds"] = message.seconds;
    json["events"] = message.events;
    json["digests"] = message.digests;
    json["overflow"] = {{"events", message.overflow.events}, {"samples", message.overflow.samples}};
    if (message.ceilings)
        json["ceilings"] = ceilingsJson(*message.ceilings);
    if (message.memory)
        json["memory"] = {{"instrument", message.memory->instrument}, {"poolBytes", message.memory->poolBytes},
            {"pageBytes", message.memory->pageBytes}};
    return textOf(json);
}

std::string toJson(const Samples& message)
{
    OrderedJson samples = OrderedJson::array();
    for (const StepSample& sample : message.samples)
        samples.push_back(sampleJson(sample));
    return textOf({{"samples", samples}});
}

std::string toJson(const Failed& message)
{
    return textOf(errorJson(message.error));
}

std::string toJson(const Bye& message)
{
    return textOf({{"reason", message.reason}, {"exitCode", message.exitCode}});
}

Result<Hello> helloFromJson(std::string_view text, const std::string& place)
{
    return fromText<Hello>(text, place, [](ObjectReader& reader) -> Result<Hello> {
        Hello out;
        if (const std::optional<JsonView> versions = reader.member("protocol")) {
            ObjectReader inner(*versions);
            out.protocol.least = static_cast<int>(inner.integer("least", 1, mostVersion));
            out.protocol.most = static_cast<int>(inner.integer("most", out.protocol.least, mostVersion));
            reader.include(inner.finishOpen());
        }
        out.product = reader.string("product");
        out.version = reader.string("version");
        out.process = reader.integer("pid");
        out.heartbeatSeconds = reader.real("heartbeatSeconds");
        out.watchdogSeconds = reader.real("watchdogSeconds");
        if (const Result<void> read = reader.finishOpen(); !read)
            return read.error();
        return out;
    });
}

Result<Accepted> acceptedFromJson(std::string_view text, const std::string& place)
{
    return fromText<Accepted>(text, place, [](ObjectReader& reader) {
        Accepted out;
        out.kind = reader.string("kind");
        out.phases = reader.strings("phases");
        return reader.finish(std::move(out));
    });
}

Result<Phase> phaseFromJson(std::string_view text, const std::string& place)
{
    return fromText<Phase>(text, place, [](ObjectReader& reader) {
        Phase out;
        out.phase = reader.choice<ProbePhase>("phase", phaseFromName);
        out.begins = reader.choice<bool>("state", [](std::string_view name) -> std::optional<bool> {
            return name == "begin" ? std::optional(true) : name == "end" ? std::optional(false) : std::nullopt;
        });
        if (out.begins) {
            out.timed = reader.boolean("timed");
            if (const std::optional<JsonView> reservation = reader.optional("reservation"))
                out.reservation = reader.take(readReservation(*reservation));
            return reader.finish(std::move(out));
        }
        out.seconds = reader.real("seconds");
        out.events = reader.integer("events");
        out.digests = reader.integer("digests");
        if (const std::optional<JsonView> overflow = reader.member("overflow")) {
            ObjectReader inner(*overflow);
            out.overflow = {inner.integer("events"), inner.integer("samples")};
            reader.include(inner.finish());
        }
        if (const std::optional<JsonView> ceilings = reader.optional("ceilings"))
            out.ceilings = reader.take(readCeilings(*ceilings));
        if (const std::optional<JsonView> memory = reader.optional("memory"))
            out.memory = reader.take(readMemory(*memory));
        return reader.finish(std::move(out));
    });
}

Result<Samples> samplesFromJson(std::string_view text, const std::string& place)
{
    return fromText<Samples>(text, place, [](ObjectReader& reader) {
        Samples out;
        for (const JsonView& sample : reader.list("samples"))
            out.samples.push_back(reader.take(readSample(sample)));
        return reader.finish(std::move(out));
    });
}

Result<Failed> failedFromJson(std::string_view text, const std::string& place)
{
    return fromText<Failed>(text, place, [](ObjectReader& reader) {
        Failed out;
        if (const std::optional<JsonView> error = reader.member("error"))
            reader.include(readError(*error, out.error));
        return reader.finish(std::move(out));
    });
}

Result<Bye> byeFromJson(std::string_view text, const std::string& place)
{
    return fromText<Bye>(text, place, [](ObjectReader& reader) {
        Bye out;
        out.reason = reader.string("reason");
        out.exitCode = static_cast<int>(reader.integer("exitCode", 0, 255));
        return reader.finish(std::move(out));
    });
}

} // namespace kvw::worker
