# SPDX-License-Identifier: Apache-2.0
"""How far the same quantity differs between calibrations: needs no GPU, only their models."""

import json

import processes
from runner import Runner

PARTS = ("rates", "latencies", "occupancy_curve", "occupancy_curve_vector",
         "occupancy_curve_latency", "access_costs", "families", "transfers", "batches", "costs")
VALUES = ("median", "median_ns", "bandwidth_bytes_per_s", "latency_ns", "merged_ns",
          "batch_ns", "row_copies_ns", "copy_2d_ns", "device_ns")
NAMES = ("variant", "bytes", "occupancy")  # what distinguishes the items of a list


def name_of(item: object) -> str:
    if not isinstance(item, dict):
        return ""
    if "width" in item:
        return f"{item['width']}x{item['rows']}/{item['device_pitch_bytes']}"
    return next((item[key] for key in NAMES if key in item), "")


def leaves(node: object, path: str = ""):
    """(path, value) of every quantity below a node of a model."""
    if isinstance(node, dict):
        if "flat_ns" in node:  # prices multiply the time of a 1-D copy by it
            yield f"{path} factor".strip(), node["median_ns"] / node["flat_ns"]
        for key, value in node.items():
            if key in VALUES and isinstance(value, (int, float)):
                yield (path if key in ("median", "median_ns") else f"{path} {key}").strip(), value
            elif isinstance(value, (dict, list)) and key != "pieces":  # fits have as many as fit
                yield from leaves(value, path if key == "points" else f"{path} {key}")
    elif isinstance(node, list):
        for item in node:
            yield from leaves(item, f"{path} {name_of(item)}")


def record(runner: Runner, raw: dict) -> dict:
    """Writes repeat.json, which stands by itself: it need not be of the device of the traces."""
    paths = sorted(runner.out.glob("calibration_?.json"))
    models = [json.loads(path.read_text()) for path in paths]
    found = {}
    for part in PARTS:
        each = [dict(leaves(model.get(part, {}))) for model in models]
        found[part] = {name: [one.get(name) for one in each] for name in each[0]}
    passes = json.loads(paths[0].with_suffix(".raw.json").read_text()).get("passes", [])
    document = {"format": "gmtrace-repeat", "version": 1, "machine": raw["machine"],
                "command": raw["command"],
                "calibrations": raw.get("calibrations", [{"file": path.name} for path in paths]),
                "rule": next(iter(processes.RULES)),
                "processes": len({row.get("process", 0) for row in passes}),
                "passes": len(passes), "parts": found}
    (runner.out / "repeat.json").write_text(json.dumps(document, indent=1) + "\n",
                                            encoding="utf-8")
    return {}
