# SPDX-License-Identifier: Apache-2.0
"""A program whose four streams overlap: elapsed time without, in light, in standard."""

import re
import statistics


def elapsed(output):
    return float(re.search(r"elapsed_ms ([0-9.]+)", output).group(1))


def run(session):
    for kernels in ("50", "500"):
        command = [session.programs / "streams4", kernels]
        times = {"bare": [], "light": [], "standard": [], "standard without counters": []}
        for _ in range(3):
            times["bare"].append(elapsed(session.plain(command).stdout))
            for mode in ("light", "standard"):
                done, _ = session.traced("overlap", command, mode)
                times[mode].append(elapsed(done.stdout))
            done, _ = session.traced("overlap", command, "standard", GMTRACE_COUNTERS="off")
            times["standard without counters"].append(elapsed(done.stdout))
        for mode, values in times.items():
            session.note(f"{kernels} per stream, {mode}", statistics.median(values), "ms")
