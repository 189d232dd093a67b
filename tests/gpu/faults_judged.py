#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The step python_faults judged, without a GPU: what programs and reports say is made here, right and wrong, and each wrong one has to
fail a check. Also that the programs can be read by this Python, have a row, and say that they cannot run where there is no PyTorch."""

import contextlib
import io
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from steps import fault_table, python_faults  # noqa: E402


OWN_MS = 1000.0  # that gmtrace held the recorded loop up


def finding(rule, program, line, **more):
    saving = {"low_ns": 3.5e8, "best_ns": 4e8, "high_ns": 4.5e8, "share_of_wall": 0.4}
    return {"rule": rule, "headline": "h", "where": {"file": f"/x/{program}.py", "line": line}, "saving": saving, **more}


def snapshot(program, advice, expandable_bytes):
    history = {"advice": advice, "replays": [{"setting": None, "reserved_bytes": 1000 << 10},
                                             {"setting": "expandable_segments:True", "reserved_bytes": expandable_bytes}]}
    history["peak"] = {"holders": {"largest": [{"file": f"/x/{program}.py", "line": 1}]}}
    return {"snapshot": {"devices": [{"tensors": {"largest": []}, "history": history}]}}


def right(row):
    """What is expected: of the twins, reports and outputs. The bad one takes 1000 ms and KiB, the good one 600."""
    rules = row.rules or ["GM201"]
    bad = {"findings": [finding(rules[-1], row.program, fault_table.planted(row.program)[0])], "memory": None}
    if row.saving == "device":
        bad["findings"][0]["saved_peak_bytes"] = 400 << 10
    good = {"findings": [], "memory": None}
    if not row.rules:
        bad["memory"] = snapshot(row.program, "set expandable_segments:True", 600 << 10)
        good["memory"] = snapshot(row.program, None, 1000 << 10)
    return types.SimpleNamespace(reports={"bad": bad, "good": good}, sums={"bad": "1.5e+00", "good": "1.5e+00"},
                                 figures={"bad": 1000.0, "good": 600.0}, expandable=600.0, status=0, own_ms=OWN_MS)


class Canned:
    """A session whose programs print and whose reports say what it was made with."""

    def __init__(self, folder, said):
        self.said, self.failed, self.checks = said, [], 0
        self.work = self.out = pathlib.Path(folder)
        self.build, self.sources = pathlib.Path("/nowhere"), HERE
        (self.out / "model.json").touch()

    def check(self, what, good, detail=""):
        self.checks += 1
        if not good:
            self.failed.append(f"{what}: {detail}")
        return bool(good)

    def trace_path(self, name):
        return self.work / f"{name}.db"

    def wait(self, path):
        path.touch()

    def _program(self, twin, expandable, own_ms=0.0):
        figure = self.said.expandable if expandable else self.said.figures[twin]
        return types.SimpleNamespace(returncode=self.said.status, stdout=f"check_sum {self.said.sums[twin]}\n",
                                     stderr=f"time_ms {figure + own_ms}\ndevice_kib {figure}\n")

    def _record(self, path):
        """A trace whose last wait ends at 10 s; gmtrace held the program up before the loop, and in it, in two nested pieces."""
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            db.executescript(f"""DROP TABLE IF EXISTS sync; DROP TABLE IF EXISTS own_time; CREATE TABLE sync(end_ns);
                INSERT INTO sync VALUES (1), (10000000000);
                CREATE TABLE own_time(id INTEGER PRIMARY KEY, thread_id, begin_ns, end_ns, beside);
                INSERT INTO own_time(thread_id, begin_ns, end_ns, beside) VALUES (1, 100, 1000000000, 0),
                    (1, 9000000000 - {self.said.own_ms * 1e6}, 9000000000, 0), (1, 8999000000, 9000000000, 0),
                    (2, 8500000000, 9500000000, 1)""")

    def plain(self, command, timeout=0):
        words = [str(word) for word in command]
        if "gmanalyze" in words[0]:
            assert words[words.index("--format") + 1] == "json"
            twin = re.search(r"_(bad|good)\.db$", words[-1]).group(1)
            return types.SimpleNamespace(returncode=0, stdout=json.dumps(self.said.reports[twin]), stderr="")
        return self._program(words[-1], False)

    def run_in(self, command, environment, timeout=0):
        words = [str(word) for word in command]
        if "gmtrace" in words[0]:
            self._record(words[words.index("-o") + 1])
        return self._program("bad" if words[-1] == "bad" else "good",
                             environment.get("PYTORCH_CUDA_ALLOC_CONF") == python_faults.EXPANDABLE,
                             OWN_MS if "gmtrace" in words[0] else 0.0)


def failures(row, said):
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        session = Canned(folder, said)
        entry = python_faults.examine(session, row)
        python_faults.print_table([entry] if entry else [])
    return session


def wrong(row):
    """Each with a part of what has to be said about it."""
    first = lambda said: said.reports["bad"]["findings"][0]  # noqa: E731
    other = finding("GM301", row.program, 1)
    history = lambda said: said.reports["bad"]["memory"]["snapshot"]["devices"][0]["history"]  # noqa: E731
    changes = [("the repair changes no result", lambda said: said.sums.update(good="2.5e+00")),
               ("is what the repair brings", lambda said: (said.figures.update(good=850.0), setattr(said, "expandable", 850.0))),
               ("nothing is said of the repaired twin", lambda said: said.reports["good"]["findings"].append(other)),
               ("runs", lambda said: setattr(said, "status", 1))]
    if row.rules:
        changes += [("is the first finding", lambda said: said.reports["bad"]["findings"].insert(0, other)),
                    ("is the first finding", lambda said: said.reports["bad"]["findings"].clear()),
                    ("names the line", lambda said: first(said)["where"].update(line=1)),
                    ("names the line", lambda said: first(said)["where"].update(file="/x/other.py")),
                    ("nothing is said of the repaired twin", lambda said: said.reports["good"]["findings"].append(
                        {**first(said), "saving": {**first(said)["saving"], "share_of_wall": None}})),
                    *([("is what the repair brings", lambda said: setattr(said, "own_ms", 0.0))] if row.saving == "time" else []),
                    ("a gain is promised", lambda said: (first(said)["saving"].update(best_ns=None),
                                                         first(said).pop("saved_peak_bytes", None)))]
    else:
        changes += [("advises", lambda said: history(said).update(advice=None)),
                    ("own line", lambda said: history(said)["peak"]["holders"].update(largest=[])),
                    ("own line", lambda said: history(said).update(peak=None)),
                    ("own line", lambda said: history(said)["peak"]["holders"]["largest"][0].update(file="/x/fault.py")),
                    ("no setting is advised", lambda said: said.reports["good"].update(memory=said.reports["bad"]["memory"])),
                    ("a gain is promised", lambda said: history(said).update(replays=[]))]
    return changes


def check_programs(rows):
    names = {path.stem for path in fault_table.FAULTS.glob("*.py")} - {"fault"}
    assert names == {row.program for row in rows}, names
    rules = {path.name.split("-")[0] for path in (HERE.parents[1] / "docs" / "rules").glob("GM*.md")}
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "torch.py").write_text("raise ImportError('none here')\n", encoding="utf-8")
        for row in rows:
            assert fault_table.planted(row.program), f"{row.program}: nothing planted"
            assert set(row.rules) <= rules, row
            done = subprocess.run([sys.executable, "-B", fault_table.FAULTS / f"{row.program}.py", "bad"], capture_output=True,
                                  text=True, check=False, env={**os.environ, "PYTHONPATH": folder})
            assert done.returncode == python_faults.NO_DEVICE and "none here" in done.stderr, (row, done)


def main():
    rows = fault_table.rows()
    check_programs(rows)
    count = 0
    for row in rows:
        session = failures(row, right(row))
        assert not session.failed and session.checks > 15, (row, session.failed)
        for part, change in wrong(row):
            said = right(row)
            change(said)
            failed = failures(row, said).failed
            assert any(part in one for one in failed), f"{row.program}: '{part}' is not said: {failed}"
            count += 1
    print(f"{len(rows)} programs, {count} wrong reports refused")


main()
