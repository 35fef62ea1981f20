#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

"""Computes every derivation of `kvw explain --json` anew: node by node, and from its formula in numbers.

Beside the example plans there are random ones, so that every operation and every way to a figure is met.
"""

import json
import unittest

from kvw_formula import OPERATIONS, SOURCES, compute, equal, formula_value
from kvw_program import DATA, SCALE, dice, example_plans, kvw, kvw_json, main, reference_plan, rounds, settings, \
    write_plan
from kvw_random_plan import SHAPES, random_plan

LABEL = "hypothetical shape arithmetic, not a GPU fit"


class Walk:
    """Visits every node of a derivation and keeps what is wrong with it."""

    def __init__(self, plan=None):
        self.plan = plan
        self.wrong = []
        self.nodes = 0
        self.operations = set()
        self.sources = set()

    def visit(self, node, path):
        """The node's value, computed from the leaves alone."""
        self.nodes += 1
        operation = node.get("operation")
        self.operations.add(operation)
        where = f"{path} ({node.get('name') or operation})"
        if operation not in OPERATIONS:
            self.wrong.append(f"{where}: no operation is called {operation!r}")
            return node.get("value")
        if operation == "input":
            self.leaf(node, where)
            return node["value"]
        try:
            value = compute(operation, [self.visit(operand, f"{path}/{i}")
                                        for i, operand in enumerate(node["operands"])])
            if not equal(value, node["value"]):
                self.wrong.append(f"{where}: says {node['value']!r}, its operands give {value!r}")
            written = formula_value(node["numbers"])
            if isinstance(node["value"], float):
                written = float(written)  # in print, 6.0 is 6
            if not equal(written, node["value"]):
                self.wrong.append(f"{where}: says {node['value']!r}, its numbers give {written!r}: {node['numbers']}")
            if not node["formula"]:
                self.wrong.append(f"{where}: no formula in words")
            return value
        except (ArithmeticError, KeyError, TypeError, ValueError) as error:
            self.wrong.append(f"{where}: {type(error).__name__} {error}")
            return node.get("value")

    def leaf(self, node, where):
        source = node.get("source", {})
        self.sources.add(source.get("kind"))
        if source.get("kind") not in SOURCES:
            self.wrong.append(f"{where}: an input without a kind of source: {source}")
        elif source["kind"] in ("user", "file") and not source.get("at"):
            self.wrong.append(f"{where}: an input that does not say where it was entered or read: {source}")
        if node.get("operands"):
            self.wrong.append(f"{where}: an input with operands")
        if self.plan and source.get("kind") == "user":
            self.compare_with_plan(node, source["at"], where)

    def compare_with_plan(self, node, path, where):
        """An entered number is the plan's own (element types enter as the bytes and bits they stand for)."""
        at = self.plan
        for part in path.split("."):
            if isinstance(at, list):
                at = next((element for element in at if element["id"] == part), {})
            else:
                at = at.get(part) if isinstance(at, dict) else None
        if at is None:
            # A part of a growth law that the plan leaves out has a fixed value.
            if path.rsplit(".", 1)[-1] not in ("entries", "offset", "stride", "chunk"):
                self.wrong.append(f"{where}: {path} is not in the plan")
        elif not isinstance(at, str) and at != node["value"]:
            self.wrong.append(f"{where}: {node['value']!r}, the plan has {at!r} at {path}")


# Figures of explain under the names of the estimate.
def figure_in_estimate(estimate, path):
    parts = path.split(".")
    if parts[0] == "strategies":
        names = {"pagedPool": "paged_pool", "staticContiguous": "static_contiguous",
                 "growingContiguous": "growing_contiguous"}
        return next(row["bytes"] for row in estimate["strategies"] if row["strategy"] == names[parts[1]])
    if parts[0] == "differences":
        return next(row["bytes"] for row in estimate["engine"]["differences"] if row["id"] == parts[1])
    if parts[0] == "ranks":
        return estimate["ranks"][int(parts[1])][parts[2]]
    at = estimate
    for part in parts:
        if isinstance(at, list):
            at = next(element for element in at if element["id"] == part)
        elif part not in at:
            return None  # a tensor's bytes at a length are in the explanation only
        else:
            at = at[part]
    return at


