#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

"""Runs `kvw predict` and `kvw probe` and holds their figures against the event logs and records that they leave.

The logs are read and replayed here by the description of their format (kvw_events.py), not by the program.
"""

import json
import unittest

from kvw_events import ADMIT, ARRIVE, COMPLETE, EventLog, KINDS, Replay
from kvw_program import SCALE, dice, kvw, kvw_json, main, reference_plan, rounds, scratch, settings, write_plan

MIB = 2 ** 20

# The stable names of the JSON. A name that goes or comes is a change that scripts must be told of.
OUTCOMES = {"unfinished", "completed", "rejected", "cancelled", "failed"}
PREDICT = {"planHash", "workloadHash", "poolFraction", "rules", "layout", "assumptions", "prediction", "engine", "diagnostics"}
PROBE = PREDICT | {"live", "device", "domainsInPool", "bytesReadBack", "evidence", "verdicts", "record"}
LAYOUT = {"rank", "pools", "groups", "domains"}
RECORD = {"kind", "device", "complete", "stopReason", "steps", "outcomes", "preemptions", "recomputedTokens",
          "computedTokens", "appendedBytes", "evictions", "readBackEntries", "peakStep", "final", "tenants", "cold",
          "warm", "requests", "samples"}
TENANT = {"id", "outcomes", "promptTokens", "hitTokens", "neverComputed", "missCauses"}
CAUSES = {"none", "never seen", "evicted", "not eligible", "below unit"}
REQUEST = {"id", "tenant", "outcome", "reason", "promptTokens", "outputTokens", "arrivalStep", "admitStep",
           "firstTokenStep", "endStep", "hitTokens", "neverComputed", "recomputedTokens", "preemptions", "mostBlocks",
           "missCause", "warm"}
SAMPLE = {"step", "running", "waiting", "active", "cached", "free", "activeBytes", "cachedBytes", "reservedBytes"}
LATENCIES = {"queueSteps", "firstTokenSteps", "perTokenSteps", "endToEndSteps"}
QUANTILES = {"count", "median", "p90", "p99", "max"}
EVIDENCE = {"id", "title", "unit", "estimated", "predicted", "measured", "instrument", "difference", "tolerance",
            "verdict", "reason"}
EVENTS = {"source", "planHash", "workloadHash", "complete", "events", "lastStep", "step", "counts", "states"}
COUNT = {"pool", "state", "tenant", "group", "blocks", "tokens"}
VERDICTS = {"agrees", "differs", "not comparable", "same counter", "not put to the test"}
# What a run need not bring about: where nothing happened, zero against zero is no verdict.
MAY_NOT_HAPPEN = {"evictions", "recomputed_tokens", "hit_tokens.acme", "hit_tokens.birch"}
# Rows that an instrument must have measured, so that a run without instruments cannot pass for agreement.
MEASURED = ["pool_bytes", "pool_blocks", "appended_bytes", "evictions", "recomputed_tokens", "hit_tokens.acme",
            "hit_tokens.birch", "peak_active_blocks", "final_active_blocks", "final_cached_blocks",
            "final_free_blocks", "entries_read_back", "content_mismatches", "cross_domain_entries", "wrong_blocks"]


