#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

"""The schema in resources/schema is what `kvw schema` makes of the field table; plans validate against it, and what
kvw refuses for a single field's sake the schema refuses too."""

import copy
import json
import re
import unittest

from kvw_program import SOURCE, example_plans, kvw, main, reference_plan, write_plan

try:
    import jsonschema
except ImportError:
    jsonschema = None


class Violation(Exception):
    pass


def check(schema, value, at="$"):
    """The part of JSON Schema that the file uses, written out by hand."""
    def need(condition, why):
        if not condition:
            raise Violation(f"{at}: {why}")

    if "const" in schema:
        need(value == schema["const"] and isinstance(value, type(schema["const"])), "is not the constant")
    if "enum" in schema:
        need(value in schema["enum"], "is not one of the choices")
    kind = schema.get("type")
    if kind == "string":
        need(isinstance(value, str), "is no string")
        need(re.search(schema.get("pattern", ""), value), "does not match")
    elif kind in ("integer", "number"):
        need(isinstance(value, (int, float)) and not isinstance(value, bool), "is no number")
        need(kind == "number" or value == int(value), "is no integer")
        need(value >= schema.get("minimum", value), "is too small")
        need(value <= schema.get("maximum", value), "is too large")
    elif kind == "array":
        need(isinstance(value, list), "is no list")
        need(len(value) <= schema.get("maxItems", len(value)), "is too long")
        for i, item in enumerate(value):
            check(schema["items"], item, f"{at}[{i}]")
    elif kind == "object":
        need(isinstance(value, dict), "is no object")
        for name in schema.get("required", []):
            need(name in value, f"lacks {name}")
        for name, member in value.items():
            inside = schema.get("properties", {}).get(name, schema.get("additionalProperties", True))
            need(inside is not False, f"has an unknown member {name}")
            if isinstance(inside, dict):
                check(inside, member, f"{at}.{name}")


class SchemaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = SOURCE / "resources" / "schema" / "kvplan-1.schema.json"
        cls.schema = json.loads(cls.path.read_text(encoding="utf-8"))

    def valid(self, plan):
        try:
            check(self.schema, plan)
            by_hand = True
        except Violation:
            by_hand = False
        if jsonschema:
            library = jsonschema.Draft202012Validator(self.schema).is_valid(plan)
            self.assertEqual(by_hand, library, "the two validators disagree")
        return by_hand

    def taken(self, plan):
        return kvw("import", write_plan(plan), "--json", expect=None).code == 0

    def test_is_what_the_table_gives(self):
        self.assertEqual(kvw("schema").out, self.path.read_text(encoding="utf-8"),
                         "run: kvw schema > resources/schema/kvplan-1.schema.json")

    @unittest.skipUnless(jsonschema, "python3-jsonschema is not installed")
    def test_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(self.schema)

    def test_examples(self):
        for plan in example_plans():
            self.assertTrue(self.valid(json.loads(plan.read_text(encoding="utf-8"))), plan)

    def test_refused_alike(self):
        """One wrong thing at a time: schema and program say the same."""
        changes = [
            lambda p: p.update(format="other"), lambda p: p.update(schemaVersion=2), lambda p: p.pop("schemaVersion"),
            lambda p: p.update(extra=1), lambda p: p["engine"].update(extra="x"),
            lambda p: p["engine"].update(blockTokens="16"), lambda p: p["engine"].update(blockTokens=0),
            lambda p: p["engine"].update(blockTokens=1.5), lambda p: p["engine"].update(blockTokens=65537),
            lambda p: p["engine"].update(version=11), lambda p: p["cache"].update(elementType="bf17"),
            lambda p: p["budget"].update(utilization=1.5), lambda p: p.update(tenants={}),
            lambda p: p["tenants"][0].pop("id"), lambda p: p["tenants"][0].update(id="a b"),
            lambda p: p["tenants"][0].update(id=""), lambda p: p["tenants"][0].update(id="x" * 65),
            lambda p: p["tenants"][0].update(nothing=1), lambda p: p["worksheet"]["groups"][0].update(layers=0),
            lambda p: p["worksheet"]["groups"][0]["tensors"][0].update(shard=""),
            lambda p: p.update(assumptions=[{"id": 1}]), lambda p: p.update(provenance={"a": {"kind": "guess"}}),
            lambda p: p.update(provenance={"a": {}}), lambda p: p.update(worksheet=[]),
        ]
        for i, change in enumerate(changes):
            plan = copy.deepcopy(reference_plan())
            plan.setdefault("budget", {})
            change(plan)
            self.assertFalse(self.valid(plan), f"change {i} is valid")
            self.assertFalse(self.taken(plan), f"change {i} was taken")
        self.assertTrue(self.valid(reference_plan()))
        self.assertTrue(self.taken(reference_plan()))

    def test_later_version_is_named(self):
        plan = reference_plan()
        plan["schemaVersion"] = 2
        refused = kvw("import", write_plan(plan), expect=3)
        self.assertIn("schema version", refused.err)
        self.assertIn("2", refused.err)


if __name__ == "__main__":
    main()
