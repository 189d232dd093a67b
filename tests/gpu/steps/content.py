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
        if mode == "whole":
            session.check(f"{pair}, {mode}: every copy has its hash", session.one(
                path, "SELECT count(*) >= 200 AND count(*) = count(f.hash) FROM transfer t "
                      "LEFT JOIN fingerprint f ON f.transfer_id = t.id") == 1)
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


def kinds_of_memory(session):
    """Which memory a real driver lets be read, and that what was hashed had arrived by then."""
    command = [session.programs / "driver_calls", "host_memory"]
    plain = session.plain(command)
    done, path = session.traced("content_kinds", command, "light", GMTRACE_FINGERPRINTS="whole",
                                GMTRACE_FINGERPRINT_BUDGET="100")
    session.check("kinds of memory: same output and status",
                  done.stdout == plain.stdout and done.returncode == plain.returncode == 0,
                  done.stdout)
    states = session.one(path, "SELECT group_concat(s, ' ') FROM (SELECT coalesce(skipped, "
                               "'whole') AS s FROM fingerprint ORDER BY transfer_id)")
    session.check("kinds of memory: hashed or why not", states ==
                  "whole whole unreadable whole asynchronous whole whole whole whole", states)
    contents = session.one(path, "SELECT group_concat(n, ' ') FROM (SELECT count(*) AS n "
                                 "FROM fingerprint WHERE hash IS NOT NULL GROUP BY hash "
                                 "ORDER BY n DESC)")
    session.check("kinds of memory: five of one content, two others", contents == "5 1 1", contents)


def overhead(session, program):
    """The same traced run with and without hashing, in turns. What a process does is not always the same
    at the same speed: each mode's quicker half is compared."""
    command = [program, "redundant", "bad", "500"]
    times = {"off": [], "sampled": []}
    hashed = []
    for turn in range(12):
        for mode in sorted(times, reverse=turn % 2 == 1):
            done, path = session.traced("content_cost", command, "light",
                                        GMTRACE_FINGERPRINTS=mode)
            times[mode].append(elapsed(done))
            if mode == "sampled":
                hashed.append(session.one(path, "SELECT count(hash) FROM fingerprint"))
    off, sampled = (statistics.median(sorted(times[mode])[:6]) for mode in ("off", "sampled"))
    session.note("run without fingerprints", off, "ms")
    session.note("run with fingerprints", sampled, "ms")
    session.note("copies hashed", statistics.median(hashed))
    session.check("fingerprints: some copies are hashed in each run", min(hashed) > 0, min(hashed))
    session.check("fingerprints cost at most 3 %", sampled <= 1.03 * off,
                  f"{100 * (sampled / off - 1):.1f} %")


def run(session):
    program = session.programs / "content_pairs"
    for pair, rule in PAIRS.items():
        one_pair(session, program, pair, rule)
    kinds_of_memory(session)
    overhead(session, program)
