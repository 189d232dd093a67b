# SPDX-License-Identifier: Apache-2.0
"""Copies that carry nothing new: found, priced, quiet in the repaired twin, and within the budget."""

import json
import re
import statistics

PAIRS = {"redundant": "GM105", "round_trip": "GM106"}


def elapsed(done):
    return float(re.search(r"elapsed_ms ([0-9.]+)", done.stderr).group(1))


def findings(session, path, rule):
    done = session.plain([session.build / "bin" / "gmanalyze", "--calibrate", "never", "--rule",
                          rule, "--format", "json", path])
    return json.loads(done.stdout)["findings"]


def one_pair(session, program, pair, rule):
    times = {twin: statistics.median(elapsed(session.plain([program, pair, twin]))
                                     for _ in range(5)) for twin in ("bad", "good")}
    gain = times["bad"] - times["good"]
    session.note(f"{pair}: bad", times["bad"], "ms")
    session.note(f"{pair}: measured gain", gain, "ms")
    for mode, more in (("default", {}), ("whole", {"GMTRACE_FINGERPRINTS": "whole",
                                                   "GMTRACE_FINGERPRINT_BUDGET": "100"})):
        done, path = session.traced(f"{pair}_{mode}", [program, pair, "bad"], **more)
        plain = session.plain([program, pair, "bad"])
        session.check(f"{pair}, {mode}: same output", done.stdout == plain.stdout)
        session.note(f"{pair}, {mode}: hashed", session.one(
            path, "SELECT count(*) FROM fingerprint WHERE hash IS NOT NULL"))
        session.note(f"{pair}, {mode}: skipped", session.one(
            path, "SELECT count(*) FROM fingerprint WHERE hash IS NULL"))
        found = findings(session, path, rule)
        if not session.check(f"{pair}, {mode}: {rule} found once", len(found) == 1, len(found)):
            continue
        best = found[0]["saving"]["best_ns"] / 1e6
        session.note(f"{pair}, {mode}: predicted gain", best, "ms")
        session.note(f"{pair}, {mode}: headline", found[0]["headline"])
        session.check(f"{pair}, {mode}: confidence", found[0]["confidence"] ==
                      ("measured" if mode == "whole" else "heuristic"), found[0]["confidence"])
        if mode == "whole":  # all was hashed: the whole gain must have been seen
            session.check(f"{pair}: predicted within 15 % of the run time",
                          abs(best - gain) <= 0.15 * times["bad"], f"{best:.1f} and {gain:.1f} ms")
        _, path = session.traced(f"{pair}_{mode}_good", [program, pair, "good"], **more)
        session.check(f"{pair}, {mode}: the good twin is quiet",
                      not findings(session, path, rule))


def overhead(session, program):
    """The same traced run with and without hashing, in turns."""
    command = [program, "redundant", "bad", "500"]
    times = {"off": [], "sampled": []}
    for _ in range(7):
        for mode, values in times.items():
            done, _ = session.traced("content_cost", command, "light", GMTRACE_FINGERPRINTS=mode)
            values.append(elapsed(done))
    off, sampled = (statistics.median(times[mode]) for mode in ("off", "sampled"))
    session.note("run without fingerprints", off, "ms")
    session.note("run with fingerprints", sampled, "ms")
    session.check("fingerprints cost at most 3 % (and 2 % of noise)", sampled <= 1.05 * off,
                  f"{100 * (sampled / off - 1):.1f} %")


def run(session):
    program = session.programs / "content_pairs"
    for pair, rule in PAIRS.items():
        one_pair(session, program, pair, rule)
    overhead(session, program)
