# SPDX-License-Identifier: Apache-2.0
"""Launch-bound loops of PyTorch: loops_torch.py train|decode [STEPS]. Prints what the steps took after ten others, as
time_ms, and a checksum. With 20s as STEPS it makes steps for 20 s, and prints no checksum; with a third argument it writes
to that file when each step began, ns of CLOCK_MONOTONIC. Exits 77 without PyTorch."""

import sys
import time

try:
    import torch
except ImportError as error:
    print(f"loops_torch.py: {error}", file=sys.stderr)
    sys.exit(77)

FIRST = 10


def residual(width):
    return torch.nn.Sequential(torch.nn.Conv2d(width, width, 3, padding=1, bias=False), torch.nn.BatchNorm2d(width),
                               torch.nn.ReLU(), torch.nn.Conv2d(width, width, 3, padding=1, bias=False),
                               torch.nn.BatchNorm2d(width))


class Net(torch.nn.Module):
    """Some 16 residual blocks on small images: several hundred launches per step."""

    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 64, 3, padding=1)
        self.blocks = torch.nn.ModuleList(residual(64) for _ in range(16))
        self.head = torch.nn.Linear(64, 10)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = torch.relu(x + block(x))
        return self.head(x.mean((2, 3)))


def train():
    net = Net().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    images, labels = torch.randn(8, 3, 16, 16, device="cuda"), torch.arange(8, device="cuda") % 10

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        return loss

    return step


def decode():
    layer = torch.nn.TransformerEncoderLayer(768, 12, 3072, batch_first=True, device="cuda", dtype=torch.float16)
    net = torch.nn.TransformerEncoder(layer.eval(), 12).eval()
    x = torch.randn(1, 16, 768, device="cuda", dtype=torch.float16)

    def step():
        with torch.no_grad():
            return net(x).float().abs().mean()

    return step


def main():
    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True
    step = {"train": train, "decode": decode}[sys.argv[1]]()
    wanted = sys.argv[2] if len(sys.argv) > 2 else "200"
    timed = wanted.endswith("s")
    for _ in range(FIRST):
        result = step()
    torch.cuda.synchronize()
    began = time.monotonic_ns()
    end = began + int(1e9 * float(wanted[:-1])) if timed else None
    begins = []
    while time.monotonic_ns() < end if timed else len(begins) < int(wanted):
        begins.append(time.monotonic_ns())
        result = step()
    torch.cuda.synchronize()
    print(f"time_ms {(time.monotonic_ns() - began) / 1e6:.3f}")
    if not timed:
        print(f"result {float(result):.6g}")
    if len(sys.argv) > 3:
        with open(sys.argv[3], "w", encoding="utf-8") as file:
            file.writelines(f"{at}\n" for at in begins)


if __name__ == "__main__":
    main()
