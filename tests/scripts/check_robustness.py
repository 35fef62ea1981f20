#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

"""What kvw does with files that are damaged or hostile, with wrong command lines, full disks, and its own sudden death.

A refusal is an exit code of the documented table and an error that says where; never a signal, never a changed plan.
"""

import copy
import json
import os
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import time
import unittest

from kvw_events import BadLog, EventLog, Replay
from kvw_program import BINARY, DATA, TIMEOUT, dice, environment, kvw, kvw_json, main, reference_plan, rounds, \
    scratch, settings, write_plan

GIB = 2 ** 30
NOBODY = 65534
DONE, DIFFERS, USAGE, REFUSED, RUN_FAILED, WRITE_FAILED = range(6)


def limit(which, amount):
    return lambda: resource.setrlimit(which, (amount, amount))


def memory_limit():
    """A limit of 1 GiB for the child, or nothing where the program cannot start under one (sanitizers)."""
    if memory_limit.works is None:
        try:
            kvw("--version", preexec_fn=limit(resource.RLIMIT_AS, GIB))
            memory_limit.works = True
        except AssertionError:
            print("not checked: the program does not start in 1 GiB of address space, as under a sanitizer")
            memory_limit.works = False
    return {"preexec_fn": limit(resource.RLIMIT_AS, GIB)} if memory_limit.works else {}


memory_limit.works = None

# What text for people spells: control characters and direction marks.
MARKS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class Case(unittest.TestCase):
    def is_located(self, answer, place, what):
        """Exit 3, with an error in text and as JSON that names the file or field and the place in it."""
        self.assertEqual(answer.code, REFUSED, f"{what}: {answer.command}: {answer.err[:300]!r}")
        self.assertTrue(answer.err.startswith("kvw: "), f"{what}: {answer.err[:200]!r}")
        self.assertLess(len(answer.err), 4000, f"{what}: an error is for reading")
        error = answer.json()["error"]
        for name in ("code", "message"):
            self.assertTrue(error.get(name), f"{what}: {error}")
        self.assertTrue(error.get("file") or error.get("at"), f"{what}: {error}")
        for name in ("file", "at", "message", "found", "expected"):
            if error.get(name):
                text = MARKS.sub(lambda mark: f"\\u{{{ord(mark[0]):x}}}", error[name].split("\n")[0][:150])
                self.assertIn(text, answer.err, f"{what}: text and JSON say different")
        if place is not None:
            self.assertIn(place, error.get("at", ""), f"{what}: {error}")
        return error

    def refused(self, content, place, what, suffix=".json", command="estimate", code=None):
        path = scratch() / f"hostile{suffix}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        error = self.is_located(kvw(command, path, "--json", expect=None, **memory_limit()), place, what)
        self.assertTrue(error["file"].endswith(path.name), f"{what}: {error}")
        if code:
            self.assertEqual(error["code"], code, what)


