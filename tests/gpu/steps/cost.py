# SPDX-License-Identifier: Apache-2.0
"""Cost per driver call, side by side: no tool, light, standard, Nsight Systems (collection only).

The machine has two states, in one of which every call takes half as long again, and a process may get
either: of each mode its quickest round counts."""

import glob
import json

ROUNDS = 5
PAIR = {"malloc_free_1m": 2}  # figures that cover more than one call


def measured(output):
    return {name: value["median_ns"] for name, value in json.loads(output).items()
            if isinstance(value, dict)}


def run(session):
    program = session.build / "tests" / "bench" / "call_cost"
    found = sorted(glob.glob("/opt/nvidia/nsight-compute/*/host/target-linux-x64/nsys"))
    modes = {
        "bare": lambda: session.plain([program]),
        "light, no stacks": lambda: session.traced("cost", [program], "light",
                                                   GMTRACE_STACKS="off")[0],
        "light": lambda: session.traced("cost", [program], "light")[0],
        "standard": lambda: session.traced("cost", [program], "standard")[0],
        "standard, no counters": lambda: session.traced("cost", [program], "standard",
                                                        GMTRACE_COUNTERS="off")[0],
    }
    if found:
        modes["nsys"] = lambda: session.plain([found[-1], "profile", "-t", "cuda", "-s", "none",
                                               "--cpuctxsw=none", "-o", session.work / "nsys",
                                               "-f", "true", program])
    samples: dict[str, dict[str, list]] = {mode: {} for mode in modes}
    for _ in range(ROUNDS):
        for mode, start in modes.items():
            output = start().stdout
            line = next((line for line in output.splitlines() if line.startswith("{")), None)
            if line is None:
                session.check(f"call_cost runs under {mode}", False, output[-200:])
                continue
            for name, value in measured(line).items():
                samples[mode].setdefault(name, []).append(value)
    session.note("medians of all rounds", samples)
    bare = {name: min(values) for name, values in samples["bare"].items()}
    print("     added ns per call (lowest of the rounds' medians)")
    added = {}
    for mode, figures in samples.items():
        added[mode] = {name: round((min(values) - bare[name]) / PAIR.get(name, 1))
                       for name, values in figures.items() if name != "clock"}
        session.note(f"bare {mode}" if mode == "bare" else mode,
                     bare if mode == "bare" else added[mode])
    worst = max(added["light, no stacks"].values())
    session.note("light without stacks, worst", worst, "ns (target 150)")
    session.note("light with whole stacks, worst", max(added["light"].values()), "ns (target 600)")
    if "nsys" in added and added["nsys"]:
        for name, limit in (("copy_async_64", 0.4), ("copy_sync_64", 0.8)):
            session.note(f"standard / nsys, {name}", added["standard, no counters"][name] /
                         max(1, added["nsys"][name]), f"(target {limit})")
