# SPDX-License-Identifier: Apache-2.0
"""Three calibrations of what the host's clock times, one after the other: do they repeat?"""

import json
import sys

CALIBRATIONS = 3


def measured(session, number: int) -> dict | None:
    """What each quantity of one calibration is, by part and name; None where there is none."""
    import processes

    raw_path = session.out / f"repeat_{number}.raw.json"
    done = session.plain([session.build / "bin" / "gmcalibrate", "--family", "host", "--raw",
                          raw_path, "--output", session.out / f"repeat_{number}.json"])
    if not session.check(f"calibration {number} succeeds", done.returncode == 0,
                         done.stderr[-300:] if done.returncode else ""):
        return None
    measured = processes.quantities(json.loads(raw_path.read_text()))
    rule = next(iter(processes.RULES.values()))
    # All samples of one call or copy, and what rules read of them, by the model's own rule.
    return {(part, name): rule(each) for part, names in measured.items()
            for name, each in names.items()} | processes.rates_of(measured, rule)


def judge_rates(session, found: list):
    """What rules read is to repeat, place by place; the worst of each rate is noted."""
    import processes

    shares = {}
    for (row, place), value in ((key, value) for key, value in found[0].items()
                                if isinstance(key[0], tuple)):
        values = [one.get((row, place), 0) for one in found]
        if min(values) > 0 and value > 0:
            shares.setdefault(row, []).append((processes.differ(values), place))
    every = [share for places in shares.values() for share, _ in places]
    if not session.check("what rules read: hundreds of places", len(every) >= 300, len(every)):
        return
    for row, places in shares.items():
        session.note(" ".join(word for word in row[:3] if word), {
            "places": len(places), "worst": max(places)[1], "moved": round(max(places)[0], 4),
            "above": sum(share > processes.TARGET for share, _ in places)})
    above = sum(share > processes.TARGET for share in every)
    session.note("what rules read", {"places": len(every), "above": above})
    session.check("what rules read: of 10 places 9 repeat within 5 %", 10 * above <= len(every),
                  f"{above} of {len(every)} do not")


def run(session):
    sys.path.insert(0, str(session.sources.parent / "bench" / "prediction"))
    import processes

    found = [measured(session, number) for number in range(1, CALIBRATIONS + 1)]
    if None in found or not session.check("processes measured", bool(found[0])):
        return
    moves = {}
    for key, value in found[0].items():
        if isinstance(key[0], tuple):
            continue  # a rate, see below
        values = [one[key] for one in found if one.get(key, 0) > 0]
        if len(values) == CALIBRATIONS and value > 0:
            moves.setdefault(processes.group_of(*key), []).append(
                (processes.differ(values), key[1]))
    for label, _, _ in processes.GROUPS:
        shares = moves.get(label, [])
        if not session.check(f"{label}: measured {CALIBRATIONS} times", bool(shares)):
            continue
        one = processes.summary([share for share, _ in shares])
        session.note(label, {"quantities": one["n"], "typical": round(one["typical"], 4),
                             "p90": round(one["p90"], 4), "above": round(one["above"], 3),
                             "worst": max(shares)[1]})
        session.check(f"{label}: the typical quantity repeats within 5 %",
                      one["typical"] <= processes.TARGET, f"{100 * one['typical']:.1f} %")
    judge_rates(session, found)
