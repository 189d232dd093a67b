# SPDX-License-Identifier: Apache-2.0
"""What recording adds to the steps of launch-bound loops of PyTorch, on machines that drift by more than that between two runs: steps
are compared with others of the same run.

- Stacks and records of calls (light): gmtrace off and gmtrace on, in blocks of 0.15 s, on, off, off, on. The rest of the hooks runs
  in all blocks, and is not in the figure.
- CUPTI's records of devices (standard, --overhead 3): the governor leaves them out for times, which are compared with
  as much time before and after. Beside it stands what the governor learnt, of the calls of all threads, and of the time while records
  are on.

Compared are medians: what falls into few steps is not seen.

GMT_BLOCKS=train,decode limits it to some of the loops, GMT_BLOCKS_SECONDS=20 sets how long each run is."""

import bisect
import os
import statistics
import subprocess
import sys
import time

from . import paired, stuck
from .session import NOT_THERE

BLOCK_S = 0.15
AFTER_S = 0.01  # a switch has had its effect
WARM_S = 2.0  # from the first step on: what happens in the first second is not compared
PROGRAMS = ("decode", "train")
LEAST_GROUPS = 4


def steps_within(begins, begin, end):
    """Median duration of the steps that lie between two times, ns; None where there are too few."""
    first, last = bisect.bisect_left(begins, begin), bisect.bisect_right(begins, end)
    taken = [after - at for at, after in zip(begins[first:last], begins[first + 1:last])]
    return statistics.median(taken) if len(taken) >= 3 else None


def added(groups, begins):
    """Of groups (on, off, off, on) of (begin, end): by how many percent steps took longer while it was on."""
    found = []
    for group in groups:
        on1, off1, off2, on2 = (steps_within(begins, *block) for block in group)
        if None not in (on1, off1, off2, on2):
            found.append(100 * ((on1 + on2) / (off1 + off2) - 1))
    return found


def switch(session, process, word):
    """When it was asked for, and what was answered where it had no effect."""
    now = time.monotonic_ns()
    done = subprocess.run([session.build / "bin" / "gmtrace", word, str(process.pid)], capture_output=True, text=True,
                          check=False, timeout=60)
    return now, done.stderr.strip() if done.returncode != 0 or "takes effect" in done.stderr else None


def make_blocks(session, process, deadline):
    """Switches until the program ends, or that time has come. Returns the blocks, [begin, end] in ns, in the order on, off, off, on, and
    the answers."""
    blocks, answers, on = [], [], True
    while process.poll() is None and time.monotonic() < deadline:
        begin = time.monotonic_ns()
        wanted = len(blocks) % 4 in (0, 3)
        if wanted != on:
            answers.append(switch(session, process, "on" if wanted else "off"))
            begin, on = time.monotonic_ns() + int(1e9 * AFTER_S), wanted
        time.sleep(BLOCK_S)
        blocks.append([begin, time.monotonic_ns()])
    return blocks, answers


