# SPDX-License-Identifier: Apache-2.0
"""A sum over rows is made row by row: thousands of kernels, each shorter than its launch."""

import fault
import torch

ROWS, WIDTH = 256, 2048


def bad(steps):
    values, weights = torch.randn(ROWS, WIDTH, device="cuda"), torch.randn(ROWS, WIDTH, device="cuda")
    total = torch.zeros(WIDTH, device="cuda", dtype=torch.float64)
    for _ in range(steps):
        for row in range(ROWS):
            total += torch.sin(values[row]) * weights[row]  # fault
    return total.mean()


def good(steps):
    values, weights = torch.randn(ROWS, WIDTH, device="cuda"), torch.randn(ROWS, WIDTH, device="cuda")
    total = torch.zeros(WIDTH, device="cuda", dtype=torch.float64)
    for _ in range(steps):
        total += (torch.sin(values) * weights).sum(0, dtype=torch.float64)
    return total.mean()


fault.run(bad, good, 60)
