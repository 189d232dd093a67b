# SPDX-License-Identifier: Apache-2.0
"""Ranges in the recording of this process, by NVTX's binary interface: in a domain of one's own, and without a library of NVTX.

A domain has a stack of its own in each thread: nobody else's push or pop meets with ours.
"""

import ctypes
import functools
import os

CORE2, DOMAIN_PUSH, DOMAIN_POP, DOMAIN_CREATE, FUNCTIONS = 5, 4, 5, 12, 32
VERSION, ASCII = 3, 1


class Event(ctypes.Structure):
    """NVTX's nvtxEventAttributes_t, version 3."""

    _fields_ = [("version", ctypes.c_uint16), ("size", ctypes.c_uint16), ("category", ctypes.c_uint32),
                ("color_type", ctypes.c_int32), ("color", ctypes.c_uint32), ("payload_type", ctypes.c_int32),
                ("reserved", ctypes.c_int32), ("payload", ctypes.c_uint64), ("message_type", ctypes.c_int32),
                ("message", ctypes.c_char_p)]


class Callbacks(ctypes.Structure):
    """Export table 1: get_module gives the pointers to a module's functions, which the tool sets."""

    GetModule = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint))
    _fields_ = [("struct_size", ctypes.c_size_t), ("get_module", GetModule)]


def functions(initialize):
    """Addresses of the tool's functions of module CORE2, by id; 0: it has none."""
    slots = (ctypes.c_void_p * FUNCTIONS)()
    table = (ctypes.c_void_p * FUNCTIONS)(*(ctypes.addressof(slots) + at * ctypes.sizeof(ctypes.c_void_p)
                                            for at in range(FUNCTIONS)))

    def get_module(module, found, size):
        if module == CORE2:
            found[0], size[0] = ctypes.addressof(table), FUNCTIONS
        return int(module == CORE2)

    callbacks = Callbacks(ctypes.sizeof(Callbacks), Callbacks.GetModule(get_module))
    get_table = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(
        lambda number: ctypes.addressof(callbacks) if number == 1 else None)
    initialize.argtypes, initialize.restype = [type(get_table)], ctypes.c_int
    return [address or 0 for address in slots] if initialize(get_table) else [0] * FUNCTIONS


class Ranges:
    """Pushed ranges of the calling thread: push(event(NAME)), pop(). A name is kept for the process's life."""

    def __init__(self, domain, push, pop):
        self.push, self.pop = functools.partial(push, domain), functools.partial(pop, domain)
        self._events = {}

    def event(self, name: str) -> object:
        if name not in self._events:
            event = Event(VERSION, ctypes.sizeof(Event), 0, 0, 0, 0, 0, 0, ASCII, name.encode("utf-8", "replace"))
            self._events[name] = (ctypes.c_void_p(ctypes.addressof(event)), event)
        return self._events[name][0]


def connect(domain: str):
    """Ranges of this domain; None where gmtrace is not loaded into the process."""
    try:
        library = ctypes.CDLL("libgmtrace.so", mode=os.RTLD_NOW | os.RTLD_NOLOAD)
        found = functions(library.InitializeInjectionNvtx2)
    except (AttributeError, OSError):
        return None
    if not (found[DOMAIN_PUSH] and found[DOMAIN_POP] and found[DOMAIN_CREATE]):
        return None
    # With the GIL held: they take less time than to give it away.
    create = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)(found[DOMAIN_CREATE])
    push = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(found[DOMAIN_PUSH])
    pop = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(found[DOMAIN_POP])
    return Ranges(ctypes.c_void_p(create(domain.encode())), push, pop)
