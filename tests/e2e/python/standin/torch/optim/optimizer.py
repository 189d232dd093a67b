# SPDX-License-Identifier: Apache-2.0
"""Of the stand-in for PyTorch: what optimizers have in common, and the hooks around their steps."""

from torch.nn.modules.module import Handle

_pre_hooks, _post_hooks = {}, {}


def register_optimizer_step_pre_hook(hook):
    return Handle(_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    return Handle(_post_hooks, hook)


class Optimizer:
    def __init__(self, parameters, lr=0.1):
        self.parameters, self.lr = list(parameters), lr

    def step(self):
        for hook in list(_pre_hooks.values()):
            assert hook(self, (), {}) is None, "a hook returned something"
        self._step()
        for hook in list(_post_hooks.values()):
            assert hook(self, (), {}) is None, "a hook returned something"
