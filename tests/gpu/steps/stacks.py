# SPDX-License-Identifier: Apache-2.0
"""Whole stacks through the real CUDA runtime, static and shared, in programs without frame pointers."""

import json
import re

from .quickest import quickest_quarter

ROUNDS = 12
CALLS = 3000
NAMES = ["one", "two", "three", "four"]  # by depth
TARGET_NS = 600

STACK = """SELECT coalesce(v.function, '?'), v.line, v.runtime FROM v_stack v WHERE v.stack_id =
           (SELECT stack_id FROM {table} WHERE {which} ORDER BY id LIMIT 1) ORDER BY v.position"""


def lines_of(source):
    """Line numbers by the name in "at NAME"."""
    found = re.compile(r"/\* at (\w+) \*/")
    with open(source, encoding="utf-8") as file:
        return {match[1]: number for number, line in enumerate(file, 1)
                if (match := found.search(line))}


def short(function):
    """`void three<long>(long)` -> three"""
    return re.sub(r"[<(].*", "", function).split()[-1]


def places(session, path, table, which):
    """The user's part of the stack of a call: [(function, line), ...], outermost last."""
    with session.open(path) as db:
        rows = db.execute(STACK.format(table=table, which=which)).fetchall()
    return [(short(function), line) for function, line, runtime in rows if not runtime]


def check_depths(session, what, path, lines):
    for depth, name in enumerate(NAMES, 1):
        expected = [("one", lines["one"])] + [(inner, lines[inner]) for inner in NAMES[1:depth]]
        seen = places(session, path, "transfer", f"bytes = {1000 * depth}")
        session.check(f"{what}: copy in {name}", seen[:depth] == expected and
                      "main" in [function for function, _ in seen], seen)
        seen = places(session, path, "launch", f"block_x = {depth}")
        functions = [function for function, _ in seen if function != "k_touch"]
        # Its line may be the kernel's, whose stub is inlined; those further out are calls.
        session.check(f"{what}: launch in {name}", functions[:depth] == NAMES[:depth] and
                      seen[-len(functions) + 1:][:depth - 1] == expected[1:] and
                      "main" in functions, seen)


def check_program(session, what, program, lines):
    path = session.same_behaviour(what, [program, "50"], f"stacks_{program.name}", "light")
    check_depths(session, what, path, lines)
    seen = [function for function, _ in places(session, path, "transfer", "bytes = 8")]
    session.check(f"{what}: copy 20 levels deep", seen[:21] == ["one"] + ["recurse"] * 20 and
                  "main" in seen, seen)
    calls = session.one(path, "SELECT count(*) FROM transfer")
    stacks = session.one(path, "SELECT count(DISTINCT stack_id) FROM transfer")
    session.check(f"{what}: a stack for each place and way", (calls, stacks) == (250, 5),
                  f"{calls} copies, {stacks} stacks")


def check_cost(session, program):
    """A call with a stack of some 25 frames, beside one without stacks."""
    samples = {"off": [], "caller": [], "full": []}
    for _ in range(ROUNDS):
        for mode, figures in samples.items():
            done, _ = session.traced("stacks_cost", [program, str(CALLS)], "light",
                                     GMTRACE_STACKS=mode)
            line = next((line for line in done.stderr.splitlines() if line.startswith("{")), None)
            if not session.check(f"cost, stacks {mode}: the program ran", line is not None,
                                 done.stderr[-200:] if line is None else ""):
                return
            figures.append(json.loads(line))
    quick = {mode: {name: quickest_quarter([row[name] for row in figures]) for name in figures[0]}
             for mode, figures in samples.items()}
    for name in ("shallow", "deep"):
        for mode in ("caller", "full"):
            session.note(f"{mode} over off, {name}", quick[mode][name] - quick["off"][name], "ns")
    added = quick["full"]["deep"] - quick["off"]["deep"]
    session.check("a cached stack 20 levels deep costs less than the target", added <= TARGET_NS,
                  f"{added} ns of {TARGET_NS}")


def run(session):
    lines = lines_of(session.sources / "programs" / "stacks.cu")
    missing = [name for name in NAMES if name not in lines]
    if not session.check("the places are marked in the source", not missing, missing):
        return
    for what, name in (("static cudart", "stacks"), ("shared cudart", "stacks_shared")):
        check_program(session, what, session.programs / name, lines)
    check_cost(session, session.programs / "stacks")
