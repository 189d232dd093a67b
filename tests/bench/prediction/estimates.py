# SPDX-License-Identifier: Apache-2.0
"""What Nsight Compute estimates for the reference kernels: ncu --set full, one launch of each."""

import csv
import io
import pathlib
import re
import time

from runner import Runner

CHUNK = 16             # variants in one process: few processes, and not all is lost with one
SECONDS_PER_KERNEL = 3.0
TEXT = re.compile(r"Est\. (Local )?Speedup: ([\d.]+) ?%")


def launches_of(text: str) -> list[dict]:
    """One entry per launch profiled: name, grid, duration, and the rules that spoke."""
    if '"ID"' not in text:
        return []
    rows = csv.DictReader(io.StringIO(text[text.index('"ID"'):]))
    found: dict[str, dict] = {}
    for row in rows:
        if not (row.get("ID") or "").isdigit():
            continue
        name = (row["Kernel Name"] or "").split("(")[0].split("<")[0].removeprefix("void ")
        entry = found.setdefault(row["ID"], {
            "kernel": name, "rules": [], "duration": None,
            "grid": [int(word) for word in re.findall(r"\d+", row["Grid Size"] or "")]})
        if row.get("Metric Name") == "Duration" and entry["duration"] is None:
            entry["duration"] = f"{row['Metric Value']} {row['Metric Unit']}"
        if row.get("Rule Name"):
            entry["rules"].append(rule_of(row))
    return list(found.values())


def rule_of(row: dict) -> dict:
    kind = (row.get("Estimated Speedup Type") or "").strip().lower()
    value = (row.get("Estimated Speedup") or "").replace(",", "").replace("%", "").strip()
    text = TEXT.search(row.get("Rule Description") or "")
    if not value and text:
        kind, value = ("local" if text.group(1) else "global"), text.group(2)
    try:
        percent = float(value)
    except ValueError:
        percent = None
    return {"rule": row["Rule Name"], "type": row.get("Rule Type"), "percent": percent,
            "scope": kind or None, "text": (row.get("Rule Description") or "")[:160]}


def match(printed: list[str], seen: list[dict], kernels: dict[str, list]) -> list[dict]:
    """Both are in the order in which they ran; kernels that prepare data lie between."""
    found, at = [], 0
    for name in printed:
        mine = []
        for kernel, grid in kernels[name]:
            while at < len(seen) and (seen[at]["kernel"], seen[at]["grid"]) != (kernel, grid):
                at += 1
            if at < len(seen):
                mine.append(seen[at])
                at += 1
        family, variant = name.split(":")
        if len(mine) == len(kernels[name]):
            found.append({"family": family, "variant": variant, "launches": mine})
    return found


def profile(runner: Runner, names: list[str], kernels: dict[str, list], number: int) -> list[dict]:
    log = runner.work / f"ncu_{number}.csv"
    done = runner.run(
        ["ncu", "--set", "full", "--clock-control", "none", "--kernel-name", "regex:gmt_kernel_",
         "--csv", "--page", "details", "--print-kernel-base", "function", "--log-file", log,
         runner.calibrate, "--once", "--launches", "1", "--variant", ",".join(names)],
        max(10.0, min(180.0, runner.left())))
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    printed = re.findall(r"^(\w+:\w+) 1 launches of ", done.stdout, re.M)
    found = match(printed, launches_of(text), kernels)
    if len(found) < len(names):
        runner.fail(f"ncu: {len(found)} of {len(names)} variants; {text[:200]!r} ... "
                    f"{text[-200:]!r}")
    return found


def record(runner: Runner, raw: dict) -> dict:
    kernels = {f"{entry['family']}:{entry['variant']}": entry["kernels"]
               for entry in raw["traced"]
               if entry["kernels"] and entry["kernels_per_launch"] == len(entry["kernels"])}
    order = sorted(raw["variants"], key=lambda row: row["quality"] != "bad")
    names = [f"{row['family']}:{row['variant']}" for row in order]
    skipped = [name for name in names if name not in kernels]
    names = [name for name in names if name in kernels]
    found, each = [], SECONDS_PER_KERNEL
    for number, begin in enumerate(range(0, len(names), CHUNK)):
        some = names[begin:begin + CHUNK]
        if runner.left() < each * len(some):
            skipped += names[begin:]
            break
        began = time.monotonic()
        found += profile(runner, some, kernels, number)
        each = (time.monotonic() - began) / len(some)
    print(f"     ncu: {len(found)} variants, {each:.1f} s each at the end, {len(skipped)} skipped",
          flush=True)
    return {"command": "ncu --set full --clock-control none --page details --csv",
            "seconds_each": round(each, 2), "variants": found, "skipped": skipped}
