# SPDX-License-Identifier: Apache-2.0
"""gmcalibrate: time it takes, noise, and a model whose numbers are plausible for the device."""

import json
import time


PROCESSES = {"quick": (2, 3), "full": (3, 15)}  # and the passes of each


def by_processes(session, mode, raw_path):
    """What the host's clock times was measured by as many processes as it should be."""
    raw = json.loads(raw_path.read_text())
    count, passes = PROCESSES[mode]
    of_passes = [row.get("process") for row in raw.get("passes", [])]
    session.check(f"gmcalibrate ({mode}): {count} processes of {passes} passes",
                  of_passes == [number for number in range(count) for _ in range(passes)],
                  of_passes)
    for part, name in (("costs", "malloc_free"), ("transfers", "h2d_pageable_sync")):
        point = raw.get(part, {}).get(name, [{}])[0]
        session.check(f"gmcalibrate ({mode}): each of them timed {name}",
                      set(point.get("process", [])) == set(range(count)))
    late = [note for note in raw.get("notes", []) if "slow machine" in note or "missing" in note]
    session.check(f"gmcalibrate ({mode}): nothing is missing", not late, late or "")


def run(session):
    model_path = session.out / "model.json"
    raw_path = session.out / "model.raw.json"
    for mode, limit in (("quick", 10), ("full", 60)):
        start = time.monotonic()
        done = session.plain([session.build / "bin" / "gmcalibrate", "-o", model_path, "--raw",
                              raw_path] + (["--quick"] if mode == "quick" else []))
        took = time.monotonic() - start
        session.check(f"gmcalibrate ({mode}) succeeds", done.returncode == 0, done.stderr[-300:])
        session.note(f"{mode}_seconds", took, "s")
        session.check(f"gmcalibrate ({mode}) takes at most {limit} s", took <= limit,
                      f"{took:.2f} s")
        by_processes(session, mode, raw_path)
    again = session.plain([session.build / "bin" / "gmcalibrate", "--check", raw_path, model_path])
    session.check("the fit can be redone from the raw timings", again.returncode == 0,
                  again.stdout[-200:] if again.returncode else "")
    model = json.loads(model_path.read_text())
    session.check("the device was quiet", not model["noisy"], model.get("noise"))
    for name, curve in model["transfers"].items():
        bandwidth = curve.get("bandwidth_bytes_per_s")
        session.note(f"{name}", f"{curve.get('latency_ns') or 0:.0f} ns, "
                                f"{(bandwidth or 0) / 1e9:.1f} GB/s")
    for name, rate in model["rates"].items():
        session.note(name, rate["median"])
    for name in ("stride", "offset", "bank"):
        session.note(name, {row["variant"]: round(row["relative_time"], 3)
                            for row in model["families"][name] if row["relative_time"]})
