# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

"""The estimate a second time, from a plan's JSON alone.

Nothing here is shared with the program. The rules are those of the design (growth laws, rows of an element type, three
token columns) and, for vLLM, of what is known of its sizing: one page per layer and block, heads on a rank
max(1, heads ÷ ranks), latents whole on every rank, blocks = memory ÷ bytes per block, the printed tokens by generation.
Python's integers do not overflow, so that a wrap in the program cannot be repeated here.
"""

import re
from fractions import Fraction

# Bits of an element, elements that share a scale (0: none), bytes of a scale.
ELEMENT_TYPES = {
    "fp32": (32, 0, 0),
    "fp16": (16, 0, 0),
    "bf16": (16, 0, 0),
    "fp8_e4m3": (8, 0, 0),
    "fp8_e5m2": (8, 0, 0),
    "int8": (8, 0, 0),
    "nvfp4": (4, 16, 1),
    "q8_0": (8, 32, 2),
}
OLD, MIDDLE, NEW = "up to 0.20", "0.21 to 0.24", "0.25 and later"


def ceil_div(a, b):
    return -(-a // b)


def row_bytes(element_type, width):
    bits, shared_by, scale = ELEMENT_TYPES[element_type]
    return ceil_div(width * bits, 8) + (ceil_div(width, shared_by) * scale if shared_by else 0)


def entries(tensor, v):
    """Entries that the tensor holds at v."""
    growth = tensor.get("growth", "linear")
    if growth == "fixed":
        return tensor.get("entries", 1) if v > 0 else 0
    if growth == "chunked":
        return (v - 1) % tensor.get("chunk", 1) + 1 if v > 0 else 0
    quotient = Fraction(v + tensor.get("offset", 0), tensor.get("stride", 1))
    rounding = tensor.get("rounding", "down")
    if rounding == "down":
        count = quotient.numerator // quotient.denominator
    elif rounding == "up":
        count = ceil_div(quotient.numerator, quotient.denominator)
    else:
        count = int(quotient + Fraction(1, 2) if quotient >= 0 else 0)
    return min(count, tensor["limit"]) if "limit" in tensor else count


def is_unbounded(tensor):
    return tensor.get("growth", "linear") == "linear" and "limit" not in tensor


def most_entries(tensor):
    """Entries of a tensor that does not grow without end, when it is full."""
    growth = tensor.get("growth", "linear")
    return {"fixed": tensor.get("entries", 1), "chunked": tensor.get("chunk", 1)}.get(growth, tensor.get("limit"))


class Sizes:
    """Every figure of `kvw estimate --json`, under the names that the JSON has."""

    def __init__(self, plan):
        self.plan = plan
        self.groups = plan["worksheet"]["groups"]
        self.element_type = plan.get("cache", {}).get("elementType")
        self.block = self.field("engine.blockTokens")
        self.tp = self.field("deployment.tp", 1)
        self.length = self.field("limits.maxModelLen")
        self.sequences = self.field("limits.concurrentSequences", 1)
        self.engine = self.field("engine.name", "none")
        self.shape()
        self.pool_rules()
        self.strategies()
        self.reserved()

    def field(self, path, otherwise=None):
        at = self.plan
        for part in path.split("."):
            if not isinstance(at, dict) or part not in at:
                return otherwise
            at = at[part]
        return at

    # Shape: what the tensors hold.

    def row(self, tensor):
        return row_bytes(tensor.get("elementType", self.element_type), tensor["width"])

    def entry(self, tensor, rank=False):
        heads = tensor["heads"]
        if rank and tensor.get("shard", "heads") == "heads":
            heads = max(1, heads // self.tp)
        return heads * self.row(tensor)

    def growing(self, group, rank=False):
        total = sum((Fraction(self.entry(t, rank), t.get("stride", 1)) for t in group.get("tensors", []) if
                     is_unbounded(t)), Fraction(0)) * group["layers"]
        return int(total) if total.denominator == 1 else float(total)

    def fixed(self, group, rank=False):
        return group["layers"] * sum(
            most_entries(t) * self.entry(t, rank) for t in group.get("tensors", []) if not is_unbounded(t))

    def held(self, group, v):
        return group["layers"] * sum(entries(t, v) * self.entry(t) for t in group.get("tensors", []))

    def column(self, group, sequences, v):
        tensors = group.get("tensors", [])
        return {"tokens": sequences * entries(tensors[0], v) if tensors else 0,
                "bytes": sequences * self.held(group, v)}

    def shape(self):
        self.retained_tokens = self.field("worksheet.retainedTokens")
        self.retained_sequences = self.field("worksheet.retainedSequences", self.sequences)
        self.figures = {"groups": [], "ranks": []}
        for group in self.groups:
            limits = {t.get("limit") for t in group.get("tensors", []) if t.get("growth", "linear") == "linear"}
            row = {
                "id": group["id"],
                "name": group.get("name", ""),
                "layers": group["layers"],
                "bytesPerToken": self.growing(group),
                "fixedBytesPerSequence": self.fixed(group),
                "retentionLimit": limits.pop() if len(limits) == 1 else None,
                "idealBytesPerSequence": None,
                "configured": None,
                "retained": None,
                "reserved": None,
                "tensors": [],
            }
            if self.length is not None:
                row["idealBytesPerSequence"] = self.held(group, self.length)
                row["configured"] = self.column(group, self.sequences, self.length)
            if self.retained_tokens is not None:
                row["retained"] = self.column(group, self.retained_sequences, self.retained_tokens)
            for tensor in group.get("tensors", []):
                alone = {"layers": group["layers"], "tensors": [tensor]}
                row["tensors"].append({"id": tensor["id"], "heads": tensor["heads"], "width": tensor["width"],
                                       "bytesPerToken": self.growing(alone),
                                       "fixedBytesPerSequence": self.fixed(alone)})
            self.figures["groups"].append(row)
        rows = self.figures["groups"]
        self.figures["bytesPerToken"] = sum(row["bytesPerToken"] for row in rows)
        self.figures["fixedBytesPerSequence"] = sum(row["fixedBytesPerSequence"] for row in rows)
        has_length = self.length is not None
        self.figures["idealBytesPerSequence"] = (sum(row["idealBytesPerSequence"] for row in rows)
                                                 if has_length else None)
        self.figures["idealBytes"] = sum(row["configured"]["bytes"] for row in rows) if has_length else None
        self.figures["retainedBytes"] = (sum(row["retained"]["bytes"] for row in rows)
                                         if self.retained_tokens is not None else None)

    # vLLM.

    def generation(self):
        found = re.search(r"([0-9]+)\.([0-9]+)", self.field("engine.version", ""))
        if not found:
            return NEW
        major, minor = int(found[1]), int(found[2])
        if major > 0 or minor >= 25:
            return NEW
        return MIDDLE if minor >= 21 else OLD

    def is_refused(self):
        """Whether vLLM's rules cannot be applied at all."""
        with_state = [group for group in self.groups if group.get("tensors")]
        if not with_state or any(group.get("tier", "device") != "device" for group in with_state):
            return True
        for tensor in (tensor for group in with_state for tensor in group["tensors"]):
            heads = tensor["heads"]
            if tensor.get("shard", "heads") == "heads" and heads % self.tp and self.tp % heads:
                return True
        if self.field("deployment.pp", 1) != 1 or self.field("deployment.dp", 1) != 1:
            return True
        return self.field("cache.allocation", "paged_pool") != "paged_pool"

    def is_beyond(self):
        """Whether the plan has more than one kind of cache: its sizing is not computed here, and may be refused."""
        with_state = [group for group in self.groups if group.get("tensors")]
        if len(with_state) != 1:
            return True
        group = with_state[0]
        if len({t.get("limit") for t in group["tensors"]}) != 1:
            return True
        for tensor in group["tensors"]:
            if tensor.get("growth", "linear") != "linear":
                return True
            if tensor.get("stride", 1) != 1 or tensor.get("offset", 0) != 0:
                return True
            if tensor.get("variable", "tokens") != "tokens":
                return True
        return False

    def available(self):
        stated = self.field("budget.kvBytesPerRank")
        if stated is not None:
            return stated
        parts = [self.field(path) for path in ("deployment.memoryBytes", "budget.utilization", "loaded.weightBytes",
                                               "budget.activationBytes", "budget.otherBytes")]
        if None in parts:
            return None
        memory, share, weights, activation, other = parts
        return int(float(memory) * share) - ceil_div(weights, self.tp) - activation - other

    def covered(self, length):
        """Tokens that the blocks of a request of `length` tokens must cover."""
        window = self.only["tensors"][0].get("limit")
        if window is None:
            return length
        batches = 2 if self.generation() == NEW else 1
        return min(window - 1 + batches * self.field("engine.maxBatchedTokens", 8192), length)

    def blocks_of(self, length):
        spare = 1 if "limit" in self.only["tensors"][0] else 0
        return ceil_div(self.covered(length), self.block) + spare

    def largest_length(self, available):
        """Longest request that the start-up check passes, by bisection. For groups without window."""
        least, most = 0, 1
        fits = lambda length: self.blocks_of(length) * self.block_bytes <= available
        while fits(most):
            most *= 2
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (middle, most) if fits(middle) else (least, middle)
        return least

    def pool_rules(self):
        names = ("blockTokens bytesPerBlock blocks tokens maxConcurrency fits availableBytes poolBytes "
                 "blocksPerRequest needBytes largestLength fitsConcurrency engineNeedBytes").split()
        engine = self.figures["engine"] = dict.fromkeys(names)
        engine["name"] = self.engine
        engine["differences"] = []
        self.refused = self.engine == "vllm" and self.is_refused()
        self.beyond = self.engine == "vllm" and not self.refused and self.is_beyond()
        if self.engine != "vllm" or self.refused or self.beyond:
            return
        self.only = next(group for group in self.groups if group.get("tensors"))
        self.block = self.block if self.block is not None else 16
        tensors, layers = self.only["tensors"], self.only["layers"]
        on_rank = layers * sum(self.entry(t, rank=True) for t in tensors)
        whole = layers * sum(self.entry(t) for t in tensors)
        self.block_bytes = self.block * on_rank
        engine["blockTokens"], engine["bytesPerBlock"] = self.block, self.block_bytes
        available = engine["availableBytes"] = self.available()
        if self.length is not None:
            engine["blocksPerRequest"] = self.blocks_of(self.length)
            engine["needBytes"] = engine["blocksPerRequest"] * self.block_bytes
            self.steps_of_need(engine, whole, on_rank)
        if available is not None:
            self.pool_of(engine, available)
        groups = [{"bytesPerToken": self.growing(g, rank=True), "fixedBytesPerSequence": self.fixed(g, rank=True)}
                  for g in self.groups]
        for rank in range(self.tp):
            self.figures["ranks"].append({
                "rank": rank, "bytesPerToken": sum(g["bytesPerToken"] for g in groups),
                "bytesPerBlock": self.block_bytes, "poolBytes": engine["poolBytes"], "groups": groups})

    def pool_of(self, engine, available):
        engine["blocks"] = max(available, 0) // self.block_bytes
        engine["poolBytes"] = engine["blocks"] * self.block_bytes
        if self.length is not None:
            engine["maxConcurrency"] = engine["blocks"] / engine["blocksPerRequest"]
            engine["fits"] = engine["needBytes"] <= available
            engine["fitsConcurrency"] = self.sequences * engine["blocksPerRequest"] <= engine["blocks"]
        if self.generation() == OLD:
            engine["tokens"] = engine["blocks"] * self.block
        elif self.length is not None:
            engine["tokens"] = int(engine["maxConcurrency"] * self.length)
        if "limit" not in self.only["tensors"][0]:
            engine["largestLength"] = self.largest_length(available)

    def steps_of_need(self, engine, whole, on_rank):
        """From ideal to engine need, step by step: each difference is what one rule adds to the total before it."""
        totals = []
        window = self.only["tensors"][0].get("limit")
        kept = self.length if window is None else min(self.length, window)
        before = self.sequences * kept * whole
        if window is not None:
            totals.append(("in_flight", self.sequences * self.covered(self.length) * whole))
        full_blocks = ceil_div(self.covered(self.length), self.block) * self.block
        totals.append(("page_rounding", self.sequences * full_blocks * whole))
        if window is not None:
            full_blocks += self.block
            totals.append(("spare_blocks", self.sequences * full_blocks * whole))
        totals.append(("replication", self.sequences * full_blocks * on_rank * self.tp))
        for name, total in totals:
            engine["differences"].append({"id": name, "bytes": total - before})
            before = total
        engine["engineNeedBytes"] = before

    # What is set aside.

    def strategies(self):
        engine = self.figures["engine"]
        paged = engine["engineNeedBytes"]
        if paged is None and self.length is not None:
            block = self.block if self.block is not None else 16
            paged = sum(self.sequences * g["layers"] * ceil_div(entries(t, self.length), block) * block * self.entry(t)
                        for g in self.groups for t in g.get("tensors", []))
        growing = fixed = None
        if self.length is not None:
            fixed = self.on_ranks(self.sequences, self.length)
        if self.figures["retainedBytes"] is not None:
            largest = max([self.retained_sequences * entries(t, self.retained_tokens) * self.entry_on_ranks(t)
                           for g in self.groups for t in g.get("tensors", [])], default=0)
            growing = self.on_ranks(self.retained_sequences, self.retained_tokens) + largest
        self.figures["strategies"] = {"paged_pool": paged, "static_contiguous": fixed, "growing_contiguous": growing}

    def entry_on_ranks(self, tensor):
        """One entry on all ranks: heads are divided, and kept more than once where there are more ranks."""
        if not self.figures["ranks"]:
            return self.entry(tensor)
        if tensor.get("shard") == "replicated":
            return self.tp * self.entry(tensor)
        return self.entry(tensor) // tensor["heads"] * max(tensor["heads"], self.tp)

    def on_ranks(self, sequences, length):
        return sum(sequences * g["layers"] * entries(t, length) * self.entry_on_ranks(t)
                   for g in self.groups for t in g.get("tensors", []))

    def reserved(self):
        engine = self.figures["engine"]
        if engine["poolBytes"] is None:
            self.figures["reservedBytes"] = self.figures["strategies"].get(self.field("cache.allocation"))
            return
        total = self.figures["reservedBytes"] = engine["poolBytes"] * self.tp
        for group, row in zip(self.groups, self.figures["groups"]):
            if group.get("tensors"):
                row["reserved"] = {"tokens": engine["blocks"] * self.block, "bytes": total}

    def everything(self):
        """All integers of the estimate, for a look at their size."""
        def walk(value):
            if isinstance(value, dict):
                for inner in value.values():
                    yield from walk(inner)
            elif isinstance(value, list):
                for inner in value:
                    yield from walk(inner)
            elif isinstance(value, int) and not isinstance(value, bool):
                yield value
        return list(walk(self.figures))
