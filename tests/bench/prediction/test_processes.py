#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What calibrations of several processes would differ by, in figures that can be checked by hand."""

import unittest

import processes

# Four processes of two passes.
FOUR = [[10, 14], [13, 12], [20, 22], [11, 30]]


class Rules(unittest.TestCase):
    def test_each_takes_its_process(self):
        self.assertEqual([rule(FOUR) for rule in processes.RULES.values()],
                         [11, (10 + 11 + 12 + 13) / 4, 10, 13.5, 12])
        self.assertEqual([rule(FOUR[:1]) for rule in processes.RULES.values()],
                         [10, 10, 10, 12, 12])


class Moves(unittest.TestCase):
    def test_are_those_of_disjoint_groups_in_a_row(self):
        self.assertEqual(processes.groups_of([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4]])
        # Pairs: 10 and 11.
        every, pair = processes.moved(FOUR, 2, processes.lowest)
        self.assertAlmostEqual(every, 1 / 10.5)
        self.assertAlmostEqual(pair, 1 / 10.5)
        # Singles: 10, 12, 20, 11; their median is 11.5.
        self.assertAlmostEqual(processes.moved(FOUR, 1, processes.lowest)[0], 10 / 11.5)

    def test_of_two_do_not_grow_with_the_number_of_groups(self):
        each = [[value] for value in (10, 10, 10, 12)]
        every, pair = processes.moved(each, 1, processes.lowest)
        self.assertAlmostEqual(every, 0.2)
        self.assertAlmostEqual(pair, 3 * (2 / 11) / 6)

    def test_one_group_shows_nothing(self):
        self.assertIsNone(processes.moved(FOUR, 3, processes.lowest))


class Series(unittest.TestCase):
    RAW = {"transfers": {"d2h_pageable_sync": [
        {"bytes": 64, "samples_ns": [5, 7, 9, 8], "call_ns": [1, 1], "pass": [0, 0, 1, 2],
         "process": [0, 0, 0, 3]}]},
        "costs": {"sync_ns": {"samples_ns": [4, 6], "pass": [0, 1], "process": [0, 1]},
                  "launch_ns": {"samples_ns": [4, 6], "pass": [0, 1]}}}

    def test_are_found_with_the_passes_of_each_process(self):
        found = processes.quantities(self.RAW)
        self.assertEqual(found["transfers"], {"d2h_pageable_sync 64": [[6, 9], [8]]})
        self.assertEqual(found["costs"], {"sync_ns": [[4], [6]]})

    def test_belong_to_a_group_each(self):
        for part, name, label in (
                ("transfers", "h2d_pageable_async 4 call_ns", "copies, pageable"),
                ("transfers", "d2h_registered_sync 4", "copies, pinned and registered"),
                ("transfers", "mapped_read 64 device_ns", "kernels on mapped memory"),
                ("transfers", "d2d_async 64", "within and between devices"),
                ("batches", "rows_512 copy_2d_ns", "runs and 2-D, pageable"),
                ("batches", "rows_512_h2d_pinned_async copy_2d_ns", "runs and 2-D, pinned"),
                ("costs", "malloc_async_free_async 256", "allocating"),
                ("costs", "register_unregister 4096 acquire_ns", "page-locking"),
                ("costs", "sync_ns", "launching and waiting"),
                ("families", "small_kernels streams_4", "families bound by the host")):
            self.assertEqual(processes.group_of(part, name), label)

    def test_make_a_table_of_every_rule(self):
        rows = processes.table({"costs": {"sync_ns": FOUR, "malloc_free 64": FOUR}}, 2)
        self.assertEqual(len(rows), len(processes.RULES) * 2 * 3)  # rules, k, two groups and all
        self.assertEqual({row[1] for row in rows}, {"allocating", "launching and waiting", "all"})
        self.assertTrue(all(row[3]["n"] == (2 if row[1] == "all" else 1) for row in rows))

    def test_show_how_far_what_rules_read_moves(self):
        far = [[10 * median for median in passes] for passes in FOUR]
        rows = processes.table({"costs": {"malloc_free 64": FOUR, "malloc_free 256": far}}, 2)
        read = [row for row in rows if row[1] == processes.READ_BY_RULES]
        self.assertEqual(len(read), len(processes.RULES) * 2)
        self.assertEqual(read[0][3]["n"], 1)  # at 100 bytes
        # Both points move alike, and what lies between them with them.
        self.assertAlmostEqual(read[1][3]["typical"],
                               processes.moved(FOUR, 2, processes.quickest_third)[0])

    def test_say_how_many_move_too_far(self):
        rows = processes.table({"costs": {"sync_ns": FOUR, "malloc_free 64": FOUR}}, 2)
        self.assertEqual(rows[0][3]["above"], 1)


if __name__ == "__main__":
    unittest.main()
