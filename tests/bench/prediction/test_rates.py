#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of rates that rules use: as the source has it, and evaluated by hand."""

import pathlib
import re
import unittest

import rates

ANALYZER = pathlib.Path(__file__).resolve().parents[3] / "analyzer"
FUNCTION = re.compile(r"^[A-Za-z_][\w\s*]*?\b(\w+)\([^;{}]*?\)\n\{\n(.*?)^\}", re.M | re.S)
RULE = re.compile(r'const struct gmt_rule \w+ = \{.*?"(GM\d+)".*?\.run = (\w+)', re.S)
# Members that are no rate: where a model is from, and what only widens an interval.
NO_RATES = {"provenance", "launch_queued_spread_ns"}
# What only traces of the software device are priced by: the table is of predictions about recordings of a GPU.
MODELLED = {"modelled_times.c"}
# Read where a model of an earlier version has no shapes: today's calibrations make none.
EARLIER = {"copy_2d_factor"}


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


class Source:
    """What every function of the analyzer calls, and reads of a model."""

    def __init__(self):
        header = without_comments((ANALYZER / "model" / "device_model.h").read_text())
        body = re.search(r"struct gmt_model \{(.*?)\n\};", header, re.S).group(1)
        self.members = set(re.findall(r"\b(\w+)(?:\[\w+\])*[,;]", body))
        self.bodies, self.rules = {}, []
        for path in sorted(ANALYZER.rglob("*.[ch]")):
            text = without_comments(path.read_text())
            for name, inside in FUNCTION.findall(text):
                if path.name not in MODELLED:
                    self.bodies[path.name, name] = inside
            self.rules += [(rule, (path.name, run)) for rule, run in RULE.findall(text)]
        self.global_names = {name: key for key in self.bodies
                             if (name := key[1]).startswith("gmt_")}

    def read_from(self, root: tuple) -> set:
        """Members that a function reads, or one that it names, and so on."""
        seen, found, left = set(), set(), [root]
        while left:
            key = left.pop()
            if key in seen or key not in self.bodies:
                continue
            seen.add(key)
            found |= set(re.findall(r"\bmodel(?:->|\.)(\w+)", self.bodies[key])) & self.members
            for word in set(re.findall(r"\b\w+\b", self.bodies[key])):
                left.append((key[0], word) if (key[0], word) in self.bodies
                            else self.global_names.get(word, key))
        return found


class Table(unittest.TestCase):
    def test_names_the_rules_that_read_a_rate_and_no_others(self):
        source = Source()
        self.assertGreater(len(source.rules), 40)
        read = {}
        for rule, root in source.rules:
            for member in source.read_from(root) - NO_RATES:
                read.setdefault(member, set()).add(rule)
        table = rates.fields()
        self.assertEqual(set(table), set(read))
        for member, rules in read.items():
            self.assertEqual(table[member], sorted(rules), member)

    def test_says_of_each_where_a_recording_has_it(self):
        self.assertEqual({row[4] for row in rates.rows()} | EARLIER, set(rates.fields()))
        self.assertEqual(len(set(rates.rows())), len(rates.rows()))
        self.assertLessEqual({row[3] for row in rates.rows()}, {"EACH", "OVER"})


class Evaluation(unittest.TestCase):
    PARTS = {
        "transfers": {"h2d_pinned_sync latency_ns": 1, "h2d_pinned_sync 64": 100,
                      "h2d_pinned_sync 128": 200, "h2d_pinned_sync 1024": 1096,
                      "h2d_pinned_sync 64 call_ns": 7, "mapped_read 16": 5,
                      "mapped_read 20 device_ns": 30, "mapped_read 40 device_ns": 50},
        "batches": {"copies_2d_d2h_pinned_async 64x32/512": 30,
                    "copies_2d_d2h_pinned_async 64x32/512 flat_ns": 20},
        "costs": {"launch_queued_ns": 3400},
    }

    def test_reads_a_curve_between_its_points_and_the_rest_as_it_is(self):
        found = {(row[1], place): value
                 for (row, place), value in rates.evaluate(self.PARTS).items()}
        self.assertEqual(found, {
            ("h2d_pinned_sync", "100"): 156.25, ("h2d_pinned_sync", "300"): 372,
            ("h2d_pinned_sync", "1000"): 1072, ("mapped_read", "30"): 40,
            ("copies_2d_d2h_pinned_async", "64x32/512"): 1.5, ("launch_queued_ns", ""): 3400})


if __name__ == "__main__":
    unittest.main()
