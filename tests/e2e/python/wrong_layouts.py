# SPDX-License-Identifier: Apache-2.0
"""Reads this interpreter's frames with the layout of every version, and with wrong offsets.

usage: wrong_layouts.py READER_LIBRARY [SEEDS]

Its own layout gives what `traceback` says. One of another version gives that or nothing; wrong offsets may give anything, but do not end
the process.
"""

import ctypes
import sys
import sysconfig
import traceback

READER = ctypes.CDLL(sys.argv[1])
READER.reader_read.argtypes = [ctypes.c_uint, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t]
TEXT = ctypes.create_string_buffer(1 << 20)
OWN = sys.version_info.minor + (100 if sysconfig.get_config_var("Py_GIL_DISABLED") else 0)


def read(layout, seed=0):
    """Frames as (name, file, line) innermost first, None: they cannot be read; and what traceback says."""
    count, stack = READER.reader_read(layout, seed, TEXT, len(TEXT)), list(traceback.walk_stack(sys._getframe(0)))
    expected = [(frame.f_code.co_name, frame.f_code.co_filename, line) for frame, line in stack]
    if count < 0 or seed:
        return None, expected
    rows = [row.split("\t") for row in TEXT.value.decode().splitlines()]
    return [(name.rsplit(".", 1)[-1], file, int(line)) for name, file, line in rows], expected


def recursion(depth, layout, seed=0):
    return recursion(depth - 1, layout, seed) if depth else read(layout, seed)


def generator(layout, seed=0):
    yield [read(layout, seed) for i in range(1)][0]


def main():
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    wrong = 0
    versions = [READER.reader_version(layout) for layout in range(READER.reader_layouts())]
    for layout, version in enumerate(versions):
        for found, expected in (recursion(5, layout), next(generator(layout)), read(layout)):
            right = found == expected
            if not (right if version == OWN else right or not found):
                wrong += 1
                print(f"layout {version} of {OWN}: {found}, expected {expected}")
    print(f"own layout {'there' if OWN in versions else 'missing'}, {wrong} wrong", flush=True)
    for seed in range(1, seeds):
        recursion(seed % 4, seed % len(versions), seed)
        next(generator(seed % len(versions), seed + seeds))
        if OWN in versions:
            read(versions.index(OWN), seed)
    print("seeds done")
    return wrong != 0 or OWN not in versions


sys.exit(main())
