#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs/twins/expected.txt says, and whether reports agree: for the step and for CI.

twin_table.py RULE FOLDER judges FOLDER/bad.json and good.json (reports of the software device), and
bad.out, bad.err, good.out and good.err (what the programs printed); twin_table.py --row RULE prints
the rule's row for a shell.
"""

import json
import pathlib
import re
import sys
from typing import NamedTuple

TWINS = pathlib.Path(__file__).resolve().parents[1] / "programs" / "twins"
NO_HARDWARE = "no hardware (software device)"


class Row(NamedTuple):
    rule: str
    program: str
    problem: str
    saving: str
    twin: str
    needs: str
    software: str
    options: list[str]


class Checked(NamedTuple):
    what: str
    good: bool
    detail: object


def rows() -> list[Row]:
    lines = (TWINS / "expected.txt").read_text(encoding="utf-8").splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    return [Row(*row[:7], row[7:]) for row in words]


def row_of(rule: str) -> Row:
    return next(row for row in rows() if row.rule == rule)


def planted(row: Row) -> set[tuple[str, int]]:
    """File and lines of the statements that are marked with the rule's name."""
    source = next(path for path in (TWINS / f"{row.program}.cu", TWINS.parent / f"{row.program}.cu")
                  if path.exists())
    lines = source.read_text(encoding="utf-8").splitlines()
    found = set()
    for number, line in enumerate(lines):
        if not re.search(rf"// {row.rule}$", line):
            continue
        found.add((source.name, number + 1))
        while lines[number - 1].endswith(","):  # its first lines
            found.add((source.name, number))
            number -= 1
    return found


def place(finding: dict) -> tuple[str, int]:
    where = finding["where"]
    return pathlib.PurePath(where["file"] or "").name, where["line"] or 0


def of_host(report: dict) -> list[dict]:
    """Findings about transfers and allocations, in the order of the report."""
    return [finding for finding in report["findings"] if re.match("GM[12]", finding["rule"])]


def finding_of(row: Row, report: dict) -> dict | None:
    """The rule's finding at a planted line, or at any; None without one."""
    found = [finding for finding in of_host(report) if finding["rule"] == row.rule]
    here = [finding for finding in found if place(finding) in planted(row)]
    return (here or found or [None])[0]


def fires(row: Row, bad: dict) -> list[Checked]:
    found, named = of_host(bad), [f"{f['rule']} {f['where']['label']}" for f in of_host(bad)]
    one = finding_of(row, bad)
    lines = sorted(planted(row))
    return [Checked(f"{row.rule} in {row.program} {row.problem}", one is not None, named),
            Checked(f"{row.rule} names the line that it was planted in",
                    one is not None and place(one) in lines, f"{named}, planted {lines}"),
            Checked(f"{row.rule} is the first that is said of transfers and memory",
                    bool(found) and found[0]["rule"] == row.rule, named)]


def quiet(row: Row, good: dict) -> list[Checked]:
    """The repaired twin has nothing to repair: no rule of transfers and memory speaks of it."""
    named = [f"{f['rule']} {f['where']['label']}: {f['headline']}" for f in of_host(good)
             if f["rule"] != row.twin]
    return [Checked(f"nothing is said of the repaired {row.program} {row.problem}", not named,
                    named)]


def noted(row: Row, bad: dict) -> list[Checked]:
    """Where it is not worth a finding without times."""
    notes = [note for note in bad["notes"] if note["rule"] == row.rule]
    return [Checked(f"{row.rule} is noted in {row.program} {row.problem}",
                    finding_of(row, bad) is None and
                    [place(note) in planted(row) for note in notes] == [True],
                    [(note["headline"], place(note)) for note in notes])]


def unchecked(row: Row, report: dict) -> list[Checked]:
    """A rule that needs times says so, instead of nothing."""
    why = {rule["id"]: rule.get("why") for rule in report["rules"]
           if rule["outcome"] == "could not check"}
    return [Checked(f"{row.rule} says that it could not check {row.program} {row.problem}",
                    why.get(row.rule) == NO_HARDWARE and finding_of(row, report) is None,
                    why.get(row.rule, "not said"))]


def printed(output: str) -> dict[str, str]:
    """check_sum, time_ms and the like; of transfer_pairs the time of all repetitions."""
    if output.startswith("{"):
        result = json.loads(output.splitlines()[0])
        return {"time_ms": str((sum(result["samples_ns"]) + result["setup_ns"]) / 1e6)}
    lines = (line.split() for line in output.splitlines())
    return dict(words for words in lines if len(words) == 2)


def results(row: Row, bad: str, good: str) -> list[Checked]:
    """Both twins compute the same, unless the fault is a wrong result."""
    if row.program == "transfer_pairs":
        return []  # they only copy
    sums = [printed(output).get("check_sum") for output in (bad, good)]
    wanted = row.saving != "wrong"
    return [Checked(f"results of {row.program} {row.problem} "
                    + ("are the same" if wanted else "differ: the bad one's are wrong"),
                    None not in sums and (sums[0] == sums[1]) == wanted, sums)]


def peak_saving(row: Row, bad: dict, outputs: list[str]) -> list[Checked]:
    """Bytes that the finding promises, against those that the twins held; 2 MiB is a page."""
    one = finding_of(row, bad) or {"evidence": {}}
    held = [printed(output).get(f"{row.saving}_kib") for output in outputs]
    promised = one["evidence"].get("saved_peak", {}).get("value")
    if promised is None or None in held:
        return [Checked(f"{row.rule} promises bytes", False, f"{promised}, held {held} KiB")]
    measured = 1024 * (float(held[0]) - float(held[1]))
    allowed = max(2 << 20, 0.05 * measured)
    return [Checked(f"{row.rule} promises the bytes that the repair gives back",
                    measured > 0 and abs(promised - measured) <= allowed,
                    f"promised {promised / 2**20:.1f} MiB, measured {measured / 2**20:.1f} MiB")]


def judge_software(row: Row, bad: dict, good: dict, outputs: list[str]) -> list[Checked]:
    checks = results(row, *outputs)
    if row.software == "times":
        return checks + unchecked(row, bad) + unchecked(row, good)
    checks += (noted if row.software == "note" else fires)(row, bad) + quiet(row, good)
    if row.saving in ("device", "pinned"):
        checks += peak_saving(row, bad, outputs)
    return checks


def main() -> int:
    if sys.argv[1:2] == ["--row"]:
        row = row_of(sys.argv[2])
        print(row.program, row.problem, row.needs, *row.options)
        return 0
    row, folder = row_of(sys.argv[1]), pathlib.Path(sys.argv[2])
    reports = [json.loads((folder / f"{twin}.json").read_text()) for twin in ("bad", "good")]
    outputs = [(folder / f"{twin}.out").read_text() + (folder / f"{twin}.err").read_text()
               for twin in ("bad", "good")]
    failed = 0
    for checked in judge_software(row, *reports, outputs):
        failed += not checked.good
        print(f"{'ok  ' if checked.good else 'FAIL'} {checked.what}: {checked.detail}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
