# SPDX-License-Identifier: Apache-2.0
"""How far the same quantity differs between calibrations: needs no GPU, only their models."""

import json

from runner import Runner

PARTS = ("rates", "latencies", "occupancy_curve", "occupancy_curve_vector",
         "occupancy_curve_latency", "access_costs", "families", "transfers", "batches", "costs")
VALUES = ("median", "median_ns", "bandwidth_bytes_per_s", "latency_ns", "merged_ns",
          "batch_ns", "row_copies_ns", "copy_2d_ns", "device_ns")
NAMES = ("variant", "bytes", "occupancy")  # what tells the items of a list apart


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


def record(runner: Runner) -> dict:
    models = [json.loads(path.read_text())
              for path in sorted(runner.out.glob("calibration_?.json"))]
    found = {}
    for part in PARTS:
        each = [dict(leaves(model.get(part, {}))) for model in models]
        found[part] = {name: [one.get(name) for one in each] for name in each[0]}
    return found
