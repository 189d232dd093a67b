# SPDX-License-Identifier: Apache-2.0
"""Start-up cost of a process, and the cost of a measured launch beside ncu."""

import statistics
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

    def traced(collect, **more):
        import subprocess
        path = session.trace_path("startup")
        subprocess.run([str(program)], env=session.environment(path, collect, **more), check=False,
                       cwd=session.work, capture_output=True)
        session.wait(path)

    def only_program(collect, **more):
        import subprocess
        path = session.trace_path("startup")
        start = time.monotonic()
        subprocess.run([str(program)], env=session.environment(path, collect, **more), check=False,
                       cwd=session.work, capture_output=True)
        took = time.monotonic() - start
        session.wait(path)
        return took

    bare = seconds(session, lambda: session.plain([program]))
    session.note("bare", bare, "s")
    for collect, more in (("light", {}), ("standard", {"GMTRACE_COUNTERS": "off"}),
                          ("standard", {})):
        added = statistics.median(only_program(collect, **more) for _ in range(5)) - bare
        session.note(f"added, {collect}{' without counters' if more else ''}", added, "s")
    counters = session.programs / "counters"
    one = [counters, "k_coalesced_f32", "1"]
    plain = seconds(session, lambda: session.plain(one), 3)
    ncu = seconds(session, lambda: session.plain(
        ["ncu", "--clock-control", "none", "--metrics",
         "sm__warps_active.avg.pct_of_peak_sustained_active,"
         "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", *one]), 3)
    session.note("one launch, plain process", plain, "s")
    session.note("one launch, ncu process", ncu, "s")
    done, path = session.traced("measured", [counters, "k_coalesced_f32", "200"], "standard",
                                GMTRACE_COUNTER_SAMPLES="20", GMTRACE_COUNTER_BUDGET="100")
    with session.open(path) as db:
        for group, in db.execute("SELECT DISTINCT coalesce(measured, 'none') FROM launch"):
            rows = [row[0] for row in db.execute(
                "SELECT end_ns - begin_ns FROM launch WHERE coalesce(measured, 'none') = ?",
                (group,))]
            session.note(f"launches measured {group}", len(rows))
