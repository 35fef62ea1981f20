// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/device.h"
#include "serving/run_record.h"
#include "units/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace kvw::worker {

/// What a client needs of a probe's result beside the evidence rows, which come as a message of their own.
struct ProbeOutcome
{
    RunRecord live {}; ///< counters, tenants' names and requests; samples came as they were made, peaks are not told
    DeviceInfo device {};
    std::optional<Error> stopped {}; ///< why the run ended early
    bool samplesLeftOut = false;
};

/// Reads the result of a probe (probeResultJson()). Members that it does not need are passed over. Errors: json.…,
/// protocol.format.
Result<ProbeOutcome> probeOutcomeFromJson(std::string_view text, const std::string& place);

} // namespace kvw::worker
