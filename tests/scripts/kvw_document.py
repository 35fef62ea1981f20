# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

"""Reports of kvw as plain data: the Markdown and the JSON form read into the same sections and blocks.

A block is ("table", columns, rows), ("facts", [(name, value)]), ("bullets", [text]), ("paragraph", text) or
("formula", {"label", "title", "words", "numbers", "result"}). Captions, conclusions and figures are left out.
"""

import re

_CELL = re.compile(r"(?<!\\)\|")


def unescaped(text):
    return re.sub(r"\\([|<*_`])", r"\1", text)


def cells(line):
    out = []
    for cell in _CELL.split(line.strip())[1:-1]:
        cell = cell.strip()
        if cell.startswith("**") and cell.endswith("**") and len(cell) > 4:
            cell = cell[2:-2]
        out.append(unescaped(cell))
    return out


def is_rule(line):
    return re.fullmatch(r"\|(-+:?\|)+", line.strip()) is not None


class Markdown:
    """Reads what `kvw report` prints. Knows just the pieces that it uses."""

    def __init__(self, text):
        self.title = ""
        self.footer = ""
        self.sections = {}
        self.lines = text.split("\n")
        self.at = 0
        self.blocks = None
        self.figure = False
        while self.at < len(self.lines):
            self.step()

    def step(self):
        line = self.lines[self.at]
        self.at += 1
        if line.startswith("## "):
            self.blocks = self.sections.setdefault(unescaped(line[3:]), [])
        elif line.startswith("# "):
            self.title = unescaped(line[2:])
        elif line == "---":
            self.footer = unescaped("\n".join(self.lines[self.at:]).strip())
            self.at = len(self.lines)
        elif self.blocks is None or not line.strip():
            pass
        elif line.startswith("|"):
            self.table(line)
        elif line.startswith("- "):
            self.bullets(line)
        elif line.startswith("> "):
            self.blocks.append(("paragraph", unescaped(line[2:])))
        elif re.match(r"\*\*F\d+ ", line):
            self.formula(line)
        elif line.startswith("**"):
            self.figure = True  # the table that follows holds some of a figure's points
        elif not line.startswith("*"):
            self.blocks.append(("paragraph", unescaped(line)))

    def table(self, line):
        columns, rows = cells(line), []
        if self.at >= len(self.lines) or not is_rule(self.lines[self.at]):
            raise ValueError(f"a table without a rule: {line!r}")
        if len(_CELL.split(self.lines[self.at].strip())) != len(columns) + 2:
            raise ValueError(f"the rule has another number of columns: {line!r}")
        self.at += 1
        while self.at < len(self.lines) and self.lines[self.at].startswith("|"):
            rows.append(cells(self.lines[self.at]))
            if len(rows[-1]) != len(columns):
                raise ValueError(f"{len(rows[-1])} cells under {len(columns)} columns: {self.lines[self.at]!r}")
            self.at += 1
        if self.figure:
            self.figure = False
        elif columns == ["", ""]:
            self.blocks.append(("facts", [tuple(row) for row in rows]))
        else:
            self.blocks.append(("table", columns, rows))

    def bullets(self, line):
        items = [unescaped(line[2:])]
        while self.at < len(self.lines) and self.lines[self.at].startswith("- "):
            items.append(unescaped(self.lines[self.at][2:]))
            self.at += 1
        self.blocks.append(("bullets", items))

    def formula(self, line):
        label, title = re.fullmatch(r"\*\*(F\d+) (.*)\*\*", line).groups()
        while not self.lines[self.at].strip():
            self.at += 1
        words, numbers, result = (text.strip() for text in self.lines[self.at:self.at + 3])
        self.at += 3
        if not numbers.startswith("= ") or not result.startswith("= "):
            raise ValueError(f"{label}: not three lines of a formula: {words!r}, {numbers!r}, {result!r}")
        self.blocks.append(("formula", {"label": label, "title": unescaped(title), "words": words,
                                        "numbers": numbers[2:], "result": result[2:]}))
        while not self.lines[self.at].strip():
            self.at += 1
        while self.lines[self.at].startswith("- "):
            self.at += 1  # inputs with their sources


def from_json(document):
    """The sections of the JSON form, by title."""
    out = {}
    for section in document["sections"]:
        blocks = out.setdefault(section["title"], [])
        for block in section["blocks"]:
            (kind, content), = block.items()
            if kind == "table":
                blocks.append(("table", content["columns"], content["rows"]))
            elif kind == "facts":
                blocks.append(("facts", [(row["name"], row["value"]) for row in content]))
            elif kind == "formula":
                blocks.append(("formula", {name: content[name] for name in
                                           ("label", "title", "words", "numbers", "result")}))
            elif kind in ("bullets", "paragraph"):
                blocks.append((kind, content))
    return out


def tables(blocks):
    """Tables as lists of rows, each row a dictionary by column title."""
    return [[dict(zip(block[1], row)) for row in block[2]] for block in blocks if block[0] == "table"]


def facts(blocks):
    return {name: value for block in blocks if block[0] == "facts" for name, value in block[1]}


def formulas(blocks):
    return {block[1]["title"]: block[1] for block in blocks if block[0] == "formula"}


# Figures in print.

def grouped(value):
    return f"{value:,}"


def shows_bytes(text, value):
    """Whether "6.51 GiB" is `value` bytes: the largest unit that leaves at least 1, two decimals."""
    found = re.fullmatch(r"(-?[\d.]+) (B|KiB|MiB|GiB|TiB|PiB|EiB)", text)
    if not found:
        return False
    if found[2] == "B":
        return found[1] == str(value) and abs(value) < 1024
    power = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"].index(found[2]) + 1
    unit = 1024 ** power
    fits = abs(value) >= unit and (abs(value) < 1024 * unit or power == 6)
    return fits and "." in found[1] and len(found[1].split(".")[1]) == 2 and \
        abs(float(found[1]) * unit - value) <= 0.0050001 * unit
