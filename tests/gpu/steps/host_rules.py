# SPDX-License-Identifier: Apache-2.0
"""Programs with one fault of transfers or memory each, and their repaired twins: what the rule
promises beside what the repair brought, and nothing said of the twin. Writes host_rules.json.
GMT_TWINS=GM112,GM203 limits it to the programs of some rules."""

import json
import os
import statistics

from . import twin_table
from .models import calibrated

ROUNDS = 5
LIMIT = 0.15  # of the run time of the bad twin
NO_DEVICE = 77
# Hashing takes the host as long as some copies, and counters take the kernels' overlap: only where a
# rule needs them.
TRACED = {"-": {"GMTRACE_COUNTERS": "off"},
          "counters": {},
          "fingerprints": {"GMTRACE_COUNTERS": "off", "GMTRACE_FINGERPRINTS": "whole",
                           "GMTRACE_FINGERPRINT_BUDGET": "100"}}


def command(session, row, twin):
    path = session.programs / "twins" / row.program
    return [path if path.exists() else session.programs / row.program, row.problem, f"--{twin}"]


def timed(session, row):
    """Both twins without a tool, in turns: outputs of all rounds; None where they cannot run."""
    outputs = {"bad": [], "good": []}
    for _ in range(ROUNDS):
        for twin, kept in outputs.items():
            done = session.plain(command(session, row, twin))
            if done.returncode == NO_DEVICE:
                print(f"skip {row.rule}: {done.stderr.strip()}", flush=True)
                return None
            if done.returncode != 0:
                session.check(f"{row.program} {row.problem} runs", False, done.stderr[-200:])
                return None
            kept.append(done.stdout + done.stderr)
    return outputs


def own_ms(session, path, took_ms):
    """gmtrace's own work while the program's clock ran, ms: that is between two waits for the device (twin.cuh). Of a launch
    that was measured without the kernel itself, as the analysis does: it takes as long as others of its class, or, where
    there are none, all of that time. 0 where no two waits lie so far apart."""
    waits = [end for end, in session.rows(path, "SELECT end_ns FROM sync WHERE result = 0 AND kind IN ('context', 'device') "
                                          "ORDER BY end_ns")]
    pairs = [(abs((last - first) / 1e6 - took_ms), first, last)
             for at, first in enumerate(waits) for last in waits[at + 1:]]
    error, first, last = min(pairs, default=(None, 0, 0))
    if error is None or error > 0.1 + 0.02 * took_ms:
        return 0
    rows = session.rows(path, "SELECT o.end_ns - o.begin_ns, o.work IN ('launch', 'instructions'), (SELECT "
                        "avg(k.device_end_ns - k.device_start_ns) FROM launch k WHERE k.class_id = l.class_id AND "
                        "k.device_start_ns IS NOT NULL) FROM own_time o LEFT JOIN launch l ON l.seq = o.launch_seq "
                        "WHERE o.beside = 0 AND o.begin_ns >= ? AND o.end_ns <= ?", first, last)
    return sum(max(0, ns - (ns if kernel is None else kernel)) if of_launch else ns
               for ns, of_launch, kernel in rows) / 1e6


def report_of(session, row, twin):
    """Trace one run and analyse it with the model of this device: the report, and the run's time by
    its own clock without gmtrace's own work, ms; None where that fails."""
    name = f"{row.rule}_{twin}"
    done, path = session.traced(name, command(session, row, twin), **TRACED[row.needs])
    traced = done.returncode == 0 and path.exists()
    if not session.check(f"{row.rule}, {twin}: traced", traced,
                         "" if traced else done.stderr[-200:]):
        return None
    session.joined(f"{row.rule}, {twin}", path)
    json_report = session.plain([session.build / "bin" / "gmanalyze", *calibrated(session),
                                 "--format", "json", path])
    if not session.check(f"{row.rule}, {twin}: analysed", json_report.returncode == 0,
                         json_report.stderr[-200:]):
        return None
    took_ms = float(twin_table.printed(done.stdout + done.stderr)["time_ms"])
    return json.loads(json_report.stdout), took_ms - own_ms(session, path, took_ms)


def median_ms(outputs):
    return statistics.median(float(twin_table.printed(output)["time_ms"]) for output in outputs)


def promise(row, report):
    """low, best and high of the finding's saving, ms; None: no finding, or no time promised."""
    finding = twin_table.finding_of(row, report)
    saving = finding["saving"] if finding is not None else {}
    if saving.get("best_ns") is None:
        return None
    return [saving[name] / 1e6 for name in ("low_ns", "best_ns", "high_ns")]


def scatter(samples):
    return (max(samples) - min(samples)) / statistics.median(samples)


