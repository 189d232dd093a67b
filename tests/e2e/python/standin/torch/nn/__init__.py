# SPDX-License-Identifier: Apache-2.0
"""Of the stand-in for PyTorch: modules."""

from . import modules
from .modules.module import Module


class Sequential(Module):
    def __init__(self, *inner):
        super().__init__()
        for at, one in enumerate(inner):
            setattr(self, str(at), one)

    def forward(self, value):
        for one in self._modules.values():
            value = one(value)
        return value


__all__ = ["Module", "Sequential", "modules"]
