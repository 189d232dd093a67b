#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The training loop of train_torch.py with torch.profiler switched on in the middle, twice.

profiled_torch.py [--steps N]: N steps, N profiled ones, N steps, N profiled ones, N steps. Prints the
losses and, for each profile, a line of JSON: the kernels, copies and memsets it saw, by name, with their
numbers. On standard error: how long switching the profiler on and off took. Exits 77 where there is no
PyTorch or no GPU.
"""

import argparse
import collections
import json
import sys
import time

try:
    import torch
except ImportError as error:
    print(f"profiled_torch.py: {error}", file=sys.stderr)
    sys.exit(77)

import train_torch


def device_events(profile: "torch.profiler.profile") -> dict[str, int]:
    names: collections.Counter = collections.Counter()
    for event in profile.events():
        if (str(event.device_type).endswith("CUDA")
                and not getattr(event, "is_user_annotation", False)):
            names[event.name] += 1
    return dict(sorted(names.items()))


def profiled(model: torch.nn.Module, steps: int) -> list[float]:
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    profile = torch.profiler.profile(activities=activities)
    before = time.monotonic()
    profile.start()
    begun = time.monotonic()
    losses = train_torch.train(model, steps)
    done = time.monotonic()
    profile.stop()
    stopped = time.monotonic()
    print(json.dumps({"on_ms": (begun - before) * 1e3, "off_ms": (stopped - done) * 1e3}),
          file=sys.stderr)
    print(json.dumps(device_events(profile)))
    return losses


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20)
    steps = parser.parse_args().steps
    if not torch.cuda.is_available():
        print("profiled_torch.py: no usable CUDA device", file=sys.stderr)
        return 77
    torch.manual_seed(7)
    model = train_torch.make_model()
    torch.cuda.synchronize()
    for run in (train_torch.train, profiled, train_torch.train, profiled, train_torch.train):
        losses = run(model, steps)
        print(f"steps {steps} first_loss {losses[0]:.4f} last_loss {losses[-1]:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
