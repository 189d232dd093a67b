# SPDX-License-Identifier: Apache-2.0
"""The sample program and its repaired twin: recorded, analysed, compared with what was planted."""

import json
import shutil


def run(session):
    analyze = session.build / "bin" / "gmanalyze"
    model = session.out / "model.json"
    expected = (session.sources.parent / "data" / "pipeline_expected.txt").read_text().split("\n")
    expected = {line.split()[0] for line in expected if line.startswith("GM")}
    for name in ("slow", "fast"):
        program = session.build / "bin" / f"pipeline_{name}"
        path = session.same_behaviour(f"pipeline_{name}", [program], f"pipeline_{name}")
        shutil.copy(path, session.out / f"pipeline_{name}.db")
        options = ["--model", model] if model.exists() else ["--calibrate", "never"]
        text = session.plain([analyze, *options, path])
        (session.out / f"pipeline_{name}.txt").write_text(text.stdout)
        report = session.plain([analyze, *options, "-o", session.out / f"pipeline_{name}.html",
                                "--format", "json", path])
        found = {finding["rule"] for finding in json.loads(report.stdout)["findings"]}
        wanted = expected if name == "slow" else set()
        session.check(f"pipeline_{name}: findings are {sorted(wanted) or 'none'}",
                      found >= wanted if name == "slow" else not found & expected,
                      f"found {sorted(found)}")
