# SPDX-License-Identifier: Apache-2.0
"""Pairs of transfer programs: both are timed bare, in turns; the bad one is also traced, several
times, because what pageable copies take drifts with the host. The run of the median time counts."""

import json
import statistics

from runner import Runner


def lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


TRACED = 5


def record(runner: Runner) -> list[dict]:
    program = runner.programs / "transfer_pairs"
    found = []
    for pair in runner.run([program, "list"], 30).stdout.split():
        entry: dict = {"pair": pair}
        for timed in lines(runner.run([program, pair, "both"], 60).stdout):
            entry[timed["twin"]] = timed
        runs = []
        for number in range(TRACED):
            done, path = runner.traced(f"transfer_{pair}_{number}", [program, pair, "bad"])
            timed = lines(done.stdout)[0]
            runs.append((statistics.median(timed["samples_ns"]), number, timed, path))
        _, _, entry["traced"], path = sorted(runs)[TRACED // 2]
        entry["trace"] = runner.keep(path.rename(path.with_name(f"transfer_{pair}.db")))
        found.append(entry)
    return found
