# SPDX-License-Identifier: Apache-2.0
"""Of the stand-in for PyTorch: optimizers."""

from .optimizer import Optimizer


class SGD(Optimizer):
    def _step(self):
        for one in self.parameters:
            if one.grad is not None:
                one.value -= self.lr * one.grad.value


del optimizer  # noqa: F821 as PyTorch does: the module is reached by its name only
