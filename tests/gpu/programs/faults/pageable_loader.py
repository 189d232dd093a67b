# SPDX-License-Identifier: Apache-2.0
"""Batches of a DataLoader are uploaded from pageable memory, while nothing is computed."""

import fault
import torch

ROWS, WIDTH, BATCHES = 4096, 2048, 4


class Batches(torch.utils.data.Dataset):
    def __init__(self, steps):
        generator = torch.Generator().manual_seed(7)
        self.steps = steps
        self.batches = [torch.randn(ROWS, WIDTH, generator=generator) for _ in range(BATCHES)]

    def __len__(self):
        return self.steps

    def __getitem__(self, index):
        return self.batches[index % BATCHES]


def learn(steps, pinned):
    net, total = fault.layers(WIDTH, 8), torch.zeros((), device="cuda")
    loader = torch.utils.data.DataLoader(Batches(steps), batch_size=None, num_workers=2, pin_memory=pinned)
    with torch.no_grad():
        for batch in loader:
            inputs = batch.to("cuda", non_blocking=pinned)  # fault
            total += net(inputs).mean()
    return total


fault.run(lambda steps: learn(steps, False), lambda steps: learn(steps, True), 60)
