# SPDX-License-Identifier: Apache-2.0
"""Six transformer layers in half precision, 100 forward passes of one sequence: some 60 launches each."""

import torch

torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(768, 12, 3072, batch_first=True, device="cuda", dtype=torch.float16).eval()
net = torch.nn.TransformerEncoder(layer, 6).eval()
x = torch.randn(1, 64, 768, device="cuda", dtype=torch.float16)
with torch.no_grad():
    for _ in range(100):
        y = net(x)
        x = torch.cat([x[:, 1:], y[:, -1:]], 1)
torch.cuda.synchronize()
print(float(x.float().abs().mean()) > 0)
