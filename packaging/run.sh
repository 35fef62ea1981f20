#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

# Builds kvw and does the main job with one plan or model file.
#
#   bash packaging/run.sh [--headless] [FILE]
#
# FILE is a plan (.kvplan) or a model file that `kvw import` reads; default: resources/examples/reference.kvplan.
# Results go to $KVW_OUT (default: kvw-out in the current folder): plan with evidence, report, run record, event logs.
# Missing Debian packages are installed first, as root or by sudo; KVW_SKIP_SETUP=1 leaves them alone.

set -euo pipefail
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
  sed -n '5,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}

heading() {
  printf '\n== %s\n' "$1"
}

# step TITLE ARGUMENT...: runs kvw with the arguments; on failure ends this script with the same exit status.
step() {
  local title=$1 status=0
  shift
  heading "$title"
  printf '$ kvw%s\n' "$(printf ' %q' "$@")"
  "$kvw" "$@" || status=$?
  if ((status)); then
    kvw_say_error "'kvw $1' failed with exit status $status; what it reported is above. Files so far: $out"
    exit "$status"
  fi
}

headless=no file=''
while (($#)); do
  case $1 in
    --headless) headless=yes ;;
    -h | --help) usage; exit 0 ;;
    -*) kvw_say_error "unknown option '$1'"; usage >&2; exit 2 ;;
    *)
      if [[ -n $file ]]; then
        kvw_say_error "one FILE at a time: got '$file' and '$1'"
        exit 2
      fi
      file=$1
      ;;
  esac
  shift
done
file=${file:-$kvw_root/resources/examples/reference.kvplan}
if [[ ! -e $file ]]; then
  kvw_say_error "there is no '$file'"
  exit 2
fi
out=${KVW_OUT:-$PWD/kvw-out}
name=$(basename "$file")
name=${name%.*}

kvw_install build
heading 'Build kvw'
kvw_build release kvw
kvw=$kvw_root/build/release/bin/kvw
if [[ $headless == no ]]; then
  printf 'The workbench window is not in the tree yet; the job runs on the command line.\n'
fi

mkdir -p "$out"
plan=$out/$name.kvplan
step "Import $file" import "$file" --out "$plan"
step 'Estimate: what the plan needs, in closed form' estimate "$plan"
step 'Predict: the serving loop on a modelled device' predict "$plan" --events "$out/$name.predict.kvwevents"
step 'Probe: the same loop on real memory, and the evidence' probe "$plan" \
  --events "$out/$name.probe.kvwevents" --record "$out/$name.run.jsonl" --update-plan
step 'Report' report "$plan" --out "$out/$name.report.md"

heading 'Results'
printf '%-18s %s\n' \
  'plan' "$plan" \
  'report' "$out/$name.report.md" \
  'run record' "$out/$name.run.jsonl" \
  'predicted events' "$out/$name.predict.kvwevents" \
  'probe events' "$out/$name.probe.kvwevents"