class DerivationsTest(unittest.TestCase):
    def check(self, file, what, *extra, plan=None):
        figures = kvw_json("explain", file, *extra)
        estimate = kvw_json("estimate", file, *extra)
        walk = Walk(plan)
        for path, node in figures.items():
            walk.visit(node, path)
            stated = figure_in_estimate(estimate, path)
            if stated is not None and not equal(stated, node["value"]):
                walk.wrong.append(f"{path}: explained as {node['value']!r}, estimated as {stated!r}")
        for path in ("bytesPerToken", "fixedBytesPerSequence"):
            if path not in figures:
                walk.wrong.append(f"{path} is not explained")
        for path in ("idealBytes", "retainedBytes", "reservedBytes"):
            if estimate[path] is not None and path not in figures:
                walk.wrong.append(f"{path} is estimated, but not explained")
        for path, value in estimate["engine"].items():
            if isinstance(value, (int, float)) and not isinstance(value, bool) and f"engine.{path}" not in figures:
                walk.wrong.append(f"engine.{path} is estimated, but not explained")
        if walk.wrong:
            self.fail(f"{what}: " + "\n".join(walk.wrong[:15]) + (f"\nplan: {json.dumps(plan)}" if plan else ""))
        self.assertGreater(walk.nodes, len(figures), f"{what}: the derivations are empty")
        return walk

    def test_examples(self):
        for path in example_plans():
            with self.subTest(plan=path.name):
                self.check(path, path.name, plan=json.loads(path.read_text(encoding="utf-8")))

    def test_random_plans(self):
        draw = dice(3)
        operations, sources = set(), set()
        for i in range(rounds(60)):
            plan = random_plan(draw, SHAPES[i % len(SHAPES)])
            if plan.get("deployment", {}).get("tp", 1) > 4:
                plan["deployment"]["tp"] = 4  # every rank repeats the same derivations
            walk = self.check(write_plan(plan, "random"), f"plan {i}", plan=plan)
            operations |= walk.operations
            sources |= walk.sources
        if SCALE >= 1:
            self.assertEqual(set(OPERATIONS) - operations, set(), "the random plans never met these operations")
            self.assertEqual({"user", "engine default", "assumption", "definition"} - sources, set(),
                             "the random plans never met inputs from these sources")

    def test_model_files(self):
        """What was read from a file says which file, with its digest, and where in it."""
        for file in sorted(DATA.glob("*.json")):
            walk = self.check(file, file.name, *settings({"engine.name": "vllm", "budget.kvBytesPerRank": "8GiB"}))
            self.assertIn("file", walk.sources, file.name)
            layers = kvw_json("explain", file, "bytesPerToken")
            for leaf in self.leaves(layers):
                if leaf["source"]["kind"] == "file":
                    self.assertRegex(leaf["source"].get("sha256", ""), "^[0-9a-f]{64}$", file.name)
                    self.assertRegex(leaf["source"]["at"], "^/", f"{file.name}: not a JSON pointer")

    def leaves(self, node):
        if node["operation"] == "input":
            yield node
        for operand in node.get("operands", []):
            yield from self.leaves(operand)

    def test_one_figure_is_the_listed_one(self):
        file = write_plan(reference_plan(), "reference")
        figures = kvw_json("explain", file)
        for path in ("idealBytes", "engine.blocks", "groups.full.configured.bytes", "ranks.0.bytesPerToken"):
            self.assertEqual(kvw_json("explain", file, path), figures[path], path)
        unknown = kvw("explain", file, "idealBites", "--json", expect=3).json()
        self.assertEqual(unknown["error"]["code"], "explain.unknown_figure")

    def test_set_is_a_source(self):
        node = kvw_json("explain", write_plan(reference_plan(), "reference"), "idealBytes",
                        *settings({"worksheet.groups.full.layers": 31}))
        layers = [leaf for leaf in self.leaves(node) if leaf["name"] == "layers"]
        self.assertEqual([leaf["value"] for leaf in layers], [31] * len(layers))
        self.assertTrue(layers)
        self.assertEqual({leaf["source"]["kind"] for leaf in layers}, {"user"})

    def test_text_shows_the_label(self):
        plan = reference_plan()
        for basis in ("hypothetical", "library"):
            plan["model"]["basis"] = basis
            file = write_plan(plan, "label")
            for figure in ("idealBytes", "groups.full.bytesPerToken", "engine.blocks", "engine.engineNeedBytes"):
                text = kvw("explain", file, figure).out
                self.assertEqual(LABEL in text, basis == "hypothetical", f"{figure} of a {basis} shape:\n{text}")

    def test_text_shows_formula_and_sources(self):
        text = kvw("explain", write_plan(reference_plan(), "reference"), "groups.full.configured.bytes").out
        for piece in ("sequences × layers × (", "4 × 32 × (8192 × 2048 + 8192 × 2048)", "4294967296 bytes = 4.00 GiB",
                      "worksheet.groups.full.tensors.k.heads", "limits.maxModelLen", "excludes block metadata"):
            self.assertIn(piece, text)

    def test_assumption_is_marked(self):
        plan = reference_plan()
        del plan["limits"]["concurrentSequences"]
        text = kvw("explain", write_plan(plan, "assumed"), "idealBytes").out
        self.assertIn("rests on an assumption", text)
        whole = kvw("explain", write_plan(reference_plan(), "stated"), "idealBytes").out
        self.assertNotIn("rests on an assumption", whole)


class FormulaTest(unittest.TestCase):
    """The reader of formulas itself."""

    def test_values(self):
        for text, value in (("1 + 2 × 3", 7), ("(1 + 2) × 3", 9), ("10 − 3 − 2", 5), ("10 − -3", 13), ("⌊7 ÷ 2⌋", 3),
                            ("⌈7 ÷ 2⌉ × 5", 20), ("⌊(3 × 5) ÷ 4⌋", 3), ("⌈(2 − 9) ÷ 2⌉", -3), ("min(3, 2 + 0, 9)", 2),
                            ("max(1, ⌊8 ÷ 3⌋)", 2), ("3072 ÷ 512", 6.0), ("trunc(1.9 × 3)", 5), ("1e3 × 2", 2000.0)):
            self.assertTrue(equal(formula_value(text), value), f"{text}: {formula_value(text)!r}, not {value!r}")

    def test_errors(self):
        for text in ("", "1 +", "(1", "⌊1 ÷ 2", "1 2", "layers × 2", "min(1, )"):
            with self.assertRaises(ValueError, msg=text):
                formula_value(text)


if __name__ == "__main__":
    main()
