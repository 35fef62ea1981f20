# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

"""Derivations computed anew: as trees, and as the text of a formula in numbers.

Integers stay integers (exact, of any size), doubles stay doubles, as the program's derivations promise: "ratio" and
"scale" are computed in doubles, everything else exactly.
"""

import re
from fractions import Fraction

OPERATIONS = ("input same add subtract multiply floor-divide ceil-divide minimum maximum ratio scale truncate").split()
SOURCES = ["user", "file", "library", "engine rule", "engine default", "measurement", "assumption", "definition"]

_TOKEN = re.compile(r"\s*(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|min\(|max\(|trunc\(|[()⌊⌋⌈⌉×÷+−,])")


def whole(*values):
    for value in values:
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"an exact operation has the operand {value!r}")


def compute(operation, values):
    """One step of a derivation, from the values of its operands."""
    if operation == "same":
        (value,) = values
        return value
    if operation in ("minimum", "maximum"):
        return (min if operation == "minimum" else max)(values)
    if operation == "ratio":
        a, b = values
        return float(a) / float(b)
    if operation == "scale":
        a, b = values
        return float(a) * float(b)
    if operation == "truncate":
        (value,) = values
        return int(value)
    whole(*values)
    if operation == "add":
        return sum(values)
    if operation == "multiply":
        out = 1
        for value in values:
            out *= value
        return out
    a, b = values
    return {"subtract": lambda: a - b, "floor-divide": lambda: a // b, "ceil-divide": lambda: -(-a // b)}[operation]()


def equal(a, b):
    """The same number of the same type: 6 is not 6.0."""
    return type(a) is type(b) and a == b


class Formula:
    """Reads "⌈min(3 + 4, 10) ÷ 2⌉ × 5" and computes it."""

    def __init__(self, text):
        self.text = text
        self.tokens = []
        at = 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            if not found:
                raise ValueError(f"not a formula from {text[at:at + 20]!r} on: {text!r}")
            self.tokens.append(found[1])
            at = found.end()
        self.at = 0

    def value(self):
        out = self.sum(exact=False)
        if self.at != len(self.tokens):
            raise ValueError(f"{self.tokens[self.at]!r} is left over: {self.text!r}")
        return out

    def next(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, token):
        if self.next() != token:
            raise ValueError(f"{token!r} expected instead of {self.next()!r}: {self.text!r}")
        self.at += 1

    def sum(self, exact):
        out = self.product(exact)
        while self.next() in ("+", "−"):
            sign = self.next()
            self.at += 1
            term = self.product(exact)
            out = out + term if sign == "+" else out - term
        return out

    def product(self, exact):
        """`exact`: inside ⌊ ⌋ and ⌈ ⌉, where ÷ is a fraction; elsewhere it is a double."""
        out = self.factor()
        while self.next() in ("×", "÷"):
            sign = self.next()
            self.at += 1
            factor = self.factor()
            if sign == "×":
                out = out * factor
            elif exact:
                out = Fraction(out) / Fraction(factor)
            else:
                out = float(out) / float(factor)
        return out

    def list(self):
        out = [self.sum(exact=False)]
        while self.next() == ",":
            self.at += 1
            out.append(self.sum(exact=False))
        self.take(")")
        return out

    def factor(self):
        token = self.next()
        self.at += 1
        if token in ("min(", "max("):
            return (min if token == "min(" else max)(self.list())
        if token == "trunc(":
            (value,) = self.list()
            return int(value)
        if token == "(":
            out = self.sum(exact=False)
            self.take(")")
            return out
        if token in "⌊⌈" and token:
            out = Fraction(self.sum(exact=True))
            self.take("⌋" if token == "⌊" else "⌉")
            return out.numerator // out.denominator if token == "⌊" else -(-out.numerator // out.denominator)
        if re.fullmatch(r"-?\d+", token):
            return int(token)
        return float(token)


def plain(text):
    """Without the commas that part groups of three; those between arguments have a space after them."""
    return re.sub(r"(?<=\d),(?=\d{3}(\D|$))", "", text)


def formula_value(text):
    return Formula(plain(text)).value()
