# SPDX-License-Identifier: Apache-2.0
"""One copy to the device, through the driver and nothing else, from a function of a method."""

import ctypes

CU = ctypes.CDLL("libcuda.so.1")


def upload(memory, data):
    return CU.cuMemcpyHtoD_v2(memory, data, len(data))


class Loader:
    def batch(self):
        memory = ctypes.c_uint64()
        assert CU.cuMemAlloc_v2(ctypes.byref(memory), 64) == 0
        assert upload(memory, b"x" * 64) == 0
        assert CU.cuMemFree_v2(memory) == 0


def main():
    context = ctypes.c_void_p()
    assert CU.cuInit(0) == 0
    assert CU.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert CU.cuCtxSetCurrent(context) == 0
    Loader().batch()
    print("copied")


main()
