# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

"""Reads block event logs and replays them, from the description of the file format alone (version 1).

A file is a sequence of chunks: u32 kind, u32 check, u64 length, payload, all little-endian. Events are 24 bytes: u8
kind, u8 group, u16 tenant, u32 block, request, position, step, value.
"""

import json
import struct
from collections import Counter, namedtuple

Event = namedtuple("Event", "kind group tenant block request position step value")
KINDS = ("step hold allocate append index reference release drop evict arrive admit preempt complete reject cancel "
         "fail").split()
STEP, HOLD, ALLOCATE, APPEND, INDEX, REFERENCE, RELEASE, DROP, EVICT = range(1, 10)
ARRIVE, ADMIT, PREEMPT, COMPLETE, REJECT, CANCEL, FAIL = range(10, 17)
STATES = ("free", "active", "cached", "held")
FREE, ACTIVE, CACHED, HELD = range(4)

_EVENT = struct.Struct("<BBHIIIII")
_FRAME = struct.Struct("<4sIQ")
_KEYFRAME_BLOCK = struct.Struct("<IBBBBHHIIII")


class BadLog(Exception):
    pass


class EventLog:
    """A log file in memory. `whole`: it has its end chunk; `cut`: bytes after the last whole chunk."""

    def __init__(self, path, check=True):
        data = path.read_bytes()
        self.chunks = []  # (kind, payload)
        self.digests, self.events, self.keyframes = [], [], []
        self.whole = False
        at = 0
        while at + _FRAME.size <= len(data):
            kind, stated, length = _FRAME.unpack_from(data, at)
            if kind not in (b"KVWH", b"KVWD", b"KVWE", b"KVWK", b"KVWZ"):
                raise BadLog(f"byte {at}: a chunk of the kind {kind!r}")
            end = at + _FRAME.size + length
            if end > len(data):
                break
            if self.whole:
                raise BadLog(f"byte {at}: a chunk after the end chunk")
            payload = data[at + _FRAME.size:end]
            if check and stated != xxh3_64(payload, (int.from_bytes(kind, "little") << 32) ^ length) & 0xffffffff:
                raise BadLog(f"byte {at}: the check of the {kind.decode()} chunk does not match its {length} bytes")
            self.take(kind, payload, at)
            self.chunks.append((kind, payload))
            at = end
        self.cut = len(data) - at
        if not self.chunks:
            raise BadLog("not even a header")

    def take(self, kind, payload, at):
        if (kind == b"KVWH") != (not self.chunks):
            raise BadLog(f"byte {at}: the header is the first chunk and no other")
        if kind == b"KVWH":
            self.header = json.loads(payload)
            if self.header["version"] != 1:
                raise BadLog(f"version {self.header['version']}")
        elif kind == b"KVWD":
            self.digests += [payload[i:i + 16] for i in range(0, len(payload), 16)]
        elif kind == b"KVWE":
            for event in map(Event._make, _EVENT.iter_unpack(payload)):
                if event.kind == INDEX and event.value >= len(self.digests):
                    raise BadLog(f"byte {at}: an event names the identity {event.value}, which is not there yet")
                self.events.append(event)
        elif kind == b"KVWK":
            self.keyframes.append(read_keyframe(payload))
        else:
            events, digests = struct.unpack("<QQ", payload)
            if (events, digests) != (len(self.events), len(self.digests)):
                raise BadLog(f"the end counts {events} events and {digests} digests, there are {len(self.events)} and "
                             f"{len(self.digests)}")
            self.whole = True

    def pools(self):
        return [pool["blocks"] for pool in self.header["pools"]]


def read_keyframe(payload):
    """Events before it, step, and the blocks that are not free, by (pool, block), as Replay.blocks has them."""
    events, step, pools = struct.unpack_from("<QII", payload)
    at, blocks = 16, {}
    for pool in range(pools):
        (used,) = struct.unpack_from("<Q", payload, at)
        at += 8
        for _ in range(used):
            block, state, indexed, group, _, tenant, _, references, request, position, tokens = \
                _KEYFRAME_BLOCK.unpack_from(payload, at)
            at += _KEYFRAME_BLOCK.size
            blocks[pool, block] = (state, indexed, group, tenant, references, request, position, tokens)
    if at != len(payload):
        raise BadLog("a keyframe has bytes left over")
    return events, step, blocks


