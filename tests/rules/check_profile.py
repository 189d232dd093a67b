#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_profile.py SCHEMA TRACE SPEEDSCOPE PPROF: both profiles of a trace are valid, say the same, and what the trace says.

The one is held to the JSON schema of speedscope, the other decoded field by field as profile.proto of github.com/google/pprof
has them. Prints the totals, a line "NAME UNIT TOTAL" each."""

import gzip
import json
import pathlib
import sqlite3
import sys

import jsonschema

TITLES = {"device_time": "Device time", "copied": "Copied bytes", "allocated": "Allocated bytes",
          "predicted_saving": "Predicted saving", "calls": "Calls"}
UNITS = {"nanoseconds": "nanoseconds", "bytes": "bytes", "count": "none"}
SUMS = {  # what the trace itself says
    # The copies of graphs are work of the device alone.
    "copied": "SELECT (SELECT coalesce(sum(bytes), 0) FROM transfer WHERE result = 0 AND capturing <> 1) + "
              "(SELECT coalesce(sum(d.bytes), 0) FROM device_op d JOIN launch l ON l.id = d.call_id AND l.kind = 'graph' "
              "WHERE d.graph IS NOT NULL AND d.kind = 'copy')",
    "allocated": "SELECT (SELECT coalesce(sum(bytes), 0) FROM allocation) + "
                 "(SELECT coalesce(sum(bytes), 0) FROM host_allocation)",
    "calls": "SELECT (SELECT count(*) FROM transfer WHERE result = 0 AND capturing <> 1) + "
             "(SELECT count(*) FROM memset WHERE result = 0 AND capturing <> 1) + "
             "(SELECT count(*) FROM launch WHERE result = 0 AND capturing <> 1) + "
             "(SELECT count(*) FROM allocation) + (SELECT count(*) FROM host_allocation)",
}


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            assert value < 1 << 64
            return value, at


def fields(data: bytes) -> dict[int, list]:
    """The fields of a message by number; a packed one is bytes still."""
    found: dict[int, list] = {}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            length, at = varint(data, at)
            value = data[at:at + length]
            assert len(value) == length, "cut short"
            at += length
        found.setdefault(key >> 3, []).append(value)
    return found


def packed(data: bytes) -> list[int]:
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def read_pprof(path: pathlib.Path) -> dict[str, tuple[str, dict]]:
    """Of each value: its unit, and the sum by stack, outermost first, of (name, file, line)."""
    profile = fields(gzip.decompress(path.read_bytes()))
    assert set(profile) <= {1, 2, 3, 4, 5, 6, 10, 13, 14}, sorted(profile)
    strings = [text.decode() for text in profile[6]]
    assert strings[0] == ""
    functions = {}
    for data in profile[5]:
        function = fields(data)
        functions[function[1][0]] = (strings[function[2][0]], strings[function.get(4, [0])[0]])
    assert 0 not in functions and len(functions) == len(profile[5]), "ids of functions"
    mappings = {fields(data)[1][0] for data in profile[3]}
    locations = {}
    for data in profile[4]:
        location = fields(data)
        (line,) = location[4]
        line = fields(line)
        assert location[2][0] in mappings
        locations[location[1][0]] = (*functions[line[1][0]], line.get(2, [0])[0])
    assert 0 not in locations and len(locations) == len(profile[4]), "ids of locations"
    types = [(strings[kind[1][0]], strings[kind[2][0]]) for kind in map(fields, profile[1])]
    assert types[0][0] == strings[profile[14][0]]
    result: dict[str, tuple[str, dict]] = {name: (unit, {}) for name, unit in types}
    for data in profile.get(2, []):
        sample = fields(data)
        stack = tuple(locations[at] for at in reversed(packed(sample[1][0])))
        values = packed(sample[2][0])
        assert len(values) == len(types)
        for (name, _), value in zip(types, values):
            assert value < 1 << 63
            if value > 0:
                sums = result[name][1]
                sums[stack] = sums.get(stack, 0) + value
    return result


def read_speedscope(path: pathlib.Path, schema: pathlib.Path) -> dict[str, tuple[str, dict]]:
    log = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(log, json.loads(schema.read_text(encoding="utf-8")))
    frames = [(frame["name"], frame.get("file", ""), frame.get("line", 0)) for frame in log["shared"]["frames"]]
    assert len(set(frames)) == len(frames), "a frame is there twice"
    result = {}
    for profile in log["profiles"]:
        assert profile["endValue"] == sum(profile["weights"]) and len(profile["weights"]) == len(profile["samples"])
        sums: dict = {}
        for sample, weight in zip(profile["samples"], profile["weights"]):
            stack = tuple(frames[index] for index in sample)
            sums[stack] = sums.get(stack, 0) + weight
        result[profile["name"]] = (profile["unit"], sums)
    return result


def main() -> int:
    schema, trace, speedscope, pprof = map(pathlib.Path, sys.argv[1:])
    one, other = read_speedscope(speedscope, schema), read_pprof(pprof)
    assert [TITLES[name] for name in other] == list(one), (list(one), list(other))
    db = sqlite3.connect(trace)
    for name, (unit, sums) in other.items():
        assert one[TITLES[name]] == (UNITS[unit], sums), f"{name} differs between the two"
        total = sum(sums.values())
        if name in SUMS:
            assert total == db.execute(SUMS[name]).fetchone()[0], name
        print(name, unit, total)
    return 0


sys.exit(main())
