#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that calls CUPTI and the driver by itself: cupti_script.py LIBCUPTI [--finalize] [--first]

Copies, memsets and launches of an empty kernel, of which every second round is recorded with CUPTI's
activity API (subscribe, register, enable, work, disable, flush, unsubscribe); with --finalize CUPTI is taken down
after each, and with --first it is loaded before CUDA begins. Prints what each call of CUPTI returned, the records of each kind, and whether CUPTI's clock is
that of the wall. Exits 77 without a GPU.
"""

import collections
import ctypes
import sys
import time

PTX = b".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n    ret;\n}\n\0"
KINDS = {1: "copies", 2: "memsets", 10: "kernels"}
ROUNDS = 5
TIMES = 25
BUFFER_BYTES = 1 << 20

REQUEST = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t),
                           ctypes.POINTER(ctypes.c_size_t))
COMPLETE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p,
                            ctypes.c_size_t, ctypes.c_size_t)
SUBSCRIBER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32,
                              ctypes.c_void_p)


class Recorder:
    """CUPTI's activity API with buffers of our own."""

    def __init__(self, path: str):
        self.cupti = ctypes.CDLL(path)
        self.buffers: dict[int, ctypes.Array] = {}
        self.foreign = 0
        self.seen: collections.Counter = collections.Counter()
        self.request = REQUEST(self.give)
        self.complete = COMPLETE(self.take)
        self.callback = SUBSCRIBER(lambda *_: None)
        self.subscriber = ctypes.c_void_p()

    def give(self, buffer, size, max_records) -> None:
        memory = ctypes.create_string_buffer(BUFFER_BYTES + 8)
        address = (ctypes.addressof(memory) + 7) & ~7
        self.buffers[address] = memory
        buffer[0], size[0], max_records[0] = address, BUFFER_BYTES, 0

    def take(self, _context, _stream, buffer, _size, valid) -> None:
        self.foreign += buffer not in self.buffers
        record = ctypes.c_void_p()
        while valid and self.cupti.cuptiActivityGetNextRecord(
                ctypes.c_void_p(buffer), ctypes.c_size_t(valid), ctypes.byref(record)) == 0:
            kind = ctypes.cast(record, ctypes.POINTER(ctypes.c_uint32))[0]
            self.seen[KINDS.get(kind, f"kind {kind}")] += 1
        self.buffers.pop(buffer, None)

    def on(self) -> list[int]:
        c = self.cupti
        results = [c.cuptiSubscribe(ctypes.byref(self.subscriber), self.callback, None),
                   c.cuptiActivityRegisterCallbacks(self.request, self.complete)]
        return results + [c.cuptiActivityEnable(kind) for kind in KINDS]

    def off(self, finalize: bool) -> list[int]:
        c = self.cupti
        results = [c.cuptiActivityDisable(kind) for kind in KINDS]
        results += [c.cuptiActivityFlushAll(1), c.cuptiUnsubscribe(self.subscriber)]
        return results + ([c.cuptiFinalize()] if finalize else [])

    def clock_is_wall(self) -> bool:
        now = ctypes.c_uint64()
        return (self.cupti.cuptiGetTimestamp(ctypes.byref(now)) == 0
                and abs(now.value / 1e9 - time.time()) < 60)


def must(result: int) -> None:
    if result != 0:
        sys.exit(f"cupti_script.py: the driver says {result}")


def main() -> int:
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context, module, function = (ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(),
                                         ctypes.c_void_p())
    memory = ctypes.c_uint64()
    recorder = Recorder(sys.argv[1]) if "--first" in sys.argv else None
    if cuda.cuInit(0) != 0 or cuda.cuDeviceGet(ctypes.byref(device), 0) != 0:
        return 77
    must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    must(cuda.cuCtxSetCurrent(context))
    must(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
    must(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"nothing"))
    must(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096)))
    host = ctypes.create_string_buffer(4096)
    recorder = recorder or Recorder(sys.argv[1])
    finalize = "--finalize" in sys.argv
    for turn in range(ROUNDS):
        if turn % 2 == 1:
            print("on", recorder.on())
        for _ in range(TIMES):
            must(cuda.cuMemcpyHtoD_v2(memory, host, ctypes.c_size_t(4096)))
            must(cuda.cuMemsetD8_v2(memory, 0, ctypes.c_size_t(1024)))
            must(cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, None, None))
        must(cuda.cuCtxSynchronize())
        print("wall clock", recorder.clock_is_wall())
        if turn % 2 == 1:
            print("off", recorder.off(finalize))
            print(dict(sorted(recorder.seen.items())), "foreign buffers", recorder.foreign)
    return 0


if __name__ == "__main__":
    sys.exit(main())
