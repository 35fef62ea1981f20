#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

# Looks for doubtful code with clang-tidy (.clang-tidy says for what), by the compile commands of build/dev, which must
# have been built.
#
#   bash packaging/tidy.sh [FILE …]     at first the sources, and those of the headers, that differ from the commit
#                                       KVW_TIDY_BASE: ten commits back, or the first; newest changes first
#
# After KVW_TIDY_SECONDS (300 at first) no further file is begun; those left out are named, and are no failure.

set -euo pipefail
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$kvw_root"

kvw_install build gui test tidy
commands=build/dev/compile_commands.json
if [[ ! -f $commands ]]; then
  kvw_say_error "there is no $commands; build the preset dev first (packaging/test.sh does)."
  exit 1
fi

changed_files() {
  local base=${KVW_TIDY_BASE:-HEAD~10}
  git rev-parse -q --verify HEAD >/dev/null || return 0
  if ! git rev-parse -q --verify "$base^{commit}" >/dev/null; then
    base=$(git rev-list --max-parents=0 HEAD | tail -n 1)
  fi
  git diff --name-only HEAD
  git log --format= --name-only --first-parent -m "$base..HEAD"
}

# Of the paths on standard input, each source once that the build compiles; a header stands for the source beside it.
compiled_sources() {
  python3 -B -c '
import json, os, sys
compiled = {os.path.relpath(entry["file"]) for entry in json.load(open(sys.argv[1]))}
wanted = dict.fromkeys(os.path.splitext(line.strip())[0] + ".cpp" for line in sys.stdin if line.strip().endswith((".cpp", ".h")))
print("\n".join(path for path in wanted if path in compiled))' "$commands"
}

# shellcheck disable=SC2317 # called below, by another shell
check_one() {
  if (($(date +%s) >= deadline)); then
    printf '%s\n' "$1" >>"$left_out"
    return 0
  fi
  # Options of the compiler that Clang does not know are none of its business, nor are headers that the build makes.
  clang-tidy -p build/dev --quiet "--header-filter=^$kvw_root/(app|core|tests|widgets)/" \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-error "$1" 2>/dev/null
}

if (($#)); then
  mapfile -t files < <(realpath --relative-to=. "$@" | compiled_sources)
else
  mapfile -t files < <(changed_files | compiled_sources)
fi
if ((!${#files[@]})) || [[ -z ${files[0]} ]]; then
  printf 'No source to check.\n'
  exit 0
fi
left_out=$(mktemp)
trap 'rm -f "$left_out"' EXIT
started=$SECONDS
deadline=$(($(date +%s) + ${KVW_TIDY_SECONDS:-300}))
export -f check_one
export left_out deadline kvw_root
status=0
# shellcheck disable=SC2016 # the inner shell expands it
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "${KVW_JOBS:-$(nproc)}" bash -c 'check_one "$1" || exit 1' check_one || status=1
printf '%d of %d sources checked in %d s\n' \
  $((${#files[@]} - $(wc -l <"$left_out"))) "${#files[@]}" $((SECONDS - started))
if [[ -s $left_out ]]; then
  printf 'Left out, for time: %s\n' "$(sort "$left_out" | tr '\n' ' ')"
fi
exit "$status"