class Case(unittest.TestCase):
    def keys(self, found, expected, what):
        self.assertEqual(set(found), expected, f"names of {what}")

    def check_record(self, record, requests, what):
        """One record: its shape, and that nothing is lost or counted twice."""
        self.keys(record, RECORD, what)
        self.keys(record["outcomes"], OUTCOMES, f"{what}.outcomes")
        self.keys(record["final"], {"active", "cached", "free", "held"}, f"{what}.final")
        for kind in ("cold", "warm"):
            self.keys(record[kind], LATENCIES, f"{what}.{kind}")
            for name in LATENCIES:
                self.keys(record[kind][name], QUANTILES, f"{what}.{kind}.{name}")
                values = record[kind][name]
                self.assertLessEqual(values["median"], values["p90"], what)
                self.assertLessEqual(values["p90"], values["p99"], what)
                self.assertLessEqual(values["p99"], values["max"], what)
        self.assertEqual(sum(record["outcomes"].values()), requests, f"{what}: requests in, and how they ended")
        self.assertEqual(len(record["requests"]), requests, what)
        self.assertEqual([r["id"] for r in record["requests"]], list(range(requests)), what)
        for request in record["requests"]:
            self.keys(request, REQUEST, f"{what}.requests")
            self.assertIn(request["outcome"], OUTCOMES, what)
            if request["outcome"] in ("rejected", "failed"):
                self.assertTrue(request["reason"], f"{what}: request {request['id']} ended without a reason")
        for name, count in record["outcomes"].items():
            self.assertEqual(sum(r["outcome"] == name for r in record["requests"]), count, f"{what}: {name}")
        for tenant in record["tenants"]:
            self.check_tenant(tenant, [r for r in record["requests"] if r["tenant"] == tenant["id"]], what)
        for name in ("preemptions", "recomputedTokens"):
            self.assertEqual(sum(r[name] for r in record["requests"]), record[name], f"{what}: {name}")
        for sample in record["samples"]:
            self.keys(sample, SAMPLE, f"{what}.samples")
        self.assertEqual(record["complete"], record["outcomes"]["unfinished"] == 0, what)
        most = max(sample["active"] for sample in record["samples"])
        first = next(sample["step"] for sample in record["samples"] if sample["active"] == most)
        self.assertEqual(record["peakStep"], first, f"{what}: the first step with {most} active blocks")

    def check_tenant(self, tenant, requests, what):
        what = f"{what}, tenant {tenant['id']}"
        self.keys(tenant, TENANT, what)
        self.keys(tenant["missCauses"], CAUSES, what)
        self.assertEqual(sum(tenant["outcomes"].values()), len(requests), what)
        admitted = [r for r in requests if r["admitStep"] >= 0]
        self.assertEqual(sum(tenant["missCauses"].values()), len(admitted), f"{what}: causes of first admissions")
        self.assertEqual(tenant["promptTokens"], sum(r["promptTokens"] for r in admitted), what)
        self.assertEqual(tenant["hitTokens"], sum(r["hitTokens"] for r in admitted), what)
        self.assertEqual(tenant["neverComputed"],
                         sum(r["neverComputed"] for r in admitted if r["outcome"] == "completed"), what)

    def check_log(self, path, record, layout, what, program_steps=6):
        """The log tells the same story as the record, at every step; the program counts it as the replay here does."""
        log = EventLog(path)
        self.assertTrue(log.whole, f"{what}: no end chunk")
        self.assertEqual(log.cut, 0, what)
        self.assertEqual([pool["blocks"] for pool in layout["pools"]], log.pools(), what)
        replay = Replay(log)
        samples = record["samples"]
        asked = self.some_steps(samples, program_steps)
        total = sum(log.pools())
        for sample in samples:
            replay.advance(sample["step"])
            states = replay.states()
            self.assertEqual({name: states[name] for name in ("active", "cached", "free")},
                             {name: sample[name] for name in ("active", "cached", "free")},
                             f"{what}: blocks at the end of step {sample['step']}")
            self.assertEqual(sum(states.values()), total, what)
            if sample["step"] in asked:
                self.check_count(path, sample["step"], replay, log, what)
        replay.advance()
        self.assertEqual(replay.states(), record["final"], f"{what}: blocks at the end")
        self.check_count(path, None, replay, log, what)
        self.check_story(log, replay, record, what)
        return log

    def some_steps(self, samples, count):
        steps = [sample["step"] for sample in samples]
        busiest = max(samples, key=lambda sample: sample["active"])["step"]
        return {steps[0], steps[-1], busiest, *steps[len(steps) // 3::max(1, len(steps) // count)][:count]}

    def check_count(self, path, step, replay, log, what):
        found = kvw_json("events", path, *([] if step is None else ["--at", step]))
        what = f"{what}: kvw events at {'the end' if step is None else f'step {step}'}"
        self.keys(found, EVENTS, what)
        rows = {}
        for row in found["counts"]:
            self.keys(row, COUNT, what)
            key = row["pool"], row["state"], row["tenant"], row["group"]
            self.assertNotIn(key, rows, f"{what}: a row twice")
            rows[key] = row["blocks"], row["tokens"]
        self.assertEqual(rows, replay.rows(), what)
        for pool, size in enumerate(log.pools()):
            self.assertEqual(sum(row["blocks"] for row in found["counts"] if row["pool"] == str(pool)), size,
                             f"{what}: blocks of pool {pool}")
        self.assertEqual(found["states"], {name: n for name, n in replay.states().items() if n}, what)
        self.assertEqual(found["step"], replay.step, what)
        self.assertEqual(found["events"], len(log.events), what)
        self.assertTrue(found["complete"], what)

    def check_story(self, log, replay, record, what):
        counted = replay.counted
        requests = record["requests"]
        names = {"completed": "complete", "rejected": "reject", "cancelled": "cancel", "failed": "fail"}
        for outcome, event in names.items():
            self.assertEqual(counted[event], record["outcomes"][outcome], f"{what}: {event} events")
        self.assertEqual(counted["arrive"], len(requests), what)
        self.assertEqual(counted["evict"], record["evictions"], f"{what}: evict events")
        self.assertEqual(counted["preempt"], record["preemptions"], f"{what}: preempt events")
        if len(log.header["groups"]) == 1:
            self.assertEqual(replay.tokens_written[0], record["computedTokens"], f"{what}: appended tokens")
        for event in log.events:
            if event.kind == ARRIVE:
                request = requests[event.request]
                self.assertEqual((event.value, event.step, log.header["tenants"][event.tenant]),
                                 (request["promptTokens"], request["arrivalStep"], request["tenant"]), what)
            elif event.kind == COMPLETE:
                self.assertEqual((event.value, event.step),
                                 (requests[event.request]["outputTokens"], requests[event.request]["endStep"]), what)
        hits = {request["id"]: request["hitTokens"] for request in requests if request["hitTokens"]}
        self.assertEqual({r: n for r, n in replay.admitted_from_cache.items() if n}, hits, f"{what}: hits")
        admits = sorted((e.step, e.request) for e in log.events if e.kind == ADMIT)
        first = {}
        for step, request in admits:
            first.setdefault(request, step)
        self.assertEqual({r["id"]: r["admitStep"] for r in requests if r["admitStep"] >= 0}, first, what)

    def predict(self, plan, name, *extra):
        """A prediction with its event log: (the JSON, the log's path)."""
        events = scratch() / f"{name}.events"
        return kvw_json("predict", write_plan(plan, name), "--events", events, *extra), events


class PredictionTest(Case):
    def test_shape_and_accounting(self):
        plan = reference_plan()
        found, events = self.predict(plan, "whole")
        self.keys(found, PREDICT, "kvw predict")
        self.keys(found["layout"], LAYOUT, "layout")
        for domain in found["layout"]["domains"]:
            self.keys(domain, {"tenant", "domain", "key"}, "layout.domains")
        estimate = kvw_json("estimate", write_plan(plan, "whole"))
        self.assertEqual(found["planHash"], estimate["planHash"])
        # A run adds an engine to a plan that states none; the plan is the same one.
        bare = write_plan({**plan, "engine": {}}, "bare")
        self.assertEqual(kvw_json("predict", bare)["planHash"], kvw_json("estimate", bare)["planHash"])
        self.assertEqual(found["layout"]["pools"], [{
            "blocks": estimate["engine"]["blocks"], "held": 1, "blockBytes": estimate["engine"]["bytesPerBlock"]}])
        record = found["prediction"]
        self.check_record(record, plan["workload"]["requests"], "prediction")
        self.assertEqual((record["kind"], record["device"]), ("prediction", "modelled"))
        self.assertEqual(record["appendedBytes"], record["computedTokens"] * estimate["bytesPerToken"])
        for sample in record["samples"]:
            for state in ("active", "cached"):
                self.assertEqual(sample[f"{state}Bytes"], sample[state] * estimate["engine"]["bytesPerBlock"])
        log = self.check_log(events, record, found["layout"], "prediction")
        self.assertEqual(log.header["plan"], found["planHash"])
        self.assertEqual(log.header["workload"], found["workloadHash"])
        self.assertGreater(len(log.keyframes), 0, "a log of this length has keyframes")
        self.check_hits(record, plan)

    def check_hits(self, record, plan):
        """Without preemptions only the common and the shared prefix can hit: whole blocks of them."""
        self.assertEqual(record["preemptions"], 0)
        work, block = plan["workload"], plan["engine"]["blockTokens"]
        most = (work["commonPrefixTokens"] + work["sharedPrefixTokens"]) // block * block
        for request in record["requests"]:
            self.assertEqual(request["hitTokens"] % block, 0)
            self.assertLessEqual(request["hitTokens"], min(most, request["promptTokens"] - 1))
            self.assertEqual(request["warm"], request["hitTokens"] > 0)
        self.assertEqual(record["computedTokens"],
                         sum(r["promptTokens"] + r["outputTokens"] - 1 - r["hitTokens"] for r in record["requests"]))
        self.assertEqual(max(r["hitTokens"] for r in record["requests"]), most, "nobody hit a whole shared prefix")

    def test_same_seed_same_events(self):
        plan = reference_plan()
        first, one = self.predict(plan, "one")
        again, two = self.predict(plan, "two")
        self.assertEqual(first, again)
        a, b = EventLog(one), EventLog(two)
        for log in (a, b):
            log.header.pop("created")
        self.assertEqual(a.header, b.header)
        self.assertEqual(a.chunks[1:], b.chunks[1:], "the same seed gave other event bytes")
        plan["workload"]["seed"] += 1
        other, three = self.predict(plan, "three")
        self.assertNotEqual(other["workloadHash"], first["workloadHash"])
        self.assertNotEqual(EventLog(three).events, a.events, "another seed gave the same events")

    def test_prefix_cache_off(self):
        plan = reference_plan()
        plan["reuse"]["prefixCaching"] = "off"
        found, events = self.predict(plan, "off")
        record = found["prediction"]
        self.check_record(record, plan["workload"]["requests"], "no prefix cache")
        self.check_log(events, record, found["layout"], "no prefix cache", program_steps=2)
        self.assertEqual([tenant["hitTokens"] for tenant in record["tenants"]], [0, 0])
        self.assertEqual(record["final"]["cached"], 0)
        self.assertEqual(record["evictions"], 0)

    def test_smallest_windows(self):
        """What predict writes can be read, down to windows of one token and of none."""
        for window in (0, 1, 2):
            plan = reference_plan()
            plan["workload"]["requests"] = 4
            for tensor in plan["worksheet"]["groups"][0]["tensors"]:
                tensor["limit"] = window
            for engine in ("none", "vllm"):
                plan["engine"]["name"] = engine
                events = scratch() / "window.events"
                answer = kvw("predict", write_plan(plan, "window"), "--events", events, "--json", expect=None)
                if answer.code == 3:
                    continue
                what = f"a window of {window} tokens, engine {engine}"
                self.assertEqual(answer.code, 0, f"{what}: {answer.err}")
                self.assertEqual(kvw("events", events, expect=None).err, "", f"{what}: kvw events")
                found = answer.json()
                self.check_log(events, found["prediction"], found["layout"], what, program_steps=1)

    def test_beyond_the_configured_maximum(self):
        """Requests longer than the configured maximum are rejected before they cost a block; the plan says so."""
        plan = reference_plan()
        most = 4096
        plan["limits"].update(maxModelLen=most, promptTokens=3584, outputTokens=512)
        found = kvw_json("predict", write_plan(plan, "beyond"))
        requests = found["prediction"]["requests"]
        lengths = kvw_json("predict", write_plan(reference_plan(), "within"))["prediction"]["requests"]
        rejected = 0
        for request, whole in zip(requests, lengths):
            longer = whole["promptTokens"] + whole["outputTokens"] > most
            self.assertEqual(request["outcome"], "rejected" if longer else "completed", request)
            rejected += longer
        self.assertGreater(rejected, 10)
        self.assertLess(rejected, len(requests))
        self.assertIn("workload.beyond_limit", [one["id"] for one in found["diagnostics"]])

    def test_pool_fraction_is_what_was_used(self):
        for fraction in ("1", "0.5", "0.01", "1e-9"):
            found = kvw_json("predict", write_plan(reference_plan(), "fraction"), "--fraction", fraction)
            used = sum(pool["blocks"] * pool["blockBytes"] for pool in found["layout"]["pools"])
            planned = kvw_json("estimate", write_plan(reference_plan(), "fraction"))["engine"]["poolBytes"]
            self.assertAlmostEqual(found["poolFraction"], used / planned, places=12, msg=fraction)

    def test_random_workloads(self):
        """Small pools, every outcome, one group and several: nothing is lost, the log tells the same."""
        draw = dice(5)
        seen = set()
        for i in range(rounds(18)):
            plan = self.crowded(draw, i)
            try:
                found, events = self.predict(plan, "crowded")
                self.check_record(found["prediction"], plan["workload"]["requests"], f"workload {i}")
                self.check_log(events, found["prediction"], found["layout"], f"workload {i}", program_steps=1)
            except AssertionError as error:
                raise AssertionError(f"{error}\nplan: {json.dumps(plan)}") from None
            record = found["prediction"]
            seen |= {name for name, count in record["outcomes"].items() if count}
            seen |= {name for name in ("preemptions", "evictions") if record[name]}
            seen |= {"several pools"} if len(found["layout"]["pools"]) > 1 else set()
        if SCALE >= 1:
            self.assertEqual({"completed", "rejected", "preemptions", "evictions", "several pools"} - seen, set(),
                             "the random workloads never met these")

    def test_random_workloads_live(self):
        """The same on host memory: no instrument may contradict the prediction, whatever happens to requests."""
        draw = dice(6)
        wrong = []
        for i in range(rounds(8)):
            plan = self.crowded(draw, i)
            for group in plan["worksheet"]["groups"]:
                group.update(layers=2, layerIndices="")
            plan["budget"]["kvBytesPerRank"] //= 16  # 2 layers of 32: as many blocks as before
            try:
                self.check_live(plan, f"live workload {i}")
            except AssertionError as error:
                wrong.append(f"{error}\nplan: {json.dumps(plan)}")
        if wrong:
            self.fail("\n\n".join(wrong))

    def check_live(self, plan, what):
        events = scratch() / "live.events"
        answer = kvw("probe", write_plan(plan, "live"), "--json", "--fraction", 1, "--no-ceilings", "--events", events,
                     "--record", scratch() / "live.jsonl", expect=None)
        self.assertIn(answer.code, (0, 1), answer.err)
        found = answer.json()
        self.check_record(found["live"], plan["workload"]["requests"], what)
        self.check_log(events, found["live"], found["layout"], what, program_steps=1)
        self.assertEqual({**found["live"], "kind": "", "device": ""}, {**found["prediction"], "kind": "", "device": ""},
                         what)
        differ = [f"{row['id']}: predicted {row['predicted']}, measured {row['measured']}" for row in found["evidence"]
                  if row["verdict"] == "differs"]
        if differ:
            self.fail(f"{what}: the evidence differs (exit {answer.code}): {'; '.join(differ)}")
        self.assertEqual(answer.code, 0, what)

    def crowded(self, draw, i):
        plan = reference_plan()
        plan["engine"] = {"name": "vllm", "version": "0.11.0", "blockTokens": draw.choice([8, 16, 32]),
                          "maxBatchedTokens": draw.choice([64, 256, 2048]), "maxSequences": draw.choice([3, 8, 32])}
        plan["workload"].update(seed=draw.randint(0, 10 ** 6), requests=draw.randint(5, 60), commonPrefixTokens=64,
                                sharedPrefixTokens=draw.choice([0, 100, 256]), promptTokensMin=16,
                                promptTokensMax=draw.choice([64, 400]), outputTokensMin=1,
                                outputTokensMax=draw.choice([8, 300]), burstRequests=draw.randint(1, 16),
                                burstGapSteps=draw.randint(1, 40))
        plan["admission"] = {"whenExhausted": ["preempt_recompute", "wait", "reject"][i % 3],
                             "reservation": "full_output" if i % 5 == 4 else "on_demand"}
        if plan["admission"]["whenExhausted"] == "wait":
            plan["admission"]["maxWaitSteps"] = draw.choice([0, 20, 10 ** 6])
        plan["limits"]["maxModelLen"] = 1024
        plan["budget"]["kvBytesPerRank"] = draw.randint(500, 1500) * 131_072
        if i % 4 == 3:
            plan["engine"].update(name="none")
            window = {"id": "window", "name": "Window", "kind": "sliding", "layers": 8, "tensors": [
                {"id": name, "role": role, "heads": 2, "width": 64, "growth": "linear", "limit": 100,
                 "shard": "heads"} for name, role in (("k", "key"), ("v", "value"))]}
            plan["worksheet"]["groups"].append(window)
        return plan


class SharingTest(Case):
    """What one tenant's policy changes: the domain, what hits, the blocks, and the bytes of the live run."""

    APART = {}
    TOGETHER = {"tenants.birch.sharingGroup": "group-1"}
    ALONE = {"tenants.birch.sharingGroup": "group-1", "tenants.birch.eligibility": "tenant"}

    def run_with(self, command, values, *extra):
        record = ["--record", scratch() / "sharing.jsonl"] if command == "probe" else []
        return kvw_json(command, write_plan(reference_plan(), "sharing"), *settings(values), *extra, *record)

    def domains(self, found):
        return {row["tenant"]: (row["domain"], row["key"]) for row in found["layout"]["domains"]}

    def hits(self, record):
        return sum(tenant["hitTokens"] for tenant in record["tenants"])

    def test_prediction(self):
        apart, together, alone = (self.run_with("predict", values) for values in
                                  (self.APART, self.TOGETHER, self.ALONE))
        self.assertEqual([row["key"] for row in apart["layout"]["domains"]], ["group:group-1", "group:group-2"])
        self.assertEqual([row["key"] for row in together["layout"]["domains"]], ["group:group-1", "group:group-1"])
        self.assertEqual([row["key"] for row in alone["layout"]["domains"]], ["group:group-1", "tenant:birch"])
        for found, number in ((apart, 2), (together, 1), (alone, 2)):
            self.assertEqual(len({domain for domain, _ in self.domains(found).values()}), number)
            self.assertNotIn(0, [domain for domain, _ in self.domains(found).values()], "0 is the public domain")
        self.assertEqual(len({found["planHash"] for found in (apart, together, alone)}), 3, "the plan's hash")
        self.assertEqual({found["workloadHash"] for found in (together, alone)}, {apart["workloadHash"]},
                         "a policy does not change what is asked")
        records = [found["prediction"] for found in (apart, together, alone)]
        self.assertGreater(self.hits(records[1]), self.hits(records[0]), "who shares hits more")
        self.assertLess(records[1]["computedTokens"], records[0]["computedTokens"], "and computes less")
        self.assertLess(records[1]["appendedBytes"], records[0]["appendedBytes"])
        self.assertNotEqual([s["active"] for s in records[1]["samples"]], [s["active"] for s in records[0]["samples"]],
                            "blocks over time")
        not_eligible = [sum(t["missCauses"]["not eligible"] for t in record["tenants"]) for record in records]
        self.assertGreater(not_eligible[0], 0)
        self.assertEqual(not_eligible[1], 0, "in one group nobody is refused another's state")
        self.assertEqual(records[2], records[0], "alone in a domain or alone in a group: the same for the cache")

    def test_live(self):
        figures = {}
        for name, values in (("apart", self.APART), ("together", self.TOGETHER), ("alone", self.ALONE)):
            found = self.run_with("probe", values, "--max", "64MiB", "--no-ceilings")
            evidence = {row["id"]: row for row in found["evidence"]}
            for row in evidence.values():
                self.assertNotEqual(row["verdict"], "differs", f"{name}: {row}")
            self.assertEqual(evidence["cross_domain_entries"]["measured"], 0, name)
            figures[name] = {"appended": evidence["appended_bytes"]["measured"],
                             "hits": evidence["hit_tokens.acme"]["measured"] + evidence["hit_tokens.birch"]["measured"],
                             "read": found["bytesReadBack"], "entries": evidence["entries_read_back"]["measured"],
                             "domains": set(found["domainsInPool"]), "found": found}
            self.assertEqual(figures[name]["domains"], {domain for domain, _ in self.domains(found).values()}, name)
        apart, together, alone = figures["apart"], figures["together"], figures["alone"]
        self.assertLess(together["appended"], apart["appended"], "measured: bytes that are not poison")
        self.assertGreater(together["hits"], apart["hits"], "measured: tokens that nobody wrote")
        bytes_per_token = apart["found"]["layout"]["groups"][0]["bytesPerToken"]
        for case in figures.values():
            self.assertEqual(case["read"], case["entries"] * bytes_per_token, "bytes read back")
            record = case["found"]["live"]
            completed = [r for r in record["requests"] if r["outcome"] == "completed"]
            whole = sum(r["promptTokens"] + r["outputTokens"] - 1 for r in completed)
            self.assertEqual(case["entries"], whole, "every completed request is read back whole, hits included")
            self.assertEqual(case["appended"], record["computedTokens"] * bytes_per_token)
        saved = (apart["appended"] - together["appended"]) // bytes_per_token
        self.assertEqual(saved, together["hits"] - apart["hits"], "what is not written is what is hit")
        self.assertEqual((alone["appended"], alone["hits"]), (apart["appended"], apart["hits"]))


class ProbeTest(Case):
    @classmethod
    def setUpClass(cls):
        cls.events, cls.record = scratch() / "probe.events", scratch() / "probe.jsonl"
        cls.file = write_plan(reference_plan(), "probe")
        cls.found = kvw_json("probe", cls.file, "--max", "64MiB", "--no-ceilings", "--events", cls.events, "--record",
                             cls.record)

    def test_shape(self):
        found = self.found
        self.keys(found, PROBE, "kvw probe")
        self.keys(found["device"], {"id", "name", "totalBytes", "availableBytes", "memorySource"}, "device")
        self.keys(found["verdicts"], {"agrees", "differs", "notComparable", "sameCounter", "notTested"}, "verdicts")
        self.assertLessEqual(sum(p["blocks"] * p["blockBytes"] for p in found["layout"]["pools"]), 64 * MIB)
        self.assertAlmostEqual(found["poolFraction"], 64 / 6144, places=6)
        rows = {row["id"]: row for row in found["evidence"]}
        self.assertEqual(len(rows), len(found["evidence"]), "an id of evidence twice")
        for row in rows.values():
            self.keys(row, EVIDENCE, f"evidence {row['id']}")
            self.keys(row["tolerance"], {"below", "above", "reason"}, f"evidence {row['id']}")
            self.assertIn(row["verdict"], VERDICTS)
            self.assertTrue(row["instrument"], row["id"])
            if row["verdict"] not in ("agrees", "differs"):
                self.assertTrue(row["reason"], f"{row['id']}: no verdict, and no reason")
        self.check_verdicts(rows)
        for name in MEASURED:
            self.assertIsNotNone(rows[name]["measured"], name)
            self.assertIsNotNone(rows[name]["predicted"], name)
            idle = name in MAY_NOT_HAPPEN and rows[name]["measured"] == 0 and rows[name]["predicted"] == 0
            self.assertEqual(rows[name]["verdict"], "not put to the test" if idle else "agrees", rows[name])
        for name, verdict in (("agrees", "agrees"), ("notComparable", "not comparable"), ("differs", "differs"),
                              ("sameCounter", "same counter"), ("notTested", "not put to the test")):
            self.assertEqual(found["verdicts"][name], sum(r["verdict"] == verdict for r in rows.values()), name)
        self.assertEqual(rows["preemptions"]["verdict"], "same counter")

    def check_verdicts(self, rows):
        """Every verdict follows from its row, and the predicted figures are those of the prediction."""
        for row in rows.values():
            if row["verdict"] not in ("agrees", "differs"):
                continue
            against = [row[name] for name in ("estimated", "predicted") if row[name] is not None]
            self.assertTrue(against, row)
            within = all(-row["tolerance"]["below"] <= row["measured"] - other <= row["tolerance"]["above"]
                         for other in against)
            self.assertEqual(row["verdict"], "agrees" if within else "differs", row)
            self.assertEqual(row["difference"], row["measured"] - against[-1], row)
        record, pool = self.found["prediction"], self.found["layout"]["pools"][0]
        expected = {"pool_bytes": pool["blocks"] * pool["blockBytes"], "pool_blocks": pool["blocks"],
                    "appended_bytes": record["appendedBytes"], "evictions": record["evictions"],
                    "recomputed_tokens": record["recomputedTokens"], "preemptions": record["preemptions"],
                    "peak_active_blocks": max(sample["active"] for sample in record["samples"]),
                    "entries_read_back": record["readBackEntries"], "content_mismatches": 0,
                    "cross_domain_entries": 0, "wrong_blocks": 0}
        expected.update({f"final_{state}_blocks": record["final"][state] for state in ("active", "cached", "free")})
        expected.update({f"hit_tokens.{tenant['id']}": tenant["neverComputed"] for tenant in record["tenants"]})
        self.assertEqual({name: rows[name]["predicted"] for name in expected}, expected)
        self.assertEqual(rows["pool_bytes"]["estimated"], expected["pool_bytes"], "the estimate is of the scaled plan")

    def test_accounting(self):
        bytes_per_token = self.found["layout"]["groups"][0]["bytesPerToken"]
        for kind in ("prediction", "live"):
            self.check_record(self.found[kind], 64, kind)
            appended = self.found[kind]["computedTokens"] * bytes_per_token
            self.assertEqual(self.found[kind]["appendedBytes"], appended, kind)
        live, prediction = dict(self.found["live"]), dict(self.found["prediction"])
        for name in ("kind", "device"):
            self.assertNotEqual(live.pop(name), prediction.pop(name))
        self.assertEqual(live, prediction, "one loop, two devices: the counters are the same")

    def test_log_and_record(self):
        log = self.check_log(self.events, self.found["live"], self.found["layout"], "live run")
        self.assertIn("live run", log.header["source"])
        lines = [json.loads(line) for line in self.record.read_text(encoding="utf-8").splitlines()]
        self.assertEqual([lines[0]["type"], lines[-1]["type"]], ["run", "end"])
        self.assertEqual(self.found["record"], str(self.record))
        steps = [{name: line[name] for name in SAMPLE} for line in lines if line["type"] == "step"]
        self.assertEqual(steps, self.found["live"]["samples"])
        ended = {line["id"]: line["outcome"] for line in lines if line["type"] == "request"}
        self.assertEqual(ended, {r["id"]: r["outcome"] for r in self.found["live"]["requests"]})
        self.assertEqual(lines[-1]["outcomes"], self.found["live"]["outcomes"])
        self.assertEqual(sum(line["scheduledTokens"] for line in lines if line["type"] == "step"),
                         self.found["live"]["computedTokens"])

    def test_live_events_are_the_predicted_ones(self):
        predicted = scratch() / "scaled.events"
        kvw("predict", self.file, "--fraction", repr(self.found["poolFraction"]), "--events", predicted)
        live, prediction = EventLog(self.events), EventLog(predicted)
        self.assertEqual(live.events, prediction.events)
        self.assertEqual(live.digests, prediction.digests)
        self.assertEqual(set(KINDS[e.kind - 1] for e in live.events) >= {"step", "allocate", "append", "evict"}, True)

    def keeps(self, before, after, where):
        """Everything that was stated is stated as before; the program may state more."""
        if isinstance(before, dict):
            for name, value in before.items():
                self.assertIn(name, after, where)
                self.keeps(value, after[name], f"{where}.{name}")
        elif isinstance(before, list):
            self.assertEqual(len(before), len(after), where)
            for i, value in enumerate(before):
                self.keeps(value, after[i], f"{where}[{i}]")
        else:
            self.assertEqual(before, after, where)

    def test_evidence_in_the_plan(self):
        plan = write_plan(reference_plan(), "kept")
        kvw("probe", plan, "--max", "32MiB", "--no-ceilings", "--record", scratch() / "kept.jsonl", "--update-plan")
        kept = json.loads(plan.read_text(encoding="utf-8"))
        self.assertEqual(len(kept["runs"]), 1)
        self.assertEqual(kept["runs"][0]["planHash"], kvw_json("estimate", plan)["planHash"], "evidence is no edit")
        self.assertGreater(len(kept["evidence"]), 10)
        self.keeps(reference_plan(), kept, "plan")
        self.assertIn("current for this plan", kvw("report", plan, "--no-prediction").out)
        stale = kvw("report", plan, "--no-prediction", *settings({"limits.maxModelLen": 4096})).out
        self.assertIn("stale", stale, "an edit that matters makes the evidence stale")


if __name__ == "__main__":
    main()
