#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

"""Computes every total of `kvw report` from the plan's JSON and compares, in the Markdown and in the JSON form."""

import json
import unittest

from kvw_document import Markdown, facts, formulas, from_json, grouped, shows_bytes, tables
from kvw_formula import formula_value, plain
from kvw_program import DATA, dice, example_plans, kvw, kvw_json, main, reference_plan, rounds, scratch, settings, \
    write_plan
from kvw_random_plan import SHAPES, random_plan
from kvw_sizes import Sizes

NONE = "–"
GROWING = "Bytes per token"
FIXED = "Fixed, per sequence"
UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50, "EiB": 2**60}

# The eleven facts of a plan's identity: end of the diagnostic's id, title, and the fields whose absence unstates it.
IDENTITY = [
    ("model_revision", "Model revision", ["model.revision"]),
    ("tokenizer_revision", "Tokenizer revision", ["model.tokenizerRevision"]),
    ("engine_build", "Engine build", ["engine.version", "engine.name"]),
    ("attention_layout", "Attention layout", []),  # no field: the layer groups themselves
    ("cache_element_type", "Cache element type", ["cache.elementType"]),
    ("limits", "Prompt and output limits", ["limits.promptTokens", "limits.outputTokens"]),
    ("concurrency", "Concurrency", ["limits.concurrentSequences"]),
    ("block_allocation", "Block allocation", ["cache.allocation", "engine.blockTokens"]),
    ("parallelism", "Parallelism", ["deployment.tp"]),
    ("reuse_policy", "Reuse policy", ["reuse.prefixCaching"]),
    ("outcome", "If no state can be had", ["admission.whenExhausted"]),
]


