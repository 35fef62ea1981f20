// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace kvw {

/// The product's version, "major.minor.patch", as the build was configured. Never null, never freed.
const char* version();

} // namespace kvw
