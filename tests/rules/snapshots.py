#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots with the keys that torch.cuda.memory._snapshot() is documented to have, without torch.

An allocator that is written to be read, not to be fast, does what PyTorch's documentation says of its caching allocator: it makes
the history, the segments, and what gmanalyze's replay is compared with. No file of a real torch was at hand.

    snapshots.py DIR     makes DIR/NAME.pickle, DIR/NAME.sql (its segments as allocations of a trace) and DIR/NAME.json (facts)
"""
import json
import pickle
import random
import sys

MIB = 1 << 20
PAGE = {True: 2 * MIB, False: 20 * MIB}
RANGE = 1 << 44


def round_block(size, divisions):
    if size < 512:
        return 512
    if divisions > 1 and size > 512 * divisions:
        step = (1 << (size.bit_length() - 1)) // divisions
        return -(-size // step) * step
    return -(-size // 512) * 512


class Block:
    def __init__(self, address, size, state, requested=0, frames=None):
        self.address, self.size, self.state = address, size, state
        self.requested, self.frames = requested, frames or []

    def free(self):
        return self.state == "free"


class Segment:
    """Blocks in the order of their addresses; of an expandable one also parts that are not mapped."""

    def __init__(self, stream, small, expandable, blocks):
        self.stream, self.small, self.expandable, self.blocks = stream, small, expandable, blocks


class Allocator:
    def __init__(self, expandable=False, max_split=None, divisions=0, quiet=False):
        self.expandable, self.max_split, self.divisions = expandable, max_split, divisions
        self.segments, self.events, self.quiet = [], [], quiet
        self.next = 0x7F0000000000
        self.reserved = self.peak = 0
        self.clock = 1_700_000_000_000_000

    def event(self, action, address, size, stream, frames=None):
        self.clock += 10
        if not self.quiet:
            self.events.append({"action": action, ("device_free" if action == "oom" else "addr"): address, "size": size,
                                "stream": stream, "time_us": self.clock, "frames": frames or []})

    def grow(self, size):
        self.reserved += size
        self.peak = max(self.peak, self.reserved)

    def cut(self, segment, block, size):
        at = segment.blocks.index(block)
        segment.blocks.insert(at + 1, Block(block.address + size, block.size - size, block.state))
        block.size = size

    @staticmethod
    def merge(segment):
        blocks = []
        for block in segment.blocks:
            if blocks and block.state in ("free", "unmapped") and blocks[-1].state == block.state:
                blocks[-1].size += block.size
            else:
                blocks.append(block)
        segment.blocks[:] = blocks

    def fit(self, size, stream, small):
        def expanded(candidate):
            segment, block = candidate
            at = segment.blocks.index(block) + 1
            behind = segment.blocks[at] if at < len(segment.blocks) else None
            return block.size + (behind.size if behind is not None and behind.state == "unmapped" else 0)

        found = sorted(((s, b) for s in self.segments if s.stream == stream and s.small == small
                        for b in s.blocks if b.free() and b.size >= size), key=lambda x: (x[1].size, x[1].address))
        if not found:
            return None
        best = 0
        if found[0][0].expandable:
            while best + 1 < len(found) and expanded(found[best + 1]) < expanded(found[best]):
                best += 1
        segment, block = found[best]
        if self.max_split is not None:
            if size < self.max_split <= block.size:
                return None
            if size >= self.max_split and block.size >= size + 20 * MIB:
                return None
        return segment, block

    def map_pages(self, segment, block, size):
        page = PAGE[segment.small]
        size = min(-(-size // page) * page, block.size)
        if size < block.size:
            self.cut(segment, block, size)
        block.state = "free"
        self.grow(size)
        self.event("segment_map", block.address, size, segment.stream)
        self.merge(segment)

    def expand(self, size, stream, small):
        holes = []
        for segment in self.segments:
            if segment.expandable and segment.stream == stream and segment.small == small:
                for at, block in enumerate(segment.blocks):
                    if block.state == "unmapped":
                        first = at - 1 if at > 0 and segment.blocks[at - 1].free() else at
                        room = 0
                        for other in segment.blocks[first:]:
                            if other.state == "used" or room >= size:
                                break
                            room += other.size
                        if room >= size:
                            holes.append((block.address, segment, segment.blocks[first].address))
        if holes:
            _, segment, address = min(holes, key=lambda x: x[0])
        else:
            self.next = -(-self.next // (20 * MIB)) * (20 * MIB)
            address, segment = self.next, Segment(stream, small, True, [Block(self.next, RANGE, "unmapped")])
            self.next += RANGE
            self.segments.append(segment)
        while True:
            block = next(b for b in segment.blocks if b.address == address)
            if block.free() and block.size >= size:
                return segment, block
            missing = size if block.state == "unmapped" else size - block.size
            hole = block if block.state == "unmapped" else segment.blocks[segment.blocks.index(block) + 1]
            self.map_pages(segment, hole, missing)

    def new_segment(self, size, stream, small):
        total = 2 * MIB if small else 20 * MIB if size < 10 * MIB else -(-size // (2 * MIB)) * 2 * MIB
        segment = Segment(stream, small, False, [Block(self.next, total, "free")])
        self.next += total
        self.segments.append(segment)
        self.grow(total)
        self.event("segment_alloc", segment.blocks[0].address, total, stream)
        return segment, segment.blocks[0]

    def malloc(self, requested, stream=0, frames=None):
        size = round_block(requested, self.divisions)
        small = size <= MIB
        segment, block = self.fit(size, stream, small) or (
            self.expand(size, stream, small) if self.expandable else self.new_segment(size, stream, small))
        rest = block.size - size
        split = rest >= 512 if small or self.expandable else (
            rest > MIB and (self.max_split is None or size < self.max_split))
        if split:
            self.cut(segment, block, size)
        block.state, block.requested, block.frames = "used", requested, frames or []
        self.event("alloc", block.address, requested, stream, frames)
        return segment, block

    def free(self, held):
        segment, block = held
        self.event("free_requested", block.address, block.requested, segment.stream)
        self.event("free_completed", block.address, block.requested, segment.stream)
        block.state, block.frames = "free", []
        self.merge(segment)

    def empty_cache(self):
        for segment in list(self.segments):
            if not segment.expandable:
                if len(segment.blocks) == 1 and segment.blocks[0].free():
                    self.segments.remove(segment)
                    self.reserved -= segment.blocks[0].size
                    self.event("segment_free", segment.blocks[0].address, segment.blocks[0].size, segment.stream)
                continue
            page = PAGE[segment.small]
            for block in [b for b in segment.blocks if b.free()]:
                begin = -(-block.address // page) * page
                end = (block.address + block.size) // page * page
                if begin >= end:
                    continue
                if begin > block.address:
                    self.cut(segment, block, begin - block.address)
                    block = next(b for b in segment.blocks if b.address == begin)
                if end < block.address + block.size:
                    self.cut(segment, block, end - begin)
                block.state = "unmapped"
                self.reserved -= end - begin
                self.event("segment_unmap", begin, end - begin, segment.stream)
            self.merge(segment)

    def out_of_memory(self, asked, left, stream=0):
        self.empty_cache()
        self.event("oom", left, asked, stream)

    def snapshot(self):
        segments = []
        for segment in self.segments:
            run = []
            for block in segment.blocks + [Block(0, 0, "unmapped")]:
                if block.state != "unmapped":
                    run.append(block)
                    continue
                if run:
                    segments.append(self.describe(segment, run))
                run = []
        settings = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": self.max_split or -1, "garbage_collection_threshold": 0.0,
                    "expandable_segments": self.expandable, "pinned_num_register_threads": 1,
                    "release_lock_on_cudamalloc": False, "pinned_use_cuda_host_register": False,
                    "roundup_power2_divisions": {str(1 << i): self.divisions for i in range(16)}}
        self.event("snapshot", 0, self.reserved, 0)
        return {"segments": segments, "device_traces": [self.events], "allocator_settings": settings}

    @staticmethod
    def describe(segment, run):
        blocks = [{"address": b.address, "size": b.size, "requested_size": b.requested if b.state == "used" else 0,
                   "state": "active_allocated" if b.state == "used" else "inactive", "frames": b.frames} for b in run]
        used = [b for b in run if b.state == "used"]
        return {"device": 0, "address": run[0].address, "total_size": sum(b.size for b in run),
                "allocated_size": sum(b.size for b in used), "active_size": sum(b.size for b in used),
                "requested_size": sum(b.requested for b in used), "stream": segment.stream,
                "segment_type": "small" if segment.small else "large", "segment_pool_id": (0, 0),
                "is_expandable": segment.expandable, "frames": [], "blocks": blocks}


def stack(line):
    """Innermost first, as PyTorch has it: its own Python lies inside of the user's."""
    return [{"filename": "/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py", "line": 125, "name": "forward"},
            {"filename": "/home/user/project/train.py", "line": line, "name": "step"},
            {"filename": "/home/user/project/train.py", "line": 99, "name": "<module>"}]


