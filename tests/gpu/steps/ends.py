# SPDX-License-Identifier: Apache-2.0
"""However a program ends, its trace is whole, and it ends exactly as without gmtrace."""


def run(session):
    program = session.programs / "ends"
    for how in ("return", "exit", "_exit", "quick_exit", "abort", "throw", "segv", "kill", "exec"):
        plain = session.plain([program, how])
        traced, path = session.traced(f"ends_{how.strip('_')}", [program, how])
        same = (plain.stdout, plain.returncode) == (traced.stdout, traced.returncode)
        copies = session.one(path, "SELECT count(*) FROM transfer WHERE bytes > 0")
        leaks = session.one(path, "SELECT count(*) FROM allocation WHERE free_begin_ns IS NULL")
        reason = session.one(path, "SELECT end_reason FROM process")
        session.check(f"ends by {how}: same status, 100 copies, 3 allocations left",
                      same and copies == 100 and leaks == 3,
                      f"status {plain.returncode}/{traced.returncode}, copies {copies}, "
                      f"left {leaks}, end_reason {reason}")
    path = session.same_behaviour("late_free", [session.programs / "late_free"], "late_free")
    session.check("memory freed in global destructors is no leak",
                  session.one(path, "SELECT count(*) FROM allocation "
                                    "WHERE free_begin_ns IS NULL") <= 1,
                  session.one(path, "SELECT count(*) FROM allocation WHERE free_begin_ns IS NULL"))
    session.same_behaviour("forks", [session.programs / "forks"], "forks")
    for spool in session.work.glob("forks.db*.spool"):
        session.wait(spool.with_suffix(""))
    traces = sorted(path.name for path in session.work.glob("forks.db*"))
    session.check("forked children that use CUDA have a trace each", len(traces) == 3, traces)
    piped = session.plain(["sh", "-c", f"LD_PRELOAD={session.library} GMTRACE_OUTPUT="
                           f"{session.trace_path('pipe')} {program} return | cat; echo done"])
    session.check("a pipe behind the program ends with the program", "done" in piped.stdout)
