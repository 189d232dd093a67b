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
    raw = json.loads(raw_path.read_text())
    rule = next(iter(processes.RULES.values()))
    # All samples of one call or copy: the median over processes by the model's own rule.
    return {(part, name): rule(each) for part, names in processes.quantities(raw).items()
            for name, each in names.items()}


def run(session):
    sys.path.insert(0, str(session.sources.parent / "bench" / "prediction"))
    import processes

    found = [measured(session, number) for number in range(1, CALIBRATIONS + 1)]
    if None in found or not session.check("processes measured", bool(found[0])):
        return
    moves = {}
    for key, value in found[0].items():
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
