# SPDX-License-Identifier: Apache-2.0
"""Every copy, allocation and launch is in the trace: static, shared and ctypes builds."""

import sys


def run(session):
    pipeline = session.build / "bin"
    small = ["--size", "512", "--frames", "4"]
    builds = {
        "static": [pipeline / "pipeline_slow", *small],
        "shared": [pipeline / "pipeline_slow_shared", *small],
        "ctypes": [sys.executable,
                   session.sources.parents[1] / "examples" / "pipeline" / "run_ctypes.py",
                   session.build / "lib" / "libpipeline_slow.so", *small],
    }
    seen = {}
    for build, command in builds.items():
        path = session.same_behaviour(f"pipeline, {build}", command, f"pipeline_{build}")
        session.joined(f"pipeline, {build}", path)
        with session.open(path) as db:
            seen[build] = tuple(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                                for table in ("transfer", "memset", "launch", "allocation"))
    session.check("the three builds give the same counts of copies, memsets, launches, allocations",
                  len(set(seen.values())) == 1, seen)
    for name in ("every_api", "every_api_shared", "graph", "copies 2000 64 async"):
        words = name.split()
        path = session.same_behaviour(words[0], [session.programs / words[0], *words[1:]],
                                      words[0])
        session.joined(words[0], path)
    path = session.same_behaviour("driver API", [session.programs / "driver_api", "--strict"],
                                  "driver_api")
    session.joined("driver API", path)
