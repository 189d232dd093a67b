# SPDX-License-Identifier: Apache-2.0
"""A step is one CUDA graph, and its score is read back each time, to add it up: the device is idle until the host has launched the next."""

import fault
import torch


def scores(steps, step_score):
    net = fault.layers(1024, 6)
    inputs = torch.randn(64, 1024, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.no_grad(), torch.cuda.stream(side):
        net(inputs)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        score = net(inputs).square().mean()
    for _ in range(steps):
        graph.replay()
        step_score(score)


def bad(steps):
    total = []
    scores(steps, lambda score: total.append(score.item()))  # fault
    return sum(total)


def good(steps):
    total = torch.zeros((), device="cuda", dtype=torch.float64)
    scores(steps, lambda score: total.add_(score))
    return total


fault.run(bad, good, 4000)
