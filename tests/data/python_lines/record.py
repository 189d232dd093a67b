#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes line tables of code objects of this interpreter, and the line of each of their instructions by co_lines() or dis.

usage: record.py >X.Y.txt

Per code object a line "FORMAT FIRST_LINE TABLE_HEX", then one line "OFFSET LINE" per instruction (0: none).
"""

import dis
import sys
import textwrap

SOURCES = [
    "x = 1\n",
    "def f():\n    pass\n",
    "\n" * 300 + "a = 1\n" + "\n" * 300 + "b = 2\n",
    "for i in range(3):\n  if i:\n    print(i,\n      i +\n        2)\n  else:\n    continue\n",
    "try:\n  x()\nexcept ValueError as e:\n  y(e)\nfinally:\n  z()\n",
    "with a as b, c as d:\n  pass\n",
    "def f(a, b):\n  return [i for i in a\n     if i\n     in b]\n",
    "async def f():\n  async with a:\n    await b\n  return [i async for i in c]\n",
    "def g():\n  x = yield 1\n  while x:\n    x = yield from g()\n  return x\n",
    "class C:\n  '''doc'''\n  a = 1\n  def f(self):\n    return self.a\n",
    "x = [" + ",\n".join(str(i) for i in range(400)) + "]\n",
    "f(" + ",\n\n".join(f"g({i})" for i in range(60)) + ")\n",
    "\n".join(f"x{i} = {i} + y" for i in range(300)) + "\n",
    "x = 1; y = 2; " * 100 + "\n",
    "def f():\n" + "\n".join(f"  if x: return {i}" for i in range(50)) + "\n",
    "lambda: (1,\n 2,\n lambda x: x +\n\n 1)\n",
]


def codes(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from codes(constant)


def lines(code):
    if hasattr(code, "co_lines"):
        for start, end, line in code.co_lines():
            for offset in range(start, end, 2):
                yield offset, line or 0
        return
    starts = dict(dis.findlinestarts(code))
    line = code.co_firstlineno
    for offset in range(0, len(code.co_code), 2):
        line = starts.get(offset, line)
        yield offset, line


def main():
    table = "lnotab" if sys.version_info < (3, 10) else "linetable" if sys.version_info < (3, 11) else "locations"
    print(f"# written by record.py with CPython {sys.version.split()[0]}")
    for source in SOURCES:
        for code in codes(compile(textwrap.dedent(source), "source.py", "exec")):
            data = code.co_lnotab if table == "lnotab" else code.co_linetable
            print(table, code.co_firstlineno, data.hex() or "-")
            last = None
            for offset, line in lines(code):
                if line != last or offset % 32 == 0:
                    print(offset, line)
                last = line


main()
