# SPDX-License-Identifier: Apache-2.0
"""What the steps share: where programs are, running them bare and traced, time that is left."""

import gzip
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time


def spread(values: list) -> float:
    """90th minus 10th percentile, as the device model has it."""
    ordered = sorted(values)

    def at(share: float) -> float:
        place = share * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (place - low) * (ordered[high] - ordered[low])

    return at(0.9) - at(0.1)


def summary(values: list) -> dict | None:
    if not values:
        return None
    return {"n": len(values), "median_ns": round(statistics.median(values)),
            "spread_ns": round(spread(values))}


class Runner:
    def __init__(self, build: pathlib.Path, out: pathlib.Path, seconds: float):
        self.build = build
        self.out = out
        self.until = time.monotonic() + seconds
        self.calibrate = build / "bin" / "gmcalibrate"
        self.programs = build / "tests" / "gpu" / "programs"
        self.library = build / "lib" / "libgmtrace.so"
        self.failures: list[str] = []
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="gmtrace-prediction-"))
        (out / "traces").mkdir(parents=True, exist_ok=True)

    def left(self) -> float:
        return self.until - time.monotonic()

    def fail(self, text: str) -> None:
        self.failures.append(text)
        print(f"FAIL {text}", flush=True)

    def run(self, command: list, timeout: float, **more: str) -> subprocess.CompletedProcess:
        # A cache of its own: no model of an earlier run goes into the traces.
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.work / "cache"), **more}
        words = [str(word) for word in command]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=timeout,
                                  check=False, cwd=self.work, env=environment)
        except subprocess.TimeoutExpired:
            done = subprocess.CompletedProcess(words, 124, "", f"out of time after {timeout:.0f} s")
        if done.returncode != 0:
            shown = " ".join(words[:6])
            self.fail(f"{shown}: status {done.returncode}: {done.stderr.strip()[-300:]}")
        return done

    def traced(self, name: str, command: list, timeout: float = 60
               ) -> tuple[subprocess.CompletedProcess, pathlib.Path]:
        """Run under the library, counters unrestrained; the finished trace lies in the work folder."""
        path = self.work / f"{name}.db"
        path.unlink(missing_ok=True)
        done = self.run(command, timeout, LD_PRELOAD=str(self.library), GMTRACE_OUTPUT=str(path),
                        GMTRACE_COLLECT="standard", GMTRACE_COUNTERS="on",
                        GMTRACE_COUNTER_BUDGET="100")
        until = time.monotonic() + 30
        while pathlib.Path(f"{path}.spool").exists() and time.monotonic() < until:
            time.sleep(0.02)
        return done, path

    def keep(self, path: pathlib.Path) -> str:
        """Packs a trace into OUT/traces; the name that raw.json calls it by."""
        name = f"traces/{path.name}.gz"
        with open(path, "rb") as source, gzip.GzipFile(self.out / name, "wb", 9, mtime=0) as target:
            shutil.copyfileobj(source, target)
        return name
