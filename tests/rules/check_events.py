#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_events.py TRACE.db EVENTS.json: the events follow the rules of the trace event format, and are all there."""
import collections
import json
import os
import pathlib
import sqlite3
import subprocess
import sys

FINDINGS = (1 << 20) + 16
failed = 0


def fail(what):
    global failed
    failed += 1
    if failed < 20:
        print(f"FAIL: {what}")


def ns(microseconds):
    return round(microseconds * 1000)


def check_shape(events):
    wanted = {"i": {"name", "cat", "ts", "s", "args"}, "X": {"name", "cat", "ts", "dur", "args"}, "s": {"id", "name", "cat", "ts"}, "M": {"name", "args"},
              "f": {"id", "name", "cat", "ts", "bp"}, "C": {"name", "ts", "args"}}
    for event in events:
        missing = ({"ph", "pid", "tid"} | wanted[event["ph"]]) - set(event)
        if missing:
            fail(f"{event}: no {missing}")
        if not all(isinstance(event[key], int) for key in ("pid", "tid")) or event.get("dur", 0) < 0:
            fail(f"{event}: numbers")
        if event["ph"] == "C" and not all(isinstance(value, int) for value in event["args"].values()):
            fail(f"{event}: a counter of no number")


def check_nesting(slices):
    """Complete events of one thread lie within each other or apart."""
    by_thread = collections.defaultdict(list)
    for event in slices:
        begin = ns(event["ts"])
        by_thread[event["pid"], event["tid"]].append((begin, begin + ns(event["dur"])))
    for thread, spans in by_thread.items():
        open_ends = []
        for begin, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            if open_ends and end > open_ends[-1]:
                fail(f"thread {thread}: {begin} to {end} overlaps")
            open_ends.append(end)
    return by_thread


def check_flows(events, spans):
    begins, ends = collections.Counter(), collections.Counter()
    starts = {thread: {span[0] for span in of_thread} for thread, of_thread in spans.items()}
    for event in events:
        if event["ph"] not in "sf":
            continue
        (begins if event["ph"] == "s" else ends)[event["id"]] += 1
        if ns(event["ts"]) not in starts[event["pid"], event["tid"]]:
            fail(f"{event}: in no event")
    if set(begins) != set(ends) or any(count != 1 for count in begins.values()):
        fail("flows that begin or end nowhere")
    return len(begins)


def check_names(events):
    named = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    processes = {e["pid"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    for event in events:
        if event["ph"] == "X" and ((event["pid"], event["tid"]) not in named or event["pid"] not in processes):
            fail(f"{event}: on a thread without a name")


def one(db, sql):
    return db.execute(sql).fetchone()[0] or 0


def check_findings(db, path, events):
    """Each finding has a track; on it the times that it would shorten, the longest 1000, or one mark. Returns how many are times."""
    report = json.loads(subprocess.run([os.environ["GMANALYZE"], "--calibrate", "never", "--format", "json", path],
                                       capture_output=True, check=True).stdout)
    tracks = [e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name" and e["pid"] == FINDINGS]
    wanted = [f"{i}. {f['rule']} {f['slug']}, " for i, f in enumerate(report["findings"], 1)]
    if len(tracks) != len(wanted) or not all(a.startswith(b) for a, b in zip(tracks, wanted)):
        fail(f"tracks {tracks} of findings {wanted}")
    mine = [e for e in events if e["pid"] == FINDINGS and e["ph"] in "Xi"]
    begin, end = (ns(f([e["ts"] + e.get("dur", 0) * k for e in events if e["ph"] == "X" and e["pid"] != FINDINGS] or [0]))
                  for f, k in ((min, 0), (max, 1)))
    places = end < 1 << 62  # times from the origin on that exceed 64 bits are all the same
    for tid, finding in enumerate(report["findings"], 1):
        own = [e for e in mine if e["tid"] == tid]
        times = [e for e in own if e["ph"] == "X"]
        if not own or len(own) > 1000 or (times and len(times) != len(own)) or (not times and len(own) != 1):
            fail(f"finding {tid}: {len(times)} times, {len(own)} events")
        if places and any(ns(e["ts"]) < begin or ns(e["ts"] + e["dur"]) > end for e in times):
            fail(f"finding {tid}: outside of the run")
        saving = finding["saving"]["best_ns"]
        for e in own:
            if e["args"]["rule"] != finding["rule"] or e["args"].get("saving_ns") != (saving and round(saving)):
                fail(f"finding {tid}: {e}")
    if one(db, "SELECT count(*) FROM capability WHERE name = 'software_device' AND state = 'ok'") and any(e["ph"] == "X" for e in mine):
        fail("times of findings on the software device")
    return sum(e["ph"] == "X" for e in mine)


def check_complete(db, events, flows):
    calls = sum(one(db, f"SELECT count(*) FROM {table}") for table in
                ("transfer", "memset", "launch", "sync", "api_call", "allocation", "host_allocation"))
    calls += sum(one(db, f"SELECT count(free_begin_ns) FROM {table}") for table in ("allocation", "host_allocation"))
    for table in ("range", "own_time"):
        if one(db, f"SELECT count(*) FROM sqlite_master WHERE name = '{table}'"):
            calls += one(db, f"SELECT count(*) FROM {table}")
    joined = sum(one(db, f"SELECT count(device_start_ns) FROM {table}") for table in ("transfer", "memset", "launch"))
    graphs = one(db, "SELECT count(device_start_ns) FROM launch WHERE kind = 'graph'")
    loose = one(db, "SELECT count(*) FROM device_op WHERE start_ns IS NOT NULL AND (call_id IS NULL OR graph IS NOT NULL)")
    slices = [e for e in events if e["ph"] == "X"]
    if sum(e["pid"] == 1 for e in slices) != calls:
        fail(f"{sum(e['pid'] == 1 for e in slices)} calls, not {calls}")
    if sum(e["pid"] not in (1, FINDINGS) for e in slices) != joined - graphs + loose:
        fail(f"{sum(e['pid'] not in (1, FINDINGS) for e in slices)} pieces of device work, not {joined - graphs + loose}")
    if flows != joined:
        fail(f"{flows} flows, not {joined}")
    peak = one(db, "SELECT max(now) FROM (SELECT sum(bytes) OVER (ORDER BY at, bytes ROWS UNBOUNDED PRECEDING) AS now"
                   " FROM (SELECT end_ns AS at, bytes FROM allocation WHERE end_ns IS NOT NULL UNION ALL"
                   " SELECT free_begin_ns, -bytes FROM allocation WHERE free_begin_ns IS NOT NULL))")
    seen = max((e["args"]["bytes"] for e in events if e["ph"] == "C" and e["pid"] != 1), default=0)
    if seen != peak:
        fail(f"a peak of {seen} bytes, not {peak}")


def main():
    path, json_path = sys.argv[1:]
    log = json.loads(pathlib.Path(json_path).read_bytes().decode())
    events = log["traceEvents"]
    check_shape(events)
    spans = check_nesting([e for e in events if e["ph"] == "X"])
    flows = check_flows(events, spans)
    check_names(events)
    db = sqlite3.connect(path)
    check_complete(db, events, flows)
    times = check_findings(db, path, events)
    print(f"{json_path}: {len(events)} events, {flows} flows, {times} times of findings, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
