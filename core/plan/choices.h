// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace kvw {

// Names of the plan's choices by value. The first of each is "", not stated.
std::span<const std::string_view> modelBasisNames(); ///< "", "config_file", "library", "hypothetical"
std::span<const std::string_view> switchNames(); ///< "", "off", "on"
std::span<const std::string_view> modelRunnerNames(); ///< "", "v1", "v2"
std::span<const std::string_view> stateModeNames(); ///< "", "none", "align", "all"
std::span<const std::string_view> allocationNames(); ///< "", "paged_pool", "static_contiguous", "growing_contiguous"
std::span<const std::string_view> retainedFromNames(); ///< "", "entered", "prediction", "live_run", "engine_metrics"
std::span<const std::string_view> identitySourceNames();
std::span<const std::string_view> saltSourceNames();
std::span<const std::string_view> eligibilityNames(); ///< "", "tenant", "group"
std::span<const std::string_view> retentionNames(); ///< "", "engine_lru", "time_to_live"
std::span<const std::string_view> loggingBoundaryNames();

/// The choices of one list as people read them, by value; empty where the names are read as they are (element types).
/// Files and the command line keep to the names, everything that people read to these.
std::span<const std::string_view> choiceTitles(std::span<const std::string_view> names);
/// One of them: "mutual TLS subject" for "mutual_tls"; "not stated" for "". REQUIRES value < names.size().
std::string_view choiceTitle(std::span<const std::string_view> names, std::size_t value);

} // namespace kvw
