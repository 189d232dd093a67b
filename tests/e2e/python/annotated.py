# SPDX-License-Identifier: Apache-2.0
"""annotated.py CASE: programs of PyTorch (or of the stand-in for it) whose operations copy: N bytes in the forward, 1000 + N in the
backward. What a copy lies in shows whose it is. With GMT_ANNOTATE=no the program does not use gmtrace.torch."""

import contextlib
import copy as copying
import ctypes
import os
import sys
import threading
import warnings

import torch

CU = ctypes.CDLL("libcuda.so.1")


def check(result):
    assert result == 0, result


class Device:
    def __init__(self):
        self.memory, self.context = ctypes.c_uint64(), ctypes.c_void_p()
        check(CU.cuInit(0))
        check(CU.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), 0))
        check(CU.cuCtxSetCurrent(self.context))
        check(CU.cuMemAlloc_v2(ctypes.byref(self.memory), 4096))

    def copy(self, size):
        check(CU.cuCtxSetCurrent(self.context))
        check(CU.cuMemcpyHtoD_v2(self.memory, b"x" * size, ctypes.c_size_t(size)))


device = Device()


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value, size):
        ctx.size = size
        device.copy(size)
        return value + value

    @staticmethod
    def backward(ctx, grad):
        device.copy(1000 + ctx.size)
        return grad + grad, None


class Recomputed(torch.autograd.Function):
    """What a re-entrant checkpoint does."""

    @staticmethod
    def forward(ctx, value, module):
        ctx.module, ctx.value = module, value.detach()
        return module(value)

    @staticmethod
    def backward(ctx, grad):
        value = ctx.value.detach().requires_grad_()
        with torch.enable_grad():
            made = ctx.module(value)
        torch.autograd.backward(made, grad)
        return value.grad, None


class Leaf(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, value):
        if self.size < 0:
            raise ValueError("as planned")
        return Copy.apply(value, self.size)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = Leaf(1), Leaf(2), Leaf(4)

    def forward(self, value):
        value = Copy.apply(self.first(value), 10) + value  # line of first
        value = self.second(value)  # line of second
        value = Copy.apply(value, 20)
        return self.third(value)  # line of third


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.blocks = Leaf(8), torch.nn.Sequential(Block(), Block())

    def forward(self, value):
        return self.blocks(self.stem(value))  # line of blocks


def annotate(*objects):
    if os.environ.get("GMT_ANNOTATE") == "no":
        return contextlib.nullcontext()
    import gmtrace.torch

    return gmtrace.torch.annotate(*objects)


def weight():
    return torch.tensor(1.0, requires_grad=True)


def step(net, parameter, optimizer=None):
    made = Copy.apply(net(parameter), 30)
    made.backward()
    device.copy(50)
    if optimizer is not None:
        optimizer.step()
    print(parameter.grad.item(), parameter.item())


def train():
    net, parameter = Net(), weight()
    optimizer = torch.optim.SGD([parameter], lr=0.5)
    annotate(net, optimizer)
    for _ in range(2):
        step(net, parameter, optimizer)


def exception():
    """An error in the forward that the program bears, in a module that goes on and in one that ends with it."""

    class Careful(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bad, self.good = Leaf(-1), Leaf(1)

        def forward(self, value, bear):
            try:
                value = self.bad(value)
            except ValueError:
                if not bear:
                    raise
            return self.good(Copy.apply(value, 10))

    net, parameter = Careful(), weight()
    annotate(net)
    for bear in (True, False, True):
        try:
            net(parameter, bear).backward()
        except ValueError as error:
            print(error)
            device.copy(99)
    print(parameter.grad.item())


def checkpoint():
    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.block, self.last = Block(), Leaf(40)

        def forward(self, value):
            return self.last(Recomputed.apply(value, self.block))

    net, parameter = Outer(), weight()
    annotate(net)
    step(net, parameter)


def removed():
    net, parameter = Net(), weight()
    before, filters = sorted(vars(net)), list(warnings.filters)
    with annotate(net):
        inside = net(parameter)
    net(parameter)
    inside.backward()
    print(sorted(vars(net)) == before and warnings.filters == filters)


def generator():
    class Lazy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Leaf(1)

        def forward(self, value):
            yield self.inner(value)
            yield Copy.apply(value, 10)

    net, parameter = Lazy(), weight()
    annotate(net)
    print([made.item() for made in net(parameter)])


def kept():
    """Copies of a module have its name, and what computes no gradients is named as well."""
    net, parameter = Leaf(1), weight()
    annotate(net)
    with torch.no_grad():
        copying.deepcopy(net)(parameter)


def recursion():
    class Inner(torch.nn.Module):
        def forward(self, value, depth):
            value = Copy.apply(value, depth)
            return self(value, depth - 1) if depth > 1 else value

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, value):
            return Copy.apply(self.inner(value, 3), 9)

    net, parameter = Outer(), weight()
    annotate(net)
    step(net, parameter)


