# SPDX-License-Identifier: Apache-2.0
"""What the steps share: where things are, running programs with and without tracing, results."""

import difflib
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import time

from . import self_check, stuck


NOT_THERE = 77  # the status of a program that lacks a package or a device


def differing(plain: str, traced: str) -> str:
    """The lines of two outputs that are not the same, the first of them."""
    lines = list(difflib.unified_diff(plain.splitlines(), traced.splitlines(), "plain", "traced",
                                      lineterm="", n=0))
    return "\n".join(["", *lines[:24]]) if lines else ""


class Session:
    def __init__(self, build: pathlib.Path, out: pathlib.Path, package: pathlib.Path | None = None):
        self.build = build
        self.package = package
        self.out = out
        self.step = ""
        self.passed = 0
        self.failed = 0
        self.figures: dict[str, dict] = {}
        self.library = build / "lib" / "libgmtrace.so"
        self.programs = build / "tests" / "gpu" / "programs"
        self.sources = pathlib.Path(__file__).resolve().parents[1]
        out.mkdir(parents=True, exist_ok=True)
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="gmtrace-gpu-"))

    def has_gpu(self) -> bool:
        done = subprocess.run([self.build / "bin" / "gmtrace", "doctor"], capture_output=True,
                              text=True, check=False, cwd=self.work)
        return "ok       device" in done.stdout

    # ---- results

    def check(self, what: str, good: bool, detail: object = "") -> bool:
        self.passed += bool(good)
        self.failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {what}{f': {detail}' if detail != '' else ''}",
              flush=True)
        return bool(good)

    def note(self, name: str, value: object, unit: str = "") -> None:
        self.figures.setdefault(self.step, {})[name] = value
        shown = f"{value:.4g}" if isinstance(value, float) else value
        print(f"     {name} = {shown} {unit}", flush=True)

    # ---- running

    def environment(self, trace: pathlib.Path | None, collect: str = "standard",
                    **more: str) -> dict[str, str]:
        environment = dict(os.environ)
        if trace is not None:
            environment.update(LD_PRELOAD=str(self.library), GMTRACE_OUTPUT=str(trace),
                               GMTRACE_COLLECT=collect)
        environment.update(more)
        return environment

    def trace_path(self, name: str) -> pathlib.Path:
        path = self.work / f"{name}.db"
        for old in self.work.glob(f"{name}.db*"):
            if old.is_dir():
                shutil.rmtree(old)
            else:
                old.unlink()
        return path

    def run_in(self, command: list, environment: dict[str, str],
               timeout: float = 120) -> subprocess.CompletedProcess:
        """Raises TimeoutExpired, when OUT/stuck_STEP.txt says where its threads were and what it had written."""
        words = [str(word) for word in command]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.work,
                              env=environment) as process:
            try:
                output, errors = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired as late:
                where = stuck.describe(process.pid, self.build / "bin")
                stuck.end(process.pid)
                output, errors = process.communicate()
                with open(self.out / f"stuck_{self.step}.txt", "a", encoding="utf-8") as file:
                    file.write(f"{words}\n{where}\nstdout:\n{output}\nstderr:\n{errors}\n")
                raise late
        return subprocess.CompletedProcess(words, process.returncode, output, errors)

    def plain(self, command: list, timeout: float = 120) -> subprocess.CompletedProcess:
        return self.run_in(command, self.environment(None), timeout)

    def traced(self, name: str, command: list, collect: str = "standard", timeout: float = 120,
               **more: str) -> tuple[subprocess.CompletedProcess, pathlib.Path]:
        """Run under the library (as LD_PRELOAD alone does it) and wait for a finished trace."""
        path = self.trace_path(name)
        done = self.run_in(command, self.environment(path, collect, **more), timeout)
        self.wait(path)
        return done, path

    def wait(self, path: pathlib.Path, timeout: float = 60) -> None:
        until = time.monotonic() + timeout
        while pathlib.Path(f"{path}.spool").exists() and time.monotonic() < until:
            time.sleep(0.05)

    def traces(self, pattern: str) -> list[pathlib.Path]:
        """Of several processes: what `pattern` matches, once every recorder has finished."""
        for spool in self.work.glob(f"{pattern}.spool"):
            self.wait(spool.with_suffix(""))
        return sorted(self.work.glob(pattern))

    def open(self, path: pathlib.Path) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    def one(self, path: pathlib.Path, sql: str, *arguments) -> object:
        with self.open(path) as db:
            return db.execute(sql, arguments).fetchone()[0]

    def rows(self, path: pathlib.Path, sql: str, *arguments) -> list[tuple]:
        with self.open(path) as db:
            return db.execute(sql, arguments).fetchall()

    def same_behaviour(self, what: str, command: list, name: str, collect: str = "standard",
                       **more: str) -> pathlib.Path:
        """Trace `command` and check that its stdout and exit status are those of a plain run, which succeeds."""
        plain = self.plain(command)
        traced, path = self.traced(name, command, collect, **more)
        runs = plain.returncode in (0, NOT_THERE)  # one that cannot run here shows nothing
        same = (plain.stdout, plain.returncode) == (traced.stdout, traced.returncode)
        self.check(f"{what}: output and status unchanged", runs and same,
                   "" if runs and same else f"status {plain.returncode} -> {traced.returncode} {traced.stderr[-200:]}"
                   + differing(plain.stdout, traced.stdout))
        return path

    def joined(self, what: str, path: pathlib.Path) -> None:
        """Hook records and CUPTI's activity records of one trace must agree, one for one."""
        with self.open(path) as db:
            device = dict(db.execute("SELECT kind, count(*) FROM device_op GROUP BY kind"))
            loose = db.execute("SELECT count(*) FROM device_op WHERE call_id IS NULL").fetchone()[0]
            missing = {}
            for table, good in (("transfer", "bytes > 0"), ("memset", "bytes > 0"),
                                ("launch", "measured IS NULL AND no_activity = 0")):
                missing[table] = db.execute(
                    f"SELECT count(*) FROM {table} WHERE result = 0 AND capturing = 0 AND {good} "
                    "AND device_start_ns IS NULL").fetchone()[0]
            losses = db.execute("SELECT kind, detail, count FROM loss").fetchall()
        self.check(f"{what}: every CUPTI record has its call and every call its record",
                   loose == 0 and not any(missing.values()),
                   f"device rows {device}, without call {loose}, calls without row {missing}"
                   + (f", losses {losses}" if loose or any(missing.values()) else ""))
        self_check.agrees(self, what, path)
