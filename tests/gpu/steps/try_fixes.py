# SPDX-License-Identifier: Apache-2.0
"""gmtrace try on the bad twin of each rule that a fix covers: what the fix gains beside what the repair that was made by hand
gains, that results are equal, and that a proven plan is applied; and what freeing waits for. Writes try_fixes.json.

The gain of whole runs is gmtrace try's; that of the loop is measured by the twins' own clock, in turns: bad, good, and bad under
`gmtrace apply` with the plan of try, whose fix is taken for proven."""

import json
import re
import statistics

from . import twin_table

ROUNDS = 7
FREE_WAITS_MS = 200  # of the 300 that the kernel of frees.cu runs
SHARE = 0.8  # of what the repair by hand gains
# Twins that expected.txt does not have: rule, program, its arguments without the twin
OTHERS = (("GM404", "carve", []),)


def covered(session):
    """The rules that `gmtrace try --help` names a fix for."""
    listed = session.plain([session.build / "bin" / "gmtrace", "try", "--help"]).stdout
    rules = re.findall(r"^  [\w-]+ \(((?:GM\d{3} ?)+)\):", listed, re.MULTILINE)
    session.check("gmtrace try names rules", len(rules) > 0, listed[-300:])
    return {rule for some in rules for rule in some.split()}


def twins(session):
    """Rule, program and arguments of each twin whose rule a fix covers."""
    rules = covered(session)
    found = [(row.rule, row.program if (session.programs / row.program).exists() else f"twins/{row.program}", [row.problem])
             for row in twin_table.rows() if row.rule in rules]
    found += [twin for twin in OTHERS if twin[0] in rules]
    missing = rules - {rule for rule, _, _ in found}
    session.check("each rule with a fix has a twin", not missing, sorted(missing))
    return found


def command(session, program, arguments, twin):
    return [session.programs / program, *arguments, f"--{twin}"]


def in_turns(session, rule, commands):
    """Medians of the times of each command by the program's own clock, in turns, ms; None where one cannot run."""
    times = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, kept in times.items():
            done = session.plain(commands[name])
            if not session.check(f"{rule}, {name}: runs", done.returncode == 0, done.stderr[-200:]):
                return None
            printed = (done.stdout + done.stderr).replace("time_ms=", "time_ms ")  # as carve prints it
            kept.append(float(twin_table.printed(printed)["time_ms"]))
    return {name: statistics.median(kept) for name, kept in times.items()}


def tried(session, rule, bad):
    """The report of `gmtrace try`, and its plan."""
    _, trace = session.traced(f"try_{rule}", bad)
    plan = session.work / f"{rule}.plan"
    done = session.plain([session.build / "bin" / "gmtrace", "try", "--json", "--for", "120s", "--trace", trace,
                          "-o", plan, rule, *bad], timeout=400)
    if not session.check(f"{rule}: gmtrace try runs", done.returncode == 0, done.stderr[-300:]):
        return None, plan
    return json.loads(done.stdout)["tried"][-1], plan


def taken_for_proven(session, rule, plan):
    """The plan as if its fix were proven, so that it can be timed where whole runs show no gain."""
    forced = session.work / f"{rule}.forced.plan"
    forced.write_text(re.sub(r"^(fix \S+) \S+", r"\1 proven", plan.read_text(encoding="utf-8"), flags=re.MULTILINE),
                      encoding="utf-8")
    return forced


def compare_gains(session, rule, entry, times):
    by_hand, by_fix = times["bad"] - times["good"], times["bad"] - times["fixed"]
    entry.update(by_hand_ms=by_hand, by_fix_ms=by_fix, times_ms=times)
    session.note(f"{rule}: the fix gains by the program's clock, ms", by_fix)
    session.note(f"{rule}: repaired by hand, ms", by_hand)
    session.check(f"{rule}: the fix gains {SHARE:.0%} of the repair by hand", by_fix >= SHARE * by_hand,
                  f"{by_fix:.2f} of {by_hand:.2f} ms")


def examine(session, rule, program, arguments):
    bad = command(session, program, arguments, "bad")
    outcome, plan = tried(session, rule, bad)
    if outcome is None:
        return None
    entry = {"rule": rule, "tried": outcome}
    session.check(f"{rule}: results are equal", outcome["state"] != "differs", outcome.get("difference"))
    if not session.check(f"{rule}: the fix is applied", sum(fix["calls"] for fix in outcome["fixes"]) > 0,
                         outcome["fixes"]):
        return entry
    apply = [session.build / "bin" / "gmtrace", "apply", taken_for_proven(session, rule, plan), *bad]
    times = in_turns(session, rule, {"bad": bad, "good": command(session, program, arguments, "good"), "fixed": apply})
    if times is not None:
        compare_gains(session, rule, entry, times)
    if outcome["gain"] is not None:
        session.note(f"{rule}: tried, whole runs, ms", outcome["gain"]["median_s"] * 1e3)
        if outcome["predicted"] is not None:
            session.note(f"{rule}: predicted, ms", outcome["predicted"]["best_s"] * 1e3)
    if outcome["state"] == "proven":
        done = session.plain([session.build / "bin" / "gmtrace", "apply", plan, *bad])
        session.check(f"{rule}: apply runs", done.returncode == 0 and "gmtrace: applies" in done.stderr,
                      done.stderr[-200:])
    return entry


def examine_frees(session):
    """What block-cache and pinned-cache take for granted: freeing waits for all kernels, new page-locked memory is zero."""
    done = session.plain([session.programs / "frees"])
    if not session.check("frees: runs", done.returncode == 0, done.stderr[-200:]):
        return
    printed = twin_table.printed(done.stdout)
    for memory in ("device", "locked"):
        took_ms = float(printed[f"{memory}_ms"])
        session.check(f"freeing {memory} memory waits for a kernel that does not use it", took_ms > FREE_WAITS_MS, took_ms)
    session.check("new page-locked memory is zero", printed["other_bytes"] == "0", printed["other_bytes"])


def run(session):
    examine_frees(session)
    entries = [examine(session, *twin) for twin in twins(session)]
    path = session.out / "try_fixes.json"
    path.write_text(json.dumps([entry for entry in entries if entry is not None], indent=1), encoding="utf-8")
