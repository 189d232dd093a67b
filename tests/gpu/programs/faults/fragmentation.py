# SPDX-License-Identifier: Apache-2.0
"""Buffers that grow from step to step, each with a result beside it that stays: the holes between these fit nothing."""

import fault
import torch

MIB = 1 << 18  # floats


def bad(steps):
    kept = []
    for step in range(steps):
        buffer = torch.full(((11 + 2 * step) * MIB,), 1.0, device="cuda")  # fault
        kept.append(buffer[: 11 * MIB].clone())
        del buffer
    return sum(one.sum() for one in kept)


def good(steps):
    kept, whole = [], torch.empty((11 + 2 * steps) * MIB, device="cuda")
    for step in range(steps):
        buffer = whole[: (11 + 2 * step) * MIB].fill_(1.0)
        kept.append(buffer[: 11 * MIB].clone())
    return sum(one.sum() for one in kept)


fault.run(bad, good, 100)
