#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

"""Talks to `kvw worker` by what resources/help/worker-protocol.md says, and by nothing else: no code of the program is
used here, so that the page is enough to write a client."""

import json
import os
import signal
import struct
import subprocess
import time
import unittest

from kvw_events import Event, EventLog
from kvw_program import BINARY, SOURCE, environment, kvw_json, main, reference_plan, scratch, write_plan

TYPES = ("hello request accepted phase samples logHeader digests events evidence result failed cancel barrier "
         "heartbeat stop bye").split()
NUMBER = {name: number for number, name in enumerate(TYPES, 1)}
PIECES = {"request", "evidence", "result"}
_HEADER = struct.Struct("<IBQ")
_EVENT = struct.Struct("<BBHIIIII")
MIB = 2 ** 20


class Worker:
    """A worker and the messages with it. Each message read is (name, id, content)."""

    def __init__(self, *arguments, greet=True):
        self.process = subprocess.Popen([BINARY, "worker", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment())
        self.sent = self.received = 0
        self.pieces = {}
        if greet:
            self.greet()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()
            except BrokenPipeError:
                pass

    def greet(self, least=1, most=1):
        hello = {"protocol": {"least": least, "most": most}, "product": "script", "version": "3", "pid": os.getpid(),
                 "heartbeatSeconds": 0, "watchdogSeconds": 0, "something new": True}
        self.send("hello", b"KVWP\1" + json.dumps(hello).encode())

    def send(self, name, payload=b""):
        self.sent += 1
        self.process.stdin.write(_HEADER.pack(len(payload), NUMBER[name], self.sent) + payload)
        self.process.stdin.flush()

    def request(self, number, body, piece=MIB):
        text = json.dumps(body).encode()
        for at in range(0, len(text), piece):
            more = at + piece < len(text)
            self.send("request", struct.pack("<QB", number, more) + text[at:at + piece])

    def about(self, name, number):
        self.send(name, struct.pack("<Q", number))

    def frame(self):
        header = self.process.stdout.read(_HEADER.size)
        if not header:
            return None
        length, kind, sequence = _HEADER.unpack(header)
        self.received += 1
        assert sequence == self.received, f"sequence {sequence} where {self.received} was due"
        assert length <= 16 * MIB
        payload = self.process.stdout.read(length)
        assert len(payload) == length, "the last frame is cut short"
        return TYPES[kind - 1], payload

    def message(self):
        """The next message but heartbeats; texts in pieces are put together; None at the end."""
        while True:
            frame = self.frame()
            if frame is None:
                return None
            name, payload = frame
            if name == "heartbeat":
                assert not payload
                self.beats = getattr(self, "beats", 0) + 1
                continue
            if name == "hello":
                assert payload[:5] == b"KVWP\1"
                return name, None, json.loads(payload[5:])
            if name == "bye":
                return name, None, json.loads(payload)
            number, = struct.unpack_from("<Q", payload)
            content = payload[8:]
            if name in PIECES:
                self.pieces[number, name] = self.pieces.get((number, name), b"") + content[1:]
                if content[0]:
                    continue
                content = self.pieces.pop((number, name))
            if name in ("barrier", "digests", "events"):
                return name, number, content
            return name, number, json.loads(content)

    def until(self, name, number=None):
        """Messages up to the one of that name, which is the last."""
        out = []
        while True:
            message = self.message()
            if message is None:
                raise AssertionError(f"the worker ended (exit {self.process.wait()}) before a {name}; "
                                     f"standard error {self.process.stderr.read()!r}")
            out.append(message)
            if message[0] == name and number in (None, message[1]):
                return out

    def end(self):
        """Everything up to the end, and the exit code."""
        out = []
        while (message := self.message()) is not None:
            out.append(message)
        return out, self.process.wait(timeout=60)


def probe(**options):
    return {"kind": "probe", "plan": reference_plan(), "maximumBytes": 32 * MIB, "ceilings": False, **options}


def long_probe():
    out = probe()
    out["plan"]["workload"]["requests"] = 2000
    return out


class Protocol(unittest.TestCase):
    def test_hello_and_stop(self):
        with Worker() as worker:
            name, _, hello = worker.message()
            self.assertEqual(name, "hello")
            self.assertEqual(set(hello), {"protocol", "product", "version", "pid", "heartbeatSeconds",
                                          "watchdogSeconds"})
            self.assertEqual(hello["protocol"], {"least": 1, "most": 1})
            self.assertEqual(hello["pid"], worker.process.pid)
            worker.send("stop")
            messages, code = worker.end()
            self.assertEqual(messages, [("bye", None, {"reason": "stop", "exitCode": 0})])
            self.assertEqual(code, 0)

    def test_versions(self):
        with Worker(greet=False) as worker:
            worker.greet(least=2, most=5)
            worker.until("hello")
            messages, code = worker.end()
            name, number, failed = messages[0]
            self.assertEqual((name, number, failed["error"]["code"]), ("failed", 0, "protocol.version"))
            self.assertIn("script 3 speaks 2 to 5", failed["error"]["found"])
            self.assertEqual(code, 11)

    def test_devices(self):
        with Worker() as worker:
            worker.request(1, {"kind": "devices"})
            messages = worker.until("result")
            self.assertEqual([name for name, _, _ in messages], ["hello", "accepted", "result"])
            for device in messages[-1][2]["devices"]:
                self.assertEqual(set(device), {"id", "name", "totalBytes", "availableBytes", "memorySource",
                                               "limitBytes", "limitSource"})

    def test_probe(self):
        events, record = scratch() / "worker.kvev", scratch() / "worker.jsonl"
        with Worker() as worker:
            worker.request(7, probe(events=str(events), record=str(record)), piece=1000)
            messages = worker.until("result")
        result = messages[-1][2]
        expected = kvw_json("probe", write_plan(reference_plan()), "--max", "32MiB", "--no-ceilings", "--record",
                            record)
        for json_ in (result, expected):
            del json_["device"]["availableBytes"]
            for row in json_["evidence"]:
                if row["id"] in ("append_rate", "read_rate"):
                    row["measured"] = None
                    row["tolerance"] = None  # the spread of what was measured
        self.assertEqual(result, expected)
        self.check_phases(messages, result)
        self.check_log(messages, EventLog(events))
        samples = [sample for name, _, content in messages if name == "samples" for sample in content["samples"]]
        for sample in samples:
            del sample["scheduledTokens"]
        self.assertEqual(samples, result["live"]["samples"])

    def check_phases(self, messages, result):
        self.assertEqual(messages[1][:2], ("accepted", 7))
        phases = [content for name, _, content in messages if name == "phase"]
        self.assertEqual([p["phase"] for p in phases if p["state"] == "begin"], messages[1][2]["phases"])
        self.assertEqual([p["state"] for p in phases], ["begin", "end"] * (len(phases) // 2))
        self.assertTrue(all(p["phase"] == q["phase"] for p, q in zip(phases[::2], phases[1::2])))
        reservation, = [p["reservation"] for p in phases if "reservation" in p]
        self.assertEqual(reservation["pools"], result["layout"]["pools"])
        self.assertEqual(reservation["bytes"], sum(p["blocks"] * p["blockBytes"] for p in reservation["pools"]))
        self.assertEqual(reservation["predictedSteps"], result["prediction"]["steps"])
        self.assertLessEqual(reservation["bytes"], reservation["device"]["limitBytes"])
        # What is reserved is told before anything is.
        names = [(name, content.get("phase")) for name, _, content in messages if name in ("phase", "logHeader")]
        self.assertLess(names.index(("phase", "reserve")), names.index(("logHeader", None)))

    def check_log(self, messages, log):
        header, = [content for name, _, content in messages if name == "logHeader"]
        self.assertEqual(header, log.header)
        digests, events = [], []
        for name, _, content in messages:
            if name not in ("digests", "events"):
                continue
            first, = struct.unpack_from("<Q", content)
            if name == "digests":
                self.assertEqual(first, len(digests))
                digests += [content[i:i + 16] for i in range(8, len(content), 16)]
            else:
                self.assertEqual(first, len(events))
                events += map(Event._make, _EVENT.iter_unpack(content[8:]))
        self.assertEqual(digests, log.digests)
        self.assertEqual(events, log.events)

    def test_slow_reader_loses_nothing(self):
        with Worker() as worker:
            worker.request(1, long_probe())
            time.sleep(1.5)
            messages = worker.until("result")
        events = sum((len(content) - 8) // 24 for name, _, content in messages if name == "events")
        ends = [content for name, _, content in messages if name == "phase" and content["state"] == "end"]
        self.assertEqual(ends[-1]["events"], events)
        self.assertEqual(ends[-1]["overflow"], {"events": 0, "samples": 0})

    def test_hold_back(self):
        with Worker() as worker:
            worker.request(1, probe(holdBack=True))
            messages = worker.until("result")
        names = [content["phase"] + content["state"] if name == "phase" else name for name, _, content in messages]
        during = names[names.index("stepsbegin"):names.index("stepsend")]
        self.assertEqual([n for n in dict.fromkeys(during)], ["stepsbegin", "logHeader", "digests", "events", "samples"])
        timed = {content["phase"] for name, _, content in messages if name == "phase" and content.get("timed")}
        self.assertEqual(timed, {"steps"})

    def test_cancel_and_barrier(self):
        with Worker() as worker:
            worker.request(1, long_probe())
            worker.until("samples")
            worker.about("cancel", 1)
            worker.about("barrier", 77)
            before = worker.until("barrier", 77)
            ends = [content for name, number, content in before if name in ("result", "failed") and number == 1]
            self.assertEqual(len(ends), 1)
            self.assertEqual(ends[0]["stopped"]["code"], "run.cancelled")
            self.assertLess(ends[0]["live"]["steps"], ends[0]["prediction"]["steps"])
            self.assertEqual(ends[0]["verdicts"]["differs"], 0)
            worker.send("stop")
            self.assertEqual(worker.end()[1], 0)

    def test_heartbeat_while_busy(self):
        with Worker() as worker:
            worker.request(1, probe(ceilings=True))
            began = time.monotonic()
            worker.until("result")
            self.assertGreaterEqual(getattr(worker, "beats", 0), int(time.monotonic() - began) // 2)

    def test_parent_that_is_gone(self):
        with Worker() as worker:
            worker.request(1, long_probe())
            worker.until("samples")
            worker.process.stdout.close()
            self.assertEqual(worker.process.wait(timeout=60), 13)

    def test_parent_that_hangs(self):
        # It neither reads nor says anything: the pipe is full, and the worker ends all the same.
        with Worker("--watchdog", "1") as worker:
            worker.request(1, long_probe())
            self.assertEqual(worker.process.wait(timeout=60), 12)

    def test_killed(self):
        with Worker() as worker:
            worker.request(1, long_probe())
            worker.until("events")
            worker.process.send_signal(signal.SIGKILL)
            try:
                while worker.message() is not None:
                    pass
            except AssertionError as error:
                self.assertIn("cut short", str(error))
            self.assertEqual(worker.process.wait(), -signal.SIGKILL)

    def test_garbage(self):
        for garbage in (b"\n", b"hello\n", b"{}\n" * 20, bytes(13), b"\xff" * 64):
            with Worker(greet=False) as worker:
                worker.process.stdin.write(garbage)
                worker.process.stdin.close()
                messages, code = worker.end()
                self.assertEqual(code, 10, garbage)
                self.assertEqual([name for name, _, _ in messages], ["hello", "failed", "bye"], garbage)
                self.assertIn("kvw worker:", worker.process.stderr.read().decode())

    def test_page(self):
        """The page names every message by its number, and every exit code."""
        page = (SOURCE / "resources" / "help" / "worker-protocol.md").read_text(encoding="utf-8")
        for name, number in NUMBER.items():
            self.assertIn(f"| {number} | {name} |", page)
        help_text = subprocess.run([BINARY, "worker", "--help"], capture_output=True, text=True, check=True).stdout
        for code in (0, 10, 11, 12, 13, 14, 15):
            self.assertIn(f"| {code} |", page)
            self.assertRegex(help_text, rf"(?m)^ +{code}  ")


if __name__ == "__main__":
    main()
