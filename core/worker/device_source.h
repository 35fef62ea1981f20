// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/device.h"
#include "units/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kvw {

/// A device that runs can be made on, before anything is reserved.
struct OfferedDevice
{
    DeviceInfo info;
    std::int64_t limitBytes = 0; ///< most bytes that its reserve() would take now
    std::string limitSource; ///< why so many: "a quarter of what is available"
};

/// The devices of this program. What a program can run on is decided where it is linked: the core knows only the host.
class DeviceSource
{
public:
    virtual ~DeviceSource();

    /// All of them, with what is available now.
    virtual std::vector<OfferedDevice> list() const = 0;
    /// Errors: device.unknown, and what the device's driver says.
    virtual Result<std::unique_ptr<Device>> open(const std::string& id) const = 0;
    /// One of list(). Errors: device.unknown.
    Result<OfferedDevice> find(const std::string& id) const;

protected:
    Error unknown(const std::string& id) const;
};

/// The host's memory, and nothing else.
class HostDevices final : public DeviceSource
{
public:
    std::vector<OfferedDevice> list() const override;
    Result<std::unique_ptr<Device>> open(const std::string& id) const override;
};

} // namespace kvw
