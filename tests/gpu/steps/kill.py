# SPDX-License-Identifier: Apache-2.0
"""SIGKILL in the middle of a million copies, and SIGKILL of the recorder itself."""

import os
import signal
import struct
import subprocess
import time


def progress(path):
    begun, returned = struct.unpack("QQ", path.read_bytes()[:16])
    return begun, returned


def copies_in(session, path):
    """Those of the loop: the program sets its progress after its first allocation."""
    return session.one(path, "SELECT count(*) FROM transfer WHERE bytes = 64")


def start(session, name, collect):
    path = session.trace_path(name)
    marks = session.work / f"{name}.progress"
    process = subprocess.Popen(
        [str(session.programs / "copies"), "1000000", "64", "sync", "--progress", str(marks)],
        env=session.environment(path, collect), cwd=session.work, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 30
    while time.monotonic() < until and (not marks.exists() or marks.stat().st_size < 16
                                        or progress(marks)[1] < 100_000):
        time.sleep(0.01)
    return path, marks, process


def recorder_of(path):
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    command = file.read()
            except OSError:
                continue
            if b"gmtrace-recorder" in command and str(path).encode() in command:
                return int(entry)
    return None


def run(session):
    for collect in ("light", "standard"):
        path, marks, process = start(session, f"kill_{collect}", collect)
        process.send_signal(signal.SIGKILL)
        process.wait()
        begun, returned = progress(marks)
        session.wait(path)
        got = copies_in(session, path)
        rate = returned / 1.0
        session.check(f"SIGKILL, {collect}: the trace holds what was returned",
                      returned <= got + 1 and got <= begun,
                      f"begun {begun}, returned {returned}, in the trace {got}")
        session.note(f"missing_{collect}", max(0, returned - got), f"of {rate:.0f} copies")
    path, marks, process = start(session, "kill_recorder", "light")
    recorder = recorder_of(path)
    session.check("the recorder runs", recorder is not None)
    if recorder is not None:
        os.kill(recorder, signal.SIGKILL)
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    begun, returned = progress(marks)
    done = session.plain([session.build / "bin" / "gmanalyze", "--calibrate", "never", path])
    got = copies_in(session, path)
    session.check("recorder and program killed: gmanalyze ingests the rest",
                  done.returncode == 0 and returned <= got + 1 and got <= begun,
                  f"status {done.returncode}, begun {begun}, returned {returned}, got {got} "
                  f"{done.stderr[-200:]}")
