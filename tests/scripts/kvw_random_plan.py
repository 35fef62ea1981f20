# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

"""Plans with random shapes, lengths and budgets, as JSON. The same dice give the same plans."""

from kvw_sizes import ELEMENT_TYPES, Sizes

VERSIONS = ["0.6.3", "0.8.5.post1", "0.11.0", "0.15.1", "0.19.0", "v0.20.2", "0.20.0+cu128", "0.21.0", "0.23.1",
            "0.24.0", "0.25.0", "0.28.1", "1.0.0", "nightly", None]
SHAPES = ("full latent latent_in_one sliding shared two_groups unequal_limits odd_growth".split())


def attention(heads, key, value, types, **growth):
    out = []
    for name, role, width in (("k", "key", key), ("v", "value", value)):
        tensor = {"id": name, "role": role, "heads": heads, "width": width, "growth": "linear", "shard": "heads"}
        if types[name]:
            tensor["elementType"] = types[name]
        out.append({**tensor, **growth})
    return out


def latent(width, rotary):
    parts = [("latent", "latent", width)] + ([("rope", "positional_key", rotary)] if rotary else [])
    return [{"id": name, "role": role, "heads": 1, "width": w, "growth": "linear", "shard": "replicated"}
            for name, role, w in parts]


def group(name, kind, layers, tensors, **more):
    return {"id": name, "name": name.capitalize() + " layers", "kind": kind, "layers": layers, "tensors": tensors,
            **more}


def own_types(dice):
    names = list(ELEMENT_TYPES)
    return {name: dice.choice(names) if dice.random() < 0.15 else None for name in "kv"}


def groups_of(dice, shape):
    layers = dice.randint(1, 100)
    heads = dice.choice([1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 32, 64, 128])
    key = dice.choice([1, 17, 64, 80, 96, 128, 192, 256, 512])
    value = key if dice.random() < 0.7 else dice.choice([1, 64, 100, 128])
    types = own_types(dice)
    window = dice.choice([1, 2, 100, 128, 512, 1024, 4096, 8192])
    full = group("full", "full", layers, attention(heads, key, value, types))
    sliding = group("sliding", "sliding", dice.randint(1, 60), attention(heads, key, value, types, limit=window))
    if shape == "full":
        return [full]
    if shape == "sliding":
        return [sliding]
    if shape == "latent":
        return [group("mla", "mla", layers, latent(512, 64))]
    if shape == "latent_in_one":
        return [group("mla", "mla", layers, latent(576, 0))]
    if shape == "shared":
        return [full, group("reads", "shared", dice.randint(1, 30), [], readsGroup="full")]
    if shape == "two_groups":
        return [full, sliding]
    if shape == "unequal_limits":
        sliding["tensors"][1]["limit"] = window + dice.choice([0, 1, 64])
        return [sliding]
    tensors = [
        {"id": "state", "role": "recurrent_state", "heads": heads, "width": key, "growth": "fixed",
         "entries": dice.choice([0, 1, 3, 128]), "shard": "heads", "elementType": "fp32"},
        {"id": "conv", "role": "convolution_state", "heads": 1, "width": value, "growth": "fixed", "shard": "heads"},
        {"id": "chunk", "role": "key", "heads": heads, "width": key, "growth": "chunked",
         "chunk": dice.choice([1, 7, 100, 8192])},
        {"id": "sparse", "role": "index_key", "heads": 1, "width": value, "growth": "linear", "shard": "replicated",
         "stride": dice.choice([1, 2, 4, 128]), "offset": dice.choice([0, 1, 127]),
         "rounding": dice.choice(["down", "up", "nearest"]), "limit": dice.choice([1, 128, 100000])},
    ]
    return [group("odd", "recurrent", layers, dice.sample(tensors, dice.randint(1, 4)))]


def length_of(dice):
    length = int(2 ** dice.uniform(0, 21))
    return dice.choice([length, length // 64 * 64 or 64, length + 1])


def random_plan(dice, shape=None):
    plan = {"format": "kvplan", "schemaVersion": 1, "model": {"name": "drawn", "basis": "hypothetical"}}
    plan["worksheet"] = {"groups": groups_of(dice, shape or dice.choice(SHAPES))}
    if dice.random() < 0.6:
        plan["worksheet"]["retainedTokens"] = dice.choice([0, 1, dice.randint(0, 300000)])
        if dice.random() < 0.7:
            plan["worksheet"]["retainedSequences"] = dice.randint(0, 300)
    plan["cache"] = {"elementType": dice.choice(list(ELEMENT_TYPES))}
    allocation = dice.choice(["paged_pool"] * 7 + [None, "static_contiguous", "growing_contiguous"])
    if allocation:
        plan["cache"]["allocation"] = allocation
    engine = {"name": dice.choice(["vllm"] * 8 + ["none", None]), "version": dice.choice(VERSIONS),
              "blockTokens": dice.choice([None, 1, 8, 16, 16, 32, 48, 64, 100, 128, 256, 65536]),
              "maxBatchedTokens": dice.choice([None, 1, 512, 2048, 8192, 16384])}
    plan["engine"] = {name: value for name, value in engine.items() if value is not None}
    deployment = {"tp": dice.choice([None, 1, 1, 2, 2, 3, 4, 4, 6, 8, 8, 16, 32]),
                  "pp": dice.choice([None, 1, 1, 1, 1, 1, 1, 1, 1, 2]), "dp": dice.choice([None] * 9 + [4])}
    plan["deployment"] = {name: value for name, value in deployment.items() if value is not None}
    plan["limits"] = {}
    if dice.random() < 0.95:
        plan["limits"]["maxModelLen"] = length_of(dice)
    if dice.random() < 0.85:
        plan["limits"]["concurrentSequences"] = dice.choice([1, 2, dice.randint(1, 4096)])
    add_budget(dice, plan)
    return plan


def add_budget(dice, plan):
    """None, a figure, a figure at the edge between fits and does not fit, or the parts that a figure is made of."""
    kind = dice.choice(["none", "figure", "figure", "edge", "edge", "parts"])
    plan["budget"] = {}
    if kind == "figure":
        plan["budget"]["kvBytesPerRank"] = dice.choice([0, 1, int(2 ** dice.uniform(10, 45))])
    elif kind == "edge":
        engine = Sizes(plan).figures["engine"]
        if engine["needBytes"]:
            edge = dice.choice([engine["needBytes"], engine["engineNeedBytes"], 7 * engine["bytesPerBlock"]])
            plan["budget"]["kvBytesPerRank"] = edge + dice.choice([-1, 0, 1])
    elif kind == "parts":
        plan["budget"] = {"utilization": dice.choice([0.9, 0.92, 0.33, 1.0]),
                          "activationBytes": dice.randint(0, 2 ** 33), "otherBytes": dice.randint(0, 2 ** 31)}
        plan["deployment"]["memoryBytes"] = dice.choice([25757220864, 85017493504, 150754820096])
        plan["loaded"] = {"weightBytes": dice.choice([0, 1, 16060522240, 470187269120])}
    if dice.random() < 0.03:
        plan["worksheet"]["groups"][0]["tier"] = "host"
