#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records on the software device what was recorded on an H200: tests/data/simulated/traces.json.xz.

record.py --build DIR --out FILE. Some ten minutes of two cores.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import packed

PAIRS = ("small_up", "small_down", "rows_up", "rows_down", "pageable_up", "pageable_down", "churn")


def programs(build: pathlib.Path) -> dict[str, list[str]]:
    """The command of each trace, with the options of the recording on the GPU where they change the work."""
    twin = str(build / "tests/gpu/programs/twins/shared/transfer_pairs")
    found = {"pipeline_slow": [str(build / "bin/pipeline_slow_shared")],
             "reference": [str(build / "bin/sim_calibrate"), "--once", "--launches", "1", "--variant", "all:all"]}
    return found | {f"transfer_{pair}": [twin, pair, "bad"] for pair in PAIRS}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    options = parser.parse_args()
    build = options.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        traces = {name: pathlib.Path(folder) / f"{name}.db" for name in programs(build)}
        for name, command in programs(build).items():
            subprocess.run([build / "bin/gmtrace", "--device", "sim", "--quiet", "-o", traces[name], *command],
                           check=True, stdout=subprocess.DEVNULL)
        packed.pack(traces, [folder, os.getcwd()], options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
