# SPDX-License-Identifier: Apache-2.0
"""Leaves threads behind that are inside of a C function when the interpreter ends, and calls the driver while it ends.

usage: ended.py LIBRARY (tests/e2e/python/ended.c)
"""

import ctypes
import sys
import threading
import time
import types

CU = ctypes.CDLL("libcuda.so.1")
SET = CU.cuMemsetD8_v2
SET.argtypes = [ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t]
LIBRARY = ctypes.CDLL(sys.argv[1])
CONTEXT = ctypes.c_void_p()
MEMORY = ctypes.c_uint64()


class Last:
    """Dies with a module, when the interpreter has begun to end."""

    def __del__(self, fill=SET, memory=MEMORY):
        fill(memory, 1, 3)


sys.modules["last"] = types.ModuleType("last")
sys.modules["last"].object = Last()


def go_on(depth):
    if depth > 0:
        go_on(depth - 1)
    CU.cuCtxSetCurrent(CONTEXT)
    LIBRARY.gmt_test_fill_until_exit(SET, MEMORY)


assert CU.cuInit(0) == 0
assert CU.cuDevicePrimaryCtxRetain(ctypes.byref(CONTEXT), 0) == 0
assert CU.cuCtxSetCurrent(CONTEXT) == 0
assert CU.cuMemAlloc_v2(ctypes.byref(MEMORY), 4096) == 0
LIBRARY.gmt_test_stay_after_the_end()
for turn in range(4):
    threading.Thread(target=go_on, args=(10 * turn,), daemon=True).start()
time.sleep(0.1)