class Replay:
    """The blocks of all pools, event by event. Blocks that are free are in no table here."""

    def __init__(self, log):
        self.log = log
        self.blocks = {}  # (pool, block) -> [state, indexed, group, tenant, references, request, position, tokens]
        self.groups = log.header["groups"]
        self.sizes = log.pools()
        self.keyframes = {events: (step, blocks) for events, step, blocks in log.keyframes}
        self.counted = Counter()  # events by kind
        self.tokens_written = Counter()  # by group
        self.admitted_from_cache = Counter()  # tokens by request
        self.step = 0
        self.done = 0

    def advance(self, step=None):
        """Takes all events up to and with `step`, or all there are."""
        events = self.log.events
        while self.done < len(events) and (step is None or events[self.done].step <= step):
            event = events[self.done]
            if event.step < self.step:
                raise BadLog(f"event {self.done}: step {event.step} after step {self.step}")
            self.step = event.step
            try:
                self.take(event)
            except BadLog as error:
                raise BadLog(f"event {self.done}, {event}: {error}") from None
            self.done += 1
            if self.done in self.keyframes:
                self.compare(*self.keyframes[self.done])

    def compare(self, step, blocks):
        mine = {key: tuple(value) for key, value in self.blocks.items()}
        if step != self.step or blocks != mine:
            raise BadLog(f"the keyframe after {self.done} events is not what the events say")

    def take(self, event):
        kind = event.kind
        if not STEP <= kind <= FAIL:
            raise BadLog("no such kind of event")
        self.counted[KINDS[kind - 1]] += 1
        if kind == ADMIT:
            self.admitted_from_cache[event.request] += event.value
        if not HOLD <= kind <= EVICT:
            return
        if event.group >= len(self.groups):
            raise BadLog("no such group")
        pool = self.groups[event.group]["pool"]
        if event.block >= self.sizes[pool]:
            raise BadLog("no such block in the pool")
        self.change(kind, event, (pool, event.block))

    def change(self, kind, event, key):
        block = self.blocks.get(key)
        state = block[0] if block else FREE
        if kind in (HOLD, ALLOCATE):
            if state != FREE:
                raise BadLog(f"the block is {STATES[state]}, not free")
            self.blocks[key] = ([HELD, 0, event.group, 0, 0, 0, 0, 0] if kind == HOLD else
                                [ACTIVE, 0, event.group, event.tenant, 1, event.request, event.position, 0])
            return
        if not block or block[2] != event.group:
            raise BadLog("the block is not the group's")
        allowed = {REFERENCE: (ACTIVE, CACHED), EVICT: (CACHED,)}.get(kind, (ACTIVE,))
        if state not in allowed:
            raise BadLog(f"the block is {STATES[state]}")
        if kind == APPEND:
            if not block[7] <= event.value <= self.groups[event.group]["block_tokens"]:
                raise BadLog(f"the block holds {block[7]} tokens")
            self.tokens_written[event.group] += event.value - block[7]
            block[7] = event.value
        elif kind == INDEX:
            if block[1]:
                raise BadLog("the block is findable already")
            block[1] = 1
        elif kind == REFERENCE:
            if not block[1]:
                raise BadLog("a hit on a block that is not findable")
            block[0] = ACTIVE
            block[4] += 1
        elif kind in (RELEASE, DROP):
            block[4] -= 1
            if block[4] == 0:
                if block[1]:
                    block[0] = CACHED
                else:
                    del self.blocks[key]
        else:
            del self.blocks[key]

    def states(self):
        """Blocks by state, all pools together."""
        out = Counter(STATES[block[0]] for block in self.blocks.values())
        out["free"] = sum(self.sizes) - len(self.blocks)
        return {state: out[state] for state in STATES}

    def rows(self):
        """{(pool, state, tenant, group): (blocks, tokens)} as `kvw events --json` counts them; empty rows left out."""
        blocks, tokens = Counter(), Counter()
        used = Counter()
        for (pool, _), block in self.blocks.items():
            used[pool] += 1
            owned = block[0] in (ACTIVE, CACHED)
            row = (str(pool), STATES[block[0]], self.log.header["tenants"][block[3]] if owned else None,
                   self.groups[block[2]]["id"] if owned else None)
            blocks[row] += 1
            tokens[row] += block[7]
        for pool, size in enumerate(self.sizes):
            if size > used[pool]:
                blocks[str(pool), "free", None, None] = size - used[pool]
        return {row: (count, tokens[row]) for row, count in blocks.items()}


