// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker/device_json.h"

#include "worker/object_reader.h"

#include <nlohmann/json.hpp>

namespace kvw::worker {

OrderedJson deviceJson(const OfferedDevice& device)
{
    return {{"id", device.info.id}, {"name", device.info.name}, {"totalBytes", device.info.totalBytes},
        {"availableBytes", device.info.availableBytes}, {"memorySource", device.info.memorySource},
        {"limitBytes", device.limitBytes}, {"limitSource", device.limitSource}};
}

Result<OfferedDevice> deviceFromJson(const JsonView& view)
{
    ObjectReader reader(view);
    OfferedDevice out;
    out.info.id = reader.string("id");
    out.info.name = reader.string("name");
    out.info.totalBytes = reader.integer("totalBytes");
    out.info.availableBytes = reader.integer("availableBytes");
    out.info.memorySource = reader.string("memorySource");
    out.limitBytes = reader.integer("limitBytes");
    out.limitSource = reader.string("limitSource");
    return reader.finish(std::move(out));
}

OrderedJson devicesJson(const std::vector<OfferedDevice>& devices)
{
    OrderedJson list = OrderedJson::array();
    for (const OfferedDevice& device : devices)
        list.push_back(deviceJson(device));
    return {{"devices", list}};
}

Result<std::vector<OfferedDevice>> devicesFromJson(const JsonDocument& document)
{
    ObjectReader reader {JsonView(document)};
    std::vector<OfferedDevice> out;
    for (const JsonView& device : reader.list("devices"))
        out.push_back(reader.take(deviceFromJson(device)));
    return reader.finish(std::move(out));
}

} // namespace kvw::worker
