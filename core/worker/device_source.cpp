// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker/device_source.h"

#include "device/host_device.h"

#include <algorithm>

namespace kvw {

DeviceSource::~DeviceSource() = default;

Result<OfferedDevice> DeviceSource::find(const std::string& id) const
{
    const std::vector<OfferedDevice> all = list();
    const auto found
        = std::find_if(all.begin(), all.end(), [&](const OfferedDevice& device) { return device.info.id == id; });
    if (found == all.end())
        return unknown(id);
    return *found;
}

Error DeviceSource::unknown(const std::string& id) const
{
    std::string known;
    for (const OfferedDevice& device : list())
        known += (known.empty() ? "" : ", ") + device.info.id;
    return Error {"device.unknown", "this program has no such device", {}, "\"" + id + "\"", known};
}

std::vector<OfferedDevice> HostDevices::list() const
{
    OfferedDevice host;
    host.info = HostDevice(HostDeviceOptions {{}, 1, true, 0}).info();
    host.limitBytes = host.info.availableBytes / 4;
    host.limitSource = "a quarter of what is available";
    return {host};
}

Result<std::unique_ptr<Device>> HostDevices::open(const std::string& id) const
{
    if (id != "host")
        return unknown(id);
    return std::unique_ptr<Device>(std::make_unique<HostDevice>());
}

} // namespace kvw