class FilesTest(Case):
    def both(self):
        """A good plan and a good model file as text."""
        return ((json.dumps(reference_plan(), indent=2), ".kvplan"),
                ((DATA / "qwen3_235b_a22b.json").read_text(encoding="utf-8"), ".json"))

    def test_truncated(self):
        for text, suffix in self.both():
            for part in (1, 2, len(text) // 3, len(text) // 2, len(text) - 3):
                self.refused(text[:part], "line ", f"the first {part} bytes", suffix, code="json.syntax")

    def test_something_after_the_end(self):
        for text, suffix in self.both():
            self.refused(text + "\n{}", "line ", "two values", suffix, code="json.syntax")

    def test_deep(self):
        for text in ("[" * 100_000, '{"a":' * 100_000, '{"format":"kvplan","x":' + "[" * 100_000):
            for suffix in (".json", ".kvplan"):
                self.refused(text, "/", f"{text[:30]}…", suffix, code="json.depth")

    def test_duplicate_keys(self):
        for text, suffix in self.both():
            key = "num_hidden_layers" if suffix == ".json" else "tp"
            place = "/num_hidden_layers" if suffix == ".json" else "/deployment/tp"
            doubled = text.replace(f'"{key}":', f'"{key}": 1, "{key}":', 1)
            self.assertNotEqual(doubled, text)
            self.refused(doubled, place, f"{key} twice", suffix, code="json.duplicate_key")

    def test_binary_and_empty(self):
        noise = random.Random(7).randbytes(10_000)
        half = '{"a":"\ud800"}'.encode("utf-8", "surrogatepass")
        for content in (b"", b" \n", bytes(range(256)), noise, b'{"a":"\xff"}', b'{"a":"\x00"}', half,
                        b"\xff\xfe{\x00}\x00"):
            for suffix in (".json", ".kvplan"):
                self.refused(content, "line ", repr(content[:20]), suffix, code="json.syntax")

    def test_no_object(self):
        for text in ("null", "7", '"text"', "[]", "[{}]", "true"):
            self.refused(text, None, text)

    def test_large(self):
        """100 MB of [, and files that are legal but many times larger in memory, in a bounded address space."""
        self.refused(b"[" * 100_000_000, None, "100 MB of [", code="json.size")
        self.refused(b"[" * 60_000_000, "/0", "60 MB of [", code="json.depth")
        self.refused(b"[" + b"0," * 6_000_000 + b"0]", "/", "12 MB of values", code="json.values")
        self.refused(b'{"' + b"k" * 5_000_000 + b'":1,"' + b"k" * 5_000_000 + b'":1}', "/k", "a long key twice")
        (scratch() / "hostile.json").unlink()

    def test_long_names(self):
        """Names of millions of letters are refused in an error that can be read."""
        long = "k" * 5_000_000
        self.refused(json.dumps({"format": "kvplan", "schemaVersion": 1, long: 1}), None, "a long unknown field",
                     ".kvplan")
        self.refused(json.dumps({"format": "kvplan", "schemaVersion": 1, "tenants": [{"id": long}]}), "/tenants/0/id",
                     "a long id", ".kvplan", code="plan.id")
        self.refused(json.dumps({"model_type": long, "vocab_size": 1000, "num_hidden_layers": long}), "/num_hidden_layers", "a long value")

    def test_no_file(self):
        missing = scratch() / "missing.kvplan"
        error = self.is_located(kvw("estimate", missing, "--json", expect=None), None, "a missing file")
        self.assertEqual((error["code"], error["file"]), ("io.open", str(missing)))
        empty = scratch() / "empty_folder"
        empty.mkdir(exist_ok=True)
        self.is_located(kvw("estimate", empty, "--json", expect=None), None, "a folder without config.json")
        self.is_located(kvw("estimate", "/dev/zero", "--json", expect=None, **memory_limit()), None, "an endless file")

    def test_plan_fields(self):
        text = json.dumps(reference_plan())
        for old, new, place, code in (
                ('"tp": 1', '"tp": "one"', "/deployment/tp", "plan.type"),
                ('"tp": 1', '"tp": 1.5', "/deployment/tp", "plan.type"),
                ('"tp": 1', '"tp": 0', "/deployment/tp", "plan.range"),
                ('"tp": 1', '"tp": null', "/deployment/tp", "plan.type"),
                ('"tp": 1', '"tp": 1e400', None, "json.syntax"),
                ('"tp": 1', '"tp": 99999999999999999999', "/deployment/tp", None),
                ('"tp": 1', '"tq": 1', "/deployment/tq", "plan.unknown_field"),
                ('"tenants": [', '"tenants": {}, "x": [', "/tenants", "plan.type"),
                ('"id": "birch"', '"id": "acme"', "/tenants/1/id", "plan.id"),
                ('"id": "birch"', '"id": "b.rch"', "/tenants/1/id", "plan.id"),
                ('"id": "birch", ', "", "/tenants/1", "plan.id"),
                ('"heads": 8', '"heads": -8', "/worksheet/groups/0/tensors/0/heads", "plan.range"),
                ('"growth": "linear"', '"growth": "cubic"', "/worksheet/groups/0/tensors/0/growth", "plan.choice"),
                ('"deployment": {', '"deployment": [], "x": {', "/deployment", "plan.type"),
                ('"schemaVersion": 1', '"schemaVersion": 2', "/schemaVersion", "plan.schema_version"),
                ('"schemaVersion": 1', '"schemaVersion": "1"', "/schemaVersion", "plan.schema_version"),
                ('"schemaVersion": 1, ', "", None, "plan.schema_version")):
            self.assertIn(old, text)
            self.refused(text.replace(old, new, 1), place, new or f"without {old}", ".kvplan", code=code)

    def test_model_fields(self):
        good = json.loads((DATA / "qwen3_235b_a22b.json").read_text(encoding="utf-8"))
        for field in ("num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim"):
            for value in (-1, 0, 2.5, "4", [], {}, True, 10 ** 18):
                self.refused(json.dumps({**good, field: value}), f"/{field}", f"{field} {value!r}")
        del good["num_hidden_layers"]
        self.refused(json.dumps(good), "/num_hidden_layers", "no num_hidden_layers")

    def test_mutations(self):
        """Random damage: every file is read or refused with a place, never anything else."""
        draw = dice(7)
        originals = [reference_plan()]
        originals += [json.loads(file.read_text(encoding="utf-8")) for file in sorted(DATA.glob("*.json"))]
        accepted = 0
        for i in range(rounds(150)):
            document = copy.deepcopy(originals[i % len(originals)])
            for _ in range(draw.randint(1, 3)):
                self.damage(draw, document)
            path = scratch() / ("mutation.kvplan" if i % len(originals) == 0 else "mutation.json")
            path.write_text(json.dumps(document), encoding="utf-8")
            answer = kvw(draw.choice(["estimate", "explain", "import"]), path, "--json", expect=None)
            self.assertIn(answer.code, (DONE, REFUSED), f"{answer.command}: {answer.err[:200]}; {json.dumps(document)}")
            if answer.code == REFUSED:
                self.is_located(answer, None, json.dumps(document))
            else:
                accepted += 1
        self.assertGreater(accepted, 0, "every damaged file was refused: the damage is too plain")

    def damage(self, draw, document):
        """Changes, moves or removes one value anywhere in the tree."""
        places = []

        def walk(node):
            for key in (list(node) if isinstance(node, dict) else range(len(node))):
                places.append((node, key))
                if isinstance(node[key], (dict, list)):
                    walk(node[key])

        walk(document)
        if not places:
            return
        node, key = draw.choice(places)
        what = draw.randrange(4)
        if what == 0:
            del node[key]
        elif what == 1 and isinstance(node, dict):
            node[draw.choice(["sliding_window", "kv_lora_rank", "x" * 300, "layer_types", "", "a.b"])] = node[key]
        else:
            node[key] = draw.choice([None, True, -1, 0, 1, 2 ** 31, 2 ** 63, -2 ** 63, 1e300, 0.5, "", "full", "\u0000",
                                     [], {}, [[]], ["sliding_attention"] * 3, "linear"])

    def test_event_logs(self):
        """Damaged event logs: refused with a place, or read up to where they are cut."""
        path = scratch() / "good.events"
        kvw("predict", write_plan(reference_plan(), "logs"), "--fraction", "0.02", "--events", path)
        good, log = path.read_bytes(), EventLog(path)
        starts, at = [], 0
        for _, payload in log.chunks:
            starts.append(at)
            at += 16 + len(payload)
        self.assertEqual(at, len(good))
        draw, broken = dice(8), scratch() / "broken.events"
        for _ in range(rounds(30)):
            cut = draw.randrange(len(good))
            broken.write_bytes(good[:cut])
            answer = kvw("events", broken, "--json", expect=None)
            if cut < 16 + len(log.chunks[0][1]):
                self.is_located(answer, None, f"cut after {cut} bytes")
                continue
            self.assertEqual(answer.code, DONE, f"cut after {cut} bytes: {answer.err}")
            self.assertFalse(answer.json()["complete"], f"cut after {cut} bytes")
            self.assertEqual(answer.json()["events"], len(EventLog(broken).events), f"cut after {cut} bytes")
        for _ in range(rounds(30)):
            chunk = draw.randrange(len(starts))
            place = draw.randrange(starts[chunk] + 16, starts[chunk] + 16 + len(log.chunks[chunk][1]))
            changed = bytearray(good)
            changed[place] ^= 1 << draw.randrange(8)
            broken.write_bytes(changed)
            self.is_located(kvw("events", broken, "--json", expect=None, **memory_limit()), f"byte {starts[chunk]}",
                            f"byte {place} changed")
        for place in (8, starts[1] + 8):  # a length that cannot be
            changed = bytearray(good)
            changed[place:place + 8] = (2 ** 62).to_bytes(8, "little")
            broken.write_bytes(changed)
            answer = kvw("events", broken, "--json", expect=None, **memory_limit())
            self.assertIn(answer.code, (DONE, REFUSED), answer.err)
        self.refused(json.dumps(reference_plan()), "byte 0", "a plan for an event log", ".events", "events")


class CommandLineTest(Case):
    def test_set(self):
        file = write_plan(reference_plan(), "set")
        for text in ("deployment.tp", "=1", "deployment.tq=1", "deployment=1", "tenants.nobody.name=x",
                     "deployment.tp=x", "deployment.tp=0", "deployment.tp=-1", "deployment.tp=1.5",
                     "deployment.tp=99999999999999999999",
                     "deployment.tp=1 00", "worksheet.groups.full.layers=", "engine.name=other",
                     "cache.elementType=fp9", "budget.kvBytesPerRank=6.5.1GiB", "budget.kvBytesPerRank=6 GiX",
                     "budget.kvBytesPerRank=9999999999TiB", "budget.utilization=nan", "budget.utilization=inf",
                     "budget.utilization=93", "limits.maxModelLen=32q", "admission.whenExhausted=explode"):
            answer = kvw("estimate", file, "--json", "--set", text, expect=None)
            self.assertIn(answer.code, (REFUSED, USAGE), f"--set {text}: {answer.err}")
            error = answer.json()["error"]
            path = text.split("=")[0]
            if "=" in text and path:
                self.assertEqual(error["at"], path, f"--set {text}: {error}")
            self.assertIn(error["message"], answer.err, f"--set {text}")

    def test_set_accepts(self):
        file = write_plan(reference_plan(), "set")
        for text, path, value in (("budget.kvBytesPerRank=6.5GiB", "availableBytes", 6_979_321_856),
                                  ("budget.kvBytesPerRank=6GB", "availableBytes", 6_000_000_000),
                                  ("engine.blockTokens=32", "blockTokens", 32),
                                  ("limits.maxModelLen=16k", "blocksPerRequest", 1024)):
            self.assertEqual(kvw_json("estimate", file, "--set", text)["engine"][path], value, text)

    def test_usage(self):
        file = write_plan(reference_plan(), "usage")
        for arguments in ((), ("bogus",), ("estimate",), ("estimate", file, "--bogus"), ("estimate", file, "extra"),
                          ("estimate", file, "--set"), ("predict", file, "--fraction", "2"),
                          ("predict", file, "--fraction", "0"), ("predict", file, "--fraction", "x"),
                          ("events", file, "--at", "-1"), ("events", file, "--at", "x"), ("--bogus",),
                          ("import", file, "-o")):
            answer = kvw(*arguments, expect=None)
            self.assertEqual(answer.code, USAGE, answer.command)
            self.assertTrue(answer.err.strip(), f"{answer.command}: exit 2 without a word")
            self.assertEqual(answer.out, "", answer.command)
            if arguments[-1:] in (("--set",), ("-o",)):  # they would take --json for their value
                continue
            answer = kvw(*arguments, "--json", expect=None)
            self.assertEqual(answer.code, USAGE, answer.command)
            self.assertEqual(answer.json()["error"]["code"], "usage.command_line", answer.command)

    def test_outputs_are_no_inputs(self):
        """No command writes over what it reads, nor two things into one file; a link leads to the same file."""
        folder = scratch() / "outputs"
        folder.mkdir()
        plan, link, other = folder / "plan.kvplan", folder / "link", folder / "other"
        plan.write_text(json.dumps(reference_plan()), encoding="utf-8")
        link.symlink_to(plan)
        before = plan.read_bytes()
        for arguments in (("report", plan, "-o", plan), ("report", plan, "-o", link),
                          ("predict", plan, "--events", plan), ("predict", plan, "--record", link),
                          ("predict", link, "--record", plan), ("probe", plan, "--events", plan),
                          ("predict", plan, "--record", other, "--events", other),
                          ("predict", plan, "--record", other, "--events", folder / "." / "other"),
                          ("probe", plan, "--update-plan", "--set", "limits.concurrentSequences=2")):
            answer = kvw(*arguments, "--json", expect=None)
            self.assertEqual(answer.code, USAGE, answer.command)
            self.assertIn(answer.json()["error"]["code"], ("usage.output", "usage.update_plan"), answer.command)
            self.assertEqual(plan.read_bytes(), before, answer.command)
            self.assertFalse(other.exists(), answer.command)
        kvw("import", plan, "-o", link)  # a plan may be changed in its own file …
        config = folder / "config.json"
        config.write_text(json.dumps({"model_type": "llama", "num_hidden_layers": 2, "num_attention_heads": 4,
                                      "hidden_size": 64}), encoding="utf-8")
        kvw("import", config)
        self.assertEqual(kvw("import", config, "-o", config, expect=None).code, USAGE)  # … a model file not
        kvw("predict", plan, "--record", "/dev/null", "--events", "/dev/null")

    def test_marks_in_names(self):
        """What a file says never moves a terminal's cursor or turns the direction of text."""
        plan = reference_plan()
        plan["worksheet"]["groups"][0]["name"] = "red \x1b[31m \u202e turned \x9b2J – fine ∑"
        file = write_plan(plan, "marks")
        for command in (("estimate",), ("report",), ("import",)):
            out = kvw(*command, file).out
            for mark in ("\x1b", "\u202e", "\x9b"):
                self.assertNotIn(mark, out, command)
        self.assertIn("red \\u{1b}[31m \\u{202e} turned \\u{9b}2J – fine ∑", kvw("estimate", file).out)
        self.assertNotIn("\x1b", kvw("estimate", "no\x1b[31mfile", expect=None).err)

    def test_parts_of_a_byte(self):
        file = write_plan(reference_plan(), "parts")
        answer = kvw("estimate", file, "--set", "budget.kvBytesPerRank=6.51", expect=None)
        self.assertEqual(answer.code, REFUSED)
        self.assertIn('found "6.51"', answer.err)

    def test_another_format(self):
        """A plan of another product or format is refused by its name, not by the model reader."""
        plan = reference_plan()
        plan["format"] = "kvplan2"
        answer = kvw("estimate", write_plan(plan, "format"), expect=None)
        self.assertEqual(answer.code, REFUSED)
        self.assertIn("/format", answer.err)
        self.assertIn('found "kvplan2"', answer.err)

    def test_fraction_that_is_no_number(self):
        file = write_plan(reference_plan(), "usage")
        for command in ("predict", "probe"):
            for text in ("nan", "-nan", "inf"):
                extra = ["--record", "/dev/null"] if command == "probe" else []
                answer = kvw(command, file, "--fraction", text, *extra, expect=None)
                self.assertIn(answer.code, (USAGE, REFUSED), f"{answer.command}: a share of the blocks that is {text}")

    def test_most_bytes_are_kept(self):
        """--max is the most that is reserved: what cannot be kept to is refused."""
        file = write_plan(reference_plan(), "most")
        for most in (1, 4 * 2 ** 20, 10 * 2 ** 20):
            answer = kvw("probe", file, "--max", most, "--json", "--no-ceilings", "--record", "/dev/null", expect=None)
            if answer.code == REFUSED:
                continue
            self.assertEqual(answer.code, DONE, answer.err)
            reserved = sum(p["blocks"] * p["blockBytes"] for p in answer.json()["layout"]["pools"])
            self.assertLessEqual(reserved, most, f"--max {most}: {reserved} bytes were reserved")

    def test_help(self):
        text = kvw("--help").out
        codes = text[text.index("Exit codes"):]
        for code, words in ((0, "done"), (1, "differs"), (2, "command line"), (3, "refused"), (4, "failed"),
                            (5, "written")):
            line = next((line for line in codes.splitlines() if line.strip().startswith(f"{code} ")), "")
            self.assertIn(words, line, f"exit code {code} in --help")
        for command in ("import", "estimate", "explain", "predict", "probe", "events", "report"):
            self.assertIn(f"\n  {command} ", text)
            self.assertIn("--json", kvw(command, "--help").out)
        self.assertRegex(kvw("--version").out, r"^\d+\.\d+\.\d+")

    def test_more_than_memory_holds(self):
        """Plans whose prediction takes more memory than there is: an error, not an abort."""
        if not memory_limit():
            self.skipTest("no memory limit can be set for this build")
        file = write_plan(reference_plan(), "huge")
        for command in ("predict", "report"):
            answer = kvw(command, file, *settings({"budget.kvBytesPerRank": "64TiB"}), expect=None, **memory_limit())
            self.assertGreaterEqual(answer.code, 0, f"{answer.command}: ended by signal {-answer.code}: {answer.err}")
            self.assertLessEqual(answer.code, WRITE_FAILED, answer.command)
            answer = kvw(command, file, "--set", "workload.requests=10000000", expect=REFUSED)
            self.assertIn("workload.requests", answer.err)
            self.assertIn("1000000", answer.err.replace(",", ""))

    def test_device_without_room(self):
        answer = kvw("probe", write_plan(reference_plan(), "room"), "--json", "--fraction", 1, "--record", "/dev/null",
                     *settings({"budget.kvBytesPerRank": "1TiB"}), expect=None)
        self.assertEqual(answer.code, RUN_FAILED, answer.err)
        self.assertTrue(answer.json()["error"]["code"].startswith("device."), answer.out)


class SavingTest(Case):
    def setUp(self):
        self.folder = scratch() / "saving"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.plan = self.folder / "plan.kvplan"
        self.plan.write_text(json.dumps(reference_plan()), encoding="utf-8")
        self.before = self.plan.read_bytes()

    def kept(self, answer, what):
        self.assertEqual(answer.code, WRITE_FAILED, f"{what}: {answer.command}: {answer.err}")
        self.assertEqual(self.plan.read_bytes(), self.before, f"{what}: the old plan is not what it was")
        self.assertEqual([p.name for p in self.folder.iterdir()], [self.plan.name], f"{what}: something is left behind")
        if "--json" in answer.command:
            # probe prints its result first, then the error
            self.assertIn('"code": "io.', answer.out, what)
        self.assertIn(str(self.plan), answer.err, f"{what}: the error does not name the file")

    def test_file_size_limit(self):
        small = {"preexec_fn": limit(resource.RLIMIT_FSIZE, 1024)}
        self.kept(kvw("import", self.plan, "-o", self.plan, "--json", expect=None, **small), "import")
        self.kept(kvw("report", write_plan(reference_plan(), "report"), "-o", self.plan, expect=None, **small), "report")
        self.kept(kvw("probe", self.plan, "--max", "16MiB", "--no-ceilings", "--json", "--update-plan", "--record",
                      "/dev/null", expect=None, **small), "probe --update-plan")

    def test_read_only_place(self):
        binary, drop = BINARY, None
        if os.getuid() == 0:  # root writes anywhere: become somebody who may not
            scratch().chmod(0o755)
            binary = scratch() / "kvw"
            shutil.copy(BINARY, binary)
            binary.chmod(0o755)
            self.plan.chmod(0o644)
            drop = lambda: (os.setgid(NOBODY), os.setuid(NOBODY))
        source = write_plan(reference_plan(), "report")
        source.chmod(0o644)
        self.folder.chmod(0o555)
        try:
            for arguments in (("import", self.plan, "-o", self.plan), ("report", source, "-o", self.plan)):
                done = subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT,
                                      env=environment(), preexec_fn=drop)
                self.assertEqual(done.returncode, WRITE_FAILED, done.stderr)
                self.assertEqual(self.plan.read_bytes(), self.before, "the old plan is not what it was")
                self.assertEqual([p.name for p in self.folder.iterdir()], [self.plan.name])
        finally:
            self.folder.chmod(0o755)

    def test_no_such_place(self):
        for target in (self.folder / "no" / "plan.kvplan", self.folder):
            answer = kvw("import", self.plan, "-o", target, "--json", expect=WRITE_FAILED)
            self.assertTrue(answer.json()["error"]["code"].startswith("io."))
        for option in ("--events", "--record"):
            for command in ("predict", "probe"):
                extra = ["--max", "16MiB", "--no-ceilings"] if command == "probe" else []
                answer = kvw(command, self.plan, option, self.folder / "no" / "file", *extra, "--json", expect=None)
                self.assertEqual(answer.code, WRITE_FAILED, answer.command)
        self.assertEqual(self.plan.read_bytes(), self.before)

    def test_through_a_link(self):
        link = self.folder / "link.kvplan"
        link.symlink_to(self.plan.name)
        self.plan.chmod(0o640)
        kvw("import", self.plan, *settings({"deployment.tp": 2}), "-o", link)
        self.assertTrue(link.is_symlink(), "the link became a file")
        self.assertEqual(json.loads(self.plan.read_text(encoding="utf-8"))["deployment"]["tp"], 2)
        self.assertEqual(stat.S_IMODE(self.plan.stat().st_mode), 0o640, "permissions")

    def test_saved_plan_is_the_same_plan(self):
        copy_of = self.folder / "copy.kvplan"
        kvw("import", self.plan, "-o", copy_of)
        kvw("import", copy_of, "-o", self.folder / "again.kvplan")
        self.assertEqual(copy_of.read_bytes(), (self.folder / "again.kvplan").read_bytes())
        self.assertEqual(kvw_json("estimate", copy_of), kvw_json("estimate", self.plan))

    def test_full_disk_for_logs(self):
        """A log or record that does not fit: exit 5, and what was written can be read."""
        events = self.folder / "cut.events"
        answer = kvw("predict", self.plan, "--fraction", "0.05", "--events", events, expect=None,
                     preexec_fn=limit(resource.RLIMIT_FSIZE, 20_000))
        self.assertEqual(answer.code, WRITE_FAILED, answer.err)
        self.assertLessEqual(events.stat().st_size, 20_000)
        log = EventLog(events)
        self.assertEqual((log.whole, log.cut), (False, 0), "the log ends with a whole chunk and without an end")
        self.assertFalse(kvw_json("events", events)["complete"])
        self.assertEqual(kvw_json("events", events)["events"], len(log.events))

    def test_full_standard_output(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full here")
        for arguments in (("estimate", self.plan, "--json"), ("report", self.plan), ("report", self.plan, "--json"),
                          ("predict", self.plan, "--json"), ("explain", self.plan)):
            with open("/dev/full", "w") as full:
                code = subprocess.run([BINARY, *map(str, arguments)], stdout=full, stderr=subprocess.DEVNULL,
                                      timeout=TIMEOUT, env=environment()).returncode
            self.assertEqual(code, WRITE_FAILED, f"kvw {' '.join(map(str, arguments))}: nothing of it was written")


class KilledTest(Case):
    """Signal 9 in the middle of a live run."""

    def test_killed(self):
        draw = dice(9)
        moments = [0] + sorted(draw.randint(1, 1200) for _ in range(5))
        caught = 0
        for lines in moments:
            caught += self.kill_after(lines)
        self.assertGreaterEqual(caught, 4, "hardly a run was killed before it ended")

    def test_killed_before_the_first_step(self):
        """While the machine's rates are measured and the pools reserved, the files are there already."""
        folder = scratch() / "killed-early"
        folder.mkdir()
        record, events = folder / "run.jsonl", folder / "run.events"
        file = write_plan(reference_plan(), "killed-early")
        process = subprocess.Popen([BINARY, "probe", str(file), "--max", "256MiB", "--record", str(record), "--events",
                                    str(events)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
        deadline = time.monotonic() + TIMEOUT
        while process.poll() is None and time.monotonic() < deadline:
            if record.exists() and b"\n" in record.read_bytes():
                break
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        self.assertEqual(process.wait(), -signal.SIGKILL)
        lines = [json.loads(line) for line in record.read_bytes().split(b"\n")[:-1]]
        self.assertEqual(lines[0]["type"], "run")
        self.assertNotIn("end", [line["type"] for line in lines])
        self.assertFalse(kvw_json("events", events)["complete"])

    def kill_after(self, lines):
        """Kills a probe once its record has so many lines. Returns whether it was still running."""
        folder = scratch() / "killed"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        plan, record, events = (folder / name for name in ("plan.kvplan", "run.jsonl", "run.events"))
        document = reference_plan()
        document["workload"]["requests"] = 600
        plan.write_text(json.dumps(document), encoding="utf-8")
        before = plan.read_bytes()
        command = [BINARY, "probe", plan, "--max", "32MiB", "--no-ceilings", "--update-plan", "--record", record,
                   "--events", events]
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=environment())
        deadline = time.monotonic() + TIMEOUT
        while process.poll() is None and time.monotonic() < deadline:
            written = record.read_bytes().count(b"\n") if record.exists() else 0
            if written >= lines:
                break
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        if process.wait() != -signal.SIGKILL:
            return 0
        what = f"killed after {lines} lines"
        self.assertEqual(plan.read_bytes(), before, f"{what}: the plan was touched")
        self.assertLessEqual({p.name for p in folder.iterdir()}, {plan.name, record.name, events.name}, what)
        if lines:
            self.check_left_behind(record, events, what)
        return 1

    def check_left_behind(self, record, events, what):
        lines = record.read_bytes().split(b"\n")
        read = [json.loads(line) for line in lines[:-1]]  # after the last line feed: nothing, or a line cut short
        self.assertEqual(read[0]["type"], "run", what)
        self.assertNotIn("end", [line["type"] for line in read], what)
        steps = [line for line in read if line["type"] == "step"]
        counted = kvw_json("events", events)
        self.assertFalse(counted["complete"], what)
        self.assertIn("did not finish", kvw("events", events).out, what)
        try:
            replay = Replay(EventLog(events))
            replay.advance(steps[-1]["step"] if steps else None)
            states = replay.states()
        except BadLog as error:
            self.fail(f"{what}: {error}")
        self.assertEqual(sum(counted["states"].values()), sum(replay.sizes), what)
        self.assertEqual(counted["events"], len(replay.log.events), what)
        if steps:
            self.assertEqual({name: states[name] for name in ("active", "cached", "free")},
                             {name: steps[-1][name] for name in ("active", "cached", "free")},
                             f"{what}: the log lacks what the record has")


if __name__ == "__main__":
    main()
