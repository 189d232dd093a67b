# SPDX-License-Identifier: Apache-2.0
"""Two GPUs or more: each has a model of its own, copies between them are measured, traces say which is which."""

import json
import os

from . import coverage, host_rules, twin_table


def models(session):
    """One of each of the first two, made into the cache; None with fewer."""
    made = []
    for number in range(2):
        raw = session.work / f"device{number}.raw.json"
        done = session.plain([session.build / "bin" / "gmcalibrate", "--quick", "--force", "--device", number,
                              "--raw", raw])
        if number == 1 and done.returncode == 3:
            return None
        if not session.check(f"device {number} is calibrated", done.returncode == 0, done.stderr[-300:]):
            return None
        made.append(json.loads(raw.read_text()))
    return made


def check_models(session, made):
    uuids = [raw["device"]["uuid"] for raw in made]
    session.check("the two models are of two devices", len(set(uuids)) == 2, uuids)
    for number, raw in enumerate(made):
        points = raw["transfers"].get("peer_async", [])
        largest = max(points, key=lambda point: point["bytes"], default=None)
        if session.check(f"device {number}: copies to the other were measured", largest is not None,
                         list(raw["transfers"])):
            rate = largest["bytes"] / min(largest["samples_ns"])
            session.note(f"device {number}: to the other", rate, "GB/s")
            session.check(f"device {number}: such a copy moves its bytes at a likely rate",
                          5 < rate < 1000, rate)


def check_trace(session, made):
    """A program on the second device only is analysed by the second device's model."""
    environment = dict(os.environ, CUDA_VISIBLE_DEVICES=made[1]["device"]["uuid"])
    path = session.trace_path("second")
    done = session.run_in([session.build / "bin" / "gmtrace", "-o", path, session.programs / "counters",
                           "k_stride_8", "24"], environment)
    if not session.check("a program on the second device is traced", done.returncode == 0,
                         done.stderr[-300:]):
        return
    report = json.loads(session.plain([session.build / "bin" / "gmanalyze", "--format", "json",
                                       path]).stdout)
    model = report["device_model"]
    session.check("its trace is analysed by that device's own model", model["match"] == "this board", model)
    uuid = session.one(path, "SELECT uuid FROM device LIMIT 1")
    session.check("and names that device", made[1]["device"]["uuid"].removeprefix("GPU-") in uuid, uuid)


def run(session):
    made = models(session)
    if made is None:
        print("skip: fewer than two GPUs", flush=True)
        return
    check_models(session, made)
    check_trace(session, made)
    coverage.scenario(session, "driver_regressions", "streams", coverage.STREAMS)
    model = session.out / "model.json"  # a quick one will do for copies of 256 KiB
    if not model.exists():
        session.plain([session.build / "bin" / "gmcalibrate", "--quick", "-o", model])
    entry = host_rules.examine(session, twin_table.row_of("GM110"))
    if session.check("GM110 was examined", entry is not None):
        host_rules.print_table([entry])
        with open(session.out / "host_rules_GM110.json", "w", encoding="utf-8") as file:
            json.dump(entry, file, indent=1)
