# SPDX-License-Identifier: Apache-2.0
"""CPU time of a driver call through ctypes, under 5, 13 and 45 Python functions: the quickest of 60 rounds of 3000 calls, SECONDS
after the first one (with GMTRACE_OVERHEAD=0.1 stacks are sampled after 3).

LD_PRELOAD=.../libgmtrace.so GMTRACE_COLLECT=light [GMTRACE_PYTHON=off] python3 python_cost.py [SECONDS]
"""

import ctypes
import sys
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
    begin = time.monotonic() + float(sys.argv[1] if len(sys.argv) > 1 else 0)
    while time.monotonic() < begin:
        loop(memory)
    print("ns per call: " + ", ".join(f"{quickest(depth, memory):.0f} under {depth + 5} functions" for depth in (0, 8, 40)))


main()