class ReportTest(unittest.TestCase):
    def bytes_shown(self, text, value, what):
        if value is None:
            self.assertEqual(text, NONE, what)
        else:
            self.assertTrue(shows_bytes(text, value), f"{what}: {text!r} is not {value:,} bytes")

    def count_shown(self, text, value, what):
        self.assertEqual(text, NONE if value is None else grouped(value), what)

    def exact_shown(self, text, value, what):
        """'6.51 GiB (6,990,069,760 B)', or just the bytes where they are few."""
        if value is None or abs(value) < 1024:
            self.bytes_shown(text, value, what)
            return
        rounded, exact = text.removesuffix(" B)").split(" (")
        self.bytes_shown(rounded, value, what)
        self.assertEqual(exact, grouped(value), what)

    def check(self, sections, sizes, what):
        figures, engine = sizes.figures, sizes.figures["engine"]
        self.check_worksheet(tables(sections["Worksheet"])[0], figures, what)
        self.check_need(tables(sections["From ideal need to engine need"])[0], figures, what)
        self.check_engine(facts(sections["Engine and budget"]), engine, what)
        rows = tables(sections["Allocation strategies"])[0]
        self.assertEqual([row["Strategy"].replace(" ", "_") for row in rows], list(figures["strategies"]), what)
        for row, value in zip(rows, figures["strategies"].values()):
            self.bytes_shown(row["Reserved"], value, f"{what}, {row['Strategy']}")
            self.count_shown(row["Exact, bytes"], value, f"{what}, {row['Strategy']}")
        self.check_formulas(formulas(sections["Formulas"]), figures, what)

    def check_worksheet(self, rows, figures, what):
        groups = figures["groups"]
        self.parts_add_up(rows, what)
        rows = [row for row in rows if row["Layers"] or row is rows[-1]]
        self.assertEqual(len(rows), len(groups) + 1, f"{what}: rows of the worksheet")
        for row, group in zip(rows, groups):
            where = f"{what}, worksheet row {group['name']}"
            self.assertEqual(row["Layer group"], group["name"], where)
            self.count_shown(row["Layers"], group["layers"], where)
            self.bytes_shown(row[GROWING], group["bytesPerToken"], f"{where}, growing")
            self.bytes_shown(row[FIXED], group["fixedBytesPerSequence"], f"{where}, fixed")
            for column in ("Configured", "Retained", "Reserved"):
                held = group[column.lower()] or {"tokens": None, "bytes": None}
                self.count_shown(row[f"{column} tokens"], held["tokens"], f"{where}, {column} tokens")
                self.bytes_shown(row[column], held["bytes"], f"{where}, {column}")
        total = rows[-1]
        self.assertEqual(total["Layer group"], "Total", what)
        for column, name in ((GROWING, "bytesPerToken"), (FIXED, "fixedBytesPerSequence"),
                             ("Configured", "idealBytes"), ("Retained", "retainedBytes"),
                             ("Reserved", "reservedBytes")):
            self.bytes_shown(total[column], figures[name], f"{what}, total of {column}")
        for column in ("Configured tokens", "Retained tokens", "Reserved tokens"):
            self.assertEqual(total[column], "per group" if len(groups) > 1 else "",
                             f"{what}: tokens of different groups are no sum")
        # Reserved by rank: the ranks keep the same, and together what is reserved.
        column = list(total)[-1]
        count = len(figures["ranks"])
        if not count:
            self.assertEqual(column, "Reserved by rank", what)
            self.assertEqual({row[column] for row in rows}, {"no sharding rule chosen"}, what)
            return
        self.assertEqual(column, "Reserved on rank 0" if count == 1 else f"Reserved, ranks 0–{count - 1}, each", what)
        self.bytes_shown(total[column], figures["engine"]["poolBytes"], f"{what}, total of {column}")
        for row, group in zip(rows, groups):
            reserved = group["reserved"]
            self.bytes_shown(row[column], reserved and reserved["bytes"] // count, f"{what}, {row['Layer group']}")

    def parts_add_up(self, rows, what):
        """The tensors below a group hold what it holds: to what two decimals leave open."""
        for at, row in enumerate(rows[:-1]):
            parts = []
            while row["Layers"] and not rows[at + 1 + len(parts)]["Layers"] \
                    and rows[at + 1 + len(parts)] is not rows[-1]:
                parts.append(rows[at + 1 + len(parts)])
            for column in (GROWING, FIXED, "Configured", "Retained", "Reserved") if parts else ():
                if NONE in [part[column] for part in parts]:
                    continue
                whole, *of = ([float(text.split(" ")[0]) * UNITS[text.split(" ")[1]], UNITS[text.split(" ")[1]]]
                              for text in [row[column]] + [part[column] for part in parts])
                room = 0.0051 * sum(unit for _, unit in [whole, *of])
                self.assertLessEqual(abs(whole[0] - sum(value for value, _ in of)), room, f"{what}, {column}: {parts}")

    def check_need(self, rows, figures, what):
        engine = figures["engine"]
        expected = [("Ideal need", figures["idealBytes"])]
        expected += [(row["id"].replace("_", "").replace("inflight", "in-flight"), row["bytes"])
                     for row in engine["differences"]]
        if engine["engineNeedBytes"] is not None:
            expected.append(("Engine need", engine["engineNeedBytes"]))
        self.assertEqual(len(rows), len(expected), f"{what}: {[row['Step'] for row in rows]}")
        for row, (name, value) in zip(rows, expected):
            self.assertIn(name, row["Step"] if " need" in name else row["Step"].replace(" ", ""), what)
            self.bytes_shown(row["Bytes"], value, f"{what}, {row['Step']}")
            self.count_shown(row["Exact, bytes"], value, f"{what}, {row['Step']}")
        if engine["engineNeedBytes"] is not None:
            printed = [int(row["Exact, bytes"].replace(",", "")) for row in rows]
            self.assertEqual(sum(printed[:-1]), printed[-1], f"{what}: the printed steps do not add up")

    def check_engine(self, rows, engine, what):
        if "Refused" in rows:
            self.assertIsNone(engine["bytesPerBlock"], what)
            return
        if "Blocks" not in rows:  # without an engine there is none of it
            for name in ("blockTokens", "bytesPerBlock", "availableBytes", "poolBytes", "needBytes", "tokens"):
                self.assertIsNone(engine[name], f"{what}: {name}")
            return
        for name, path in (("Bytes of a block, one rank", "bytesPerBlock"),
                           ("Available for state, per rank", "availableBytes"), ("Pool, per rank", "poolBytes"),
                           ("Need of one request at the configured maximum", "needBytes")):
            self.exact_shown(rows[name], engine[path], f"{what}, {name}")
        for name, path in (("Tokens of a block", "blockTokens"), ("Blocks", "blocks"),
                           ("Tokens, as the engine prints", "tokens"), ("Longest request that the engine admits", "largestLength")):
            self.count_shown(rows[name], engine[path], f"{what}, {name}")
        concurrency = engine["maxConcurrency"]
        self.assertEqual(rows["Maximum concurrency, as the engine prints"],
                         NONE if concurrency is None else f"{concurrency:.2f}×", what)
        self.assertEqual(rows["One request at the configured maximum"],
                         {True: "fits", False: "does not fit", None: "not known"}[engine["fits"]], what)
        self.assertEqual(rows["All planned sequences at the configured maximum"],
                         {True: "fit", False: "do not fit at the same time", None: "not known"}[
                             engine["fitsConcurrency"]], what)

    def check_formulas(self, found, figures, what):
        engine = figures["engine"]
        expected = {}
        for group in figures["groups"]:
            expected[f"{group['name']}: growing bytes of a token"] = group["bytesPerToken"]
            if group["fixedBytesPerSequence"]:
                expected[f"{group['name']}: bytes of a sequence at the limit"] = group["fixedBytesPerSequence"]
            if group["configured"]:
                expected[f"{group['name']}: configured maximum"] = group["configured"]["bytes"]
        expected.update({
            "Ideal need": figures["idealBytes"], "Presently retained": figures["retainedBytes"],
            "Bytes per block": engine["bytesPerBlock"], "Blocks": engine["blocks"],
            "Blocks per request": engine["blocksPerRequest"], "Maximum concurrency": engine["maxConcurrency"],
            "Engine need": engine["engineNeedBytes"], "Reserved": figures["reservedBytes"]})
        expected = {title: value for title, value in expected.items() if value}  # a 0 has nothing to add up
        # What is computed in the same way has one entry with all its titles.
        by_title = {title: formula for titles, formula in found.items() for title in titles.split("; ")}
        by_title.update({titles: formula for titles, formula in found.items()})
        self.assertEqual([formula["label"] for formula in found.values()],
                         [f"F{i + 1}" for i in range(len(found))], what)
        for title, value in expected.items():
            self.assertIn(title, by_title, f"{what}: formulas")
            formula = by_title[title]
            where = f"{what}, formula {title}"
            shown = plain(formula["result"].split(" ")[0])
            self.assertEqual(float(shown) if isinstance(value, float) else int(shown), value, where)
            if " = " in formula["result"]:
                self.bytes_shown(formula["result"].split(" = ")[1], value, where)
            self.assertEqual(formula_value(formula["numbers"]), value, f"{where}: {formula['numbers']}")
            self.assertTrue(formula["words"], where)

    def both_forms(self, file, *extra):
        """The sections of the JSON form, after a check that the Markdown says the same."""
        from_text = Markdown(kvw("report", file, *extra).out)
        document = kvw_json("report", file, *extra)
        self.assertEqual(from_text.title, document["title"])
        self.assertEqual(from_text.footer, document["footer"])
        sections = from_json(document)
        self.assertEqual(list(from_text.sections), list(sections), "titles of the sections")
        for title, blocks in sections.items():
            self.assertEqual(from_text.sections[title], blocks, f"Markdown and JSON differ in {title}")
        return sections

    def test_examples(self):
        for path in example_plans():
            with self.subTest(plan=path.name):
                plan = json.loads(path.read_text(encoding="utf-8"))
                self.check(self.both_forms(path), Sizes(plan), path.name)

    def test_random_plans(self):
        draw = dice(4)
        for i in range(rounds(24)):
            plan = random_plan(draw, SHAPES[i % len(SHAPES)])
            if Sizes(plan).beyond:
                plan["engine"] = {"name": "none"}
            try:
                self.check(self.both_forms(write_plan(plan, "random"), "--no-prediction"), Sizes(plan), f"plan {i}")
            except AssertionError as error:
                raise AssertionError(f"{error}\nplan: {json.dumps(plan)}") from None

    def test_several_groups(self):
        """The totals are sums over groups: the model of the gpt-oss file has two."""
        sections = self.both_forms(DATA / "gpt_oss_120b.json", "--no-prediction",
                                   *settings({"limits.concurrentSequences": 3, "worksheet.retainedTokens": 100}))
        rows = tables(sections["Worksheet"])[0]
        self.assertEqual([row["Layer group"] for row in rows], ["Full attention", "K", "V", "Sliding window 128", "K", "V",
                                                                "Total"])
        full, sliding = 18 * 2 * 8 * 64 * 2, 18 * 2 * 8 * 64 * 2
        self.bytes_shown(rows[-1][GROWING], full, "growing")
        self.bytes_shown(rows[-1][FIXED], sliding * 128, "windows")
        self.bytes_shown(rows[-1]["Configured"], 3 * (full * 131_072 + sliding * 128), "configured")
        self.bytes_shown(rows[-1]["Retained"], 3 * 100 * (full + sliding), "retained")

    def test_names_do_not_break_the_tables(self):
        plan = reference_plan()
        plan["worksheet"]["groups"][0]["name"] = "a | b * c _ d ` e <f> \\"
        plan["document"]["title"] = "*bold* | _title_"
        plan["tenants"][0]["name"] = "x|y"
        self.check(self.both_forms(write_plan(plan, "names"), "--no-prediction"), Sizes(plan), "names")

    def test_line_breaks_in_names_make_no_new_sections(self):
        plan = reference_plan()
        plan["worksheet"]["groups"][0]["name"] = "one\n\n## Two\n\n| three |"
        plan["document"]["title"] = "Title\n\n## Four"
        plan["tenants"][0]["name"] = "five\n\n## Six"
        file = write_plan(plan, "breaks")
        text = kvw("report", file, "--no-prediction").out
        titles = [line[3:] for line in text.splitlines() if line.startswith("## ")]
        self.assertEqual(titles, list(from_json(kvw_json("report", file, "--no-prediction"))))

    def test_reading_names_its_source(self):
        """Presently retained is a reading: the worksheet tells one that was entered from one that was measured."""
        plan, texts = reference_plan(), {}
        for source in ("entered", "prediction", "live_run", "engine_metrics"):
            plan["worksheet"]["retainedFrom"] = source
            text = kvw("report", write_plan(plan, "reading"), "--no-prediction").out
            texts[source] = text[text.index("## Worksheet"):text.index("## From ideal")]
        self.assertEqual(len(set(texts.values())), 4, "readings from different sources look the same")

    def test_prediction_is_that_of_predict(self):
        file = write_plan(reference_plan(), "reference")
        sections = self.both_forms(file)
        predicted = kvw_json("predict", file)
        record = predicted["prediction"]
        shown = facts(sections["Prediction"])
        self.assertEqual(shown["Evictions"], grouped(record["evictions"]))
        self.assertEqual(shown["Steps"], grouped(record["steps"]))
        final = record["final"]
        self.assertEqual(shown["Blocks at the end"], " + ".join(
            f"{grouped(final[state])} {state}" for state in ("active", "cached", "free", "held")))
        prompt = sum(tenant["promptTokens"] for tenant in record["tenants"])
        hits = sum(tenant["hitTokens"] for tenant in record["tenants"])
        self.assertEqual(shown["Prompt tokens by prefix hits"],
                         f"{grouped(hits)} of {grouped(prompt)} ({100 * hits / prompt:.1f} %)")
        rows = tables(sections["Prediction"])[0]
        names = {tenant["id"]: tenant["name"] for tenant in reference_plan()["tenants"]}
        for row, tenant in zip(rows, record["tenants"]):
            self.assertEqual((row["Tenant"], row["Prompt tokens"], row["Served from hits"]),
                             (names[tenant["id"]], grouped(tenant["promptTokens"]), grouped(tenant["hitTokens"])))
        work = facts(sections["Workload"])
        requests = record["requests"]
        self.assertEqual(work["Prompt tokens"], grouped(sum(r["promptTokens"] for r in requests)))
        self.assertEqual(work["Output tokens"], grouped(sum(r["outputTokens"] for r in requests)))

    def test_written_to_a_file(self):
        file, target = write_plan(reference_plan(), "reference"), scratch() / "report.md"
        kvw("report", file, "-o", target)
        self.assertEqual(target.read_text(encoding="utf-8"), kvw("report", file).out)


class IdentityTest(unittest.TestCase):
    def diagnostics(self, file, *extra):
        """Ids of the identity's diagnostics, from the estimate or, where that is refused, from the import."""
        answer = kvw("estimate", file, "--json", *extra, expect=None)
        if answer.code == 3:
            answer = kvw("import", file, "--json", *extra)
        self.assertEqual(answer.code, 0, answer.err)
        return [row["id"] for row in answer.json()["diagnostics"] if row["id"].startswith("identity.")]

    def check(self, name, title, file, *extra):
        what = f"{title} ({' '.join(extra)})"
        self.assertEqual(self.diagnostics(file, *extra), [f"identity.{name}"], what)
        for sections in (Markdown(kvw("report", file, *extra, "--no-prediction").out).sections,
                         from_json(kvw_json("report", file, *extra, "--no-prediction"))):
            rows = facts(sections["Identity"])
            self.assertEqual(len(rows), 11, what)
            self.assertEqual([row for row, value in rows.items() if value == "not stated"], [title], what)
            first = sections["Read first"][0]
            self.assertIn(f"Not stated: {title}.", first[1], what)

    def test_stated(self):
        file = write_plan(reference_plan(), "stated")
        self.assertEqual(self.diagnostics(file), [])
        rows = facts(from_json(kvw_json("report", file, "--no-prediction"))["Identity"])
        self.assertEqual(list(rows), [title for _, title, _ in IDENTITY])
        self.assertNotIn("not stated", rows.values())

    def test_each_one_cleared(self):
        file = write_plan(reference_plan(), "cleared")
        for name, title, fields in IDENTITY:
            for field in fields:
                self.check(name, title, file, *settings({field: None}))

    def test_no_layer_groups(self):
        plan = reference_plan()
        del plan["worksheet"]["groups"]
        file = write_plan(plan, "no_groups")
        self.check("attention_layout", "Attention layout", file)
        error = kvw_json("estimate", file, expect=3)["error"]
        self.assertEqual((error["code"], error["at"]), ("estimate.not_stated", "worksheet.groups"))

    def test_all_cleared(self):
        file = write_plan(reference_plan(), "bare")
        fields = {field: None for _, _, some in IDENTITY for field in some}
        self.assertEqual(self.diagnostics(file, *settings(fields)),
                         [f"identity.{name}" for name, _, _ in IDENTITY if name != "attention_layout"])

    def test_model_file(self):
        """A model file states the layout, the type and little else: the rest must show as not stated."""
        for file in sorted(DATA.glob("*.json")):
            stated = {"attention_layout", "cache_element_type"}
            missing = {f"identity.{name}" for name, _, _ in IDENTITY if name not in stated}
            self.assertEqual(set(self.diagnostics(file)), missing, file.name)


class PrintTest(unittest.TestCase):
    """The readers of print themselves."""

    def test_shows_bytes(self):
        for text, value in (("0 B", 0), ("1023 B", 1023), ("1.00 KiB", 1024), ("4.00 GiB", 2 ** 32),
                            ("6.51 GiB", 6_990_069_760), ("1.02 GiB", 1_090_519_040), ("7.99 EiB", 2 ** 63 - 2 ** 53)):
            self.assertTrue(shows_bytes(text, value), f"{text}: {value}")
        for text, value in (("4.00 GiB", 2 ** 32 + 2 ** 23), ("4.00 GB", 2 ** 32), ("4096.00 MiB", 2 ** 32), ("1 B", 2),
                            ("4 GiB", 2 ** 32), ("–", 0)):
            self.assertFalse(shows_bytes(text, value), f"{text}: {value}")

    def test_markdown(self):
        read = Markdown("# T\n\n## S\n\n| a | b |\n|---|---:|\n| x\\|y | **1** |\n\n- one\n- two \\*\n").sections["S"]
        self.assertEqual(read, [("table", ["a", "b"], [["x|y", "1"]]), ("bullets", ["one", "two *"])])
        with self.assertRaises(ValueError):
            Markdown("# T\n\n## S\n\n| a | b |\n|---|---:|\n| x|y | 1 |\n")


if __name__ == "__main__":
    main()
