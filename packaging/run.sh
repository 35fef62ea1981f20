#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

# Builds the workbench and does the main job with one plan or model file.
#
#   bash packaging/run.sh [--headless] [FILE]
#
# FILE is a plan (.kvplan) or a model file that `kvw import` reads; default: resources/examples/reference.kvplan.
# With a display it opens FILE in the window. With --headless, or without a display, the job runs on the command line:
# results go to $KVW_OUT (default: kvw-out in the current folder): plan with evidence, report as PDF and Markdown, run
# record, event logs.
# Missing Debian packages are installed first, as root or by sudo; KVW_SKIP_SETUP=1 leaves them alone.

set -euo pipefail
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
  sed -n '5,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}

heading() {
  printf '\n== %s\n' "$1"
}

# step TITLE PROGRAM ARGUMENT...: runs the program; on failure ends this script with the same exit status.
step() {
  local title=$1 program=$2 status=0
  shift 2
  heading "$title"
  printf '$ %s%s\n' "${program##*/}" "$(printf ' %q' "$@")"
  "$program" "$@" || status=$?
  if ((status)); then
    kvw_say_error "'${program##*/} $1' failed with exit status $status; what it reported is above. Files so far: $out"
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

kvw_install build gui
heading 'Build the workbench'
kvw_build release all
kvw=$kvw_root/build/release/bin/kvw
workbench=$kvw_root/build/release/bin/kvworkbench
if [[ $headless == no && -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
  exec "$workbench" "$file"
fi

mkdir -p "$out"
plan=$out/$name.kvplan
step "Import $file" "$kvw" import "$file" --out "$plan"
step 'Estimate: what the plan needs, in closed form' "$kvw" estimate "$plan"
step 'Predict: the serving loop on a modelled device' "$kvw" predict "$plan" --events "$out/$name.predict.kvwevents"
step 'Probe: the same loop on real memory, and the evidence' "$kvw" probe "$plan" \
  --events "$out/$name.probe.kvwevents" --record "$out/$name.run.jsonl" --update-plan
step 'Report' "$kvw" report "$plan" --out "$out/$name.report.md"
step 'The same for reviewers' "$workbench" --export "$out/$name.report.pdf" "$plan"

heading 'Results'
printf '%-18s %s\n' \
  'plan' "$plan" \
  'report for review' "$out/$name.report.pdf" \
  'as text' "$out/$name.report.md" \
  'run record' "$out/$name.run.jsonl" \
  'predicted events' "$out/$name.predict.kvwevents" \
  'probe events' "$out/$name.probe.kvwevents"
