#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A kernel that NVRTC compiles while the program runs, with line information; its load is strided.

Exits 77 where there is no CuPy.
"""

import sys

try:
    import cupy
except ImportError as error:
    print(f"nvrtc_script.py: {error}", file=sys.stderr)
    sys.exit(77)

SOURCE = """extern "C" __global__ void strided(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[(i * 32) % n]; /* planted */
}
"""


def main() -> None:
    n = 1 << 22
    data = cupy.ones(n, dtype=cupy.float32)
    out = cupy.zeros(n, dtype=cupy.float32)
    kernel = cupy.RawKernel(SOURCE, "strided", options=("-lineinfo",))
    for _ in range(8):
        kernel((n // 256,), (256,), (data, out, cupy.int32(n)))
    print(float(out.sum()) == n)


if __name__ == "__main__":
    main()
