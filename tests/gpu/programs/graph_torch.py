# SPDX-License-Identifier: Apache-2.0
"""A small network that runs by itself before it is captured, and by its graph then: graph_torch.py [replays]"""

import sys

import torch


def main():
    replays = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.LayerNorm(4096),
                                torch.nn.Linear(4096, 1024)).cuda().half()
    data = torch.randn(256, 1024, device="cuda", dtype=torch.half)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.no_grad(), torch.cuda.stream(side):
        for _ in range(6):
            out = model(data)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        out = model(data)
    for _ in range(replays):
        graph.replay()
    torch.cuda.synchronize()
    print(f"sum {out.float().sum().item():.3f}")


if __name__ == "__main__":
    main()