STACKS = {line: stack(line) for line in range(10, 16)}


def random_steps(seed):
    """What a program asks for: the same whatever the allocator."""
    rng = random.Random(seed)
    live, steps = [], []
    for number in range(400):
        if live and rng.random() < 0.45:
            steps.append(("free", live.pop(rng.randrange(len(live)))))
        elif rng.random() < 0.02:
            steps.append(("empty",))
        else:
            size = rng.choice([rng.randrange(1, 4096), rng.randrange(1, 2 * MIB), rng.randrange(MIB, 40 * MIB),
                               rng.randrange(MIB, 200 * MIB)])
            live.append(number)
            steps.append(("alloc", number, size, rng.choice([0, 0, 0, 7]), rng.choice(list(STACKS))))
    return steps


def growing_steps():
    """Sequences of growing lengths: what was freed is always a little too small."""
    steps = []
    for number in range(40):
        steps.append(("alloc", number, (20 + 4 * number) * MIB, 0, 10))
        if number > 0:
            steps.append(("free", number - 1))
    steps.append(("oom", 900 * MIB, 64 * MIB))
    return steps


def stuck_steps():
    """Each segment of 80 MiB keeps 20: 180 MiB are free, and 100 in one piece nowhere."""
    steps = [("alloc", i, 80 * MIB, 0, 11) for i in range(3)]
    for i in range(3):
        steps += [("free", i), ("alloc", 10 + i, 20 * MIB, 0, 12), ("alloc", 20 + i, 60 * MIB, 0, 13)]
    steps += [("free", 20 + i) for i in range(3)]
    return steps + [("oom", 100 * MIB, 30 * MIB)]


