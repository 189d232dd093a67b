# SPDX-License-Identifier: Apache-2.0
"""Modules of PyTorch as ranges of a recording: forward, backward and optimizer steps.

    import gmtrace.torch
    gmtrace.torch.annotate(model, optimizer)      # returns what can be removed: .remove()

or, without a change of the program, for every module that it calls:

    gmtrace python -m gmtrace.torch [--memory] train.py [ARGUMENTS]

Where gmtrace is not loaded nothing is installed. Hooks only look: inputs, outputs and gradients stay as they are, and no error of
theirs reaches the program. Modules keep their name in an attribute; that is all that changes about them.
"""

import atexit
import functools
import importlib
import os
import runpy
import sys
import threading
import types
import warnings
import weakref

import torch

from gmtrace import ranges

NAME = "_gmtrace_name"  # of modules, and in the metadata of nodes of the backward
ORIGINAL = "_orig_mod"  # in what torch.compile makes of a module
MOST_VALUES, MOST_NESTED = 64, 3  # of inputs and outputs that are looked at
MOST_PLACES = 65536  # modules that call themselves would make ever more
LIBRARY = os.path.dirname(torch.__file__) + os.sep

_optimizers = importlib.import_module("torch.optim.optimizer")  # torch.optim hides it

_recording = ranges.connect("torch")
_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None) or (lambda: False)
_installed = []  # handles of PyTorch's hooks
_annotations = []


class Place:
    """A range, and the ranges around it: one object for each that there is in the program."""

    count = 0

    def __init__(self, around, name, caller=None):
        Place.count += 1
        self.name, self.inner = name, {}
        self.event = _recording.event(name) if _recording else None
        self.outer_path = self.path = ()  # in the backward: for what lies within this, and for this
        if around is not None:
            at = f" ({os.path.basename(caller[0])}:{caller[1]})" if caller else ""
            name = name if name.startswith("backward ") else f"backward {name}"
            self.path = (*around.outer_path, name + at)
            self.outer_path = (*around.outer_path, name)
        self.switch = functools.partial(_switch, self.path)

    def within(self, name, caller=None):
        key = (name, caller)
        if key not in self.inner:
            if Place.count > MOST_PLACES:
                return self
            self.inner[key] = Place(self, name, caller)
        return self.inner[key]


class Thread(threading.local):
    """What is open in this thread: (id of the module or optimizer, place); id None: of the backward."""

    def __init__(self):
        self.open = []
        self.is_over = [True]  # the backward; a list, as another thread may say so


_thread = Thread()


def _push(opened, key, place):
    opened.append((key, place))
    _recording.push(place.event)


def _close(opened, count):
    """All but `count` of this thread."""
    while len(opened) > count:
        opened.pop()
        _recording.pop()


def _close_from(opened, key):
    """The range of this object, and what was left open in it, as by an exception. One that is not open: nothing."""
    for at in reversed(range(len(opened))):
        if opened[at][0] == key:
            return _close(opened, at)


# ---- backward: which module made a node of the graph ----------------------------------------------------


def _caller(frame):
    """File and line of the innermost frame that is not PyTorch's."""
    while frame is not None and frame.f_code.co_filename.startswith(LIBRARY):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else None


def _mark(value, place, nested=0):
    """The nodes that made these tensors belong to `place`, unless they are of a module already. The engine executes nodes in the
    order of their sequence numbers, latest first: those of one module follow each other, so its last one says where they begin."""
    if isinstance(value, torch.Tensor):
        node = value.grad_fn
        if node is not None:
            metadata = node.metadata
            if NAME not in metadata:
                metadata[NAME] = True
                node.register_prehook(place.switch)
    elif nested < MOST_NESTED and isinstance(value, (tuple, list, dict)):
        for item in list(value.values() if isinstance(value, dict) else value)[:MOST_VALUES]:
            _mark(item, place, nested + 1)


def _switch(path, *_):
    """The backward comes to nodes of `path`: what is open of other modules ends."""
    try:
        opened, first = _thread.open, len(_thread.open)
        while first > 0 and opened[first - 1][0] is None:
            first -= 1
        if _thread.is_over[0] or not _annotations:
            _close(opened, first)
        if not _annotations:
            return
        at = 0
        while at < len(path) and first + at < len(opened) and opened[first + at][1].name == path[at]:
            at += 1
        _close(opened, first + at)
        for name in path[at:]:
            _push(opened, None, (opened[-1][1] if opened else _outermost).within(name))
        if _thread.is_over[0]:
            _thread.is_over = [False]
            torch.autograd.Variable._execution_engine.queue_callback(functools.partial(_backward_ends, _thread.is_over))
    except Exception:  # pylint: disable=broad-except
        pass


