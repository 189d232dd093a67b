#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_timeline.py TIMELINE.json FLEET.json WITHIN_NS [MEDIAN_NS]: the events of each rank are those of its trace, at the times that the
fleet's clocks give; one collective's ends agree over the ranks: all within WITHIN_NS, and the median of them within MEDIAN_NS, or else
within the stated errors. Prints the ranks."""
import collections
import json
import pathlib
import sqlite3
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "rules"))
import check_events as rules  # noqa: E402

COLLECTIVES, PIDS = 1, 1000
fail, ns = rules.fail, rules.ns


def check_rank(rank, clock, zero, events):
    """As in the export of one trace, but for the numbers of processes; and every call is at its time."""
    own = [dict(e, pid=e["pid"] - rank["pid"] + 1) for e in events if rank["pid"] <= e["pid"] < rank["pid"] + PIDS]
    db = sqlite3.connect(rank["trace"])
    rules.check_complete(db, own, sum(e["ph"] == "s" for e in own))
    names = [e["args"]["name"] for e in own if e["name"] == "process_name"]
    if not names or not all(name.startswith(f"rank {rank['rank']} on {rank['host']}") for name in names):
        fail(f"processes of rank {rank['rank']}: {names}")
    if [clock[key] is None for key in ("offset_ns", "drift_ppm")] != [rank[key] is None for key in ("offset_ns", "drift_ppm")]:
        fail(f"{rank} is not {clock}")
    to_wall = rules.one(db, "SELECT realtime_ns - start_ns FROM process")
    offset, drift = clock["offset_ns"] or 0, (clock["drift_ppm"] or 0) / 1e6
    slope = drift / (1 - drift)
    calls = {e["args"]["id"]: e for e in own if e["ph"] == "X" and e["pid"] == 1 and e["cat"] == "launch"}
    start, end = db.execute("SELECT start_ns, (SELECT max(end_ns) FROM range) FROM process").fetchone()
    grown, steady = [0], []  # by how much the offset is more than in the middle of the run, which the fleet does not print
    for row, begin, length in db.execute("SELECT id, begin_ns, end_ns - begin_ns FROM launch"):
        event = calls.pop(row)
        grown.append(ns(event["ts"]) - (begin + to_wall + offset - zero))
        steady.append(grown[-1] - slope * (begin - start))
        if abs(ns(event["dur"]) - length) > 2 + abs(slope) * length:
            fail(f"launch {row} of rank {rank['rank']} takes {event['dur']} us, not {length} ns")
    most = abs(slope) * (end - start) + 1000
    if calls or max(map(abs, grown)) > most or max(steady) - min(steady) > 1000:
        fail(f"calls of rank {rank['rank']} are {min(grown)} to {max(grown)} ns from where its clock has them, at most {most}; {calls}")


def check_collectives(ranks, events, within, median=None):
    """Equal names are one collective: its ends agree, and arrows go through its ranks in the order in which they came."""
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["pid"] == COLLECTIVES and e["name"] == "thread_name"}
    slices = {(e["tid"], ns(e["ts"])): e for e in events if e["pid"] == COLLECTIVES and e["ph"] == "X"}
    groups, arrows = collections.defaultdict(dict), collections.defaultdict(list)
    for (tid, begin), e in slices.items():
        rank = ranks[(tid - 1) % (1 << 24)]
        if not tracks[tid].startswith(f"rank {rank['rank']} on {rank['host']}"):
            fail(f"{tracks[tid]} has events of {rank}")
        groups[e["name"], e["args"].get("communicator"), e["args"].get("bytes")][rank["rank"]] = (begin, begin + ns(e["dur"]))
    for e in events:
        if e["pid"] == COLLECTIVES and e["ph"] in "stf":
            arrows[e["id"]].append((ns(e["ts"]), "stf".index(e["ph"]), slices[e["tid"], ns(e["ts"])]["name"]))
    for arrow in arrows.values():
        arrow.sort()
        if [p for _, p, _ in arrow] != [0] + [1] * (len(arrow) - 2) + [2] or len({name for _, _, name in arrow}) != 1:
            fail(f"an arrow through {arrow}")
    known = [r for r in ranks if r["offset_ns"] is not None]
    several = [g for g in ({r: g[r] for r in g if r in {k["rank"] for k in known}} for g in groups.values()) if len(g) > 1]
    if len(arrows) != len(several) or sum(map(len, arrows.values())) != sum(map(len, several)):
        fail(f"{len(arrows)} arrows, {len(several)} collectives of several ranks")
    spreads = [max(end for _, end in g.values()) - min(end for _, end in g.values()) for g in several]
    stated = median or 3 * sum(r["error_ns"] for r in known)
    if spreads and (max(spreads) > within or statistics.median(spreads) > stated):
        fail(f"ends of a collective lie up to {max(spreads)} ns apart, median {statistics.median(spreads)}; not {within} and {stated}")
    return len(several)


def main():
    timeline, fleet, within = json.load(open(sys.argv[1])), json.load(open(sys.argv[2])), [float(word) for word in sys.argv[3:]]
    events, about = timeline["traceEvents"], timeline["otherData"]
    ranks, clocks = about["ranks"], {rank["trace"]: rank["clock"] for rank in fleet["ranks"]}
    rules.check_shape([e for e in events if e["ph"] != "t"])
    spans = rules.check_nesting([e for e in events if e["ph"] == "X"])
    rules.check_flows(events, spans)
    rules.check_names(events)
    flows = [(e["ph"], e["cat"], e["id"]) for e in events if e["ph"] in "sf"]
    if len(set(flows)) != len(flows) or len({id for _, _, id in flows}) * 2 != len(flows):
        fail("one id for several arrows")
    if any(ns(e["ts"]) < 0 for e in events if "ts" in e):
        fail("times before zero")
    for rank in ranks:
        check_rank(rank, clocks[rank["trace"]], int(about["zero_wall_clock_ns"]), events)
    if any(e["pid"] != COLLECTIVES and not any(r["pid"] <= e["pid"] < r["pid"] + PIDS for r in ranks) for e in events):
        fail("events of no rank")
    matched = check_collectives(ranks, events, *within)
    print(" ".join(r["rank"] for r in ranks), f"{matched} collectives of several ranks" if matched else "no collectives")
    return 1 if rules.failed else 0


if __name__ == "__main__":
    sys.exit(main())
