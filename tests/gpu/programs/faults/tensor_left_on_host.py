# SPDX-License-Identifier: Apache-2.0
"""A running mean is kept on the host: in each step it goes to the device and comes back."""

import fault
import torch

ROWS, WIDTH = 8192, 1024


def normalize(steps, place):
    net, total = fault.layers(WIDTH, 2), torch.zeros((), device="cuda")
    mean = torch.zeros(ROWS, WIDTH, device=place)
    inputs = torch.randn(ROWS, WIDTH, device="cuda")
    with torch.no_grad():
        for _ in range(steps):
            made = net(inputs)
            mean = (0.9 * mean.to("cuda") + 0.1 * made).to(place)  # fault
            total += (made - mean.to("cuda")).mean()  # fault
    return total


fault.run(lambda steps: normalize(steps, "cpu"), lambda steps: normalize(steps, "cuda"), 60)
