# SPDX-License-Identifier: Apache-2.0
"""Kernels that are launched once, and measured then: their device time by cycles against that of launches
that are not measured. And twice: they are known completely."""

import json
import statistics

NEAR, FAIR = 0.05, 0.10
LEAST_NS = 50e3


def base(kernel):
    return kernel.split("(")[0]


def run(session):
    program = session.programs / "counters"
    _, plain = session.traced("once_times", [program, "all", "24"], GMTRACE_COUNTERS="off")
    times = {}
    for kernel, ns in session.rows(plain, "SELECT k.name, device_end_ns - device_start_ns FROM launch l JOIN "
                                   "kernel k ON k.id = l.kernel_id WHERE device_end_ns IS NOT NULL"):
        times.setdefault(base(kernel), []).append(ns)
    path = session.same_behaviour("once", [program, "all", "1"], "once", GMTRACE_REPEAT="off")
    done = session.plain([session.build / "bin" / "gmanalyze", "--calibrate", "never", "--format", "json", path])
    rows = json.loads(done.stdout)["kernels"]
    by_cycles, errors = 0, {}
    for row in rows:
        name = base(row["name"])
        by_cycles += row["device_ns_by"] == "cycles"
        usual = statistics.median(times[name])
        if row["device_ns_by"] == "cycles" and usual >= LEAST_NS:
            errors[name] = row["device_ns"] / row["launches"] / usual - 1
    session.note("classes, measured, with a time by cycles",
                 (len(rows), sum(row["measured_launches"] > 0 for row in rows), by_cycles))
    session.note("errors", {name: f"{error:+.1%}" for name, error in sorted(errors.items())})
    session.check("every class has a device time", all(row["device_ns"] for row in rows))
    near = sum(abs(error) <= NEAR for error in errors.values())
    fair = sum(abs(error) <= FAIR for error in errors.values())
    session.check("times by cycles are those of launches that were not measured",
                  errors and near >= 0.8 * len(errors) and fair >= 0.95 * len(errors),
                  f"{near} of {len(errors)} within 5 %, {fair} within 10 %")

    twice = session.same_behaviour("twice", [program, "all", "2"], "twice", GMTRACE_REPEAT="off")
    known = session.rows(twice, "SELECT k.name, max(grp = 'hardware'), max(grp = 'patched') FROM kernel_counters c JOIN "
                         "kernel_class s ON s.id = c.class_id JOIN kernel k ON k.id = s.kernel_id "
                         "WHERE value IS NOT NULL GROUP BY s.id")
    incomplete = [base(name) for name, hardware, counts in known if not (hardware and counts)]
    session.check("launched twice, every class has hardware counters and counts of its accesses",
                  len(known) == len(rows) and not incomplete, f"{len(known)} classes; {incomplete}")
    session.check("its instructions have lines of their source",
                  session.one(twice, "SELECT count(DISTINCT class_id) FROM instruction WHERE line IS NOT NULL") ==
                  session.one(twice, "SELECT count(DISTINCT class_id) FROM instruction"))
