# SPDX-License-Identifier: Apache-2.0
"""Calls the driver from Python code of many kinds, and says what `traceback` says of each call.

usage: lines.py EXPECTED.json [CALLS]

The n-th call fills n bytes, so that a row of the trace is known by its size. On every line that calls, mark() is called, too: what
it sees is the line of the call.
"""

import asyncio
import contextlib
import ctypes
import functools
import gc
import json
import mmap
import os
import signal
import sys
import tempfile
import threading
import traceback

CU = ctypes.CDLL("libcuda.so.1")
SET = CU.cuMemsetD8_v2
SET.argtypes = [ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t]
ROOM = 1 << 16
EXPECTED = {}
LOCK = threading.Lock()
PAGES = []
MEMORY = ctypes.c_uint64()


def mark():
    """The size of the next call, whose stack is that of the caller."""
    stack = [
        [frame.f_code.co_name, frame.f_code.co_filename, line]
        for frame, line in traceback.walk_stack(sys._getframe(1))
    ]
    with LOCK:
        size = len(EXPECTED) + 1
        EXPECTED[size] = stack
    return size


def call():
    return SET(MEMORY, 1, mark())


def two_lines():
    SET(MEMORY, 1, mark())
    SET(MEMORY, 2, mark())


def long_expression():
    return [
        SET(MEMORY, 1, mark()),
        call(),
        SET(MEMORY, 1, mark()
            ),
    ]


def recursion(depth):
    if depth == 0:
        return call()
    return recursion(depth - 1)


def two_ways(depth):
    if depth % 2:
        two_ways(depth - 1)
    elif depth > 0:
        two_ways(depth - 1)
    else:
        call()


class Thing:
    def method(self):
        return SET(MEMORY, 1, mark())

    @classmethod
    def of_class(cls):
        return call()

    @staticmethod
    def of_nobody():
        return call()

    @property
    def value(self):
        return SET(MEMORY, 1, mark())

    def __getattr__(self, name):
        return SET(MEMORY, 1, mark())

    def __enter__(self):
        call()
        return self

    def __exit__(self, *what):
        call()

    def __lt__(self, other):
        call()
        return True

    def __del__(self):
        SET(MEMORY, 1, mark())


def methods():
    thing = Thing()
    thing.method()
    Thing.of_class()
    Thing.of_nobody()
    thing.value
    thing.missing
    with thing:
        call()
    sorted([thing, Thing()])


def lambdas():
    (lambda: SET(MEMORY, 1, mark()))()
    key = lambda item: SET(MEMORY, 1, mark())
    sorted([3, 1], key=key)
    list(map(lambda item: call(), [1, 2]))
    functools.partial(call)()
    functools.reduce(lambda left, right: call(), [1, 2, 3])


def comprehensions():
    [SET(MEMORY, 1, mark()) for i in range(2)]
    {SET(MEMORY, 1, mark()) for i in range(2)}
    {i: call() for i in range(2)}
    list(call() for i in range(2))
    [[call() for j in range(2)]
     for i in range(2)]


def generator():
    call()
    got = yield 1
    try:
        yield SET(MEMORY, 1, mark())
    finally:
        call()


def delegating():
    yield from generator()
    call()


def generators():
    for item in delegating():
        call()
    made = generator()
    next(made)
    made.send(2)
    made.close()
    made = generator()
    next(made)
    next(made)
    with contextlib.suppress(KeyError):
        made.throw(KeyError())
    abandoned = generator()
    next(abandoned)
    next(abandoned)
    del abandoned


async def coroutine(depth):
    call()
    await asyncio.sleep(0)
    if depth:
        await coroutine(depth - 1)
    SET(MEMORY, 1, mark())


async def stream():
    for i in range(2):
        yield call()
        await asyncio.sleep(0)


async def tasks():
    await asyncio.gather(*(coroutine(i) for i in range(3)))
    async for item in stream():
        call()
    await asyncio.get_running_loop().run_in_executor(None, call)


def asynchronous():
    asyncio.run(tasks())


def threads():
    def work():
        for i in range(3):
            call()
            methods()

    workers = [threading.Thread(target=work) for i in range(3)]
    for worker in workers:
        worker.start()
    call()
    for worker in workers:
        worker.join()


