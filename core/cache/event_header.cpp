// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/event_file.h"
#include "import/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace kvw {

namespace {

constexpr std::int64_t mostNumber = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t mostGroups = 256; // an event's group is one byte

/// Reads fields one after another and keeps the first error, so that the reader below says only what the fields are.
class Fields
{
public:
    Result<void> result() const { return m_error ? Result<void>(*m_error) : Result<void>(); }
    bool ok() const { return !m_error; }
    void fail(Error error)
    {
        if (!m_error)
            m_error = std::move(error);
    }

    std::int64_t integer(const JsonView& object, const char* key, std::int64_t minimum, std::int64_t maximum)
    {
        const std::optional<JsonView> value = member(object, key);
        return value ? take(value->integer(minimum, maximum)) : 0;
    }

    std::string string(const JsonView& object, const char* key)
    {
        const std::optional<JsonView> value = member(object, key);
        return value ? take(value->string()) : std::string();
    }

    std::vector<std::string> strings(const JsonView& object, const char* key)
    {
        std::vector<std::string> out;
        for (const JsonView& element : array(object, key))
            out.push_back(take(element.string()));
        return out;
    }

    std::vector<JsonView> array(const JsonView& object, const char* key)
    {
        std::vector<JsonView> out;
        const std::optional<JsonView> value = member(object, key);
        if (value && !value->isArray())
            fail(value->error("events.format", "not a list", "a list"));
        for (std::size_t i = 0; value && value->isArray() && i < value->size(); ++i)
            out.push_back(value->at(i));
        return out;
    }

private:
    std::optional<JsonView> member(const JsonView& object, const char* key)
    {
        std::optional<JsonView> value = object.find(key);
        if (!value)
            fail(object.error("events.format", fmt::format("\"{}\" is missing", key)));
        return value;
    }

    template <typename T>
    T take(Result<T> value)
    {
        if (value)
            return std::move(value).value();
        fail(value.error());
        return T {};
    }

    std::optional<Error> m_error;
};

LayerKind kindOf(Fields& fields, const JsonView& view)
{
    const std::string name = fields.string(view, "kind");
    const std::span<const std::string_view> names = layerKindNames();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        fields.fail(view.error("events.format", fmt::format("there is no kind of layers called \"{}\"", name)));
        return LayerKind::Full;
    }
    return static_cast<LayerKind>(found - names.begin());
}

PoolLayout readLayout(Fields& fields, const JsonView& root)
{
    PoolLayout layout;
    layout.rank = fields.integer(root, "rank", 0, mostNumber);
    std::int64_t blocks = 0;
    for (const JsonView& view : fields.array(root, "pools")) {
        PoolSpec pool;
        pool.blockBytes = Bytes(fields.integer(view, "block_bytes", 0, mostNumber));
        pool.blocks = Blocks(fields.integer(view, "blocks", 0, EventLog::mostBlocks - blocks));
        pool.held = Blocks(fields.integer(view, "held", 0, pool.blocks.value));
        blocks += pool.blocks.value;
        layout.pools.push_back(pool);
    }
    for (const JsonView& view : fields.array(root, "groups")) {
        GroupLayout group;
        group.id = fields.string(view, "id");
        group.kind = kindOf(fields, view);
        group.pool = static_cast<std::uint32_t>(
            fields.integer(view, "pool", 0, static_cast<std::int64_t>(layout.pools.size()) - 1));
        group.layers = fields.integer(view, "layers", 0, mostNumber);
        group.blockTokens = fields.integer(view, "block_tokens", 1, mostNumber);
        if (const std::optional<JsonView> window = view.findValue("window"))
            group.window = fields.integer(view, "window", 1, mostNumber);
        group.pageBytes = fields.integer(view, "page_bytes", 0, mostNumber);
        layout.groups.push_back(std::move(group));
    }
    if (layout.groups.size() > mostGroups)
        fields.fail(root.error("events.format", "there are too many groups", fmt::format("at most {}", mostGroups)));
    return layout;
}

} // namespace

std::string headerToJson(const EventLogHeader& header)
{
    using Ordered = nlohmann::ordered_json;
    Ordered out;
    out["version"] = header.version;
    out["source"] = header.source;
    out["plan"] = header.planHash;
    out["workload"] = header.workloadHash;
    out["created"] = header.created;
    out["tenants"] = header.tenants;
    if (!header.requestTenants.empty())
        out["request_tenants"] = header.requestTenants;
    out["rank"] = header.layout.rank;
    out["pools"] = Ordered::array();
    for (const PoolSpec& pool : header.layout.pools) {
        out["pools"].push_back(
            {{"block_bytes", pool.blockBytes.value}, {"blocks", pool.blocks.value}, {"held", pool.held.value}});
    }
    out["groups"] = Ordered::array();
    for (const GroupLayout& group : header.layout.groups) {
        Ordered entry {{"id", group.id}, {"kind", layerKindNames()[static_cast<std::size_t>(group.kind)]},
            {"pool", group.pool}, {"layers", group.layers}, {"block_tokens", group.blockTokens}};
        if (group.window)
            entry["window"] = *group.window;
        entry["page_bytes"] = group.pageBytes;
        out["groups"].push_back(std::move(entry));
    }
    // A name that is not UTF-8 must not cost the log: its bad bytes are replaced.
    return out.dump(-1, ' ', false, Ordered::error_handler_t::replace);
}

Result<EventLogHeader> headerFromJson(std::string_view text, const std::string& file)
{
    const Result<JsonDocument> document = parseJson(text, file);
    if (!document)
        return document.error();
    const JsonView root(*document);
    Fields fields;
    EventLogHeader header;
    const std::int64_t version = fields.integer(root, "version", 1, std::numeric_limits<int>::max());
    if (fields.ok() && version != header.version) {
        return root.error("events.version", fmt::format("the file has version {} of the event format", version),
            fmt::format("version {}", header.version));
    }
    header.source = fields.string(root, "source");
    header.planHash = fields.string(root, "plan");
    header.workloadHash = fields.string(root, "workload");
    header.created = fields.string(root, "created");
    header.tenants = fields.strings(root, "tenants");
    if (root.find("request_tenants"))
        header.requestTenants = fields.strings(root, "request_tenants");
    header.layout = readLayout(fields, root);
    if (!fields.ok())
        return fields.result().error();
    return header;
}

} // namespace kvw
