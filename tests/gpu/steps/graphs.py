# SPDX-License-Identifier: Apache-2.0
"""Kernels that launches of graphs run: whether the report has all of their time, by class."""

import json
import sys

RUNS = 200
COUNTED = 0.95  # of the time of kernels in graphs


def report(session, path):
    done = session.plain([session.build / "bin" / "gmanalyze", "--calibrate", "never", "--format", "json", path])
    return json.loads(done.stdout)


def judge(session, name, command, replays, measured=True, **environment):
    """measured: the kernels of the graph are measured in graphs that are launched by steps, or before the capture."""
    path = session.same_behaviour(name, command, "graphs", **environment)
    found = report(session, path)
    in_graphs = [row for row in found["kernels"] if row["launches_in_graphs"] > 0]
    nodes, node_ns = session.rows(path, "SELECT count(*), sum(end_ns - start_ns) FROM device_op "
                                  "WHERE graph IS NOT NULL AND kind = 'kernel'")[0]
    counted_launches = sum(row["launches_in_graphs"] for row in in_graphs)
    session.check(f"{name}: kernels of graphs are launches of their classes", counted_launches >= COUNTED * nodes,
                  f"{counted_launches} of {nodes}, {(node_ns or 0) / 1e6:.2f} ms, in {len(in_graphs)} classes")
    session.check(f"{name}: each ran once in each replay",
                  all(row["launches_in_graphs"] % replays == 0 for row in in_graphs),
                  sorted({row["launches_in_graphs"] for row in in_graphs}))
    counted = sum(row["device_ns"] or 0 for row in found["kernels"])
    recorded = session.rows(path, "SELECT sum(end_ns - start_ns) FROM device_op WHERE kind = 'kernel'")[0][0]
    session.check(f"{name}: the table has the time of all kernels", 0.9 < counted / recorded < 1.15,
                  f"{counted / 1e6:.2f} ms, {recorded / 1e6:.2f} of records")
    known = sum(row["device_ns"] or 0 for row in in_graphs if row["measured_launches"] > 0)
    share = known / max(1, sum(row["device_ns"] or 0 for row in in_graphs))
    session.note(f"{name}: of the time of what ran in graphs, classes that were measured", share)
    unmeasured = [gap for gap in found["could_not_check"] if "only ran in graphs" in gap["why"]]
    session.check(f"{name}: what only ran in graphs is " + ("measured" if measured else "named"),
                  (share >= COUNTED and not unmeasured) if measured else len(unmeasured) == 1,
                  [gap["why"] for gap in unmeasured])
    complete = {row[0] for row in session.rows(path, "SELECT class_id FROM kernel_counters WHERE value IS NOT NULL AND grp "
                                               "IN ('hardware', 'patched') GROUP BY 1 HAVING count(DISTINCT grp) = 2")}
    both = sum(row["device_ns"] or 0 for row in in_graphs if row["class_id"] in complete)
    both /= max(1, sum(row["device_ns"] or 0 for row in in_graphs))
    session.check(f"{name}: classes of graphs have both kinds of counters", both >= COUNTED or not measured, both)
    steps = session.one(path, "SELECT count(*) FROM launch WHERE capturing = 3")
    if environment.get("GMTRACE_GRAPH_STEPS") != "always":
        session.check(f"{name}: few launches are made by steps", steps <= 12 * len(in_graphs), steps)


def run(session):
    judge(session, "captured", [session.programs / "graph", RUNS], RUNS)
    judge(session, "nodes", [session.programs / "graph", RUNS, "nodes"], RUNS)
    judge(session, "whole", [session.programs / "graph", RUNS], RUNS, measured=False, GMTRACE_GRAPH_STEPS="off")
    judge(session, "always by steps", [session.programs / "graph", RUNS], RUNS, GMTRACE_GRAPH_STEPS="always")
    judge(session, "PyTorch", [sys.executable, session.sources / "programs" / "graph_torch.py", 500], 500)
