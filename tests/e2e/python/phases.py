# SPDX-License-Identifier: Apache-2.0
"""Two lines each that call the same function in phases, in a function, a generator, a coroutine, outside of a deep recursion, and in
a generator that is called by a line that calls the function itself, too: nothing but where the outer functions are distinguishes their calls. The value of a fill says which line made it.

usage: phases.py SECONDS
"""

import asyncio
import ctypes
import sys
import time

CU = ctypes.CDLL("libcuda.so.1")
SET = CU.cuMemsetD8_v2
SET.argtypes = [ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t]
MEMORY = ctypes.c_uint64()


def model(value):
    for i in range(20):
        SET(MEMORY, value, 16)


def plain():
    for i in range(15):
        model(1)  # line 1
    model(2)  # line 2
    model(2)  # line 2


def generator():
    for i in range(15):
        model(3)  # line 3
        yield
    for i in range(2):
        model(4)  # line 4
        yield


async def coroutine():
    for i in range(15):
        model(5)  # line 5
        await asyncio.sleep(0)
    for i in range(2):
        model(6)  # line 6


def below(depth, value):
    if depth:
        below(depth - 1, value)
    else:
        model(value)


def deep():
    for i in range(15):
        below(60, 7)  # line 7
    below(60, 8)  # line 8
    below(60, 8)  # line 8


def turns():
    yield
    while True:
        for i in range(15):
            model(10)  # line 10
            yield
        for i in range(2):
            model(11)  # line 11
            yield


def called(generator):
    for step in [model] * 2 + [generator.send] * 17:
        step(9)  # line 9


def main():
    context = ctypes.c_void_p()
    assert CU.cuInit(0) == 0
    assert CU.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert CU.cuCtxSetCurrent(context) == 0
    assert CU.cuMemAlloc_v2(ctypes.byref(MEMORY), 64) == 0
    send = turns()
    next(send)
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        plain()
        for step in generator():
            pass
        asyncio.run(coroutine())
        deep()
        called(send)


main()
