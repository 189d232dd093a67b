# SPDX-License-Identifier: Apache-2.0
"""Pairs of transfer programs: both are timed bare, in turns; the bad one is also traced."""

import json

from runner import Runner


def lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def record(runner: Runner) -> list[dict]:
    program = runner.programs / "transfer_pairs"
    found = []
    for pair in runner.run([program, "list"], 30).stdout.split():
        entry: dict = {"pair": pair}
        for timed in lines(runner.run([program, pair, "both"], 60).stdout):
            entry[timed["twin"]] = timed
        done, path = runner.traced(f"transfer_{pair}", [program, pair, "bad"])
        entry["traced"] = lines(done.stdout)[0]
        entry["trace"] = runner.keep(path)
        found.append(entry)
    return found
