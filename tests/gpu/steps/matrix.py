# SPDX-License-Identifier: Apache-2.0
"""The matrix of processes (tests/e2e/matrix.table) with the driver of this machine."""

import os
import subprocess

LEAST = 25  # rows that run on any machine with a GPU


def run(session):
    source = session.sources.parents[1]
    table = source / "tests" / "e2e" / "matrix.table"
    rows = [line.split()[0] for line in table.read_text(encoding="utf-8").splitlines()
            if line and not line.startswith("#")]
    environment = dict(os.environ, GMT_BUILD=str(session.build), GMT_SOURCE=str(source), MATRIX_DEVICE="gpu",
                       SIM_LIB=str(session.build / "libexec" / "gmtrace" / "simgpu"),
                       CLIENTS=str(session.build / "tests" / "clients"))
    passed = 0
    for row in rows:
        done = subprocess.run(["bash", source / "tests" / "e2e" / "matrix.sh", row], env=environment,
                              cwd=session.work, capture_output=True, text=True, check=False)
        if done.returncode == 77:
            session.note(row, done.stdout.strip()[-200:] or "skipped")
            continue
        passed += done.returncode == 0
        session.check(f"matrix: {row}", done.returncode == 0, done.stderr[-600:])
    session.check(f"at least {LEAST} rows ran", passed >= LEAST, f"{passed} of {len(rows)}")