class Compiled(torch.nn.Module):
    """What torch.compile makes of a module, as PyTorch 2.11 has it: it warns of hooks of all modules, calls these for itself, and none
    is called for what is compiled within. is_eager: it was not compiled after all."""

    def __init__(self, original, is_eager=False):
        super().__init__()
        self._orig_mod, self.is_eager = original, is_eager

    def __call__(self, *inputs):
        hooks = torch.nn.modules.module
        if hooks._global_forward_pre_hooks or hooks._global_forward_hooks:
            warnings.warn("Using `torch.compile(module)` when there are global hooks on modules (e.g., from "
                          "`register_module_forward_hook`); this will cause the hooks to fire an extra time", stacklevel=2)
        return super().__call__(*inputs)

    def forward(self, *inputs):
        if self.is_eager:
            return self._orig_mod(*inputs)
        hooks = torch.nn.modules.module
        kept = [(one, dict(one)) for one in (hooks._global_forward_pre_hooks, hooks._global_forward_hooks)]
        for one, _ in kept:
            one.clear()
        try:
            return self._orig_mod(*inputs)
        finally:
            for one, all_of_it in kept:
                one.update(all_of_it)


# To gmtrace.torch this is code of PyTorch's, not the program's.
for method in (Compiled.__call__, Compiled.forward):
    method.__code__ = method.__code__.replace(co_filename=os.path.join(os.path.dirname(torch.__file__), "compiled.py"))


def compiled():
    net, parameter = Net(), weight()
    annotation = annotate(net)
    step(Compiled(net), parameter)
    step(Compiled(net, is_eager=True), parameter)
    net.blocks = Compiled(net.blocks)
    step(net, parameter)
    step(Compiled(Net()), parameter)  # nobody has named it
    if hasattr(annotation, "remove"):
        annotation.remove()
    step(Compiled(net), parameter)
    # Named by its first call.
    with annotate():
        step(Compiled(Net()), parameter)
    other = Compiled(Net())
    with annotate(other):
        step(other, parameter)
    # Where the program has hooks of its own PyTorch warns.
    hook = torch.nn.modules.module.register_module_forward_pre_hook(lambda *_: None)
    with annotate(net):
        step(Compiled(net), parameter)
    hook.remove()


def threads():
    net = Net()
    annotate(net)
    made = []
    workers = [threading.Thread(target=lambda: made.append(net(torch.tensor(1.0)).item())) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(made)


def whole():
    """Nothing of gmtrace in it: python -m gmtrace.torch."""
    net, parameter = Net(), weight()
    step(net, parameter, torch.optim.SGD([parameter], lr=0.5))
    print(sys.argv[1:], __name__, os.path.basename(sys.path[0]))


def memory():
    if os.environ.get("GMT_ANNOTATE") != "no":
        import gmtrace.torch

        gmtrace.torch.record_memory("memory-%p.pickle", entries=7)
    torch.run_out_of_memory()


STRIDED = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry strided(.param .u64 from, .param .u64 to)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<6>;
    .reg .f32 %f<2>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mul.wide.s32 %rd3, %r4, 128;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd5, %rd2, %rd3;
    st.global.f32 [%rd5], %f1;
    ret;
}
"""


class Launch(torch.autograd.Function):
    """Its backward reads 4 bytes of each 128."""

    @staticmethod
    def forward(ctx, value, launch):
        ctx.launch = launch
        return value + value

    @staticmethod
    def backward(ctx, grad):
        ctx.launch()
        return grad + grad, None


def kernel():
    threads, blocks = 256, 256
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    memory = [ctypes.c_uint64(), ctypes.c_uint64()]
    check(CU.cuModuleLoadData(ctypes.byref(module), STRIDED))
    check(CU.cuModuleGetFunction(ctypes.byref(function), module, b"strided"))
    for one in memory:
        check(CU.cuMemAlloc_v2(ctypes.byref(one), 128 * threads * blocks))
        check(CU.cuMemsetD8_v2(one, 0, ctypes.c_size_t(128 * threads * blocks)))

    def launch():
        check(CU.cuCtxSetCurrent(device.context))
        arguments = (ctypes.c_void_p * 2)(*(ctypes.addressof(one) for one in memory))
        check(CU.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, None, arguments, None))
        check(CU.cuCtxSynchronize())

    class Slow(torch.nn.Module):
        def forward(self, value):
            return Launch.apply(value, launch)

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.before, self.slow, self.after = Leaf(1), torch.nn.Sequential(Slow(), Slow()), Leaf(2)

        def forward(self, value):
            return self.after(self.slow(self.before(value)))

    net, parameter = Outer(), weight()
    annotate(net)
    for _ in range(4):
        net(parameter).backward()
    print(parameter.grad.item())


def scripted():
    """Of PyTorch only: modules that are compiled before or after they are named, traced, saved, and copies for other devices."""
    import io

    def made():
        torch.manual_seed(1)
        return torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(inplace=True), torch.nn.Linear(2, 1))

    inputs = torch.ones(1, 2)
    first = torch.jit.script(made())
    net = made()
    annotate(first, net)
    saved = io.BytesIO()
    torch.save(net, saved)
    loaded = torch.load(io.BytesIO(saved.getvalue()), **({"weights_only": False} if torch.__version__ >= "2" else {}))
    for one in (first, net, torch.jit.script(net), torch.jit.trace(net, inputs), loaded, net._replicate_for_data_parallel()):
        device.copy(7)
        value = one(inputs)
        value.sum().backward()
        print(type(one).__name__, value.item(), sorted(net.state_dict()))


globals()[sys.argv[1]]()
