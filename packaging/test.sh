#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

# Builds everything with debug checks and runs the tests. Arguments go to ctest:
#
#   bash packaging/test.sh                  all tests
#   bash packaging/test.sh -R tst_version   one of them
#
# With CI=true compiler warnings are errors. Missing Debian packages are installed first, as root or by sudo;
# KVW_SKIP_SETUP=1 leaves them alone.

set -euo pipefail
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

werror=OFF
[[ ${CI:-} != true ]] || werror=ON

kvw_install build gui test
kvw_build dev all "-DKVW_WERROR=$werror"
cd "$kvw_root"
ctest --preset dev "$@"
