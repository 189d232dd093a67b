# SPDX-License-Identifier: Apache-2.0
"""What programs/faults/expected.txt says, and whether reports of the twins agree: for the step python_faults, and for a test of it."""

import pathlib
from typing import NamedTuple

FAULTS = pathlib.Path(__file__).resolve().parents[1] / "programs" / "faults"
POINTS = 0.10  # a promise may be off by so much of the run time of the bad twin, and of the peak of its memory
WORTH = 0.05  # of the run time: what would save less is no reproach to a repaired twin
EXPANDABLE = "expandable_segments"


class Row(NamedTuple):
    program: str
    rules: list[str]
    saving: str


class Checked(NamedTuple):
    what: str
    good: bool
    detail: object


def rows() -> list[Row]:
    lines = (FAULTS / "expected.txt").read_text(encoding="utf-8").splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    return [Row(name, [] if rules == "-" else rules.split("|"), saving) for name, rules, saving in words]


def planted(program: str) -> list[int]:
    lines = (FAULTS / f"{program}.py").read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if line.endswith("# fault")]


def named(finding: dict) -> str:
    where = finding["where"]
    return f"{finding['rule']} {pathlib.PurePath(where['file'] or '').name}:{where['line']} {finding['headline']}"


def is_planted(program: str, place: dict) -> bool:
    return pathlib.PurePath(place["file"] or "").name == f"{program}.py" and place["line"] in planted(program)


def printed(output: str) -> dict[str, str]:
    words = (line.split() for line in output.splitlines())
    return dict(pair for pair in words if len(pair) == 2)


def results(row: Row, bad: str, good: str) -> list[Checked]:
    sums = [printed(output).get("check_sum") for output in (bad, good)]
    return [Checked(f"{row.program}: the repair changes no result", None not in sums and sums[0] == sums[1], sums)]


def snapshot_device(report: dict) -> dict:
    devices = ((report.get("memory") or {}).get("snapshot") or {}).get("devices") or [{}]
    return devices[0]


def fires(row: Row, bad: dict) -> list[Checked]:
    """The first finding is the planted one, at its line."""
    if not row.rules:
        device = snapshot_device(bad)
        advice = (device.get("history") or {}).get("advice") or ""
        # Of the moment with most tensors: at exit, when the snapshot is written, none is left.
        peak = (device.get("history") or {}).get("peak") or {}
        held = (peak.get("holders") or {}).get("largest") or []
        return [Checked(f"{row.program}: the snapshot advises {EXPANDABLE}", EXPANDABLE in advice, advice),
                Checked(f"{row.program}: the largest part of the peak is that of the program's own line",
                        bool(held) and pathlib.PurePath(held[0]["file"] or "").name == f"{row.program}.py", held[:1])]
    first = bad["findings"][0] if bad["findings"] else None
    all_named = [named(finding) for finding in bad["findings"]]
    return [Checked(f"{row.program}: {' or '.join(row.rules)} is the first finding",
                    first is not None and first["rule"] in row.rules, all_named),
            Checked(f"{row.program}: it names the line that the fault was planted in",
                    first is not None and is_planted(row.program, first["where"]), f"{all_named}, planted {planted(row.program)}")]


def quiet(row: Row, good: dict) -> list[Checked]:
    """Of the repaired twin no planted rule speaks of a planted line, and nothing that would be worth a change: what both twins do
    once, as to upload their weights, may be said."""
    said = [named(finding) for finding in good["findings"]
            if (finding["rule"] in row.rules and is_planted(row.program, finding["where"]))
            or (finding["saving"]["share_of_wall"] or 0) >= WORTH]
    checks = [Checked(f"{row.program}: nothing is said of the repaired twin", not said, said)]
    if not row.rules:
        advice = (snapshot_device(good).get("history") or {}).get("advice")
        checks.append(Checked(f"{row.program}: no setting is advised for the repaired twin", not advice, advice))
    return checks


def saved_bytes(row: Row, bad: dict) -> float | None:
    """What the report of the bad twin promises of the peak."""
    if row.rules:
        first = bad["findings"][0] if bad["findings"] else {}
        return first.get("saved_peak_bytes") if first.get("rule") in row.rules else None
    replays = (snapshot_device(bad).get("history") or {}).get("replays") or []
    held = {replay["setting"]: replay["reserved_bytes"] for replay in replays}
    expandable = [held[setting] for setting in held if setting and EXPANDABLE in setting]
    return held[None] - expandable[0] if None in held and expandable else None


def promised_time(row: Row, bad: dict) -> list[float] | None:
    """low, best and high of the first finding, ms."""
    first = bad["findings"][0] if bad["findings"] else None
    if first is None or first["rule"] not in row.rules or first["saving"]["best_ns"] is None:
        return None
    return [first["saving"][key] / 1e6 for key in ("low_ns", "best_ns", "high_ns")]


def gain(row: Row, bad: dict, before: float, after: float) -> tuple[list[Checked], dict]:
    """What was promised against what the repair brought: of ms, or of KiB that PyTorch held at most. A promised time is a share of
    the loop that was recorded (`recorded_ms` of the report, if known)."""
    entry = {"before": before, "after": after, "gain": before - after, "promised": None, "error": None}
    recorded = before
    if row.saving == "time":
        promised = promised_time(row, bad)
        best = promised[1] if promised is not None else None
        recorded = bad.get("recorded_ms") or before
    else:
        promised = saved_bytes(row, bad)
        best = promised / 1024 if promised is not None else None
    if best is None:
        return [Checked(f"{row.program}: a gain is promised", False, "none")], entry
    entry.update(promised=promised, recorded=recorded, error=best / recorded - entry["gain"] / before)
    unit = "ms" if row.saving == "time" else "KiB"
    return [Checked(f"{row.program}: the promise is what the repair brings, within {POINTS:.0%}", abs(entry["error"]) <= POINTS,
                    f"promised {best:.1f} of {recorded:.1f} {unit}, brought {entry['gain']:.1f} of {before:.1f} {unit}")], entry
