# SPDX-License-Identifier: Apache-2.0
"""Where the threads of a program are that does not end: their state, the system call, and their stacks if eu-stack is there."""

import os
import pathlib
import shutil
import signal
import subprocess


def children(pid: int) -> list[int]:
    """The process and all below it."""
    found = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in task.read_text().split():
                found += children(int(child))
        except OSError:
            pass  # it has just ended
    return found


def end(pid: int) -> None:
    """All of them, so that nobody keeps the other end of a pipe."""
    for process in children(pid):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def thread(task: pathlib.Path) -> str:
    words = []
    for name in ("comm", "wchan", "syscall"):
        try:
            words.append((task / name).read_text().strip())
        except OSError as error:
            words.append(error.strerror)
    state = next((line for line in (task / "status").read_text().splitlines() if line.startswith("State:")), "")
    return f"  {task.name} {words[0]}: {state}; in {words[1]}; system call {words[2]}"


def describe(pid: int, tools: pathlib.Path) -> str:
    """Of the process and all below it. `tools`: a folder where eu-stack may be, beside those of the path."""
    text = []
    for process in children(pid):
        text.append(f"process {process}")
        try:
            text += [thread(task) for task in sorted(pathlib.Path(f"/proc/{process}/task").iterdir())]
        except OSError as error:
            text.append(f"  {error.strerror}")
        eu_stack = shutil.which("eu-stack", path=f"{tools}:/usr/bin")
        if eu_stack:
            try:
                done = subprocess.run([eu_stack, "-p", str(process)], capture_output=True, text=True, timeout=30, check=False,
                                      env={**os.environ, "LD_LIBRARY_PATH": str(tools.parent / "lib")})
                text.append(done.stdout + done.stderr)
            except subprocess.TimeoutExpired:
                text.append("  eu-stack does not end")
    return "\n".join(text) + "\n"
