# SPDX-License-Identifier: Apache-2.0
"""Start-up cost of a process, and the cost of a measured launch beside ncu."""

import statistics
import subprocess
import time


def seconds(session, run, rounds=5):
    values = []
    for _ in range(rounds):
        start = time.monotonic()
        run()
        values.append(time.monotonic() - start)
    return statistics.median(values)


def run(session):
    program = session.build / "tests" / "bench" / "startup"

    def one_run(collect, **more):
        path = session.trace_path("startup") if collect else None
        start = time.monotonic()
        subprocess.run([str(program)], env=session.environment(path, collect or "", **more),
                       check=False, cwd=session.work, capture_output=True)
        took = time.monotonic() - start
        if path is not None:
            session.wait(path)
        return took

    modes = {"bare": (None, {}), "light": ("light", {}),
             "standard without counters": ("standard", {"GMTRACE_COUNTERS": "off"}),
             "standard": ("standard", {})}
    taken = {mode: [] for mode in modes}
    for _ in range(9):
        for mode, (collect, more) in modes.items():
            taken[mode].append(one_run(collect, **more))
    bare = statistics.median(taken["bare"])
    session.note("bare", bare, "s")
    for mode, values in taken.items():
        if mode != "bare":
            session.note(f"added, {mode}", statistics.median(values) - bare, "s")
    counters = session.programs / "counters"

    def ncu_seconds(launches, metrics):
        return seconds(session, lambda: session.plain(
            ["ncu", "--clock-control", "none", "--metrics", metrics, counters, "k_coalesced_f32",
             str(launches)]), 3)

    three = ("sm__warps_active.avg.pct_of_peak_sustained_active,"
             "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct,"
             "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum")
    for name, metrics in (("one metric", three.split(",", maxsplit=1)[0]),
                          ("three headline metrics", three)):
        per_launch = (ncu_seconds(21, metrics) - ncu_seconds(1, metrics)) / 20
        session.note(f"ncu, {name}, per launch", per_launch * 1e3, "ms")
    done, path = session.traced("measured", [counters, "k_coalesced_f32", "600"], "standard",
                                GMTRACE_COUNTER_SAMPLES="100", GMTRACE_COUNTER_BUDGET="100")
    with session.open(path) as db:
        rows = db.execute("SELECT begin_ns, coalesce(measured, 'none') FROM launch "
                          "ORDER BY begin_ns").fetchall()
    gaps: dict[str, list[int]] = {}
    for (begin_ns, group), (next_ns, next_group) in zip(rows, rows[1:]):
        if group == next_group:
            gaps.setdefault(group, []).append(next_ns - begin_ns)
    for group, values in gaps.items():
        session.note(f"launch to launch, measured {group} (n={len(values)})",
                     statistics.median(values) / 1e3, "us")
