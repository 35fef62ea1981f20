#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

"""Holds the vLLM rules to what vLLM printed on other people's machines.

A start-up log prints its GiB with two decimals, so the true figure lies within 0.005 GiB of it. A case agrees when
some figure in that interval makes kvw give just the tokens and the concurrency that were printed. Where the reference
data is present, the table below is compared with it, and kvw with what vLLM's own sizing code computed (the oracle).
"""

import json
import unittest
from dataclasses import dataclass
from fractions import Fraction

from kvw_program import kvw_json, main, needs_shared, write_plan

GIB = 2 ** 30
ELEMENT_BYTES = {"bf16": 2, "fp8_e4m3": 1}


@dataclass
class Case:
    id: str
    version: str
    layers: int
    kv_heads: int
    head_dim: int
    tp: int
    dtype: str
    block: int
    length: int | None
    gib: str  # as printed
    tokens: int | None = None
    concurrency: str | None = None
    needed: str | None = None  # GiB, where the start-up check failed
    largest: int | None = None
    smallest_rank: str | None = None  # GiB of the rank that must have decided, which the excerpt does not show

    def block_bytes(self):
        """One block of all layers on one rank, K and V."""
        heads = max(1, self.kv_heads // self.tp)
        return self.layers * 2 * heads * self.head_dim * ELEMENT_BYTES[self.dtype] * self.block

    def interval(self):
        """The bytes that print as these GiB, ends included."""
        low = (Fraction(self.gib) - Fraction("0.005")) * GIB
        high = (Fraction(self.gib) + Fraction("0.005")) * GIB
        return -(-low.numerator // low.denominator), high.numerator // high.denominator

    def points(self):
        """Enough budgets of the interval: its ends, and every budget at which one block more fits."""
        low, high = self.interval()
        step = self.block_bytes()
        return sorted({low, high, *range(-(-low // step) * step, high + 1, step)})

    def plan(self, budget):
        tensors = [{"id": name, "role": role, "heads": self.kv_heads, "width": self.head_dim, "growth": "linear",
                    "shard": "heads"} for name, role in (("k", "key"), ("v", "value"))]
        plan = {
            "format": "kvplan", "schemaVersion": 1, "model": {"name": self.id, "basis": "library"},
            "worksheet": {"groups": [{"id": "full", "name": "Full", "kind": "full", "layers": self.layers,
                                      "tensors": tensors}]},
            "cache": {"elementType": self.dtype, "allocation": "paged_pool"},
            "engine": {"name": "vllm", "version": self.version, "blockTokens": self.block},
            "deployment": {"tp": self.tp}, "budget": {"kvBytesPerRank": budget}, "limits": {},
        }
        if self.length is not None:
            plan["limits"]["maxModelLen"] = self.length
        return plan

    def engine(self, budget):
        found = kvw_json("estimate", write_plan(self.plan(budget), self.id))["engine"]
        if found["refusal"] is not None:
            raise AssertionError(f"{self.id}: refused: {found['refusal']}")
        return found


AGREE = [
    Case("vllm-001", "0.11.0", 40, 8, 128, 1, "bf16", 16, 32_768, "6.51", 42_656, "1.30"),
    Case("vllm-002", "0.14.0", 28, 8, 128, 1, "bf16", 16, 1_024, "18.78", 175_856),
    Case("vllm-004", "0.6.3", 32, 8, 128, 1, "bf16", 16, 20_000, "3.81", 31_232, "1.56"),
    Case("vllm-005", "0.6.3", 32, 8, 128, 1, "bf16", 16, 29_000, "2.89", 23_648, "0.82"),
    Case("vllm-040", "0.15.0", 32, 8, 128, 1, "bf16", 16, 131_072, "19.28", 157_936, "1.20"),
]
# The start-up check failed: it printed what one request needs, and the largest length that fits.
FAILED = [
    Case("vllm-007", "0.11.0", 48, 4, 128, 1, "fp8_e4m3", 16, 221_000, "5.59", needed="10.12", largest=122_080),
    Case("vllm-014", "0.9.2", 32, 8, 128, 1, "bf16", 256, 131_072, "0.71", needed="16.0", largest=5_632),
]
# The printed GiB are one rank's, the printed tokens those of the rank with the least.
OTHER_RANK = [
    Case("vllm-003", "0.10.0", 94, 4, 128, 4, "bf16", 16, None, "8.11", 178_880, smallest_rank="8.018"),
    Case("vllm-009", "0.7.3", 48, 8, 128, 2, "bf16", 16, 131_072, "8.69", 81_536, smallest_rank="7.465"),
]


class CasesTest(unittest.TestCase):
    def test_agree(self):
        for case in AGREE:
            matches, met = [], set()
            for budget in case.points():
                engine = case.engine(budget)
                self.assertEqual(engine["bytesPerBlock"], case.block_bytes(), case.id)
                met.add((engine["tokens"], f"{engine['maxConcurrency']:.2f}"))
                if engine["tokens"] == case.tokens and \
                        case.concurrency in (None, f"{engine['maxConcurrency']:.2f}"):
                    matches.append(budget)
            self.assertTrue(matches, f"{case.id}: printed {case.gib} GiB, {case.tokens} tokens, {case.concurrency}x; "
                                     f"in that interval kvw gives {sorted(met)}")
            print(f"{case.id}: {case.tokens:,} tokens at {matches[0] / GIB:.4f} GiB (printed {case.gib})")

    def test_printed_need_and_largest_length(self):
        for case in FAILED:
            decimals = len(case.needed.split(".")[1])
            largest = set()
            for budget in case.points():
                engine = case.engine(budget)
                self.assertEqual(f"{engine['needBytes'] / GIB:.{decimals}f}", case.needed, case.id)
                self.assertIs(engine["fits"], False, case.id)
                largest.add(engine["largestLength"])
            self.assertIn(case.largest, largest, f"{case.id}: in the printed interval kvw gives {sorted(largest)}")
            print(f"{case.id}: needs {case.needed} GiB, largest length {case.largest:,}")

    def test_another_rank_decided(self):
        for case in OTHER_RANK:
            reached = {case.engine(budget)["tokens"] for budget in case.points()}
            self.assertNotIn(case.tokens, reached, f"{case.id}: the printed GiB do reach the printed tokens")
            self.assertGreater(min(reached), case.tokens, f"{case.id}: the rank that decided must hold less")
            blocks, rest = divmod(case.tokens, case.block)
            self.assertEqual(rest, 0, case.id)
            least = blocks * case.block_bytes()
            self.assertEqual(case.engine(least)["tokens"], case.tokens, case.id)
            self.assertLess(case.engine(least - 1)["tokens"], case.tokens, f"{case.id}: less memory does as well")
            decimals = len(case.smallest_rank.split(".")[1])
            self.assertEqual(f"{least / GIB:.{decimals}f}", case.smallest_rank, case.id)
            print(f"{case.id}: fits if the smallest rank holds {case.smallest_rank} GiB; that rank is not in the "
                  f"excerpt (printed {case.gib} GiB reach {min(reached):,} to {max(reached):,} tokens)")

    def test_the_table_is_the_reference_data(self):
        path = needs_shared(self) / "cases" / "vllm.jsonl"
        known = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            known[row["id"]] = row
        for case in AGREE + FAILED + OTHER_RANK:
            row, facts = known[case.id], known[case.id]["model_facts"]
            printed = row.get("printed") or {}
            self.assertEqual(
                (facts["layers"], facts["kv_heads"], facts["head_dim"], row["tp"], row["block_size"],
                 row["max_model_len"], row["available_kv_gib"], row["tokens"], row.get("max_concurrency"),
                 printed.get("estimated_max_model_len"), printed.get("needed_gib")),
                (case.layers, case.kv_heads, case.head_dim, case.tp, case.block, case.length, float(case.gib),
                 case.tokens, case.concurrency, case.largest, None if case.needed is None else float(case.needed)),
                case.id)
            self.assertIn("fp8" if case.dtype == "fp8_e4m3" else "bf16", row["kv_dtype"], case.id)
            self.assertEqual(row["agrees"], case.smallest_rank is None, case.id)


class OracleTest(unittest.TestCase):
    """vLLM's own sizing code, executed on shapes of one group (its newest generation)."""

    TYPES = {(2, None): "bf16", (4, None): "fp32", (1, "FP8_PER_TENSOR"): "fp8_e4m3", (1, "NVFP4"): "nvfp4"}

    def plan(self, row):
        """The case as a plan, or nothing when the rules at hand do not claim to cover it."""
        inputs, specs = row["inputs"], row["layer_specs"]
        if len(specs) != 1 or specs[0]["kind"] not in ("full", "sliding", "mla") or inputs["dcp"] != 1:
            return None
        if row["model_level"].get("pp", 1) != 1 or "num_gpu_blocks_override" in inputs:
            return None
        spec = specs[0]
        element = self.TYPES.get((spec["dtype_bytes"], spec.get("quant_mode")))
        if element is None or (spec["kind"] == "sliding" and inputs["batches_in_flight"] != 2):
            return None
        available = inputs["available_bytes"]
        widths = [("latent", "latent", spec["head_size"])] if spec["kind"] == "mla" else [
            ("k", "key", spec["head_size"]), ("v", "value", spec["head_size_v"])]
        tensors = [{"id": name, "role": role, "heads": spec["num_kv_heads_local"], "width": width, "growth": "linear",
                    "shard": "replicated"} for name, role, width in widths]
        for tensor in tensors:
            if spec["kind"] == "sliding":
                tensor["limit"] = spec["sliding_window"]
        return {
            "format": "kvplan", "schemaVersion": 1,
            "worksheet": {"groups": [{"id": "g", "name": "g", "kind": spec["kind"], "layers": spec["count"],
                                      "tensors": tensors}]},
            "cache": {"elementType": element}, "deployment": {"tp": 1},
            "engine": {"name": "vllm", "version": "0.26.0", "blockTokens": spec["block_size"],
                       "maxBatchedTokens": inputs["max_num_batched_tokens"]},
            "budget": {"kvBytesPerRank": min(available) if isinstance(available, list) else available},
            "limits": {"maxModelLen": inputs["max_model_len"]},
        }

    def test_oracle(self):
        path = needs_shared(self) / "cases" / "vllm_oracle.jsonl"
        compared, kinds = 0, set()
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            plan, outputs = self.plan(row), row["outputs"]
            if plan is None or not outputs.get("groups"):
                continue
            engine = kvw_json("estimate", write_plan(plan, "oracle"))["engine"]
            names = {"num_blocks": "blocks", "bytes_per_block": "bytesPerBlock",
                     "blocks_per_request": "blocksPerRequest", "max_concurrency": "maxConcurrency",
                     "reported_tokens": "tokens", "need_bytes_one_request": "needBytes", "need_bytes": "needBytes",
                     "largest_len_that_fits": "largestLength"}
            for theirs, ours in names.items():
                if theirs in outputs:
                    self.assertEqual(engine[ours], outputs[theirs], f"{row['id']}: {ours}, {theirs}")
            self.assertIs(engine["fits"], "error_type" not in outputs, row["id"])
            compared += 1
            kinds.add(row["layer_specs"][0]["kind"])
        print(f"compared with {compared} cases of the oracle")
        self.assertGreaterEqual(compared, 20)
        self.assertEqual(kinds, {"full", "sliding", "mla"})


if __name__ == "__main__":
    main()
