#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A CuPy script: uploads, an element-wise kernel of its own, a reduction, a download.

Prints the same lines on every run; the time of the rounds goes to stderr. Exits 77 where there
is no CuPy or no GPU.
"""

import sys
import time

try:
    import cupy
    import numpy
except ImportError as error:
    print(f"cupy_script.py: {error}", file=sys.stderr)
    sys.exit(77)

ROUNDS = 10
WORDS = 1 << 20


def main() -> int:
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        print(f"cupy_script.py: no usable CUDA device: {error}", file=sys.stderr)
        return 77
    scale = cupy.ElementwiseKernel("int32 x, int32 k", "int32 y", "y = x * k + 1", "scale")
    host = numpy.arange(WORDS, dtype=numpy.int32) % 1000
    total = 0
    began = time.perf_counter()
    for k in range(ROUNDS):
        device = cupy.asarray(host)
        result = cupy.asnumpy(scale(device, numpy.int32(k)))
        if not numpy.array_equal(result, host * k + 1):
            print(f"cupy_script.py: wrong result in round {k}", file=sys.stderr)
            return 1
        total += int(scale(device, numpy.int32(k)).sum(dtype=numpy.int64))
    print(f"time_ms {1e3 * (time.perf_counter() - began):.4f}", file=sys.stderr)
    print(f"rounds {ROUNDS} total {total}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
