# SPDX-License-Identifier: Apache-2.0
"""Calls the driver from functions before and behind fork(), in both processes.

usage: forking.py PREFIX

What `traceback` says goes into PREFIX.PID.json.
"""

import os
import sys

import lines


def begin():
    context = lines.ctypes.c_void_p()
    assert lines.CU.cuInit(0) == 0
    assert lines.CU.cuDevicePrimaryCtxRetain(lines.ctypes.byref(context), 0) == 0
    assert lines.CU.cuCtxSetCurrent(context) == 0
    assert lines.CU.cuMemAlloc_v2(lines.ctypes.byref(lines.MEMORY), lines.ROOM) == 0


def calls():
    for kind in (lines.methods, lines.comprehensions, lines.generators, lines.made_code):
        kind()


def write():
    with open(f"{sys.argv[1]}.{os.getpid()}.json", "w") as file:
        lines.json.dump(lines.EXPECTED, file)


def main():
    begin()
    calls()
    child = os.fork()
    if child == 0:
        lines.EXPECTED.clear()
        lines.CU.cuInit(0)  # no call here succeeds, but each is recorded
        calls()
        write()
        os._exit(0)
    calls()
    write()
    sys.exit(os.waitpid(child, 0)[1])


main()
