#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the slow pipeline inside Python: loads libpipeline_slow.so and calls its pipeline_main().

usage: run_ctypes.py LIBRARY [pipeline options...]
"""

import ctypes
import sys


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__.strip().splitlines()[-1], file=sys.stderr)
        return 2
    try:
        library = ctypes.CDLL(sys.argv[1])
    except OSError as error:
        print(f"run_ctypes.py: {error}", file=sys.stderr)
        return 1
    arguments = [b"pipeline_slow"] + [argument.encode() for argument in sys.argv[2:]]
    argv = (ctypes.c_char_p * (len(arguments) + 1))(*arguments, None)
    library.pipeline_main.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
    library.pipeline_main.restype = ctypes.c_int
    status = library.pipeline_main(len(arguments), argv)
    ctypes.CDLL(None).fflush(None)  # the result line, before Python's own exit
    return status


if __name__ == "__main__":
    sys.exit(main())
