#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""memory.py GMANALYZE UNLIMITED TRACE...: runs every command of gmanalyze on each trace. Its limit is 64 MB and 20
times what it reads, as the kernel says; it ends well, and never had more memory than that. UNLIMITED not 0: a build with
AddressSanitizer, whose memory is not limited; less than 512 MB and 80 times is asked of it.

Prints a line for each: trace, command, bytes read, peak in KiB, limit in KiB."""

import contextlib
import os
import pathlib
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
gmanalyze, unlimited, traces = sys.argv[1], sys.argv[2] != "0", sys.argv[3:]
if unlimited:  # what it has freed is memory in use, too
    os.environ["ASAN_OPTIONS"] = f"{os.environ.get('ASAN_OPTIONS', '')}:quarantine_size_mb=16"
never = ["--calibrate", "never"]


def commands(trace: str, work: pathlib.Path):
    """The name, the arguments, how often the trace is read."""
    for form in "text", "json", "sarif", "csv", "markdown", "html":
        yield form, [*never, "--format", form, trace], 1
    files = [part for end in ("html", "json", "sarif", "csv", "md") for part in ("-o", str(work / f"all.{end}"))]
    yield "all files", [*never, *files, trace], 1
    yield "--redact=paths", [*never, "--redact=paths", "--format", "html", trace], 1
    yield "--redact=names", [*never, "--redact=names", "--format", "html", trace], 1
    yield "fixes", ["fixes", "--top", "0", trace], 1
    yield "two traces", [*never, "--format", "html", trace, trace], 2
    yield "--baseline", [*never, "--baseline", trace, trace], 2
    for form in "text", "json", "html":
        yield f"diff {form}", ["diff", *never, "--format", form, trace, trace], 2
    yield "export perfetto", ["export", "--to", "perfetto", trace], 1
    yield "export speedscope", ["export", "--to", "speedscope", trace], 1
    yield "export pprof", ["export", "--to", "pprof", trace], 1
    yield "export csv", ["export", "--to", "csv", "-o", str(work / "tables"), trace], 1
    yield "validate", ["validate", trace], 1
    yield "validate json", ["validate", "--json", trace], 1
    for form in "text", "json":
        yield f"lines {form}", ["lines", "--top", "0", "--format", form, trace], 1
    for form in "table", "csv", "json":
        yield f"sql {form}", ["sql", "--format", form, trace, "SELECT * FROM launch ORDER BY end_ns"], 1


def has_instructions(trace: str) -> bool:
    with contextlib.closing(sqlite3.connect(trace)) as db:
        tables = db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'instruction'").fetchone()[0]
        return tables > 0 and db.execute("SELECT EXISTS (SELECT 1 FROM instruction)").fetchone()[0] > 0


def statuses(name: str, trace: str) -> tuple[int, ...]:
    """Those a command may end with."""
    if name.startswith("validate"):
        return 0, 3, 4  # a trace that is made by hand
    if name.startswith("lines"):
        return (0,) if has_instructions(trace) else (4,)
    return (0,)


def full_pipe() -> tuple[int, int]:
    """A pipe that takes not a byte more: who writes to it waits, and can be looked at."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    for step in 65536, 1:
        try:
            while True:
                os.write(writing, b"\n" * step)
        except BlockingIOError:
            pass
    os.set_blocking(writing, True)
    return reading, writing


def wait_for_limit(child: subprocess.Popen, wanted: int) -> int:
    """The limit of the process's data, as soon as it is the wanted one; else what it is after a minute or its end."""
    until, limit = time.monotonic() + 60, resource.RLIM_INFINITY
    while time.monotonic() < until:
        if os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            break
        limit = resource.prlimit(child.pid, resource.RLIMIT_DATA)[0]
        if limit == wanted:
            break
        time.sleep(0.002)
    return limit


def run(name: str, trace: str, arguments: list[str], times: int) -> None:
    size = os.path.getsize(trace) * times
    bound = 512 * MIB + 80 * size if unlimited else 64 * MIB + 20 * size
    reading, writing = full_pipe()
    child = subprocess.Popen([gmanalyze, *arguments], stdin=subprocess.DEVNULL, stdout=writing, stderr=writing)
    os.close(writing)
    limit = bound if unlimited else wait_for_limit(child, bound)
    said = b""
    while part := os.read(reading, MIB):
        said = (said + part)[-1000:]
    os.close(reading)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    where = f"{os.path.basename(trace)}: {name}"
    assert child.returncode in statuses(name, trace), f"{where}: status {child.returncode}: {said.decode(errors='replace').strip()}"
    assert limit == bound, f"{where}: limited to {limit} bytes, not {bound}"
    assert usage.ru_maxrss * 1024 <= bound, f"{where}: {usage.ru_maxrss} KiB, more than {bound // 1024}"
    print(f"{os.path.basename(trace):24} {name:16} {size:10} {usage.ru_maxrss:8} {bound // 1024:8}")


for trace in traces:
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments, times in commands(trace, pathlib.Path(folder)):
            run(name, trace, arguments, times)
            shutil.rmtree(pathlib.Path(folder) / "tables", ignore_errors=True)