# XXH3, 64 bits with a seed, for inputs of at least 9 bytes. The constants are those of the published algorithm.

_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
_M = (1 << 64) - 1
_P32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
_P64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def _read(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def _fold(a, b):
    product = a * b
    return (product ^ (product >> 64)) & _M


def _avalanche(h):
    h ^= h >> 37
    h = h * 0x165667919E3779F9 & _M
    return h ^ (h >> 32)


def _mix(data, at, secret_at, seed):
    return _fold(_read(data, at) ^ (_read(_SECRET, secret_at) + seed & _M),
                 _read(data, at + 8) ^ (_read(_SECRET, secret_at + 8) - seed & _M))


def xxh3_64(data, seed):
    n = len(data)
    if n < 9:
        raise ValueError("shorter inputs are not needed here")
    if n <= 16:
        low = _read(data, 0) ^ ((_read(_SECRET, 24) ^ _read(_SECRET, 32)) + seed & _M)
        high = _read(data, n - 8) ^ ((_read(_SECRET, 40) ^ _read(_SECRET, 48)) - seed & _M)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return _avalanche(n + swapped + high + _fold(low, high) & _M)
    if n > 240:
        return _long(data, seed)
    h = n * _P64[0] & _M
    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            h += _mix(data, 16 * i, 32 * i, seed) + _mix(data, n - 16 * (i + 1), 32 * i + 16, seed)
        return _avalanche(h & _M)
    for i in range(8):
        h += _mix(data, 16 * i, 16 * i, seed)
    h = _avalanche(h & _M)
    for i in range(8, n // 16):
        h += _mix(data, 16 * i, 16 * (i - 8) + 3, seed)
    return _avalanche(h + _mix(data, n - 16, 136 - 17, seed) & _M)


def _long(data, seed):
    secret = b"".join(((_read(_SECRET, i) + (seed if i % 16 == 0 else -seed)) & _M).to_bytes(8, "little")
                      for i in range(0, 192, 8))
    keys = [struct.unpack_from("<8Q", secret, 8 * i) for i in range(16)]
    last_key = struct.unpack_from("<8Q", secret, 192 - 64 - 7)
    scramble_key = struct.unpack_from("<8Q", secret, 128)
    acc = [_P32[2], *_P64[:4], _P32[1], _P64[4], _P32[0]]
    low = 0xffffffff

    def accumulate(lanes, key):
        for i in range(8):
            value = lanes[i]
            mixed = value ^ key[i]
            acc[i ^ 1] += value
            acc[i] += (mixed & low) * (mixed >> 32)
        for i in range(8):
            acc[i] &= _M

    n = len(data)
    stripes = (n - 1) // 64
    for i in range(stripes):
        accumulate(struct.unpack_from("<8Q", data, 64 * i), keys[i % 16])
        if i % 16 == 15 and (i + 1) * 64 <= (n - 1) // 1024 * 1024:
            for lane in range(8):
                value = acc[lane]
                acc[lane] = ((value ^ (value >> 47) ^ scramble_key[lane]) * _P32[0]) & _M
    accumulate(struct.unpack_from("<8Q", data, n - 64), last_key)
    h = n * _P64[0]
    for i in range(4):
        h += _fold(acc[2 * i] ^ _read(secret, 11 + 16 * i), acc[2 * i + 1] ^ _read(secret, 19 + 16 * i))
    return _avalanche(h & _M)
