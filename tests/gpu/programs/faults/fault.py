# SPDX-License-Identifier: Apache-2.0
"""What the programs of PyTorch with a planted fault, and their repaired twins, share: NAME.py bad|good [--steps N]

A result goes to standard output, the same for both twins; the time of the loop and the memory that PyTorch held at most to standard
error. Exits 77 where there is no PyTorch or no GPU. Lines with the fault end in "# fault".
"""

import argparse
import sys
import time

try:
    import torch
except ImportError as missing:
    print(f"fault.py: {missing}", file=sys.stderr)
    sys.exit(77)


def layers(width: int, depth: int, seed: int = 7) -> torch.nn.Sequential:
    """A network that computes about 2 * width * width * depth operations per row."""
    torch.manual_seed(seed)
    made = []
    for _ in range(depth):
        made += [torch.nn.Linear(width, width), torch.nn.GELU()]
    return torch.nn.Sequential(*made).cuda()


def run(bad, good, steps: int) -> None:
    """Calls the twin that was asked for with the number of steps: twice few of them, for what happens once, and then all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["bad", "good"])
    parser.add_argument("--steps", type=int, default=steps)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("fault.py: no usable CUDA device", file=sys.stderr)
        sys.exit(77)
    twin = bad if options.twin == "bad" else good
    torch.manual_seed(7)
    twin(3)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    torch.manual_seed(7)
    began = time.perf_counter()
    result = float(twin(options.steps))
    torch.cuda.synchronize()
    took = time.perf_counter() - began
    print(f"check_sum {result:.3e}")
    print(f"time_ms {1e3 * took:.4f}\ndevice_kib {torch.cuda.max_memory_reserved() // 1024}", file=sys.stderr)
