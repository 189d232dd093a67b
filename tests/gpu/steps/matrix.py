# SPDX-License-Identifier: Apache-2.0
"""The matrix of processes (tests/e2e/matrix.table) with the driver of this machine."""

import os
import subprocess

LEAST = 25  # rows that run on any machine with a GPU
ROW_S = 60  # for one of them


def run(session):
    source = session.sources.parents[1]
    table = source / "tests" / "e2e" / "matrix.table"
    rows = [line.split()[0] for line in table.read_text(encoding="utf-8").splitlines()
            if line and not line.startswith("#")]
    environment = dict(os.environ, GMT_BUILD=str(session.build), GMT_SOURCE=str(source), MATRIX_DEVICE="gpu",
                       SIM_LIB=str(session.build / "libexec" / "gmtrace" / "simgpu"),
                       CLIENTS=str(session.build / "tests" / "clients"),
                       PATH=f"{os.environ['PATH']}:{session.sources / 'tools'}")
    passed = 0
    for row in rows:
        try:
            done = subprocess.run(["bash", source / "tests" / "e2e" / "matrix.sh", row], env=environment,
                                  cwd=session.work, capture_output=True, text=True, check=False,
                                  timeout=ROW_S)
        except subprocess.TimeoutExpired as late:
            session.check(f"matrix: {row}", False, f"more than {ROW_S} s: {(late.stderr or b'')[-400:]}")
            continue
        if done.returncode == 77:
            session.note(row, done.stdout.strip()[-200:] or "skipped")
            continue
        passed += done.returncode == 0
        session.check(f"matrix: {row}", done.returncode == 0, done.stderr[-600:])
    session.check(f"at least {LEAST} rows ran", passed >= LEAST, f"{passed} of {len(rows)}")
