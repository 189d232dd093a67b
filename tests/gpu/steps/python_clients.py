# SPDX-License-Identifier: Apache-2.0
"""PyTorch, CuPy and Triton: unchanged output, and the counts of torch.profiler."""

import json
import sys


def totals(session, path):
    with session.open(path) as db:
        counts = dict(db.execute("SELECT kind, count(*) FROM device_op GROUP BY kind"))
        hooks = {table: db.execute(f"SELECT count(*) FROM {table} WHERE result = 0").fetchone()[0]
                 for table in ("transfer", "memset", "launch")}
    return counts, hooks


def run(session):
    folder = session.sources / "programs"
    torch = [sys.executable, folder / "train_torch.py"]
    path = session.same_behaviour("PyTorch", [*torch, "--steps", "50"], "torch",
                                  GMTRACE_COUNTERS="off")
    session.joined("PyTorch", path)
    _, with_loop = totals(session, path)
    _, empty = session.traced("torch0", [*torch, "--steps", "0"], GMTRACE_COUNTERS="off")
    _, without_loop = totals(session, empty)
    profiled = session.plain([*torch, "--steps", "50", "--profile"])
    line = next((line for line in profiled.stdout.splitlines() if line.startswith("{")), "{}")
    theirs = json.loads(line)
    ours = {"memcpy": with_loop["transfer"] - without_loop["transfer"],
            "memset": with_loop["memset"] - without_loop["memset"],
            "kernel": with_loop["launch"] - without_loop["launch"]}
    session.check("PyTorch: the loop's copies, memsets and kernels as torch.profiler counts them",
                  all(theirs.get(key) == value for key, value in ours.items()),
                  f"ours {ours}, torch.profiler {theirs}")
    for name in ("cupy_script.py", "triton_script.py"):
        path = session.same_behaviour(name, [sys.executable, folder / name], name.split("_")[0])
        session.joined(name, path)
    measured = session.same_behaviour("PyTorch with counters", [*torch, "--steps", "50"],
                                      "torch_counters")
    session.note("kernel classes measured", session.one(
        measured, "SELECT count(DISTINCT class_id) FROM kernel_counters"))
    session.note("capabilities", session.open(measured).execute(
        "SELECT name, state, detail FROM capability").fetchall())
