// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "evidence/reconcile.h"
#include "import/json.h"
#include "plan/plan.h"
#include "worker/probe_job.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kvw::worker {

// What a request's text says, and what of its answers has a form in the core.

struct DevicesRequest
{};

struct ProbeRequest
{
    Plan plan {};
    ProbeOptions options {}; ///< `created` is the worker's affair
    /// Make the steps phase a timed one: samples and events are held back until it ends.
    bool holdBack = false;
};

using RequestBody = std::variant<DevicesRequest, ProbeRequest>;

std::string toJson(const DevicesRequest& request);
std::string toJson(const ProbeRequest& request);
/// Errors: protocol.request (no such kind), protocol.format, protocol.unknown_field, json.…, plan.… with the pointer
/// inside the plan.
Result<RequestBody> requestFromJson(std::string_view text, const std::string& place);

/// Reads what evidenceJson() writes.
Result<std::vector<EvidenceRow>> evidenceFromJson(std::string_view text, const std::string& place);

} // namespace kvw::worker
