#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

"""Compares `kvw estimate --json` with the same figures computed here (kvw_sizes.py), and with published ones."""

import json
import unittest

from kvw_program import DATA, SCALE, dice, example_plans, kvw, kvw_json, main, needs_shared, reference_plan, rounds, \
    settings, write_plan
from kvw_random_plan import SHAPES, random_plan
from kvw_sizes import ELEMENT_TYPES, MIDDLE, NEW, OLD, Sizes

TOP = ("bytesPerToken fixedBytesPerSequence idealBytesPerSequence idealBytes retainedBytes reservedBytes").split()
MOST = 2 ** 63 - 1

# Growing bytes per token and bytes of one sequence's full windows, 16-bit, whole model.
PUBLISHED = [
    # config of ours, config of the reference data, growing, windows
    ("gpt_oss_120b.json", "openai--gpt-oss-120b_config.json", 36_864, 4_718_592),
    ("deepseek_r1.json", "deepseek-ai--DeepSeek-R1_config.json", 70_272, 0),
    ("qwen3_235b_a22b.json", "Qwen--Qwen3-235B-A22B_config.json", 192_512, 0),
]
# Growing bytes per token on each rank: config, reference config, ranks, bytes.
PUBLISHED_RANKS = [
    ("deepseek_r1.json", "deepseek-ai--DeepSeek-R1_config.json", 8, 70_272),
    ("qwen3_235b_a22b.json", "Qwen--Qwen3-235B-A22B_config.json", 1, 192_512),
    ("qwen3_235b_a22b.json", "Qwen--Qwen3-235B-A22B_config.json", 4, 48_128),
    ("qwen3_235b_a22b.json", "Qwen--Qwen3-235B-A22B_config.json", 8, 48_128),
]


def same(expected, found):
    if isinstance(expected, float) and isinstance(found, (int, float)) and not isinstance(found, bool):
        return abs(expected - found) <= 1e-12 * abs(expected)
    return type(expected) is type(found) and expected == found


def differences(expected, found, where=""):
    """Every leaf of `expected` that `found` does not have the same."""
    if isinstance(expected, dict) and isinstance(found, dict):
        out = []
        for name, value in expected.items():
            if name not in found:
                out.append(f"{where}.{name}: missing")
            else:
                out += differences(value, found[name], f"{where}.{name}")
        return out
    if isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            return [f"{where}: {len(found)} elements, expected {len(expected)}"]
        return [line for i, value in enumerate(expected) for line in differences(value, found[i], f"{where}[{i}]")]
    return [] if same(expected, found) else [f"{where}: {found!r}, expected {expected!r}"]


