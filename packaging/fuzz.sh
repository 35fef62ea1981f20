#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

# Gives the readers random input: builds the fuzz programs with Clang and runs each for a while under libFuzzer, as many
# at a time as there are processors. What they find new is kept in build/fuzz/corpus, and an input that a reader did not
# hold against in build/fuzz/findings; bash packaging/fuzz.sh NAME=FILE tries one again.
#
#   bash packaging/fuzz.sh [--seconds N] [-DNAME=VALUE …] [NAME …]     N is 60 at first; NAME is a file of tests/fuzz
#                                                                      without .cpp; at first all of them

set -euo pipefail
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

seconds=60
settings=()
names=()
while (($#)); do
  case $1 in
    --seconds)
      seconds=${2:-}
      shift
      ;;
    -D*) settings+=("$1") ;;
    *) names+=("$1") ;;
  esac
  shift
done
if [[ ! $seconds =~ ^[1-9][0-9]*$ ]]; then
  kvw_say_error '--seconds takes a whole number from 1 on.'
  exit 2
fi

kvw_install build fuzz
kvw_build fuzz fuzzers "${settings[@]}"
folder=$kvw_root/build/fuzz

if ((!${#names[@]})); then
  for name in "$folder"/bin/fuzz_*; do
    names+=("${name##*/fuzz_}")
  done
fi

# One program: a line on success, the end of what it says otherwise. Memory and time of a single input are capped.
fuzz_one() {
  local name=${1%%=*} input='' program log status=0
  program=$folder/bin/fuzz_$name
  log=$folder/$name.log
  if [[ $1 == *=* ]]; then
    input=${1#*=}
  fi
  if [[ ! -x $program ]]; then
    kvw_say_error "there is no fuzz program '$name'."
    return 1
  fi
  local arguments=(-rss_limit_mb=2048 -timeout=10 -print_final_stats=1 "-artifact_prefix=$folder/findings/$name-")
  if [[ -n $input ]]; then
    arguments+=("$input")
  else
    rm -rf "$folder/seeds/$name"
    mkdir -p "$folder/corpus/$name" "$folder/findings"
    "$program" "--seeds=$folder/seeds/$name" || return
    arguments+=("-max_total_time=$seconds" "$folder/corpus/$name" "$folder/seeds/$name")
  fi
  UBSAN_OPTIONS=print_stacktrace=1 "$program" "${arguments[@]}" >"$log" 2>&1 || status=$?
  if ((status)); then
    tail -n 60 "$log"
    printf '%s: FAILED, see %s\n' "$name" "$log"
    return "$status"
  fi
  printf '%s: %s inputs, %s MiB at most\n' "$name" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" "$(sed -n 's/^stat::peak_rss_mb: *//p' "$log")"
}
export -f fuzz_one kvw_say_error
export folder seconds

# shellcheck disable=SC2016 # the inner shell expands it
printf '%s\0' "${names[@]}" | xargs -0 -n 1 -P "${KVW_JOBS:-$(nproc)}" bash -c 'fuzz_one "$1" || exit 1' fuzz_one
