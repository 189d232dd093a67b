# SPDX-License-Identifier: Apache-2.0
"""Kernels that launches of graphs run: whether the report has all of their time, by class."""

import json
import sys

RUNS = 200
COUNTED = 0.95  # of the time of kernels in graphs


def report(session, path):
    done = session.plain([session.build / "bin" / "gmanalyze", "--calibrate", "never", "--format", "json", path])
    return json.loads(done.stdout)


def judge(session, name, command, replays, is_warm=False):
    """is_warm: what is captured ran by itself before, so that its kernels were measured."""
    path = session.same_behaviour(name, command, "graphs")
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
    measured = sum(row["device_ns"] or 0 for row in in_graphs if row["measured_launches"] > 0)
    share = measured / max(1, sum(row["device_ns"] or 0 for row in in_graphs))
    session.note(f"{name}: of the time of what ran in graphs, classes that were measured by launches of their own",
                 share)
    unmeasured = [gap for gap in found["could_not_check"] if "only ran in graphs" in gap["why"]]
    session.check(f"{name}: what only ran in graphs is named, and measured where it ran before the capture",
                  (share >= COUNTED and not unmeasured) if is_warm else len(unmeasured) == 1,
                  [gap["why"] for gap in unmeasured])


def run(session):
    judge(session, "captured", [session.programs / "graph", RUNS], RUNS)
    judge(session, "nodes", [session.programs / "graph", RUNS, "nodes"], RUNS)
    judge(session, "PyTorch", [sys.executable, session.sources / "programs" / "graph_torch.py", 500], 500,
          is_warm=True)