class EstimateTest(unittest.TestCase):
    def compare(self, plan, found, what):
        sizes = Sizes(plan)
        if sizes.beyond:
            return self.compare_beyond(sizes, found, what)
        expected = {name: sizes.figures[name] for name in TOP}
        expected.update({name: sizes.figures[name] for name in ("groups", "ranks", "engine")})
        lines = differences(expected, found, what)
        prices = {row["strategy"]: row["bytes"] for row in found["strategies"]}
        lines += differences(sizes.figures["strategies"], prices, f"{what}.strategies")
        if (found["engine"]["refusal"] is not None) != sizes.refused:
            lines.append(f"{what}.engine.refusal: {found['engine']['refusal']!r}, expected "
                         f"{'one' if sizes.refused else 'none'}")
        if lines:
            self.fail("\n".join(lines[:20]) + f"\nplan: {json.dumps(plan)}")
        self.check_sum(found, what)
        self.check_diagnostics(found, what)
        return sizes

    def compare_beyond(self, sizes, found, what):
        """Several kinds of caches: what the tensors hold, and that the engine's figures hang together."""
        expected = {name: sizes.figures[name] for name in TOP if name != "reservedBytes"}
        expected["groups"] = [{name: value for name, value in row.items() if name != "reserved"}
                              for row in sizes.figures["groups"]]
        self.assertEqual(differences(expected, found, what), [])
        self.check_sum(found, what)
        self.check_diagnostics(found, what)
        return sizes

    def check_sum(self, found, what):
        """Ideal need and the differences add up to the engine's need, to the byte. From the program's figures alone."""
        engine = found["engine"]
        if engine["engineNeedBytes"] is None:
            self.assertEqual(engine["differences"], [], what)
            return
        total = found["idealBytes"] + sum(row["bytes"] for row in engine["differences"])
        self.assertEqual(total, engine["engineNeedBytes"], f"{what}: ideal need and differences do not add up")
        self.assertEqual(engine["engineNeedBytes"] % (engine["bytesPerBlock"] * len(found["ranks"])), 0, what)

    def check_diagnostics(self, found, what):
        ids = {row["id"] for row in found["diagnostics"]}
        self.assertEqual("engine.refusal" in ids, found["engine"]["refusal"] is not None, f"{what}: {ids}")
        self.assertEqual("engine.does_not_fit" in ids, found["engine"]["fits"] is False, f"{what}: {ids}")
        engine = found["engine"]
        if engine["name"] == "vllm" and engine["refusal"] is None and (
                engine["blocks"] is None or engine["needBytes"] is None):
            self.assertTrue(engine["unstated"], f"{what}: figures are absent, and nothing says why")

    def test_examples(self):
        for path in example_plans():
            with self.subTest(plan=path.name):
                plan = json.loads(path.read_text(encoding="utf-8"))
                found = kvw_json("estimate", path)
                self.compare(plan, found, path.name)
                hypothetical = plan.get("model", {}).get("basis") == "hypothetical"
                label = "hypothetical shape arithmetic, not a GPU fit" if hypothetical else None
                self.assertEqual(found["label"], label)

    def test_reference_point(self):
        found = kvw_json("estimate", write_plan(reference_plan(), "reference"))
        self.assertEqual(found["idealBytes"], 2 * 32 * 8 * 128 * 8192 * 4 * 2)
        self.assertEqual(found["idealBytes"], 4_294_967_296)

    def test_random_plans(self):
        draw = dice(1)
        seen = set()
        for i in range(rounds(200)):
            plan = random_plan(draw, SHAPES[i % len(SHAPES)] if i < 4 * len(SHAPES) else None)
            found = kvw_json("estimate", write_plan(plan, "random"))
            sizes = self.compare(plan, found, f"plan {i}")
            seen |= self.kinds(sizes, found["engine"])
        if SCALE >= 1:
            wanted = {OLD, MIDDLE, NEW, "refused", "beyond", "beyond, refused", "fits", "does not fit", "windowed", "replicated heads",
                      "divided heads", "no budget", "no length", "in flight", "page rounding"}
            self.assertEqual(wanted - seen, set(), "the random plans never met these")

    def kinds(self, sizes, engine):
        seen = set()
        if sizes.engine != "vllm":
            return seen
        if sizes.refused:
            return {"refused"}
        if sizes.beyond:
            return {"beyond, refused" if engine["refusal"] is not None else "beyond"}
        seen.add(sizes.generation())
        seen |= {"no budget"} if engine["blocks"] is None else set()
        seen |= {"no length"} if sizes.length is None else set()
        seen |= {True: {"fits"}, False: {"does not fit"}, None: set()}[engine["fits"]]
        tensor = sizes.only["tensors"][0]
        seen |= {"windowed"} if "limit" in tensor else set()
        if tensor.get("shard", "heads") == "heads" and sizes.tp > 1:
            seen.add("replicated heads" if sizes.tp > tensor["heads"] else "divided heads")
        amounts = {row["id"]: row["bytes"] for row in engine["differences"]}
        seen |= {"in flight"} if amounts.get("in_flight") else set()
        seen |= {"page rounding"} if amounts.get("page_rounding") else set()
        return seen

    def test_full_and_windowed_layers(self):
        """Groups of equal size that share one pool, by the rule for pages of one size (vLLM 0.25 and later, one GPU)."""
        draw = dice(2)
        for i in range(rounds(40)):
            plan = random_plan(draw, "two_groups")
            plan["engine"] = {"name": "vllm", "version": "0.26.0", "blockTokens": 16, "maxBatchedTokens": 2048}
            plan["deployment"], plan["cache"]["allocation"] = {}, "paged_pool"
            plan["limits"]["maxModelLen"] = length = draw.randint(1, 300_000)
            for group in plan["worksheet"]["groups"]:
                group.pop("tier", None)
            plan["budget"] = {"kvBytesPerRank": draw.randint(2 ** 30, 2 ** 38)}
            engine = kvw_json("estimate", write_plan(plan, "groups"))["engine"]
            self.assertIsNone(engine["refusal"])
            full, sliding = plan["worksheet"]["groups"]
            fewest, most = sorted((full["layers"], sliding["layers"]))
            size = most if most < 1.5 * fewest else fewest
            page = 16 * sum(Sizes(plan).entry(tensor) for tensor in full["tensors"])
            kept = min(sliding["tensors"][0]["limit"] - 1 + 2 * 2048, length)
            each = -(-full["layers"] // size) * -(-length // 16) \
                + -(-sliding["layers"] // size) * (-(-kept // 16) + 1)
            self.assertEqual(engine["bytesPerBlock"], size * page, json.dumps(plan))
            self.assertEqual(engine["blocksPerRequest"], each, json.dumps(plan))
            self.assertEqual(engine["needBytes"], size * page * each)
            self.assertEqual(engine["blocks"], plan["budget"]["kvBytesPerRank"] // (size * page))
            self.assertEqual(engine["tokens"], int(engine["blocks"] / each * length))
            self.assertEqual(engine["fits"], size * page * each <= plan["budget"]["kvBytesPerRank"])

    def test_entries_with_a_stride(self):
        """A tensor that keeps one entry for several tokens, as compressed caches do."""
        for rounding in ("down", "up", "nearest"):
            for length in (8190, 8191, 8192):
                plan = reference_plan()
                plan["engine"] = {"name": "none"}
                plan["limits"]["maxModelLen"] = length
                plan["worksheet"]["groups"].append({
                    "id": "compressed", "name": "Compressed", "kind": "compressed", "layers": 3,
                    "tensors": [{"id": "c", "role": "latent", "heads": 1, "width": 511, "growth": "linear",
                                 "stride": 4, "rounding": rounding, "shard": "replicated"}]})
                what = f"stride 4, rounding {rounding}, {length} tokens"
                self.compare(plan, kvw_json("estimate", write_plan(plan, "stride")), what)

    def test_entries_are_never_negative(self):
        plan = reference_plan()
        plan["engine"] = {"name": "none"}
        for tensor in plan["worksheet"]["groups"][0]["tensors"]:
            tensor["offset"] = -10_000  # more than the configured maximum of 8,192 tokens
        answer = kvw("estimate", write_plan(plan, "offset"), "--json", expect=None)
        if answer.code == 3:
            return
        self.assertEqual(answer.code, 0, answer.err)
        found = answer.json()
        for name in ("idealBytes", "retainedBytes", "reservedBytes"):
            self.assertGreaterEqual(found[name], 0, f"{name}: state cannot take a negative number of bytes")

    def test_tokens_by_generation(self):
        """The same pool prints other tokens from 0.21 on when the length is not a multiple of the block."""
        plan = reference_plan()
        plan["limits"]["maxModelLen"] = 29_000
        plan["budget"]["kvBytesPerRank"] = 1478 * 2_097_152
        tokens = {}
        for version in ("0.20.9", "0.21.0", "0.25.0"):
            plan["engine"]["version"] = version
            tokens[version] = kvw_json("estimate", write_plan(plan, "generation"))["engine"]["tokens"]
        self.assertEqual(tokens, {"0.20.9": 1478 * 16, "0.21.0": int(1478 / 1813 * 29_000),
                                  "0.25.0": int(1478 / 1813 * 29_000)})

    def test_overflow_is_an_error(self):
        """Sizes around 2^63: the exact figure, or an error; never a wrapped one."""
        plan = reference_plan()
        plan["engine"] = {"name": "none"}
        del plan["worksheet"]["retainedTokens"]
        for layers, length, sequences in ((10_000, 2 ** 40, 4), (32, 2 ** 40, 63), (32, 2 ** 40, 64), (32, 2 ** 40, 65),
                                          (10_000, 2 ** 40, 1_000_000)):
            plan["worksheet"]["groups"][0].update(layers=layers, layerIndices="")
            plan["limits"] = {"maxModelLen": length, "concurrentSequences": sequences}
            most = max(Sizes(plan).everything())
            answer = kvw("estimate", write_plan(plan, "large"), "--json", expect=None)
            what = f"{layers} layers, {sequences} sequences: {most} bytes"
            if most <= MOST:
                self.assertEqual(answer.code, 0, f"{what}: {answer.err}")
                self.compare(plan, answer.json(), what)
            else:
                self.assertEqual(answer.code, 3, what)
                self.assertEqual(answer.json()["error"]["code"], "estimate.overflow", what)

    def test_element_types(self):
        """Rows of widths that are no multiple of anything, in every element type."""
        plan = reference_plan()
        for name in ELEMENT_TYPES:
            for width in (1, 15, 16, 17, 31, 33, 127):
                plan["cache"]["elementType"] = name
                for tensor in plan["worksheet"]["groups"][0]["tensors"]:
                    tensor["width"] = width
                self.compare(plan, kvw_json("estimate", write_plan(plan, "types")), f"{name}, width {width}")


class PublishedTest(unittest.TestCase):
    def check(self, file, growing, windows):
        found = kvw_json("estimate", file)
        self.assertEqual((found["bytesPerToken"], found["fixedBytesPerSequence"]), (growing, windows), file.name)

    def check_ranks(self, file, ranks, on_rank):
        found = kvw_json("estimate", file, *settings({"engine.name": "vllm", "deployment.tp": ranks}))
        self.assertIsNone(found["engine"]["refusal"], file.name)
        self.assertEqual([row["bytesPerToken"] for row in found["ranks"]], [on_rank] * ranks, file.name)

    def test_own_files(self):
        for own, _, growing, windows in PUBLISHED:
            self.check(DATA / own, growing, windows)
        for own, _, ranks, on_rank in PUBLISHED_RANKS:
            self.check_ranks(DATA / own, ranks, on_rank)

    def test_reference_files(self):
        folder = needs_shared(self) / "data" / "configs"
        for _, reference, growing, windows in PUBLISHED:
            if (folder / reference).exists():
                self.check(folder / reference, growing, windows)
        for _, reference, ranks, on_rank in PUBLISHED_RANKS:
            if (folder / reference).exists():
                self.check_ranks(folder / reference, ranks, on_rank)

    def test_catalogue(self):
        """Every reference file that can be imported has the bytes that the catalogue of model facts derives."""
        data = needs_shared(self) / "data"
        facts = {}
        for model in json.loads((data / "model_facts.json").read_text(encoding="utf-8"))["models"]:
            facts[model["id"].replace("/", "--") + "_config.json"] = model.get("derived")
        compared = 0
        for file in sorted((data / "configs").glob("*_config.json")):
            derived = facts.get(file.name)
            answer = kvw("estimate", file, "--json", expect=None)
            self.assertIn(answer.code, (0, 3), f"{file.name}: {answer.err}")
            if answer.code == 3:
                self.assertTrue(answer.json()["error"].get("at"), f"{file.name}: refused without a place")
                continue
            if not derived:
                continue
            found = answer.json()
            expected = (derived["growing_bytes_per_token_16bit"] + derived["indexer_bytes_per_token_16bit"],
                        derived["window_bytes_per_seq_16bit_when_full"] + derived["fixed_state_bytes_per_seq"])
            self.assertEqual((found["bytesPerToken"], found["fixedBytesPerSequence"]), expected, file.name)
            compared += 1
        self.assertGreater(compared, 5, "hardly a reference file was compared")


if __name__ == "__main__":
    main()
