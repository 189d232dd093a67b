# SPDX-License-Identifier: Apache-2.0
"""A stand-in for PyTorch 2, as far as gmtrace.torch and annotated.py go: tensors are one number, and what their documentation says of
hooks holds. The backward runs in a thread of its own, as it does for CUDA: by sequence number, latest first."""

import contextlib
import itertools
import sys
import threading
import types

_numbers = itertools.count()
_here = threading.local()


def is_grad_enabled():
    return getattr(_here, "grad", True)


@contextlib.contextmanager
def _grad(enabled):
    before, _here.grad = is_grad_enabled(), enabled
    try:
        yield
    finally:
        _here.grad = before


def no_grad():
    return _grad(False)


def enable_grad():
    return _grad(True)


class Node:
    """Of the graph: `apply` makes gradients of inputs of one of the output."""

    def __init__(self, apply, inputs):
        self.number, self.metadata, self.prehooks = next(_numbers), {}, []
        self.apply, self.inputs = apply, inputs

    def register_prehook(self, hook):
        self.prehooks.append(hook)


class Tensor:
    def __init__(self, value, requires_grad=False):
        self.value, self.requires_grad = value, requires_grad
        self.grad_fn = self.grad = None

    def __add__(self, other):
        return _made(self.value + other.value, lambda grad: (grad, grad), (self, other))

    def detach(self):
        return Tensor(self.value)

    def requires_grad_(self):
        self.requires_grad = True
        return self

    def item(self):
        return self.value

    def backward(self):
        autograd.backward(self, Tensor(1.0))


def tensor(value, requires_grad=False):
    return Tensor(value, requires_grad)


def _made(value, apply, inputs):
    made = Tensor(value, is_grad_enabled() and any(one.requires_grad for one in inputs))
    if made.requires_grad:
        made.grad_fn = Node(apply, inputs)
    return made


class _Context:
    pass


class _Function:
    @classmethod
    def apply(cls, *arguments):
        context = _Context()
        with no_grad():
            made = cls.forward(context, *arguments)
        inputs = tuple(one for one in arguments if isinstance(one, Tensor))
        return _made(made.value, lambda grad: [one for one in _tuple(cls.backward(context, grad)) if one is not None], inputs)


def _tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _execute(root, grad):
    """The engine. Nested calls run in the thread that they are made in."""
    outer, _here.callbacks = getattr(_here, "callbacks", None), []
    ready = {root.grad_fn: grad}
    while ready:
        node = max(ready, key=lambda one: one.number)
        grad = ready.pop(node)
        for hook in node.prehooks:
            if hook((grad,)) is not None:
                raise AssertionError("a hook returned something")
        for one, of_input in zip(node.inputs, _tuple(node.apply(grad))):
            if one.grad_fn is not None:
                before = ready.get(one.grad_fn)
                ready[one.grad_fn] = of_input if before is None else Tensor(before.value + of_input.value)
            elif one.requires_grad:
                one.grad = Tensor((one.grad.value if one.grad else 0) + of_input.value)
    callbacks, _here.callbacks = _here.callbacks, outer
    for callback in callbacks:
        callback()


def _backward(root, grad):
    if getattr(_here, "callbacks", None) is not None:
        _execute(root, grad)
        return
    _work.append((root, grad))
    _wake.release()
    _done.acquire()
    if _errors:
        raise _errors.pop()


def _device_thread():
    while True:
        _wake.acquire()
        try:
            with no_grad():
                _execute(*_work.pop())
        except Exception as error:  # pylint: disable=broad-except
            _here.callbacks = None
            _errors.append(error)
        _done.release()


_work, _errors, _wake, _done = [], [], threading.Semaphore(0), threading.Semaphore(0)
threading.Thread(target=_device_thread, daemon=True).start()


def _module(name, **what):
    made = types.ModuleType(name)
    made.__dict__.update(what)
    sys.modules[name] = made
    return made


class _Engine:
    @staticmethod
    def queue_callback(callback):
        _here.callbacks.append(callback)


class _Variable:
    _execution_engine = _Engine


# ---- memory: a history that holds how it was asked for ---------------------------------------------------

_history, _observers = {}, []


def _dump_snapshot(path):
    import pickle  # what a program of this test writes is never read by pickle

    with open(path, "wb") as file:
        pickle.dump({"segments": [], "device_traces": [[]], "allocator_settings": {}, **_history}, file, protocol=4)


def _record_memory_history(enabled, stacks="all", max_entries=0):
    _history.update(asked=f"{enabled} {stacks} {max_entries}")


def run_out_of_memory():
    for observer in _observers:
        observer(0, 1 << 40, 0, 0)


version = _module("torch.version", cuda="13.0")
_C = _module("torch._C", _cuda_attach_out_of_memory_observer=_observers.append)
cuda = _module("torch.cuda", _lazy_call=lambda call: call(), memory=_module(
    "torch.cuda.memory", _dump_snapshot=_dump_snapshot, _record_memory_history=_record_memory_history))
autograd = _module("torch.autograd", Function=_Function, Variable=_Variable, backward=_backward)

from . import nn, optim  # noqa: E402,F401 pylint: disable=wrong-import-position
