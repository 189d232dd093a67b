# SPDX-License-Identifier: Apache-2.0
"""One launch made several times (--repeat on): kernels that are launched once have their time, hardware counters and
counts of their accesses; nobody sees it; and what it costs. GMT_REPEATED=known,programs limits it to some of PARTS."""

import os
import statistics

NEAR = 0.05
LEAST_NS = 50e3
PROGRAMS, PART = 200, 50
RUNS = 5  # that are not measured: their only launch of a kernel is what a repeated one's time must be


def base(kernel):
    return kernel.split("(")[0]


def known(session):
    """The kernels whose counters are known, launched once."""
    program = session.programs / "counters"
    times = {}
    for _ in range(RUNS):
        _, plain = session.traced("repeated_times", [program, "all", "1"], GMTRACE_COUNTERS="off")
        for kernel, ns in session.rows(plain, "SELECT k.name, device_end_ns - device_start_ns FROM launch l JOIN "
                                       "kernel k ON k.id = l.kernel_id WHERE device_end_ns IS NOT NULL"):
            times.setdefault(base(kernel), []).append(ns)
    path = session.same_behaviour("repeated", [program, "all", "1"], "repeated", GMTRACE_REPEAT="on")
    rows = session.rows(path, "SELECT k.name, l.measured, l.no_activity, l.device_end_ns - l.device_start_ns, "
                        "(SELECT count(DISTINCT grp) FROM kernel_counters c WHERE c.launch_seq = l.seq AND value IS NOT NULL "
                        "AND grp IN ('hardware', 'patched')) FROM launch l JOIN kernel k ON k.id = l.kernel_id")
    incomplete = [(base(name), measured, groups) for name, measured, _, _, groups in rows if groups != 2]
    session.check("launched once, every class has hardware counters and counts of its accesses",
                  len(rows) == len(times) and not incomplete,
                  f"{len(rows)} launches; {incomplete}; {session.rows(path, 'SELECT kind, detail FROM loss')}")
    untimed = [base(name) for name, _, off, ns, _ in rows if off or ns is None]
    session.check("each has the device time of an execution that was not patched", rows and not untimed, untimed)
    errors = {base(name): ns / statistics.median(times[base(name)]) - 1 for name, _, _, ns, _ in rows
              if ns is not None and statistics.median(times[base(name)]) >= LEAST_NS}
    session.note("times after a snapshot against those without measuring",
                 {name: f"{error:+.1%}" for name, error in sorted(errors.items())})
    session.note("those without measuring, us, lowest and highest",
                 {name: f"{min(times[name]) / 1e3:.1f} {max(times[name]) / 1e3:.1f}" for name in sorted(errors)})
    near = sum(abs(error) <= NEAR for error in errors.values())
    session.check("times are within 5 % of those without measuring", errors and near >= 0.95 * len(errors),
                  f"{near} of {len(errors)}")
    # The same kernels, launched often enough for samples of their own, say the same.
    often = session.same_behaviour("often", [program, "all", "4"], "repeated_often", GMTRACE_REPEAT="off")
    sql = ("SELECT k.name, m.name, avg(value) FROM kernel_counters c JOIN metric m ON m.id = c.metric_id JOIN kernel_class s "
           "ON s.id = c.class_id JOIN kernel k ON k.id = s.kernel_id WHERE m.name IN ('global_load_sectors', "
           "'global_store_sectors', 'shared_load_wavefronts', 'local_load_sectors', 'instructions') GROUP BY 1, 2")
    usual = {(name, metric): value for name, metric, value in session.rows(often, sql)}
    differ = [(base(name), metric, value, usual.get((name, metric))) for name, metric, value in session.rows(path, sql)
              if abs(value - usual.get((name, metric), value)) > 0.01 * max(1, abs(value))]
    session.check("counters are those of launches that are not repeated, within 1 %", not differ, differ[:5])
    stray = session.rows(path, "SELECT bytes, start_ns, end_ns - start_ns, (SELECT count(*) FROM own_time o WHERE "
                         "d.start_ns BETWEEN o.begin_ns AND o.end_ns) FROM device_op d WHERE call_id IS NULL")
    session.check("no work of gmtrace's own is among that of the program", not stray,
                  f"bytes, start, ns, in how many of our times: {stray}")
    own = session.rows(path, "SELECT work, count(*), sum(end_ns - begin_ns) / 1e6 FROM own_time GROUP BY 1")
    session.note("own time, ms", {work: (count, round(ms, 2)) for work, count, ms in own})


def generated(session, program, first):
    """PART of the generated programs. Each makes a context, in which sessions of counters take 0.3 s to begin."""
    path = session.same_behaviour(f"generated, from {first} on", [program, "generate", str(first), str(PART)],
                                  "repeated_programs", GMTRACE_REPEAT="always", GMTRACE_COUNTER_BUDGET="unlimited")
    repeated = ("SELECT count(DISTINCT l.seq) FROM launch l JOIN kernel k ON k.id = l.kernel_id JOIN own_time o ON "
                "o.launch_seq = l.seq AND o.work = 'repeat' WHERE k.name LIKE ? AND l.measured IS NOT NULL")
    session.check("launches with a hazard are made once", session.one(path, repeated, "hazard_%") == 0,
                  session.rows(path, "SELECT DISTINCT k.name FROM launch l JOIN kernel k ON k.id = l.kernel_id JOIN own_time o "
                               "ON o.launch_seq = l.seq AND o.work = 'repeat' WHERE k.name LIKE 'hazard_%'"))
    session.note("launches made several times", session.one(path, repeated, "safe_%"))
    reasons = session.rows(path, "SELECT substr(detail, instr(detail, ': ') + 2), count(*) FROM loss WHERE detail LIKE 'safe_%' "
                           "GROUP BY 1 ORDER BY 2 DESC LIMIT 5")
    session.check("others are made several times", session.one(path, repeated, "safe_%") >= PART, reasons)


def programs(session):
    """Programs of which a second execution would change the output, and programs that wait."""
    program = session.build / "tests" / "clients" / "repeatclient"
    for first in range(1, PROGRAMS, PART):
        generated(session, program, first)
    session.same_behaviour("threads", [program, "threads", "8"], "repeated_threads", GMTRACE_REPEAT="always")
    path = session.same_behaviour("numbers that look like addresses", [program, "numbers"], "repeated_numbers", GMTRACE_REPEAT="always")
    names = {base(row[0]) for row in session.rows(path, "SELECT DISTINCT k.name FROM launch l JOIN kernel k ON k.id = l.kernel_id JOIN "
                                                  "own_time o ON o.launch_seq = l.seq AND o.work = 'repeat'")}
    session.check("launches beside such numbers are repeated, but not beside an address", names == {"safe_few", "safe_many", "safe_different"},
                  names)
    # A kernel that waits for what its thread does after the launch: a wait without an end would hang the program.
    session.same_behaviour("waiting, in a range", [program, "waiting"], "range_waiting", GMTRACE_REPEAT="off")
    session.same_behaviour("waiting, by default", [program, "waiting"], "default_waiting")
    path = session.same_behaviour("waiting", [program, "waiting"], "repeated_waiting", GMTRACE_REPEAT="always",
                                  GMTRACE_COUNTER_BUDGET="unlimited")
    reasons = session.rows(path, "SELECT detail FROM loss ORDER BY 1")
    session.check("a kernel that waits for its own thread is let go", any("a second" in row[0] for row in reasons), reasons)


PARTS = {"known": known, "programs": programs}


def run(session):
    for name in os.environ.get("GMT_REPEATED", ",".join(PARTS)).split(","):
        PARTS[name](session)
