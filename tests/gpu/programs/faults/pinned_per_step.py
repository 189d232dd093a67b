# SPDX-License-Identifier: Apache-2.0
"""The buffer that results come back to is page-locked in each step, and given back."""

import fault
import torch

WORDS = 8 << 20


def lock(buffer):
    status = torch.cuda.cudart().cudaHostRegister(buffer.data_ptr(), 4 * buffer.numel(), 0)  # fault
    assert int(status) == 0, status


def unlock(buffer):
    status = torch.cuda.cudart().cudaHostUnregister(buffer.data_ptr())  # fault
    assert int(status) == 0, status


def download(steps, each):
    net, total = fault.layers(1024, 4), 0.0
    inputs = torch.randn(WORDS // 1024, 1024, device="cuda")
    buffer = torch.zeros(WORDS)
    if not each:
        lock(buffer)
    with torch.no_grad():
        for _ in range(steps):
            made = net(inputs)
            if each:
                lock(buffer)  # fault
            buffer.copy_(made.view(-1), non_blocking=True)
            torch.cuda.current_stream().synchronize()
            total += float(buffer[::4096].sum())
            if each:
                unlock(buffer)  # fault
    if not each:
        unlock(buffer)
    return total


fault.run(lambda steps: download(steps, True), lambda steps: download(steps, False), 60)
