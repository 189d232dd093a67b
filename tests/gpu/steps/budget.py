# SPDX-License-Identifier: Apache-2.0
"""Is --overhead kept? Launch-bound loops of PyTorch and a graph, bare and recorded in turns: each mode's paired difference
with its 95 % interval, until that is +-0.5 points or 60 turns are made. What the trace says of itself stands beside it; what
CUPTI's records take inside of the driver is in the first, and in the second where --overhead is given: there the share of time for
which they are on, what they cost by what was learnt, and calls that lack a record without a reason stand, too. Results stay bit-equal.
Each turn is printed and kept as it ends. GMT_BUDGET=train,decode limits it to some of the programs, GMT_BUDGET_MODES="light;standard"
to some of the modes beside bare, GMT_BUDGET_PAIRS=10 sets how many turns are made at most, GMT_BUDGET_SECONDS=200 how long each
program may take."""

import functools
import json
import os
import re
import sys

from . import overhead, paired

MODES = {
    "bare": None,
    "light": ("light", {}),
    "light, --overhead 1": ("light", {"GMTRACE_OVERHEAD": "1"}),
    "standard": ("standard", {}),
    "standard, --overhead 3": ("standard", {"GMTRACE_OVERHEAD": "3"}),
    "standard, --overhead 1": ("standard", {"GMTRACE_OVERHEAD": "1"}),
}
ALLOWED = {"light, --overhead 1": 1, "light": 3}  # those without CUPTI: the upper end of the interval, percent
WITHIN = 0.5  # points


def programs(session):
    loops = session.sources / "programs" / "loops_torch.py"
    return {
        "train": [sys.executable, loops, "train", 200],
        "decode": [sys.executable, loops, "decode", 600],
        "graph": overhead.programs(session)["graph"],
    }


def result_of(done):
    return re.sub(r"(?m)^time_ms .*$", "", done.stdout)


class Runs:
    """Of one program: runs it, and keeps what it printed and what its traces say."""

    def __init__(self, session, command):
        self.session, self.command = session, command
        self.results, self.said, self.skipped, self.trouble = set(), {}, False, ""

    def run(self, mode):
        if self.skipped or self.trouble:
            return None
        if MODES[mode] is None:
            done, path = self.session.plain(self.command), None
        else:
            collect, more = MODES[mode]
            done, path = self.session.traced("budget", self.command, collect, **more)
        taken = overhead.own_ms(done)
        self.skipped = done.returncode == 77
        if done.returncode != 0 or taken is None:
            self.trouble = f"{mode}: status {done.returncode}: {done.stderr[-300:]}"
            return None
        self.results.add(result_of(done))
        if path is not None:
            self.said.setdefault(mode, []).append(self.session.rows(
                path, "SELECT 100.0 * sum(hooks_ns + stacks_ns + hashing_ns + counters_ns + ifnull(device_ns, 0)) / "
                      "sum(end_ns - begin_ns), max(stack_one_in), max(is_beyond), sum(device * (end_ns - begin_ns)) / "
                      "sum(end_ns - begin_ns), 100.0 * sum(device_ns) / sum(end_ns - begin_ns), 100.0 * sum(device_error_ns) / "
                      "sum(end_ns - begin_ns), max(device_cycles), (SELECT total(count) FROM loss WHERE kind IN "
                      "('host call without device row', 'device row not joined')) FROM overhead")[0])
        return taken


def mean(values):
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def judge(session, name, mode, found, runs):
    said = runs.said[mode]
    session.note(f"{name}, {mode}", {
        "added_percent": round(found[0], 2), "interval": round(found[1], 2),
        "said_percent": mean([row[0] for row in said]), "stack_one_in": max(row[1] or 1 for row in said),
        "beyond": any(row[2] for row in said), "device_on": mean([row[3] for row in said]),
        "device_percent": mean([row[4] for row in said]), "device_interval": mean([row[5] for row in said]),
        "device_cycles": max(row[6] or 0 for row in said), "not_joined": max(row[7] for row in said)})
    session.check(f"{name}, {mode}: calls and records agree, whenever these were on", not any(row[7] for row in said),
                  [row[7] for row in said])
    if mode in ALLOWED:
        session.check(f"{name}, {mode}: no more than {ALLOWED[mode]} % of the run time",
                      found[0] + found[1] <= ALLOWED[mode], f"{found[0]:.2f} +-{found[1]:.2f} %")


def run(session):
    wanted = os.environ.get("GMT_BUDGET", "").split(",")
    pairs = int(os.environ.get("GMT_BUDGET_PAIRS", "60"))
    seconds = float(os.environ.get("GMT_BUDGET_SECONDS", "inf"))
    chosen = list(filter(None, os.environ.get("GMT_BUDGET_MODES", "").split(";"))) or list(MODES)
    modes = {name: MODES[name] for name in MODES if name == "bare" or name in chosen}
    table = {}

    def keep(name, times):
        table[name] = times
        print(f"     {name}, turn {len(times['bare'])}: " + ", ".join(f"{mode} {all_of[-1]:.1f}" for mode, all_of in times.items())
              + " ms", flush=True)
        (session.out / "budget.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")

    for name, command in programs(session).items():
        if wanted != [""] and name not in wanted:
            continue
        runs = Runs(session, command)
        times = paired.take_turns(modes, runs.run, pairs, WITHIN, seconds, functools.partial(keep, name))
        if times is None:
            if runs.skipped:
                print(f"skip {name}: it cannot run here", flush=True)
            else:
                session.check(f"{name}: runs", False, runs.trouble)
            continue
        session.check(f"{name}: results are bit-equal", len(runs.results) == 1, len(runs.results))
        for mode in list(modes)[1:]:
            found = paired.interval(paired.added_percent(times["bare"], times[mode]))
            if found is not None:
                judge(session, name, mode, found, runs)
    session.check("programs were measured", bool(table), list(table))
