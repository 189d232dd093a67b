# SPDX-License-Identifier: Apache-2.0
"""Of the stand-in for PyTorch: modules, and the hooks that are common to all of them."""

_global_forward_pre_hooks, _global_forward_hooks, _always = {}, {}, set()


class Handle:
    def __init__(self, hooks, hook):
        self.hooks, self.key = hooks, object()
        hooks[self.key] = hook

    def remove(self):
        self.hooks.pop(self.key, None)


def register_module_forward_pre_hook(hook):
    return Handle(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    assert not with_kwargs
    handle = Handle(_global_forward_hooks, hook)
    if always_call:
        _always.add(handle.key)
    return handle


class Module:
    def __init__(self):
        self._modules = {}

    def __setattr__(self, name, value):
        if isinstance(value, Module):
            self._modules[name] = value
        object.__setattr__(self, name, value)

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, inner in self._modules.items():
            yield from inner.named_modules(f"{prefix}.{name}" if prefix else name)

    def modules(self):
        return (inner for _, inner in self.named_modules())

    def __call__(self, *inputs, **named):
        called, result = set(), None
        for hook in list(_global_forward_pre_hooks.values()):
            assert hook(self, inputs) is None, "a hook returned something"
        try:
            result = self.forward(*inputs, **named)
            for key, hook in list(_global_forward_hooks.items()):
                called.add(key)
                assert hook(self, inputs, result) is None, "a hook returned something"
            return result
        except Exception:
            for key, hook in list(_global_forward_hooks.items()):
                if key in _always and key not in called:
                    hook(self, inputs, result)
            raise
