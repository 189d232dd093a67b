#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A tiny PyTorch training loop: train_torch.py [--steps N] [--profile]

Each step uploads a batch from pageable memory, trains a small multilayer perceptron, and reads the
loss back. Prints the first and the last loss. With --profile the loop (not the set-up before it)
runs under torch.profiler, and a line of JSON states how many copies, memsets and kernels it counted.
Exits 77 where there is no PyTorch or no GPU.
"""

import argparse
import json
import sys

try:
    import torch
except ImportError as error:
    print(f"train_torch.py: {error}", file=sys.stderr)
    sys.exit(77)

BATCH = 256
FEATURES = 64
HIDDEN = 128


def make_model() -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Linear(FEATURES, HIDDEN),
        torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, 1),
    ).cuda()


def train(model: torch.nn.Module, steps: int) -> list[float]:
    generator = torch.Generator().manual_seed(7)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    weights = torch.randn(FEATURES, 1, generator=generator) / FEATURES**0.5
    losses = []
    for _ in range(steps):
        batch = torch.randn(BATCH, FEATURES, generator=generator)
        inputs = batch.cuda()
        targets = (batch @ weights).cuda()
        optimizer.zero_grad(set_to_none=False)
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    torch.cuda.synchronize()
    return losses


def count_activities(profile: "torch.profiler.profile") -> dict[str, int]:
    """Device activities by kind, as CUPTI named them."""
    counts = {"memcpy": 0, "memset": 0, "kernel": 0}
    for event in profile.events():
        if not str(event.device_type).endswith("CUDA"):
            continue
        if getattr(event, "is_user_annotation", False):
            continue
        if event.name.startswith("Memcpy"):
            counts["memcpy"] += 1
        elif event.name.startswith("Memset"):
            counts["memset"] += 1
        else:
            counts["kernel"] += 1
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("train_torch.py: no usable CUDA device", file=sys.stderr)
        return 77

    torch.manual_seed(7)
    model = make_model()
    torch.cuda.synchronize()
    if options.profile:
        activities = [torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities) as profile:
            losses = train(model, options.steps)
    else:
        losses = train(model, options.steps)
    print(f"steps {options.steps} first_loss {losses[0]:.4f} last_loss {losses[-1]:.4f}")
    if options.profile:
        print(json.dumps(count_activities(profile)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
