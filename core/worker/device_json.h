// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/json.h"
#include "report/json_output.h"
#include "worker/device_source.h"

#include <vector>

namespace kvw::worker {

OrderedJson deviceJson(const OfferedDevice& device);
Result<OfferedDevice> deviceFromJson(const JsonView& view);

/// The result of the request "devices": {"devices": […]}.
OrderedJson devicesJson(const std::vector<OfferedDevice>& devices);
Result<std::vector<OfferedDevice>> devicesFromJson(const JsonDocument& document);

} // namespace kvw::worker
