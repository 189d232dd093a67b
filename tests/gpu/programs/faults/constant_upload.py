# SPDX-License-Identifier: Apache-2.0
"""A table that never changes is uploaded in each step."""

import fault
import torch

ROWS, WIDTH = 8192, 1024


def embed(steps, each):
    net, total = fault.layers(WIDTH, 4), torch.zeros((), device="cuda")
    table = torch.sin(torch.arange(ROWS * WIDTH, dtype=torch.float32)).view(ROWS, WIDTH).pin_memory()
    inputs = torch.randn(ROWS, WIDTH, device="cuda")
    once = None if each else table.to("cuda", non_blocking=True)
    with torch.no_grad():
        for _ in range(steps):
            positions = once if once is not None else table.to("cuda", non_blocking=True)  # fault
            total += net(inputs + positions).mean()
    return total


fault.run(lambda steps: embed(steps, True), lambda steps: embed(steps, False), 100)
