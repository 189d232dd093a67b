# SPDX-License-Identifier: Apache-2.0
"""CPU time of a driver call through ctypes, under 5 and under 13 Python functions: the quickest of 60 rounds of 3000 calls.

LD_PRELOAD=.../libgmtrace.so GMTRACE_COLLECT=light [GMTRACE_PYTHON=off] python3 python_cost.py
"""

import ctypes
import time

CU = ctypes.CDLL("libcuda.so.1")
SET = CU.cuMemsetD8_v2
SET.argtypes = [ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t]
ROUNDS, CALLS = 60, 3000


def loop(memory):
    for i in range(CALLS):
        SET(memory, 1, 16)


def below(depth, memory):
    return below(depth - 1, memory) if depth else loop(memory)


def quickest(depth, memory):
    best = float("inf")
    for i in range(ROUNDS):
        begin = time.process_time()
        below(depth, memory)
        best = min(best, time.process_time() - begin)
    return best / CALLS * 1e9


def main():
    context, memory = ctypes.c_void_p(), ctypes.c_uint64()
    assert CU.cuInit(0) == 0
    assert CU.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert CU.cuCtxSetCurrent(context) == 0
    assert CU.cuMemAlloc_v2(ctypes.byref(memory), 4096) == 0
    print(f"ns per call: {quickest(0, memory):.0f} under 5 functions, {quickest(8, memory):.0f} under 13")


main()
