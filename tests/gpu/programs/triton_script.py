#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Triton vector addition, launched several times and checked.

Prints the same lines on every run; the time of the rounds goes to stderr. Exits 77 where there
is no Triton, no PyTorch or no GPU.
"""

import sys
import time

try:
    import torch
    import triton
    import triton.language as tl
except ImportError as error:
    print(f"triton_script.py: {error}", file=sys.stderr)
    sys.exit(77)

ROUNDS = 10
WORDS = 1_000_003  # not a multiple of the block
BLOCK = 1024


@triton.jit
def vector_add(x_pointer, y_pointer, out_pointer, count, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < count
    x = tl.load(x_pointer + offsets, mask=mask)
    y = tl.load(y_pointer + offsets, mask=mask)
    tl.store(out_pointer + offsets, x + y, mask=mask)


def main() -> int:
    if not torch.cuda.is_available():
        print("triton_script.py: no usable CUDA device", file=sys.stderr)
        return 77
    x = torch.arange(WORDS, dtype=torch.int32)
    x_device = x.cuda()
    out = torch.zeros_like(x_device)
    grid = (triton.cdiv(WORDS, BLOCK),)
    began = time.perf_counter()
    for k in range(ROUNDS):
        y = torch.full((WORDS,), k, dtype=torch.int32)
        vector_add[grid](x_device, y.cuda(), out, WORDS, BLOCK_SIZE=BLOCK)
        if not torch.equal(out.cpu(), x + k):
            print(f"triton_script.py: wrong result in round {k}", file=sys.stderr)
            return 1
    print(f"time_ms {1e3 * (time.perf_counter() - began):.4f}", file=sys.stderr)
    print(f"rounds {ROUNDS} words {WORDS} last {int(out[-1].item())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
