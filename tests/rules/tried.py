# SPDX-License-Identifier: Apache-2.0
"""Makes results of `gmtrace try` as of pipeline_slow: tried.py FILE [PATH=VALUE...], with values changed by their path, as JSON
(`tried.1.state="differs"`), or taken away (`programs.0.exe`)."""

import json
import sys

PROGRAM = {"exe": "/tmp/gmtrace/bin/pipeline_slow", "command": "/tmp/gmtrace/bin/pipeline_slow",
           "build_id": "4a4166d26ce031904b154a9546e8101c9b528623", "modified_ns": 1795000000000000000, "devices": ["NVIDIA H200"]}


def counts(fix, rules, one, calls, total, least=0, refused=()):
    return {"fix": fix, "rules": rules, "one": one, "many": f"{one[:-1]}ies" if one.endswith("y") else f"{one}s", "calls": calls,
            "bytes": total, "left_bytes": 0, "least_bytes": least,
            "refused": [{"reason": reason, "calls": number, "bytes": size} for reason, number, size in refused]}


def gain(low, median, high, pairs=8):
    return {"pairs": pairs, "median_s": median, "low_s": low, "high_s": high, "coverage": 0.97}


def outcome(name, state, why, gained, *fixes):
    return {"name": name, "parameters": {}, "state": state, "why": why, "gain": gained, "predicted": None, "points": None,
            "findings": None, "fixes": list(fixes), "difference": None}


STAGING = counts("pageable-staging", "GM102 GM103", "copy", 96, 4 << 30, 1 << 20, [("too small to gain", 12, 4096)])
BLOCKS = counts("block-cache", "GM201", "allocation", 60, 1 << 30, 2 << 20)
CARVE = counts("carve-out", "GM404", "kernel", 3, 0)
PINS = counts("pinned-cache", "GM207", "allocation", 0, 0)
EQUAL = "results are equal, and the gain is no accident"
RESULTS = {
    "format": "gmtrace-try", "version": 1, "tool_version": "0.1.0", "began_ns": 1795300000000000000, "software": False,
    "programs": [PROGRAM], "turns": 8, "stopped": "the time is used", "untouched_s": 1.9,
    "compared": {"calls": 48, "bytes": 2 << 30, "unchecked_calls": 1, "unchecked_bytes": 4096, "status": True, "output": True,
                 "unseen": []},
    "tried": [outcome("all", "proven", EQUAL, gain(0.28, 0.29, 0.3), STAGING, BLOCKS, CARVE, PINS),
              outcome("pageable-staging", "proven", EQUAL, gain(0.26, 0.27, 0.28), STAGING),
              outcome("block-cache", "tried", "results are equal; with fewer than 6 pairs of runs a gain is not proven",
                      gain(0.001, 0.002, 0.003, 5), BLOCKS),
              outcome("carve-out percent=75", "proven", EQUAL, gain(0.003, 0.004, 0.005), CARVE),
              outcome("carve-out", "no-gain", "results are equal; no gain is shown", gain(-0.003, 0.001, 0.005), CARVE),
              outcome("pinned-cache", "no-gain", "it was applied to nothing", None, PINS)],
}


def change(path, value):
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    at = RESULTS
    for part in way:
        at = at[part]
    if value == "":
        del at[last]
    else:
        at[last] = json.loads(value)


for argument in sys.argv[2:]:
    change(*argument.partition("=")[::2])
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump(RESULTS, file)
