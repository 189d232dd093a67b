# SPDX-License-Identifier: Apache-2.0
"""Programs of PyTorch with one fault each, and their repaired twins: the fault is the first finding, at its line of Python, what is
promised is what the repair brings, and nothing is said of the twin. Each is recorded as a user does it. Promises and gains are shares
of the loop's time, of the recorded loop and of the one without a tool: processors of virtual machines have run at two speeds, 1.8 times
apart, from one minute to the next. Writes python_faults.json.
GMT_FAULTS=item_per_step,small_kernels limits it to some programs; GMT_FAULTS_ROUNDS=1 is for a first look."""

import json
import os
import sqlite3
import statistics
import sys

from . import fault_table
from .models import calibrated

ROUNDS = int(os.environ.get("GMT_FAULTS_ROUNDS", "5"))
TWINS = ("bad", "good")
NO_DEVICE = 77
EXPANDABLE = "expandable_segments:True"


def command(session, row, twin):
    return [sys.executable, session.sources / "programs" / "faults" / f"{row.program}.py", twin]


def timed(session, row):
    """Outputs of both twins without a tool, in turns; None where they cannot run."""
    outputs = {twin: [] for twin in TWINS}
    for _ in range(ROUNDS):
        for twin in TWINS:
            done = session.plain(command(session, row, twin), timeout=300)
            if done.returncode == NO_DEVICE:
                print(f"skip {row.program}: {done.stderr.strip()}", flush=True)
                return None
            if not session.check(f"{row.program} {twin} runs", done.returncode == 0, done.stderr[-300:]):
                return None
            outputs[twin].append(done.stdout + done.stderr)
    return outputs


def recorded_ms(path, output):
    """What the loop took in the recorded run, less what gmtrace held it up for; None: the program did not say."""
    took_ms = fault_table.printed(output).get("time_ms")
    if took_ms is None:
        return None
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        own_ms = db.execute("""SELECT coalesce(sum(min(o.end_ns, l.end_ns) - max(o.begin_ns, l.end_ns - ?1)), 0) / 1e6 FROM own_time o,
            (SELECT max(end_ns) AS end_ns FROM sync) l WHERE NOT o.beside AND o.begin_ns < l.end_ns AND o.end_ns > l.end_ns - ?1
            AND NOT EXISTS (SELECT 1 FROM own_time p WHERE p.id <> o.id AND p.thread_id = o.thread_id AND p.begin_ns <= o.begin_ns
                            AND p.end_ns >= o.end_ns)""", (round(float(took_ms) * 1e6),)).fetchone()[0]
    return float(took_ms) - own_ms


def report_of(session, row, twin):
    """As a user gets it, with default options; of what no rule is about, with PyTorch's memory history. And recorded_ms."""
    path = session.trace_path(f"fault_{row.program}_{twin}")
    words, options = command(session, row, twin), []
    snapshot = path.with_suffix(".pickle")
    if not row.rules:
        start = f"import gmtrace.torch as g; g.record_memory({str(snapshot)!r}); g.main({[str(word) for word in words[1:]]!r})"
        words = [words[0], "-c", start]
    python = os.pathsep.join(filter(None, [str(session.build / "share" / "gmtrace" / "python"),
                                           str(session.sources.parents[1] / "packaging" / "python"), os.environ.get("PYTHONPATH")]))
    done = session.run_in([session.build / "bin" / "gmtrace", "-o", path, "--", *words], {**os.environ, "PYTHONPATH": python},
                          timeout=300)
    session.wait(path)
    if not session.check(f"{row.program} {twin}: recorded", done.returncode == 0 and path.exists(), done.stderr[-300:]):
        return None
    if not row.rules:
        options = ["--memory-snapshot", snapshot]
    made = session.plain([session.build / "bin" / "gmanalyze", *calibrated(session), *options, "--format", "json", path])
    if not session.check(f"{row.program} {twin}: analysed", made.returncode == 0, made.stderr[-300:]):
        return None
    return {**json.loads(made.stdout), "recorded_ms": recorded_ms(path, done.stdout + done.stderr)}


def median_of(outputs, name):
    return statistics.median(float(fault_table.printed(output)[name]) for output in outputs)


def expandable_kib(session, row):
    """What the bad twin holds at most with the setting that is advised; None: it failed."""
    done = session.run_in(command(session, row, "bad"), {**os.environ, "PYTORCH_CUDA_ALLOC_CONF": EXPANDABLE}, timeout=300)
    held = fault_table.printed(done.stdout + done.stderr).get("device_kib")
    session.check(f"{row.program} runs with {EXPANDABLE}", done.returncode == 0 and held is not None, done.stderr[-300:])
    return float(held) if held is not None else None


def examine(session, row):
    outputs = timed(session, row)
    if outputs is None:
        return None
    reports = {twin: report_of(session, row, twin) for twin in TWINS}
    if None in reports.values():
        return {"program": row.program}
    name = "time_ms" if row.saving == "time" else "device_kib"
    before, after = (median_of(outputs[twin], name) for twin in TWINS)
    if not row.rules:  # the promise is that of a setting, not of the twin
        after = expandable_kib(session, row) or after
    promise, entry = fault_table.gain(row, reports["bad"], before, after)
    for checked in (*fault_table.results(row, outputs["bad"][-1], outputs["good"][-1]), *fault_table.fires(row, reports["bad"]),
                    *promise, *fault_table.quiet(row, reports["good"])):
        session.check(checked.what, checked.good, checked.detail)
    return {"program": row.program, **entry,
            "first": [fault_table.named(finding) for finding in reports["bad"]["findings"][:3]],
            "of_the_twin": [fault_table.named(finding) for finding in reports["good"]["findings"]],
            "samples": {twin: [float(fault_table.printed(text)[name]) for text in texts] for twin, texts in outputs.items()}}


def print_table(entries):
    print(f"     {'program':22}{'bad':>12}{'good':>12}{'gain':>12}{'error':>8}  first finding")
    for entry in entries:
        if "gain" in entry:
            error = f"{entry['error']:.1%}" if entry["error"] is not None else "-"
            print(f"     {entry['program']:22}{entry['before']:12.1f}{entry['after']:12.1f}{entry['gain']:12.1f}{error:>8}  "
                  f"{(entry['first'] or ['none'])[0]}", flush=True)


def run(session):
    wanted = [name for name in os.environ.get("GMT_FAULTS", "").split(",") if name]
    rows = [row for row in fault_table.rows() if not wanted or row.program in wanted]
    entries = [entry for entry in (examine(session, row) for row in rows) if entry is not None]
    print_table(entries)
    with open(session.out / "python_faults.json", "w", encoding="utf-8") as file:
        json.dump({"command": "tests/gpu/run python_faults", "rounds": ROUNDS, "points": fault_table.POINTS, "rows": entries},
                  file, indent=1)
        file.write("\n")
