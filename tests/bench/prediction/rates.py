# SPDX-License-Identifier: Apache-2.0
"""The rates that rules use (used.def), evaluated as rules do: needs no GPU."""

import pathlib
import re

TABLE = pathlib.Path(__file__).resolve().parent / "used.def"
FIELD = re.compile(r'^GMT_FIELD\((\w+),((?:\s*"[^"]*")+)\)', re.M)
USED = re.compile(r'^GMT_USED\("(\w*)", "(\w*)", "(\w*)", (\w+), (\w+)\)', re.M)
DECADES = 11


def fields() -> dict:
    """Member of struct gmt_model: the rules that read it."""
    return {name: "".join(re.findall(r'"([^"]*)"', rules)).split()
            for name, rules in FIELD.findall(TABLE.read_text())}


def rows() -> list:
    """(part, curve, value, how, field)"""
    return USED.findall(TABLE.read_text())


def place_of(row: tuple, name: str) -> str | None:
    """What a quantity's name says beside the row's curve and value; None: it is another's."""
    _, curve, value, how, _ = row
    words = name.split()
    if curve:
        if not words or words[0] != curve:
            return None
        words = words[1:]
    if value:
        if not words or words[-1] != value:
            return None
        words = words[:-1]
    where = " ".join(words)
    if len(words) > 1 or (how == "OVER" and not where.isdigit()):
        return None
    return where


def at(points: list, size: float) -> float:
    """A curve between its points, which ascend."""
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if size <= x1:
            return y0 + (y1 - y0) * (size - x0) / (x1 - x0)
    return points[-1][1]


def over(points: list) -> dict:
    sizes = [digit * 10 ** decade for decade in range(DECADES) for digit in (1, 3)]
    return {str(size): at(points, size) for size in sizes
            if points and points[0][0] <= size <= points[-1][0]}


def with_factors(values: dict) -> dict:
    """2-D copies: the time as a multiple of that of a 1-D copy of as many bytes."""
    return values | {f"{name[:-len(' flat_ns')]} factor": values[name[:-len(" flat_ns")]] / flat
                     for name, flat in values.items()
                     if name.endswith(" flat_ns") and flat > 0}


def evaluate(parts: dict) -> dict:
    """{part: {name of a quantity: value}} of one calibration to {(row, place): value}."""
    found = {}
    for row in rows():
        part, how = row[0], row[3]
        values = {place_of(row, name): value
                  for name, value in with_factors(parts.get(part, {})).items()}
        values.pop(None, None)
        if how == "OVER":
            values = over(sorted((float(size), value) for size, value in values.items()))
        found.update({(row, place): value for place, value in values.items()})
    return found
