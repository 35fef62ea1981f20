#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

# Runs a program on a display of its own, Xvfb with the window manager openbox, and ends with its exit status.
#   tests/scripts/with_display.sh PROGRAM [ARGUMENT...]
# Fails (exit 1) when the display or the window manager does not come up: what needs them must not pass without.
set -euo pipefail
(($#)) || { echo "usage: with_display.sh PROGRAM [ARGUMENT...]" >&2; exit 2; }
for program in Xvfb openbox xdotool; do
  command -v "$program" >/dev/null || { echo "with_display.sh: $program is not installed" >&2; exit 1; }
done

folder=$(mktemp -d)
server='' manager=''
finish() {
  [[ -z $manager ]] || kill "$manager" 2>/dev/null || true
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT

# wait_for WHAT TEST: until the test command succeeds, at most 20 seconds.
wait_for() {
  local i
  for ((i = 0; i < 200; ++i)); do
    ! eval "$2" || return 0
    sleep 0.1
  done
  echo "with_display.sh: $1 did not come up" >&2
  cat "$folder"/*.log >&2
  return 1
}

# The server takes a free display and says which; -r: a key that is held down long on a busy machine is one press.
Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp -noreset -r 3>"$folder/display" >"$folder/server.log" 2>&1 &
server=$!
wait_for 'the display' "[[ -s $folder/display ]]"
DISPLAY=:$(<"$folder/display")
export DISPLAY
openbox --sm-disable --startup "touch $folder/managed" >"$folder/manager.log" 2>&1 &
manager=$!
wait_for 'the window manager' "[[ -e $folder/managed ]]"
unset WAYLAND_DISPLAY QT_SCALE_FACTOR
QT_QPA_PLATFORM=xcb "$@"
