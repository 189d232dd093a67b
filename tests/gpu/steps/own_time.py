# SPDX-License-Identifier: Apache-2.0
"""What a program takes without gmtrace's own work, as a trace of it shows: held against runs that were hardly
traced (`light` without stacks and hashes: 0.1 us per call), which end at the same place of the program."""

import json
import os
import statistics

from . import host_rules, twin_table

ROUNDS = 10
LIMIT = 0.05  # of the program's time, beside the quartile range of the runs that it is held against
BARE = {"GMTRACE_STACKS": "off", "GMTRACE_FINGERPRINTS": "off"}


def programs(session):
    """Name and command of the samples and of both twins of each rule; of those that GMT_TWINS=samples,GM101 names."""
    wanted = set(filter(None, os.environ.get("GMT_TWINS", "").split(",")))
    if not wanted or "samples" in wanted:
        for sample in ("pipeline_slow", "pipeline_fast"):
            yield sample, [session.build / "bin" / sample]
    for row in twin_table.rows():
        if not wanted or row.rule in wanted:
            for twin in ("bad", "good"):
                yield f"{row.rule} {twin}", host_rules.command(session, row, twin)


def verdict(session, path):
    done = session.plain([session.build / "bin" / "gmanalyze", "--calibrate", "never", "--format",
                          "json", path])
    return json.loads(done.stdout)["verdict"]


def one(session, name, command):
    """In turns. None where the program cannot run here."""
    samples = {"light": [], "program": [], "recorded": [], "own": []}
    for _ in range(ROUNDS):
        done, path = session.traced("own_light", command, "light", **BARE)
        if done.returncode == host_rules.NO_DEVICE:
            return None
        light = verdict(session, path)
        samples["light"].append(light["wall_ns"] / 1e6)
        _, path = session.traced("own_standard", command)
        standard = verdict(session, path)
        samples["program"].append(standard["wall_ns"] / 1e6)
        samples["recorded"].append(standard["recorded_ns"] / 1e6)
        samples["own"].append(standard["gmtrace_ns"] / 1e6)
    middle = {what: statistics.median(values) for what, values in samples.items()}
    low, _, high = statistics.quantiles(samples["light"], n=4)
    error = middle["program"] - middle["light"]
    session.check(f"{name}: the program's time is that of runs that were hardly traced",
                  abs(error) <= LIMIT * middle["light"] + (high - low),
                  f"recorded {middle['recorded']:.1f} ms, gmtrace's own {middle['own']:.1f}, program "
                  f"{middle['program']:.1f}; hardly traced {middle['light']:.1f} ({low:.1f} to {high:.1f})")
    return {"program": name, "median_ms": middle, "samples_ms": samples,
            "error": error / middle["light"]}


def run(session):
    table = []
    for name, command in programs(session):
        entry = one(session, name, command)
        if entry is not None:
            table.append(entry)
            (session.out / "own_time.json").write_text(json.dumps(table, indent=1), encoding="utf-8")
    session.note("largest error of a program's time", max(abs(entry["error"]) for entry in table))
