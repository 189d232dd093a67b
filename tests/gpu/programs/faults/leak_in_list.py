# SPDX-License-Identifier: Apache-2.0
"""A list keeps what each step computed, of which one number is wanted: memory grows until the end."""

import fault
import torch


def walk(steps, keep, read):
    net, kept = fault.layers(1024, 4), []
    inputs = torch.randn(2048, 1024, device="cuda")
    with torch.no_grad():
        for _ in range(steps):
            inputs = net(inputs) + inputs
            keep(kept, inputs)
        return sum(read(one) for one in kept)


def bad(steps):
    return walk(steps, lambda kept, made: kept.append(made * 1.0), lambda one: one.mean())  # fault


def good(steps):
    return walk(steps, lambda kept, made: kept.append((made * 1.0).mean()), lambda one: one)


fault.run(bad, good, 300)
