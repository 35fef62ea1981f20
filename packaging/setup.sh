#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

# What the other scripts share: the Debian packages and one way to configure and build.
#
#   bash packaging/setup.sh [GROUP …]     installs the packages of these groups: build, gui, test, format, fuzz, tidy
#                                         (default: build gui test)
#
# Sourced, it only defines kvw_install and kvw_build. KVW_SKIP_SETUP=1 leaves the system's packages alone.

# shellcheck disable=SC2034 # kvw_install reads the lists by their names
{
  # To build and run kvw.
  kvw_packages_build=(g++ cmake ninja-build nlohmann-json3-dev libboost1.81-dev libcli11-dev libfmt-dev libxxhash-dev ccache
    python3)
  # To build and run the workbench, beside those. Qt 6 SVG draws the icons; the font is the one that figures are laid
  # out with where a system has none.
  kvw_packages_gui=(qt6-base-dev qt6-svg-dev libqcustomplot-dev fonts-dejavu-core)
  # To build and run the tests, beside those. Poppler reads the PDF; the pass through the real window needs a display
  # (Xvfb), a window manager (openbox) and something that presses keys (xdotool).
  kvw_packages_test=(libssl-dev poppler-utils xvfb openbox xdotool)
  # To check the format of the sources.
  kvw_packages_format=(clang-format)
  # To build and run the fuzz programs, beside build.
  kvw_packages_fuzz=(clang)
  # To look for doubtful code, beside build, gui and test.
  kvw_packages_tidy=(clang-tidy)
}

kvw_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

kvw_say_error() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
}

# kvw_install GROUP...: installs what dpkg does not list as installed; asks nothing; silent when nothing is missing.
kvw_install() {
  local group name status missing=() wanted=() as_root=() log
  [[ ${KVW_SKIP_SETUP:-} != 1 ]] || return 0
  for group in "$@"; do
    local -n list="kvw_packages_$group"
    wanted+=("${list[@]}")
  done
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    kvw_say_error "this is not a Debian system, so the packages cannot be installed from here. Install what" \
      "corresponds to Debian 12's ${wanted[*]}, then run again with KVW_SKIP_SETUP=1."
    return 1
  fi
  for name in "${wanted[@]}"; do
    # shellcheck disable=SC2016 # ${db:Status-Status} is dpkg-query's, not the shell's
    status=$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) || status=''
    [[ $status == installed ]] || missing+=("$name")
  done
  ((${#missing[@]})) || return 0

  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      kvw_say_error "packages are missing (${missing[*]}) and there is neither root nor sudo to install them." \
        "As root: apt-get install ${missing[*]}"
      return 1
    fi
    as_root=(sudo)
  fi
  printf 'Installing from Debian: %s\n' "${missing[*]}"
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 -qq)
  log=$(mktemp)
  if ! "${as_root[@]}" update >"$log" 2>&1 \
    || ! "${as_root[@]}" install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    kvw_say_error "apt-get could not install: ${missing[*]}. Its last lines are above."
    return 1
  fi
  rm -f "$log"
}

# kvw_build PRESET TARGET [-DNAME=VALUE...]: configures build/PRESET when it is new, moved, or was configured
# otherwise, then builds TARGET. Later changes of CMakeLists.txt files are seen by the build itself.
kvw_build() {
  local preset=$1 target=$2 folder="$kvw_root/build/$1" stamp want fresh=()
  shift 2
  stamp="$folder/configured-as.txt"
  want="$kvw_root $* $(cksum <"$kvw_root/CMakePresets.json")"
  if [[ ! -f $folder/build.ninja || ! -f $stamp || $(<"$stamp") != "$want" ]]; then
    rm -f "$stamp"
    if ! grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$kvw_root" "$folder/CMakeCache.txt"; then
      fresh=(--fresh)
    fi
    (cd "$kvw_root" && cmake --preset "$preset" "${fresh[@]}" "$@") || return
    printf '%s\n' "$want" >"$stamp"
  fi
  # What two presets compile alike is compiled once.
  CCACHE_BASEDIR=$kvw_root CCACHE_NOHASHDIR=1 cmake --build "$folder" --target "$target" --parallel "${KVW_JOBS:-$(nproc)}"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  set -euo pipefail
  (($#)) || set -- build gui test
  for group in "$@"; do
    if [[ ! $group =~ ^(build|gui|test|format|fuzz|tidy)$ ]]; then
      kvw_say_error "'$group' is not a group of packages; the groups are build, gui, test, format, fuzz and tidy."
      exit 2
    fi
  done
  kvw_install "$@"
fi