def hole_steps(beside):
    """100 MiB that nothing fits into later, of 220 MiB and what lies beside."""
    return [("alloc", 0, beside * MIB, 0, 10), ("alloc", 1, 100 * MIB, 0, 11), ("free", 1), ("alloc", 2, 120 * MIB, 0, 12)]


def bucket_steps(*streams):
    """In each stream two sizes that roundup_power2_divisions:4 takes for one, the second a little larger."""
    steps = []
    for number, (stream, small, large) in enumerate(streams):
        steps += [("alloc", 2 * number, small * MIB, stream, 11), ("free", 2 * number),
                  ("alloc", 2 * number + 1, large * MIB, stream, 12)]
    return steps


def emptied_steps():
    """Written at exit: nothing lives any more."""
    return [("alloc", 0, 60 * MIB, 0, 12), ("alloc", 1, 40 * MIB, 0, 11), ("free", 0), ("free", 1)]


def run(steps, allocator):
    """Returns the steps without releases that released nothing: a history does not show those."""
    held, seen = {}, []
    for step in steps:
        before = allocator.reserved
        if step[0] == "alloc":
            held[step[1]] = allocator.malloc(step[2], step[3], STACKS[step[4]])
        elif step[0] == "free":
            allocator.free(held.pop(step[1]))
        elif step[0] == "empty":
            allocator.empty_cache()
        else:
            allocator.out_of_memory(step[1], step[2])
        if step[0] != "empty" or allocator.reserved < before:
            seen.append(step)
    return seen