def made_code():
    exec("call()\n\n\ncall()\n", globals())
    eval(compile("\n\ncall()", "<made>", "eval"), globals())
    exec(compile("def inner():\n  call()\n\n  call()\ninner()\n", "made up.py", "exec"), globals())
    exec(compile("class C:\n  call()\n  x = SET(MEMORY, 1, mark())\n", "größe €🎉.py", "exec"), globals())
    exec("def größe_名前():\n call()\ngröße_名前()", globals())


def recreated():
    """Functions that are freed and made again: mostly at one address, with other names and lines."""
    addresses = []
    for i in range(40):
        space = {"SET": SET, "MEMORY": MEMORY, "mark": mark}
        source = "\n" * (i % 7) + f"def name_{i % 5}():\n" + " 0\n" * (i % 3) + " SET(MEMORY, 1, mark())\n"
        exec(compile(source, f"recreated_{i % 2}.py", "exec"), space)
        function = space.pop(f"name_{i % 5}")
        addresses.append(id(function.__code__))
        function()
        del function, space
        gc.collect() if i % 10 == 0 else None
    return len(set(addresses)) < len(addresses)


def same_names():
    """Same name, file and first line, and a table of the same length: only the line differs."""
    for i in range(20):
        space = {"SET": SET, "MEMORY": MEMORY, "mark": mark}
        exec(compile("def f():\n" + "\n" * (i % 4 + 1) + " SET(MEMORY, 1, mark())\n", "same.py", "exec"), space)
        space.pop("f")()


CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


@CALLBACK
def compare(left, right):
    call()
    return 0


def from_c():
    items = (ctypes.c_int * 2)(2, 1)
    ctypes.CDLL(None).qsort(items, 2, 4, compare)


def decorated(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        call()
        return function(*arguments)

    return wrapper


@decorated
@decorated
def decorators():
    call()


def exceptions():
    try:
        call()
        raise ValueError
    except ValueError:
        call()
    else:
        pass
    finally:
        SET(MEMORY, 1, mark())


def star_arguments():
    arguments = (MEMORY, 1)
    SET(*arguments, mark())
    call(*())
    call(**{})


def on_signal(number, frame):
    SET(MEMORY, 1, mark())


def signals():
    signal.signal(signal.SIGUSR1, on_signal)
    os.kill(os.getpid(), signal.SIGUSR1)


def traced():
    def trace(frame, event, argument):
        return trace

    sys.settrace(trace)
    call()
    comprehensions()
    sys.settrace(None)
    sys.setprofile(lambda *what: None)
    call()
    generators()
    sys.setprofile(None)


def long_function():
    """A line table of more than one page."""
    body = "".join(f"  x{i} = {i}; y{i} = x{i} + 1\n" for i in range(3000))
    space = {"call": call}
    exec(compile("def f():\n" + body + "  call()\n" + body, "long.py", "exec"), space)
    space["f"]()


def imported():
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/gmt_module.py", "w") as file:
            file.write("from __main__ import call\ncall()\n\ncall()\n")
        sys.path.insert(0, folder)
        sys.modules.pop("gmt_module", None)
        __import__("gmt_module")
        sys.path.remove(folder)


def generated_code():
    """Through code that nothing describes and that leaves no frame pointer: the native stack ends there."""
    target = ctypes.cast(SET, ctypes.c_void_p).value
    code = b"\x55\x31\xed\x48\xb8" + target.to_bytes(8, "little") + b"\xff\xd0\x90\x5d\xc3"
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    PAGES.append(page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    through = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t)(address)
    for i in range(3):
        through(MEMORY.value, 1, mark())
    (lambda: through(MEMORY.value, 1, mark()))()


KINDS = [
    generated_code, two_lines, long_expression, lambda: recursion(10), lambda: two_ways(7), methods, lambdas,
    comprehensions, generators, asynchronous, threads, made_code, recreated, same_names, from_c, decorators,
    exceptions, star_arguments, signals, traced, imported, lambda: recursion(200),
]


def main():
    calls = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    context = ctypes.c_void_p()
    assert CU.cuInit(0) == 0
    assert CU.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert CU.cuCtxSetCurrent(context) == 0
    assert CU.cuMemAlloc_v2(ctypes.byref(MEMORY), ROOM) == 0
    long_function()
    while len(EXPECTED) < calls:
        for kind in KINDS:
            kind()
    with open(sys.argv[1], "w") as file:
        json.dump(EXPECTED, file)
    # A call when the interpreter has ended.
    getattr(ctypes.CDLL(None), "__cxa_atexit")(CU.cuCtxSynchronize, None, None)
    print(len(EXPECTED), "calls")


if __name__ == "__main__":
    main()
