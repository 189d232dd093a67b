# SPDX-License-Identifier: Apache-2.0
"""The loss is read back in each step, to add it up: the device is idle until the host has launched the next step."""

import fault
import torch


def train(steps, step_loss):
    net = fault.layers(512, 12)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    inputs = torch.randn(512, 512, device="cuda")
    for _ in range(steps):
        optimizer.zero_grad()
        loss = net(inputs).square().mean()
        loss.backward()
        optimizer.step()
        step_loss(loss)


def bad(steps):
    losses = []
    train(steps, lambda loss: losses.append(loss.item()))  # fault
    return sum(losses)


def good(steps):
    total = torch.zeros((), device="cuda", dtype=torch.float64)
    train(steps, lambda loss: total.add_(loss.detach()))
    return total


fault.run(bad, good, 300)
