# SPDX-License-Identifier: Apache-2.0
"""What `gmtrace apply` gains on programs that others wrote: each is recorded, its fixes are tried, and with the plan that comes of it
the whole program is timed in turns, untouched and applied. GMT_APPLY_COMMANDS names a file with a command per line, as a shell takes it ("#": a
comment; "NAME: command" gives it a name; without a colon and blank it is called by its program). Without the variable nothing is done.
The tried results must be those that gmanalyze takes for the trace, and what the program prints must be equal with and without
the plan, where two untouched runs agree. Writes apply_gains.json, and how many programs gain GAIN of their run or more."""

import json
import os
import pathlib
import re
import shlex
import statistics
import time

GAIN = 0.05
ROUNDS = 9
FOR = "180s"


def named(line):
    """Name and words of a line of the file."""
    match = re.fullmatch(r"(?:([\w.+-]+): )?(.*)", line.strip())
    words = shlex.split(match[2])
    return match[1] or pathlib.Path(words[0]).name, words


def commands():
    path = os.environ.get("GMT_APPLY_COMMANDS")
    if not path:
        return []
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    return [named(line) for line in lines if line.strip() and not line.lstrip().startswith("#")]


def timed(session, command):
    began = time.monotonic()
    done = session.plain(command, timeout=600)
    return time.monotonic() - began, done


def tried(session, name, command):
    """The report of `gmtrace try`, its plan, and its file of results; and the trace that it was given."""
    _, trace = session.traced(f"apply_{name}", command, timeout=600)
    plan, results = session.work / f"{name}.plan", session.out / f"{name}.try.json"
    done = session.plain([session.build / "bin" / "gmtrace", "try", "--json", "--for", FOR, "--trace", trace, "-o", plan,
                          "--results", results, "--", *command], timeout=1200)
    if not session.check(f"{name}: gmtrace try runs", results.exists(), done.stderr[-300:]):
        return None, plan
    report = json.loads(results.read_text(encoding="utf-8"))
    differs = [f"{one['name']}: {one['difference']}" for one in report["tried"] if one["state"] == "differs"]
    session.check(f"{name}: results are equal", not differs, differs)
    done = session.plain([session.build / "bin" / "gmanalyze", "--calibrate", "never", "--tried", results, "--format", "json", trace])
    session.check(f"{name}: gmanalyze takes the results for the trace", done.returncode == 0, done.stderr[-300:])
    return report, plan


def compare(session, name, command, plan):
    """Medians of the whole program, untouched and applied in turns, in seconds; and the paired gains. None: it cannot be applied."""
    applied = [session.build / "bin" / "gmtrace", "apply", plan, "--", *command]
    times = {"untouched": [], "applied": []}
    outputs = {"untouched": set(), "applied": set()}
    for turn in range(ROUNDS):
        for which in ("untouched", "applied") if turn % 2 == 0 else ("applied", "untouched"):
            seconds, done = timed(session, command if which == "untouched" else applied)
            times[which].append(seconds)
            outputs[which].add((done.returncode, done.stdout))
            if which == "applied" and turn == 0 and not session.check(f"{name}: apply runs", "gmtrace: applies" in done.stderr,
                                                                      done.stderr[-300:]):
                return None
    if len(outputs["untouched"]) == 1:
        session.check(f"{name}: what it prints is equal with the plan", outputs["applied"] == outputs["untouched"])
    gains = sorted(a - b for a, b in zip(times["untouched"], times["applied"]))
    return {"untouched_s": statistics.median(times["untouched"]), "applied_s": statistics.median(times["applied"]),
            "gain_s": statistics.median(gains), "low_s": gains[1], "high_s": gains[-2]}  # 96 % of nine pairs


def examine(session, name, command):
    report, plan = tried(session, name, command)
    if report is None:
        return None
    proven = [one["name"] for one in report["tried"] if one["state"] == "proven" and one["name"] != "all"]
    entry = {"name": name, "command": command, "proven": proven, "tried": report["tried"], "untouched_s": report["untouched_s"],
             "compared": report["compared"], "applied": None}
    session.note(f"{name}: proven", ", ".join(proven) or "none")
    if proven:
        entry["applied"] = compare(session, name, command, plan)
    if entry["applied"] is not None:
        share = entry["applied"]["gain_s"] / entry["applied"]["untouched_s"]
        session.note(f"{name}: apply gains, of the run", share)
    return entry


def run(session):
    listed = commands()
    if not listed:
        print("skip apply_gains: GMT_APPLY_COMMANDS names no file with commands", flush=True)
        return
    entries = [entry for entry in (examine(session, *one) for one in listed) if entry is not None]
    enough = [entry["name"] for entry in entries if entry["applied"] is not None and entry["applied"]["low_s"] > 0
              and entry["applied"]["gain_s"] >= GAIN * entry["applied"]["untouched_s"]]
    session.note(f"programs that gain {GAIN:.0%} or more", f"{len(enough)} of {len(listed)}: {', '.join(enough)}")
    path = session.out / "apply_gains.json"
    path.write_text(json.dumps(entries, indent=1), encoding="utf-8")
