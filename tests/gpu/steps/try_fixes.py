# SPDX-License-Identifier: Apache-2.0
"""gmtrace try on the bad twins of GM102, GM103 and GM404: what the fix gains beside what the repair that was made by hand
gains, that results are equal, and that a proven plan is applied. Writes try_fixes.json."""

import json
import statistics

from . import twin_table

ROUNDS = 7
SHARE = 0.8  # of what the repair by hand gains
# rule, program, its arguments without the twin
TWINS = (("GM102", "transfer_pairs", ["pageable_up"]),
         ("GM103", "twins/frames", ["async"]),
         ("GM404", "carve", []))


def command(session, program, arguments, twin):
    return [session.programs / program, *arguments, f"--{twin}"]


def by_hand(session, program, arguments):
    """Times of both twins by their own clock, in turns, ms; None where they cannot run."""
    times = {"bad": [], "good": []}
    for _ in range(ROUNDS):
        for twin, kept in times.items():
            done = session.plain(command(session, program, arguments, twin))
            if not session.check(f"{program}, {twin}: runs", done.returncode == 0, done.stderr[-200:]):
                return None
            kept.append(float(twin_table.printed(done.stdout + done.stderr)["time_ms"]))
    return {twin: statistics.median(kept) for twin, kept in times.items()}


def tried(session, rule, bad):
    """The report of `gmtrace try`, and its plan."""
    _, trace = session.traced(f"try_{rule}", bad)
    plan = session.work / f"{rule}.plan"
    done = session.plain([session.build / "bin" / "gmtrace", "try", "--json", "--for", "120s", "--trace", trace,
                          "-o", plan, rule, *bad], timeout=400)
    if not session.check(f"{rule}: gmtrace try runs", done.returncode == 0, done.stderr[-300:]):
        return None, plan
    return json.loads(done.stdout)["tried"][-1], plan


def examine(session, rule, program, arguments):
    times = by_hand(session, program, arguments)
    bad = command(session, program, arguments, "bad")
    if times is None:
        return None
    outcome, plan = tried(session, rule, bad)
    if outcome is None:
        return None
    gain_ms = times["bad"] - times["good"]
    entry = {"rule": rule, "by_hand_ms": gain_ms, "bad_ms": times["bad"], "tried": outcome}
    session.check(f"{rule}: results are equal", outcome["state"] != "differs", outcome.get("difference"))
    session.check(f"{rule}: the fix is applied", sum(fix["calls"] for fix in outcome["fixes"]) > 0, outcome["fixes"])
    if outcome["gain"] is not None:
        tried_ms = outcome["gain"]["median_s"] * 1e3
        session.note(f"{rule}: tried, ms", tried_ms)
        session.note(f"{rule}: repaired by hand, ms", gain_ms)
        session.check(f"{rule}: the fix gains {SHARE:.0%} of the repair by hand", tried_ms >= SHARE * gain_ms,
                      f"{tried_ms:.1f} of {gain_ms:.1f} ms")
        if outcome["predicted"] is not None:
            session.note(f"{rule}: predicted, ms", outcome["predicted"]["best_s"] * 1e3)
    if outcome["state"] == "proven":
        done = session.plain([session.build / "bin" / "gmtrace", "apply", plan, *bad])
        session.check(f"{rule}: apply runs", done.returncode == 0 and "gmtrace: applies" in done.stderr,
                      done.stderr[-200:])
    return entry


def run(session):
    entries = [examine(session, *twin) for twin in TWINS]
    path = session.out / "try_fixes.json"
    path.write_text(json.dumps([entry for entry in entries if entry is not None], indent=1), encoding="utf-8")
