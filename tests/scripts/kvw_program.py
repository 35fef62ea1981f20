# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

"""Starts the program kvw for the command-line tests, and finds plans and reference data.

From the environment, as tests/CMakeLists.txt sets it: KVW_BINARY, KVW_SOURCE_DIR, KVW_SHARED_DIR, KVW_TEST_SCALE.
KVW_TEST_SEED, when set, replaces the seed of the tests that draw random plans.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("KVW_SOURCE_DIR") or Path(__file__).resolve().parents[2])
BINARY = os.environ.get("KVW_BINARY", "")
DATA = SOURCE / "tests" / "data" / "cli"
SCALE = float(os.environ.get("KVW_TEST_SCALE") or 1)
SEED = int(os.environ.get("KVW_TEST_SEED") or 20261130)
TIMEOUT = 240  # seconds for one call; a call takes well under one on a quiet machine

_shared = os.environ.get("KVW_SHARED_DIR", "")
SHARED = Path(_shared) if _shared and Path(_shared).is_dir() else None


class Answer:
    """What one call of kvw gave back."""

    def __init__(self, arguments, completed):
        self.command = "kvw " + " ".join(str(a) for a in arguments)
        self.code = completed.returncode
        self.out = completed.stdout
        self.err = completed.stderr

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise AssertionError(f"{self.command}: no JSON on standard output ({error}): {self.out[:300]!r}; "
                                 f"exit {self.code}, standard error {self.err[:300]!r}") from None


def environment():
    """The environment of a call: records never go to the user's own folders."""
    out = dict(os.environ)
    out.setdefault("XDG_STATE_HOME", str(scratch() / "state"))
    return out


def kvw(*arguments, expect=0, **options):
    """Runs kvw. `expect` is its exit code, or None for any; other options go to subprocess.run."""
    options.setdefault("timeout", TIMEOUT)
    options.setdefault("env", environment())
    completed = subprocess.run([BINARY, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace", **options)
    answer = Answer(arguments, completed)
    if expect is not None and answer.code != expect:
        raise AssertionError(f"{answer.command}: exit {answer.code}, expected {expect}; standard error "
                             f"{answer.err[:500]!r}; standard output {answer.out[:300]!r}")
    return answer


def kvw_json(*arguments, **options):
    return kvw(*arguments, "--json", **options).json()


def settings(values):
    """{"a.b": 1, "c": None} as --set arguments; None clears a field."""
    out = []
    for path, value in values.items():
        out += ["--set", f"{path}={'' if value is None else value}"]
    return out


_scratch = None


def scratch():
    """A folder that is gone when the test ends."""
    global _scratch
    if _scratch is None:
        _scratch = Path(tempfile.mkdtemp(prefix="kvw-cli-"))
    return _scratch


def write_plan(plan, name="plan"):
    path = scratch() / f"{name}.kvplan"
    path.write_text(json.dumps(plan), encoding="utf-8")
    return path


def example_plans():
    plans = sorted((SOURCE / "resources" / "examples").glob("*.kvplan"))
    if not plans:
        raise AssertionError("resources/examples holds no plan")
    return plans


def reference_plan():
    """The example plan of the reference shape, as a fresh dictionary."""
    return json.loads((SOURCE / "resources" / "examples" / "reference.kvplan").read_text(encoding="utf-8"))


def rounds(count):
    """A number of random operations, as KVW_TEST_SCALE asks."""
    return max(1, round(count * SCALE))


def dice(salt=0):
    return random.Random(SEED * 1000 + salt)


def needs_shared(test):
    """Skips the test, and says so, where the reference data is not there."""
    if SHARED is None:
        test.skipTest("the reference data (KVW_SHARED_DIR) is not on this machine")
    return SHARED


def main():
    """Runs the tests of the calling script."""
    if not BINARY:
        print("skipped: KVW_BINARY is empty, the program kvw is not built")
        sys.exit(0)
    try:
        program = unittest.main(module="__main__", verbosity=2, exit=False)
    finally:
        if _scratch is not None:
            shutil.rmtree(_scratch, ignore_errors=True)
    for test, reason in program.result.skipped:
        print(f"skipped: {test.id().removeprefix('__main__.')}: {reason}")
    sys.exit(not program.result.wasSuccessful())