def _backward_ends(is_over):
    """Called by the thread that comes to the end; others find out at their next node."""
    is_over[0] = True
    while is_over is _thread.is_over and _thread.open and _thread.open[-1][0] is None:
        _close(_thread.open, len(_thread.open) - 1)


_outermost = Place(None, "")


# ---- forward, and steps of optimizers. Hooks never raise, and never change what they are shown ----------


def _original(module):
    """What torch.compile made `module` of; None: it did not. PyTorch documents no name for it, but the keys of a compiled module's
    state_dict() have this one since 2.0."""
    inner = module._modules
    return inner[ORIGINAL] if ORIGINAL in inner else None


def _name_modules(module):
    """`module` by its class, what lies in it by its path. What has a name keeps it. Returns what had none."""
    original = _original(module)
    module = module if original is None else original  # an empty Sequential is falsy
    named = [inner for inner in module.modules() if NAME not in inner.__dict__]
    for path, inner in module.named_modules():
        path = ".".join(part for part in path.split(".") if part != ORIGINAL)
        inner.__dict__.setdefault(NAME, path or type(module).__name__)
    return named


def _name_unnamed(module):
    for one in _annotations:
        if one.is_of_all:
            one.named.extend(weakref.ref(inner) for inner in _name_modules(module))


def _key(module, original):
    """Of a module's range while it is open. Where it was not compiled after all, hooks of the original are called within, too: by
    its id these find that both have one range."""
    return id(module) if original is None else ~id(original)


def _before(module, inputs):
    if _is_compiling():
        return
    try:
        original = _original(module)
        named = module if original is None else original
        name = named.__dict__.get(NAME)
        if name is None:
            _name_unnamed(named)
            name = named.__dict__.get(NAME)
            if name is None:
                return
        opened, key, caller = _thread.open, _key(module, original), None
        if opened and opened[-1][0] == ~id(module):
            return
        if opened and opened[0][0] == key:
            _close(opened, 0)  # an exception left it that no hook was called for
        around = opened[-1][1] if opened else _outermost
        if torch.is_grad_enabled():
            for value in inputs:
                _mark(value, around)
            caller = _caller(sys._getframe(1))
        place = around.inner.get((name, caller)) or around.within(name, caller)
        opened.append((key, place))
        _recording.push(place.event)
    except Exception:  # pylint: disable=broad-except
        pass


def _after(module, _, output):
    if _is_compiling():
        return
    try:
        opened, key = _thread.open, _key(module, _original(module))
        if opened and opened[-1][0] == key:
            if torch.is_grad_enabled():
                _mark(output, opened[-1][1])
            opened.pop()
            _recording.pop()
        elif opened and opened[-1][0] != ~id(module):
            _close_from(opened, key)
    except Exception:  # pylint: disable=broad-except
        pass


def _step_begins(optimizer, *_):
    try:
        if any(one.is_of_all or optimizer in one.optimizers for one in _annotations):
            opened = _thread.open
            _close_from(opened, id(optimizer))
            around = opened[-1][1] if opened else _outermost
            _push(opened, id(optimizer), around.within(f"{type(optimizer).__name__}.step"))
    except Exception:  # pylint: disable=broad-except
        pass


def _step_ends(optimizer, *_):
    try:
        _close_from(_thread.open, id(optimizer))
    except Exception:  # pylint: disable=broad-except
        pass


def _wrap_step(optimizer):
    """Before PyTorch 2.0, which has hooks for steps. A method, as schedulers of learning rates want it."""
    step = optimizer.step

    @functools.wraps(step)
    def wrapped(self, *arguments, **named):
        _step_begins(self)
        try:
            return step(*arguments, **named)
        finally:
            _step_ends(self)

    optimizer.step = types.MethodType(wrapped, optimizer)


class _OfOurHooks:
    """What a filter of warnings has in place of a pattern. PyTorch warns at calls of what torch.compile made that hooks of all
    modules are called once more for it. For ours that is right, and what the program writes must not change because of them; where
    there are others it warns as ever."""

    TEXT = "Using `torch.compile(module)` when there are global hooks on modules"

    def match(self, text):
        hooks = torch.nn.modules.module
        kinds = ("forward_pre", "forward", "backward_pre", "backward")
        return text.startswith(self.TEXT) and all(
            hook in (_before, _after) for kind in kinds for hook in getattr(hooks, f"_global_{kind}_hooks", {}).values())