def choose_truth(session, row, entry, finding, traced_ms):
    """What the promise is held against: the median of the runs without a tracer. Where these differ
    by more than the limit, as with pageable copies, no other run shows what the traced one would
    have taken: then that run itself, without gmtrace's own work and what the finding says that tracing added. (Not where
    it hashed all that was copied: that takes longer than the rest of the program.)"""
    samples = entry["samples_ms"]["bad"]
    entry["traced_ms"], entry["scatter"] = traced_ms, scatter(samples)
    entry["against"] = "runs without a tracer"
    longest = max(samples)
    if entry["scatter"] > LIMIT and finding is not None and row.needs != "fingerprints":
        added = finding["evidence"].get("added_by_tracing", {}).get("value") or 0
        entry["against"] = "the traced run itself"
        entry["bad_ms"] = longest = traced_ms - added / 1e6
        entry["gain_ms"] = entry["bad_ms"] - entry["good_ms"]
        session.note(f"{row.rule}: runs of the bad twin scatter over {entry['scatter']:.0%}; the "
                     "promise is compared with the run that it was made of, ms", entry["bad_ms"])
    entry["longest_ms"] = longest


def check_promise(session, row, entry):
    bad, gain, promised = entry["bad_ms"], entry["gain_ms"], entry["promised_ms"]
    if not session.check(f"{row.rule} promises time", promised is not None):
        return
    session.check(f"{row.rule} promises no more than the program takes",
                  promised[1] <= entry["longest_ms"],
                  f"promised {promised[1]:.2f} ms of {entry['longest_ms']:.2f}")
    entry["error"] = (promised[1] - gain) / bad
    entry["inside"] = promised[0] <= gain <= promised[2]
    session.check(f"{row.rule} promises what the repair brought, within {LIMIT:.0%} of the run time",
                  abs(entry["error"]) <= LIMIT,
                  f"promised {promised[1]:.2f} ms ({promised[0]:.2f} to {promised[2]:.2f}), "
                  f"measured {gain:.2f} of {bad:.2f} ms, by {entry['against']}")


def examine(session, row):
    """One row of the table; None where the program cannot run here."""
    outputs = timed(session, row)
    if outputs is None:
        return None
    bad_ms, good_ms = median_ms(outputs["bad"]), median_ms(outputs["good"])
    entry = {"rule": row.rule, "program": f"{row.program} {row.problem}", "bad_ms": bad_ms,
             "good_ms": good_ms, "gain_ms": bad_ms - good_ms, "promised_ms": None,
             "samples_ms": {twin: [float(twin_table.printed(text)["time_ms"]) for text in texts]
                            for twin, texts in outputs.items()}}
    traced = {twin: report_of(session, row, twin) for twin in outputs}
    if None in traced.values():
        return entry
    (bad, bad_traced_ms), (good, _) = traced["bad"], traced["good"]
    last = [texts[-1] for texts in outputs.values()]
    for checked in (*twin_table.results(row, *last), *twin_table.fires(row, bad),
                    *twin_table.quiet(row, good)):
        session.check(checked.what, checked.good, "" if checked.good else checked.detail)
    entry["promised_ms"] = promise(row, bad)
    entry["others"] = [f["rule"] for f in bad["findings"] if f["rule"] != row.rule]
    entry["of_the_twin"] = [f["rule"] for f in good["findings"]]
    if row.saving == "time":
        choose_truth(session, row, entry, twin_table.finding_of(row, bad), bad_traced_ms)
        check_promise(session, row, entry)
    elif row.saving != "wrong":
        for checked in twin_table.peak_saving(row, bad, last):
            session.check(checked.what, checked.good, checked.detail)
            entry["bytes"] = checked.detail
    return entry


def print_table(entries):
    print(f"     {'rule':6}{'program':18}{'bad ms':>9}{'good ms':>9}{'gain':>9}{'promised':>10}"
          f"{'low':>9}{'high':>9}{'error':>8}  other findings")
    for entry in entries:
        promised = entry["promised_ms"] or [float("nan")] * 3
        print(f"     {entry['rule']:6}{entry['program']:18}{entry['bad_ms']:9.2f}"
              f"{entry['good_ms']:9.2f}{entry['gain_ms']:9.2f}{promised[1]:10.2f}{promised[0]:9.2f}"
              f"{promised[2]:9.2f}{entry.get('error', float('nan')):8.1%}"
              f"  {' '.join(entry.get('others', []))}", flush=True)


def device(session):
    """Name and driver, as the traces have them."""
    traces = sorted(session.work.glob("GM*_bad.db"))
    if not traces:
        return None
    with session.open(traces[0]) as db:
        name, driver = db.execute("SELECT name, driver_version FROM device LIMIT 1").fetchone()
    return {"name": name, "driver": driver}


def run(session):
    calibrated(session)
    wanted = os.environ.get("GMT_TWINS", "").split(",")
    rows = [row for row in twin_table.rows() if wanted == [""] or row.rule in wanted]
    entries = [entry for entry in (examine(session, row) for row in rows) if entry is not None]
    print_table(entries)
    session.check("programs were examined", len(entries) > 0, len(entries))
    session.note("inside of what was promised", [e["rule"] for e in entries if e.get("inside")])
    promised = {"command": "tests/gpu/run host_rules", "device": device(session), "rounds": ROUNDS,
            "limit": LIMIT, "rows": entries}
    with open(session.out / "host_rules.json", "w", encoding="utf-8") as file:
        json.dump(promised, file, indent=1)
        file.write("\n")
