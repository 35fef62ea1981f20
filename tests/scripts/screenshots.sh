#!/bin/sh
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

# Pictures of every page of the window: light and dark, 1280x720 and 1920x1080, at 1x and 2x.
#   tests/scripts/screenshots.sh OUT [FILE]
# FILE is the plan to show (default: the reference example). KVW_WORKBENCH names the program (default: that of build/dev).
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
out=${1:?usage: screenshots.sh OUT [FILE]}
file=${2:-$root/resources/examples/reference.kvplan}
program=${KVW_WORKBENCH:-$root/build/dev/bin/kvworkbench}
settings=$(mktemp -d)
trap 'rm -rf "$settings"' EXIT
mkdir -p "$out"
for theme in light dark; do
    for size in 1280x720 1920x1080; do
        for scale in 1 2; do
            # Settings of their own each time: no layout of another size comes up.
            home=$settings/$theme-$size-$scale
            mkdir -p "$home"
            XDG_CONFIG_HOME=$home XDG_DATA_HOME=$home QT_SCALE_FACTOR=$scale QT_QPA_PLATFORM=${QT_QPA_PLATFORM:-offscreen} \
                "$program" --theme "$theme" --size "$size" --screenshots "$out" "$file"
        done
    done
done
ls "$out"
