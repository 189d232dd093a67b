#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch training fed by a DataLoader: dataloader_torch.py pageable|pinned [options]

pageable: the batches are uploaded from the memory that the loader returned; pinned: with pin_memory
and non_blocking. Both train on the same batches, and print the same lines; the time of the loop goes
to stderr. Exits 77 where there is no PyTorch or no GPU.
"""

import argparse
import sys
import time

try:
    import torch
except ImportError as error:
    print(f"dataloader_torch.py: {error}", file=sys.stderr)
    sys.exit(77)

BATCH = 1024
FEATURES = 4096
BATCHES = 8


class Batches(torch.utils.data.Dataset):
    """Whole batches, as a loader of preprocessed shards gives them; `steps` of them in an epoch."""

    def __init__(self, steps: int):
        generator = torch.Generator().manual_seed(7)
        self.steps = steps
        self.inputs = torch.randn(BATCHES, BATCH, FEATURES, generator=generator)
        self.targets = self.inputs.mean(dim=2)

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        if index >= self.steps:
            raise IndexError(index)
        return self.inputs[index % BATCHES], self.targets[index % BATCHES]


def train(loader, model, pinned: bool) -> torch.Tensor:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    total = torch.zeros((), device="cuda")
    for inputs, targets in loader:
        inputs = inputs.to("cuda", non_blocking=pinned)
        targets = targets.to("cuda", non_blocking=pinned)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs).squeeze(1), targets)
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("memory", choices=["pageable", "pinned"])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--workers", type=int, default=0)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("dataloader_torch.py: no usable CUDA device", file=sys.stderr)
        return 77

    torch.manual_seed(7)
    pinned = options.memory == "pinned"
    model = torch.nn.Linear(FEATURES, 1, device="cuda")
    loader = torch.utils.data.DataLoader(Batches(options.steps), batch_size=None, shuffle=False,
                                         num_workers=options.workers, pin_memory=pinned)
    torch.cuda.synchronize()
    began = time.perf_counter()
    total = train(loader, model, pinned)
    torch.cuda.synchronize()
    print(f"time_ms {1e3 * (time.perf_counter() - began):.4f}", file=sys.stderr)
    print(f"steps {options.steps} mean_loss {total.item() / max(1, options.steps):.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
