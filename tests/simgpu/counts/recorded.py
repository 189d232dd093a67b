#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recorded.py RAW: what a GPU counted for every reference kernel, from tests/data/prediction/raw.json.gz,
in the form that sim_reference reads: variant, kernel, metric, value of one launch, without zeros.
Variants of several kernels in one launch are left out."""

import gzip
import json
import sys

with gzip.open(sys.argv[1], "rt", encoding="utf-8") as file:
    raw = json.load(file)
for row in raw["traced"]:
    if row.get("kernels_per_launch") != 1 or not row.get("counters"):
        continue
    for metric, value in row["counters"][0].items():
        if value and metric.startswith(("global_", "shared_", "local_")):
            print(f"{row['family']}:{row['variant']} {row['kernels'][0][0]} {metric} {value:.0f}")
