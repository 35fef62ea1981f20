#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

"""Follows every formula of `kvw report` down to its inputs, by the print alone.

A reviewer has the words, the numbers, the inputs and the result of each entry. Each number is computed again, each
input that names another entry is compared with that entry's result, and every figure that the plan's JSON yields must
be the result of some entry.
"""

import re
import unittest

from kvw_document import formulas
from kvw_formula import formula_value, plain
from kvw_program import dice, example_plans, kvw_json, main, rounds, write_plan
from kvw_random_plan import SHAPES, random_plan
from kvw_sizes import Sizes

import json

SECTIONS = ("Formulas", "Appendix: formulas, step by step")


def number(text):
    text = plain(text)
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


def value_of(result):
    return number(result.split(" ")[0])


class StepsTest(unittest.TestCase):
    def entries(self, file, *extra):
        """All formulas of the document, by label."""
        out = {}
        for section in kvw_json("report", file, *extra)["sections"]:
            for block in section["blocks"]:
                if "formula" in block:
                    formula = block["formula"]
                    self.assertIn(section["title"], SECTIONS)
                    self.assertNotIn(formula["label"], out, "a label twice")
                    out[formula["label"]] = formula
        self.assertEqual(list(out), [f"F{i + 1}" for i in range(len(out))])
        return out

    def check(self, entries, what):
        for label, formula in entries.items():
            where = f"{what}, {label} {formula['title']}"
            formula["words"] = formula["words"].replace("\u00a0", " ")
            self.assertEqual(formula_value(formula["numbers"]), value_of(formula["result"]), where)
            named = re.findall(r"\((F\d+)\)", formula["words"])
            for one in named:
                self.assertIn(one, entries, where)
                self.assertNotEqual(one, label, f"{where} names itself")
            for given in formula["inputs"]:
                name, value = given["input"].rsplit(" = ", 1)
                self.assertTrue(given["source"], f"{where}: {name} has no source")
                if re.fullmatch(r"F\d+", given["source"]):
                    self.assertIn(f"{name} ({given['source']})", formula["words"], where)
                    self.assertEqual(value_of(value), value_of(entries[given["source"]]["result"]), where)
                else:
                    self.assertIn(name, formula["words"], where)
            self.assertEqual({given["source"] for given in formula["inputs"] if given["source"].startswith("F")} & set(
                entries), set(named), where)
        self.no_circles(entries, what)

    def no_circles(self, entries, what):
        def visit(label, above):
            self.assertNotIn(label, above, f"{what}: {label} rests on itself")
            for below in re.findall(r"\((F\d+)\)", entries[label]["words"]):
                visit(below, above | {label})

        for label in entries:
            visit(label, frozenset())

    def each_step_once(self, entries, what):
        """What has the same words, numbers, inputs and name is one step: a second entry would only be noise."""
        seen = {}
        for label, formula in entries.items():
            if label in self.asked:
                continue
            key = json.dumps([formula["title"], formula["words"], formula["numbers"], formula["inputs"],
                              formula["rule"], formula["result"]])
            self.assertNotIn(key, seen, f"{what}: {label} is {seen.get(key)} again")
            seen[key] = label

    def figures_have_formulas(self, entries, sizes, what):
        results = {value_of(formula["result"]) for formula in entries.values()}
        engine = sizes.figures["engine"]
        wanted = {name: engine[name] for name in ("bytesPerBlock", "needBytes", "availableBytes", "blocks", "poolBytes",
                                                  "tokens", "maxConcurrency", "largestLength", "engineNeedBytes")}
        wanted.update({row["id"]: row["bytes"] for row in engine["differences"]})
        wanted.update(sizes.figures["strategies"])
        for group in sizes.figures["groups"]:
            for column in ("configured", "retained", "reserved"):
                for part, value in (group[column] or {}).items():
                    wanted[f"{group['name']}, {column} {part}"] = value
        for name, value in wanted.items():
            if value:  # a 0 to which nothing adds has no formula
                self.assertIn(value, results, f"{what}: no formula gives {name}")

    def whole(self, file, plan, what, *extra):
        entries = self.entries(file, *extra)
        self.asked = set(list(entries)[:len(formulas_of_worksheet(file, *extra))])
        self.check(entries, what)
        self.each_step_once(entries, what)
        self.figures_have_formulas(entries, Sizes(plan), what)

    def test_examples(self):
        for path in example_plans():
            with self.subTest(plan=path.name):
                self.whole(path, json.loads(path.read_text(encoding="utf-8")), path.name, "--no-prediction")

    def test_random_plans(self):
        draw = dice(5)
        for i in range(rounds(16)):
            plan = random_plan(draw, SHAPES[i % len(SHAPES)])
            try:
                self.whole(write_plan(plan, "random"), plan, f"plan {i}", "--no-prediction")
            except AssertionError as error:
                raise AssertionError(f"{error}\nplan: {json.dumps(plan)}") from None


def formulas_of_worksheet(file, *extra):
    for section in kvw_json("report", file, *extra)["sections"]:
        if section["title"] == SECTIONS[0]:
            return formulas([("formula", block["formula"]) for block in section["blocks"] if "formula" in block])
    return {}


if __name__ == "__main__":
    main()
