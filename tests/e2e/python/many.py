# SPDX-License-Identifier: Apache-2.0
"""Calls the driver from COUNT functions that differ in their line only.

usage: many.py COUNT
"""

import ctypes
import sys
import types

import lines


def call(size):
    return lines.SET(lines.MEMORY, 1, size)


def main():
    context = ctypes.c_void_p()
    assert lines.CU.cuInit(0) == 0
    assert lines.CU.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert lines.CU.cuCtxSetCurrent(context) == 0
    assert lines.CU.cuMemAlloc_v2(ctypes.byref(lines.MEMORY), lines.ROOM) == 0
    for i in range(1, int(sys.argv[1]) + 1):
        types.FunctionType(call.__code__.replace(co_firstlineno=i), globals())(i)


main()