class _Filter:
    """Of warnings, before all others; with remove() as a hook has it."""

    def __init__(self):
        self.row = ("ignore", _OfOurHooks(), UserWarning, None, 0)
        warnings.filters.insert(0, self.row)

    def remove(self):
        if self.row in warnings.filters:
            warnings.filters.remove(self.row)


def _install():
    hooks = torch.nn.modules.module
    _installed.append(_Filter())
    _installed.append(hooks.register_module_forward_pre_hook(_before))
    try:
        _installed.append(hooks.register_module_forward_hook(_after, always_call=True))
    except TypeError:  # before PyTorch 2.1
        _installed.append(hooks.register_module_forward_hook(_after))
    for register, hook in (("register_optimizer_step_pre_hook", _step_begins), ("register_optimizer_step_post_hook", _step_ends)):
        if hasattr(_optimizers, register):
            _installed.append(getattr(_optimizers, register)(hook))


class Annotation:
    """What annotate() did; remove() undoes it. Also a context manager."""

    def __init__(self, objects):
        self.is_of_all = not objects
        self.optimizers = [one for one in objects if isinstance(one, torch.optim.Optimizer)]
        self.named = []
        if _recording is None:
            return
        for one in objects:
            if one not in self.optimizers:
                self.named.extend(weakref.ref(inner) for inner in _name_modules(one))
        if not hasattr(_optimizers, "register_optimizer_step_pre_hook"):
            for optimizer in self.optimizers:
                _wrap_step(optimizer)
        if not _annotations:
            _install()
        _annotations.append(self)

    def remove(self):
        if self in _annotations:
            _annotations.remove(self)
            for inner in self.named:
                (inner() or torch.nn.Module()).__dict__.pop(NAME, None)
        while _installed and not _annotations:
            _installed.pop().remove()
        if not _annotations:
            _close(_thread.open, 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def annotate(*objects):
    """Ranges for these models and optimizers, in the recording of this process; without any, for all that are used. Optimizers
    need to be named before PyTorch 2.0 only. TypeError: neither."""
    for one in objects:
        if not isinstance(one, (torch.nn.Module, torch.optim.Optimizer)):
            raise TypeError(f"neither a module nor an optimizer: {type(one).__name__}")
    return Annotation(objects)


# ---- memory, and programs that are not changed ----------------------------------------------------------


def record_memory(file="gmtrace-memory-%p.pickle", entries=100000):
    """Has PyTorch keep its history of memory, the last `entries` events, from its first use of CUDA on, and writes it for
    gmanalyze --memory-snapshot: at exit into `file` (%p: process id), when memory runs out into FILE.oom, each time anew."""
    path = os.path.abspath(file.replace("%p", str(os.getpid())))
    if _recording is None or torch.version.cuda is None:
        return

    process = os.getpid()

    def write(to, *_):
        try:
            if os.getpid() == process:
                torch.cuda.memory._dump_snapshot(to)
        except Exception:  # pylint: disable=broad-except
            pass

    def start():
        try:
            keep = torch.cuda.memory._record_memory_history
            try:
                keep("all", stacks="python", max_entries=entries)
            except TypeError:  # before PyTorch 2.1
                keep(True, trace_alloc_max_entries=entries, trace_alloc_record_context=True)
            atexit.register(write, path)
            for attach in ("_cuda_attach_out_of_memory_observer", "_cuda_attachOutOfMemoryObserver"):
                if hasattr(torch._C, attach):
                    getattr(torch._C, attach)(functools.partial(write, f"{path}.oom"))
                    break
        except Exception:  # pylint: disable=broad-except
            pass

    torch.cuda._lazy_call(start)


def main(arguments):
    options = [word for word in arguments[:1] if word == "--memory"]
    arguments = arguments[len(options):]
    if not arguments or arguments == ["-m"]:
        sys.exit("usage: python -m gmtrace.torch [--memory] FILE|-m MODULE [ARGUMENTS]")
    annotate()
    if options:
        record_memory()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    program = types.ModuleType("__main__")  # stays: what it holds is in use until the end, and its children import it
    program.__file__ = arguments[0]
    with open(arguments[0], "rb") as file:
        code = compile(file.read(), arguments[0], "exec")
    sys.modules["__main__"] = program
    exec(code, program.__dict__)


if __name__ == "__main__":
    # Not the module that Python runs as __main__: the program may import this one by its name.
    from gmtrace.torch import main as run

    run(sys.argv[1:])
