# SPDX-License-Identifier: Apache-2.0
"""What tracing costs whole programs: bare, light, standard, Nsight Systems without and with
backtraces, in turns, medians. Adds to overhead.json. GMT_OVERHEAD=graph,ipc limits it to some of
the programs, GMT_OVERHEAD_ROUNDS=5 sets how many rounds are made (3)."""

import glob
import json
import os
import re
import statistics
import sys
import time

MODES = ("bare", "light", "standard", "nsys", "nsys, backtraces")
BACKTRACES = ["-s", "process-tree", "--cudabacktrace=all"]  # it takes them with its samples only


def programs(session):
    folder = session.sources / "programs"
    return {
        "graph": [session.programs / "graph", 20000],
        "streams": [session.programs / "twins" / "frames", "serial", "--good"],
        "ipc": [session.programs / "ipc", 200],
        "cupy": [sys.executable, folder / "cupy_script.py"],
        "pageable": [sys.executable, folder / "dataloader_torch.py", "pageable", "--steps", 40],
        "triton": [sys.executable, folder / "triton_script.py"],
        "pinned": [sys.executable, folder / "dataloader_torch.py", "pinned", "--steps", 40],
    }


def nsys_command(session, nsys, backtraces, command):
    options = BACKTRACES if backtraces else ["-s", "none"]
    return [nsys, "profile", "-t", "cuda", "--cpuctxsw=none", *options, "-f", "true", "-o",
            session.work / "overhead_nsys", *command]


def start(session, mode, command, nsys):
    """One run: what it printed, and the seconds until it had ended (not the recorder behind it)."""
    began = time.monotonic()
    if mode in ("light", "standard"):
        path = session.work / "overhead.%p.db"
        done = session.run_in(command, session.environment(path, mode, GMTRACE_COUNTERS="off"))
    elif mode == "bare":
        done = session.plain(command)
    else:
        done = session.plain(nsys_command(session, nsys, mode != "nsys", command))
    took = time.monotonic() - began
    return done, took


def remove(session):
    for path in session.work.glob("overhead*"):
        if path.is_file():
            path.unlink()


def left_behind(session, mode):
    """The traces, or Nsight's report, of the run: a tool that recorded nothing costs nothing."""
    if mode == "bare":
        return True
    if mode in ("light", "standard"):
        paths = session.traces("overhead.*.db")
        return bool(paths) and all(session.one(path, "SELECT count(*) FROM launch") > 0
                                   for path in paths)
    return bool(list(session.work.glob("overhead_nsys*")))


def own_ms(done):
    """What the program itself says that its loop took; None where it does not."""
    found = re.search(r"^time_ms ([0-9.]+)$", done.stdout + done.stderr, re.MULTILINE)
    return float(found.group(1)) if found else None


def measure(session, name, command, modes, nsys):
    samples = {mode: {"wall_s": [], "loop_ms": []} for mode in modes}
    for number in range(int(os.environ.get("GMT_OVERHEAD_ROUNDS", "3"))):
        for mode in list(samples):
            done, took = start(session, mode, command, nsys)
            ms, recorded = own_ms(done), left_behind(session, mode)
            remove(session)
            good = done.returncode == 0 and ms is not None and recorded
            if number == 0 or not good:
                session.check(f"{name} under {mode}: runs, and is recorded", good,
                              "" if good else f"status {done.returncode}, recorded {recorded}: "
                                              f"{(done.stdout + done.stderr)[-300:]}")
            if not good:
                del samples[mode]
                continue
            samples[mode]["wall_s"].append(took)
            samples[mode]["loop_ms"].append(ms)
    return samples


def print_row(name, what, medians, unit):
    bare = medians.get("bare")
    cells = "".join(f"{medians[mode]:18.2f}" if mode in medians else f"{'-':>18}" for mode in MODES)
    times = " ".join(f"{mode} x{medians[mode] / bare:.3f}" for mode in MODES[1:]
                     if bare and mode in medians)
    print(f"     {name:10}{what:7}{cells} {unit}  {times}", flush=True)


def keep(path, table):
    """Adds to what earlier calls left there: all programs take more than ten minutes."""
    results = {"command": "tests/gpu/run overhead", "programs": {}}
    if path.exists():
        results = json.loads(path.read_text(encoding="utf-8"))
    results["programs"].update(table)
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def run(session):
    found = sorted(glob.glob("/opt/nvidia/nsight-compute/*/host/target-linux-x64/nsys") +
                   glob.glob("/opt/nvidia/nsight-systems/*/target-linux-x64/nsys"))
    modes = MODES if session.check("Nsight Systems is installed", bool(found)) else MODES[:3]
    wanted = os.environ.get("GMT_OVERHEAD", "").split(",")
    measured = 0
    print(f"     {'program':10}{'':7}" + "".join(f"{mode:>18}" for mode in MODES))
    for name, command in programs(session).items():
        if wanted != [""] and name not in wanted:
            continue
        samples = measure(session, name, command, modes, found and found[-1])
        for what, unit in (("loop_ms", "ms"), ("wall_s", "s")):
            print_row(name, what.split("_")[0], {mode: statistics.median(values[what])
                                                 for mode, values in samples.items()
                                                 if values[what]}, unit)
        keep(session.out / "overhead.json", {name: samples})
        measured += 1
    session.check("programs were measured", measured > 0, measured)
