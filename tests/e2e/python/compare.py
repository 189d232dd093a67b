# SPDX-License-Identifier: Apache-2.0
"""Compares the Python lines in a trace with those that the program saw.

usage: compare.py TRACE EXPECTED.json [LEAST_CALLS]

Prints how many calls there are, how many are equal, and the first that are not.
"""

import json
import sqlite3
import sys

MOST = 64  # Python functions that a stack keeps


def stacks(path):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = db.execute(
        "SELECT m.bytes, fn.text, fi.text, f.line FROM memset m JOIN stack_frame s ON s.stack_id = m.stack_id "
        "JOIN frame f ON f.id = s.frame_id LEFT JOIN string fn ON fn.id = f.function_id "
        "LEFT JOIN string fi ON fi.id = f.file_id WHERE f.address < 0 ORDER BY m.bytes, s.position")
    found = {}
    for size, function, file, line in rows:
        found.setdefault(size, []).append([function.rsplit(".", 1)[-1], file, line])
    return found


def main():
    found = stacks(sys.argv[1])
    with open(sys.argv[2]) as file:
        expected = {int(size): stack for size, stack in json.load(file).items()}
    wrong = [size for size, stack in expected.items() if found.get(size) != stack[:MOST]]
    print(f"calls {len(expected)}, equal {len(expected) - len(wrong)}")
    for size in wrong[:5]:
        print(f"call {size}:\n  traceback: {expected[size]}\n  trace:     {found.get(size)}")
    return bool(wrong) or len(expected) < (int(sys.argv[3]) if len(sys.argv) > 3 else 1000)


if __name__ == "__main__":
    sys.exit(main())
