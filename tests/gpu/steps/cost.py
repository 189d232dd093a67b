# SPDX-License-Identifier: Apache-2.0
"""Cost per driver call, side by side: no tool, light, standard, Nsight Systems (collection only).

Many short rounds, of which each mode's quickest quarter counts (quickest.py). Whether the processor decides
on a process's state is looked at too, by processes that are bound to one."""

import glob
import json
import os
import statistics
import sys
import time

from .quickest import quickest_quarter

ROUNDS = 12
FEWEST = 6
SECONDS = 60  # for all rounds; those of Nsight Systems are every third one
CALLS = 4000
PAIR = {"malloc_free_1m": 2, "context_16": 16}  # figures that cover more than one call
BIND = "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])}); os.execv(sys.argv[2], sys.argv[2:])"
CPUS = 8
COLD_ROUNDS = 5


def measured(session, what, done):
    """The median of each kind of call; empty, and a failed check, if the program did not run."""
    line = next((line for line in done.stdout.splitlines() if line.startswith("{")), None)
    if line is None or done.returncode != 0:
        session.check(f"call_cost runs, {what}", False, (done.stdout + done.stderr)[-200:])
        return {}
    return {name: value["median_ns"] for name, value in json.loads(line).items()
            if isinstance(value, dict)}


class Samples:
    def __init__(self):
        self.by_mode: dict[str, dict[str, list]] = {}

    def add(self, mode, figures):
        for name, value in figures.items():
            self.by_mode.setdefault(mode, {}).setdefault(name, []).append(value)

    def figures(self, mode):
        return {name: quickest_quarter(values) for name, values in self.by_mode.get(mode, {}).items()
                if name != "clock"}

    def added(self, mode):
        bare = self.figures("bare")
        return {name: round((value - bare[name]) / PAIR.get(name, 1))
                for name, value in self.figures(mode).items() if name in bare}

    def rounds(self, mode):
        return min((len(values) for values in self.by_mode.get(mode, {}).values()), default=0)


def modes_of(session, command):
    found = sorted(glob.glob("/opt/nvidia/nsight-compute/*/host/target-linux-x64/nsys"))

    def traced(collect, **more):
        return lambda: session.traced("cost", command, collect, **more)[0]

    modes = {
        "bare": lambda: session.plain(command),
        "light, no stacks": traced("light", GMTRACE_STACKS="off"),
        "light": traced("light"),
        "standard": traced("standard"),
        "standard, no counters": traced("standard", GMTRACE_COUNTERS="off"),
    }
    if found:
        modes["nsys"] = lambda: session.plain([found[-1], "profile", "-t", "cuda", "-s", "none",
                                               "--cpuctxsw=none", "-o", session.work / "nsys",
                                               "-f", "true", *command])
    return modes


def take_turns(session, modes):
    samples = Samples()
    until = time.monotonic() + SECONDS
    for turn in range(ROUNDS):
        if turn >= FEWEST and time.monotonic() > until:
            break
        names = [name for name in modes if name != "nsys" or turn % 3 == 0]
        for mode in names[turn % len(names):] + names[:turn % len(names)]:
            samples.add(mode, measured(session, f"mode {mode}", modes[mode]()))
    return samples


def report(session, samples, modes):
    session.note("medians of all rounds", samples.by_mode)
    print("     added ns per call (quickest quarters of the rounds' medians)")
    session.note("bare", samples.figures("bare"))
    asked, clock = (quickest_quarter(samples.by_mode["bare"].get(name, [0]))
                    for name in ("context_16", "clock"))
    session.check("bare: enough rounds", samples.rounds("bare") >= FEWEST, samples.rounds("bare"))
    session.note("of what is added, asking the driver for the context", (asked - clock) / 16, "ns")
    for mode in [mode for mode in modes if mode != "bare"]:
        session.check(f"{mode}: enough rounds", samples.rounds(mode) >= (2 if mode == "nsys" else
                                                                        FEWEST),
                      samples.rounds(mode))
        session.note(mode, samples.added(mode))
    for mode, limit in (("light, no stacks", 150), ("light", 600)):
        session.note(f"{mode}, worst", max(samples.added(mode).values(), default=None),
                     f"ns (target {limit})")
    of_nsys = samples.added("nsys")
    for name, limit in (("copy_async_64", 0.4), ("copy_sync_64", 0.8)):
        if of_nsys.get(name, 0) > 0:
            session.note(f"standard / nsys, {name}", samples.added("standard, no counters")[name] /
                         of_nsys[name], f"(target {limit})")


def by_processor(session, command):
    """Does the processor decide on a process's state? And what is added where both have the same one."""
    allowed = sorted(os.sched_getaffinity(0))
    cpus = allowed[::max(1, len(allowed) // CPUS)][:CPUS]
    samples = Samples()

    def bound(cpu):
        return [sys.executable, "-c", BIND, cpu, *command]

    for turn in range(3):
        for cpu in cpus if turn % 2 == 0 else cpus[::-1]:
            samples.add(str(cpu), measured(session, f"bound to {cpu}", session.plain(bound(cpu))))
    times = {cpu: samples.by_mode.get(str(cpu), {}).get("copy_async_64", []) for cpu in cpus}
    session.note("asynchronous copy, ns, bare, by processor", times)
    if not session.check("processors: three processes on each", all(len(values) == 3 for values in
                                                                    times.values())):
        return
    within = statistics.median(max(values) - min(values) for values in times.values())
    medians = {cpu: statistics.median(values) for cpu, values in times.items()}
    session.note("spread of processes on one processor", within, "ns")
    session.note("spread of the processors' medians", max(medians.values()) - min(medians.values()),
                 "ns")
    best = min(medians, key=medians.get)
    both = Samples()
    for _ in range(FEWEST):
        both.add("bare", measured(session, "bound, bare", session.plain(bound(best))))
        both.add("light, no stacks", measured(session, "bound, traced", session.traced(
            "cost", bound(best), "light", GMTRACE_STACKS="off")[0]))
    session.check("bound to the quickest processor: enough rounds",
                  min(both.rounds("bare"), both.rounds("light, no stacks")) == FEWEST)
    session.note("light, no stacks, bound to the quickest processor",
                 both.added("light, no stacks"), "ns")


def cold(session):
    """What a launch takes where the program has written other memory since the last one, as a framework does: 0, 8 MiB."""
    for mib in (0, 8):
        command = [session.build / "tests" / "bench" / "cold_launches", 3000, mib]
        modes = {name: mode for name, mode in modes_of(session, command).items() if name != "nsys"}
        took = {name: [] for name in modes}
        for _ in range(COLD_ROUNDS):
            for name, mode in modes.items():
                done = mode()
                if done.returncode == 0:
                    took[name].append(json.loads(done.stdout.splitlines()[0])["median_ns"])
        medians = {name: statistics.median(values) for name, values in took.items() if values}
        if session.check(f"{mib} MiB between launches: enough rounds", all(len(values) == COLD_ROUNDS for values in took.values()),
                         {name: len(values) for name, values in took.items()}):
            session.note(f"{mib} MiB between launches: a launch, ns, and what is added",
                         [medians["bare"], {name: value - medians["bare"] for name, value in medians.items() if name != "bare"}])


def run(session):
    cold(session)
    command = [session.build / "tests" / "bench" / "call_cost", CALLS]
    modes = modes_of(session, command)
    began = time.monotonic()
    report(session, take_turns(session, modes), modes)
    session.note("time of all rounds", time.monotonic() - began, "s")
    by_processor(session, command)
