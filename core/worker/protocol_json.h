// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "worker/protocol.h"

#include <string>
#include <string_view>

namespace kvw::worker {

// The JSON parts of messages. The readers leave out what the frame's payload tells before its JSON, such as ids.

std::string toJson(const Hello& message);
std::string toJson(const Accepted& message);
std::string toJson(const Phase& message);
std::string toJson(const Samples& message);
std::string toJson(const Failed& message);
std::string toJson(const Bye& message);

/// `place` names the message in errors.
Result<Hello> helloFromJson(std::string_view text, const std::string& place);
Result<Accepted> acceptedFromJson(std::string_view text, const std::string& place);
Result<Phase> phaseFromJson(std::string_view text, const std::string& place);
Result<Samples> samplesFromJson(std::string_view text, const std::string& place);
Result<Failed> failedFromJson(std::string_view text, const std::string& place);
Result<Bye> byeFromJson(std::string_view text, const std::string& place);

} // namespace kvw::worker