def begins_of(path):
    return [int(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def command_of(session, name, seconds):
    times = session.work / f"{name}.times"
    times.unlink(missing_ok=True)
    return [sys.executable, str(session.sources / "programs" / "loops_torch.py"), name, f"{seconds}s", str(times)], times


def switched(session, name, seconds):
    """False: there is no PyTorch here."""
    path = session.trace_path("blocks")
    command, times = command_of(session, name, seconds)
    with open(session.work / "blocks.txt", "w+", encoding="utf-8") as said, \
            subprocess.Popen(command, env=session.environment(path, "light", GMTRACE_OVERHEAD="0"), stdout=said,
                             stderr=subprocess.STDOUT, cwd=session.work) as process:
        until = time.monotonic() + 60
        while not path.with_name(path.name + ".spool").exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        blocks, answers = make_blocks(session, process, time.monotonic() + seconds + 120)
        if process.poll() is None:
            print(stuck.describe(process.pid, session.build / "bin"), flush=True)
            stuck.end(process.pid)
        process.wait()
        said.seek(0)
        errors = said.read()
    session.wait(path)
    if process.returncode == NOT_THERE:
        print(f"skip {name}: {errors.strip()[-200:]}", flush=True)
        return False
    begins = begins_of(times)
    if not session.check(f"{name}, light: runs", process.returncode == 0 and len(begins) > 1, errors[-300:]):
        return True
    warm = begins[0] + int(1e9 * WARM_S)
    groups = [blocks[at:at + 4] for at in range(0, len(blocks) - 3, 4) if blocks[at][0] > warm]
    found = added(groups, begins)
    refused = [answer for at, answer in answers if answer and warm < at < begins[-1] - 1e8]  # a busy machine makes no call in time
    session.note(f"{name}, light: a step, without what lies between",
                 statistics.median(b - a for a, b in zip(begins, begins[1:])) / 1e6, "ms")
    session.note(f"{name}, light: stacks and records add, mean and half of its interval of {len(found)} groups",
                 paired.interval(found), "%")
    session.check(f"{name}, light: recording was switched while it ran",
                  10 * len(refused) <= len(answers) and len(found) >= LEAST_GROUPS, refused[:3] or len(found))
    return True


def beside(gaps, begins):
    """By how many percent steps before and after each gap of records took longer than those in it."""
    found = []
    for at, (begin, end) in enumerate(gaps):
        length = end - begin
        earliest = gaps[at - 1][1] + 5e6 if at > 0 else begins[0]
        latest = gaps[at + 1][0] if at + 1 < len(gaps) else begins[-1]
        off = steps_within(begins, begin + 5e6, end)
        before = steps_within(begins, max(earliest, begin - length), begin)
        after = steps_within(begins, end + 5e6, min(latest, end + length))
        if None not in (off, before, after):
            found.append(100 * ((before + after) / (2 * off) - 1))
    return found


def governed(session, name, seconds):
    command, times = command_of(session, name, seconds)
    done, path = session.traced("blocks", command, "standard", timeout=seconds + 120, GMTRACE_OVERHEAD="3")
    begins = begins_of(times)
    if not session.check(f"{name}, --overhead 3: runs", done.returncode == 0 and len(begins) > 1, done.stderr[-300:]):
        return
    first, last = session.rows(path, "SELECT min(begin_ns), max(begin_ns) FROM launch")[0]
    if not session.check(f"{name}, --overhead 3: steps and trace have one clock",
                         first is not None and first < begins[0] and begins[-1] < last + 1e7, (first, begins[0], begins[-1], last)):
        return
    within = (begins[0] + int(1e9 * WARM_S), begins[-1])
    gaps = session.rows(path, "SELECT begin_ns, end_ns FROM device_gap WHERE reason = 'budget' AND end_ns NOT NULL "
                              "AND begin_ns > ? ORDER BY begin_ns", within[0])
    found = beside(gaps, begins)
    session.check(f"{name}, --overhead 3: steps could be compared, where records were left out", not gaps or len(found) >= LEAST_GROUPS,
                  (len(gaps), len(found)))
    session.note(f"{name}, --overhead 3: records of devices add, mean and half of its interval of {len(found)} gaps",
                 paired.interval(found), "%")
    learnt = session.rows(path, "SELECT 100.0 * sum(device_ns) / sum(device * (end_ns - begin_ns)), 100.0 * sum(device_error_ns) / "
                                "sum(device * (end_ns - begin_ns)), max(device_cycles) FROM overhead WHERE begin_ns >= ? AND "
                                "end_ns <= ? AND device_ns NOT NULL", *within)[0]
    session.note(f"{name}, --overhead 3: of the time that they were on, as learnt, half of its interval, pairs", learnt, "%")
    for what, column in (("hooks", "hooks_ns"), ("stacks", "stacks_ns"), ("counters", "counters_ns")):
        share = session.one(path, f"SELECT 100.0 * sum({column}) / sum(end_ns - begin_ns) FROM overhead WHERE begin_ns >= ? "
                                  "AND end_ns <= ?", *within)
        session.note(f"{name}, --overhead 3: {what}", share, "% of the time")


def run(session):
    wanted = list(filter(None, os.environ.get("GMT_BLOCKS", "").split(",")))
    seconds = int(os.environ.get("GMT_BLOCKS_SECONDS", "20"))
    for name in PROGRAMS:
        if (not wanted or name in wanted) and switched(session, name, seconds):
            governed(session, name, seconds)
