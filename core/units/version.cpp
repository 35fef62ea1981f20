// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/version.h"

namespace kvw {

const char* version()
{
    return KVW_VERSION;
}

} // namespace kvw