CHANGES = {"expandable_segments:True": {"expandable": True}, "expandable_segments:False": {"expandable": False},
           "max_split_size_mb:128": {"max_split": 128 * MIB}, "max_split_size_mb:512": {"max_split": 512 * MIB},
           "roundup_power2_divisions:4": {"divisions": 4}}


def trace_rows(events, trace_ns):
    """Segments as the calls that a trace would have: (address, bytes, begin, freed or None)."""
    rows, live = [], {}
    for event in events:
        if not event["action"].startswith("segment"):
            continue
        at = trace_ns + 1000 * (event["time_us"] - 1_700_000_000_000_000)
        mapped = event["action"] in ("segment_map", "segment_unmap")
        page = 2 * MIB if mapped else event["size"]
        for address in range(event["addr"], event["addr"] + event["size"], page or 1):
            if event["action"] in ("segment_alloc", "segment_map"):
                live[address] = [address, page, at, None]
                rows.append(live[address])
            elif event["action"] in ("segment_free", "segment_unmap"):
                live.pop(address)[3] = at
    return rows


def write(folder, name, steps, protocol, first=0, **settings):
    allocator = Allocator(**settings)
    seen = run(steps, allocator)
    snapshot = allocator.snapshot()
    snapshot["device_traces"] = [allocator.events[first:]]
    with open(f"{folder}/{name}.pickle", "wb") as file:
        pickle.dump(snapshot, file, protocol=protocol)
    rows = trace_rows(allocator.events, 1_000_000)
    with open(f"{folder}/{name}.sql", "w") as file:
        file.write("BEGIN;\n")
        for number, (address, size, begin, freed) in enumerate(rows):
            file.write("INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, stack_id, begin_ns, "
                       f"end_ns, free_api_id, free_thread_id, free_begin_ns, free_end_ns) VALUES ({500000 + number}, "
                       f"'{'mapped' if settings.get('expandable') else 'device'}', {address}, {size}, 1, 1, 4, NULL, {begin - 500}, "
                       f"{begin}, {'5, 1, %d, %d' % (freed, freed + 100) if freed else 'NULL, NULL, NULL, NULL'});\n")
        file.write("COMMIT;\n")
    others = {}
    for setting, change in CHANGES.items():
        if settings.get("expandable", False) == change.get("expandable", None):
            continue
        if settings.get("expandable") and "max_split" in change:
            continue
        other = Allocator(**{**settings, **change}, quiet=True)
        run(seen, other)
        others[setting] = other.peak
    blocks = [b for s in snapshot["segments"] for b in s["blocks"]]
    used = [b for b in blocks if b["state"] == "active_allocated"]
    facts = {"peak": allocator.peak, "reserved": allocator.reserved, "settings": others,
             "tensors": sum(b["requested_size"] for b in used), "blocks": len(used),
             "rounding": sum(b["size"] - b["requested_size"] for b in used),
             "unused": sum(b["size"] for b in blocks if b["state"] == "inactive"),
             "segments": len(snapshot["segments"])}
    with open(f"{folder}/{name}.json", "w") as file:
        json.dump(facts, file)


def main():
    folder = sys.argv[1]
    for seed in range(5):
        write(folder, f"random{seed}", random_steps(seed), 2 + seed % 4)
        write(folder, f"expandable{seed}", random_steps(seed), 5, expandable=True)
    write(folder, "split", random_steps(20), 4, max_split=128 * MIB)
    write(folder, "divisions", random_steps(21), 4, divisions=8)
    write(folder, "growing", growing_steps(), 4)
    write(folder, "stuck", stuck_steps(), 3)
    write(folder, "hole_of_7_percent", hole_steps(1200), 4)
    write(folder, "hole_of_15_percent", hole_steps(440), 4)
    write(folder, "bucket_7_percent_better", bucket_steps((0, 97, 105)), 4)
    write(folder, "bucket_12_percent_better", bucket_steps((0, 97, 105), (7, 41, 47)), 4)
    write(folder, "emptied", emptied_steps(), 4)
    write(folder, "late", random_steps(22), 4, first=500)


if __name__ == "__main__":
    main()
