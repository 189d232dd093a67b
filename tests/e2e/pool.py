# SPDX-License-Identifier: Apache-2.0
"""pool.py fork|spawn|forkserver N: N worker processes that use the driver through ctypes, and their parent."""

import ctypes
import multiprocessing
import sys


def copies(count):
    """Copy there and back; the last number read."""
    driver = ctypes.CDLL("libcuda.so.1")

    def check(result):
        if result != 0:
            raise RuntimeError(f"driver: error {result}")

    context, memory = ctypes.c_void_p(), ctypes.c_uint64()
    there, back = (ctypes.c_uint32 * 64)(), (ctypes.c_uint32 * 64)()
    check(driver.cuInit(0))
    check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(driver.cuCtxSetCurrent(context))
    check(driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(256)))
    for i in range(count):
        there[63] = i + 1
        check(driver.cuMemcpyHtoD_v2(memory, there, ctypes.c_size_t(256)))
        check(driver.cuMemcpyDtoH_v2(back, memory, ctypes.c_size_t(256)))
    check(driver.cuMemFree_v2(memory))
    return back[63]


def work(count, barrier, answers):
    barrier.wait()
    answers.put(copies(count))


def main():
    method, workers = sys.argv[1], int(sys.argv[2])
    start = multiprocessing.get_context(method)
    barrier, answers = start.Barrier(workers), start.Queue()
    processes = [start.Process(target=work, args=(10 * (i + 1), barrier, answers)) for i in range(workers)]
    for process in processes:
        process.start()
    print(sorted(answers.get() for _ in processes))
    for process in processes:
        process.join()
    print([process.exitcode for process in processes], copies(5))


if __name__ == "__main__":
    main()
