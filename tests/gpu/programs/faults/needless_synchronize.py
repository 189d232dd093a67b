# SPDX-License-Identifier: Apache-2.0
"""The host waits for the device after each layer, though it reads nothing."""

import fault
import torch


def through(steps, after_layer):
    net, total = fault.layers(1024, 8), torch.zeros((), device="cuda")
    inputs = torch.randn(1024, 1024, device="cuda")
    with torch.no_grad():
        for _ in range(steps):
            made = inputs
            for layer in net:
                made = layer(made)
                after_layer()
            total += made.mean()
    return total


def bad(steps):
    return through(steps, lambda: torch.cuda.synchronize())  # fault


def good(steps):
    return through(steps, lambda: None)


fault.run(bad, good, 300)
