# SPDX-License-Identifier: Apache-2.0
"""Differences of runs in turns: each turn has one run of every mode, and is compared with its own bare run."""

import math
import statistics
import time

# Student's t, 97.5 %, by degrees of freedom; above 30 it is close to the normal distribution's.
T = [None, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11,
     2.10, 2.09, 2.09, 2.08, 2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05, 2.04]


def interval(values):
    """Mean and half of its 95 % interval; None where there are too few."""
    if len(values) < 2:
        return None
    t = T[len(values) - 1] if len(values) <= len(T) else 1.96 + 2.4 / (len(values) - 1)
    return statistics.mean(values), t * statistics.stdev(values) / math.sqrt(len(values))


def added_percent(bare, traced):
    """Of pairs of times, what each traced run took longer than its bare one, in percent."""
    return [100 * (b / a - 1) for a, b in zip(bare, traced)]


def take_turns(modes, run, pairs, within, seconds=float("inf"), keep=lambda times: None):
    """Runs every mode in turns, in an order that rotates, until each difference is known to +-`within` points, `pairs`
    turns are made, or another turn would end later than `seconds` from now. `run(mode)` returns a time, or None where it failed;
    `keep` is given all times after each turn. Returns {mode: times}; all turns are in it."""
    names = list(modes)
    times = {name: [] for name in names}
    began = time.monotonic()
    for turn in range(pairs):
        if turn > 0 and (time.monotonic() - began) * (turn + 1) / turn > seconds:
            break
        at = turn % len(names)
        taken = {name: run(name) for name in names[at:] + names[:at]}
        if None in taken.values():
            return None
        for name, value in taken.items():
            times[name].append(value)
        keep(times)
        known = [interval(added_percent(times[names[0]], times[name])) for name in names[1:]]
        if turn >= 9 and all(found is not None and found[1] <= within for found in known):
            break
    return times
