# SPDX-License-Identifier: Apache-2.0
"""Calls the driver from where the functions of a thread are no plain chain: sub-interpreters, or greenlets.

usage: switching.py sub|greenlets EXPECTED.json

Fills of 1 to 99 bytes are made by plain functions of the main interpreter, whose stacks go into EXPECTED.json. Larger ones
are those that may have no Python functions in their stacks.
"""

import ctypes
import json
import sys
import traceback

CU = ctypes.CDLL("libcuda.so.1")
SET = CU.cuMemsetD8_v2
SET.argtypes = [ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t]
MEMORY = ctypes.c_uint64()
EXPECTED = {}

SUB = """
import ctypes
SET = ctypes.CDLL("libcuda.so.1").cuMemsetD8_v2
SET.argtypes = [ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t]
def inner(size):
    assert SET({memory}, 1, size) == 0
for size in range(100, 110):
    inner(size)
"""


def mark():
    size = len(EXPECTED) + 1
    EXPECTED[size] = [
        [frame.f_code.co_name, frame.f_code.co_filename, line]
        for frame, line in traceback.walk_stack(sys._getframe(1))
    ]
    return size


def plain():
    return SET(MEMORY, 1, mark())


def in_sub_interpreter():
    if sys.version_info >= (3, 13):
        import _interpreters

        made = _interpreters.create("legacy")
        failed = _interpreters.exec(made, SUB.format(memory=MEMORY.value))
        assert not failed, failed
        _interpreters.destroy(made)
        return
    import _xxsubinterpreters

    made = _xxsubinterpreters.create(isolated=False)
    _xxsubinterpreters.run_string(made, SUB.format(memory=MEMORY.value))
    _xxsubinterpreters.destroy(made)


def in_greenlets():
    import greenlet

    def work(first):
        def deeper(depth):
            if depth:
                return deeper(depth - 1)
            SET(MEMORY, 1, first)
            greenlet.getcurrent().parent.switch()
            SET(MEMORY, 1, first + 1)

        deeper(first % 7)

    workers = [greenlet.greenlet(work) for i in range(10)]
    for i, worker in enumerate(workers):
        worker.switch(100 + 2 * i)
        plain()
    for worker in workers:
        worker.switch()
        plain()


def main():
    context = ctypes.c_void_p()
    assert CU.cuInit(0) == 0
    assert CU.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert CU.cuCtxSetCurrent(context) == 0
    assert CU.cuMemAlloc_v2(ctypes.byref(MEMORY), 1024) == 0
    for i in range(3):
        plain()
        (in_sub_interpreter if sys.argv[1] == "sub" else in_greenlets)()
        plain()
        if sys.argv[1] == "greenlets":
            break
    with open(sys.argv[2], "w") as file:
        json.dump(EXPECTED, file)
    print("done")


main()
