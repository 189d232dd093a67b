#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the steps on a GPU do with a program that does not end: its threads are described, it is ended with all below it, and what
it had written is kept."""

import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from steps.session import Session  # noqa: E402

PROGRAM = ("import subprocess, threading, time; print('begun', flush=True); "
           "threading.Thread(target=time.sleep, args=(600,)).start(); subprocess.run(['sleep', '601'])")


def problem(session, timeout):
    """What is wrong with what is kept of a program that is ended after so many seconds."""
    began = time.monotonic()
    try:
        session.run_in([sys.executable, "-c", PROGRAM], {"PATH": "/usr/bin:/bin"}, timeout=timeout)
        return "a program that does not end is taken for one that does"
    except subprocess.TimeoutExpired:
        pass
    if time.monotonic() - began > timeout + 300:
        return "what was below the program was waited for"
    text = (session.out / "stuck_stuck.txt").read_text(encoding="utf-8")
    for expected in ("\nbegun\n", "sleep: State:"):
        if expected not in text:
            return f"{expected!r} is not in what is kept:\n{text}"
    if sum(line.startswith("  ") and "State:" in line for line in text.splitlines()) < 3:
        return f"not all threads are described:\n{text}"
    return None


with tempfile.TemporaryDirectory() as folder:
    session = Session(pathlib.Path(folder), pathlib.Path(folder) / "out")
    session.step = "stuck"
    # A slow machine may not have begun all of it after the first one.
    problems = [problem(session, 5)]
    for seconds in (30, 120):
        if problems[-1] is not None:
            problems.append(problem(session, seconds))
    if problems[-1] is not None:
        sys.exit(problems[-1])
    done = session.run_in(["sh", "-c", "echo out; echo err >&2; exit 3"], {"PATH": "/usr/bin:/bin"})
    if (done.returncode, done.stdout, done.stderr) != (3, "out\n", "err\n"):
        sys.exit(f"a program that ends: {done}")
