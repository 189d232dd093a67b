#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gmt_say keeps a newline at the end of its format only: one inside of it would become a blank. $1: the source tree."""

import pathlib
import re
import sys

ROOMS = ("analyzer", "kernels", "launcher", "libtrace", "recorder", "reports")
STRING = r'"(?:[^"\\]|\\.)*"'
CALL = re.compile(r"\bgmt_say\s*\(")


def arguments(text: str, at: int) -> list[str]:
    """Those of the call whose bracket ends before `at`."""
    found, depth, begin = [], 0, at
    for token in re.compile(STRING + r"|'(?:[^'\\]|\\.)+'|[(),]").finditer(text, at):
        word = token.group()
        depth += (word == "(") - (word == ")")
        if depth < 0 or (depth == 0 and word == ","):
            found.append(text[begin : token.start()])
            begin = token.end()
        if depth < 0:
            return found
    raise ValueError("a call without an end")


def formats(argument: str) -> list[str]:
    """Literals that follow each other are one; a condition has several."""
    found = [""]
    for token in re.findall(STRING + "|[?:]", argument):
        if token in "?:":
            found.append("")
        else:
            found[-1] += token[1:-1]
    return found


def main() -> int:
    """Prints the calls whose format has a newline before its end."""
    source, calls, bad = pathlib.Path(sys.argv[1]), 0, []
    for room in ROOMS:
        for path in sorted((source / room).rglob("*.c")):
            text = path.read_text(encoding="utf-8")
            for call in CALL.finditer(text):
                of_call = arguments(text, call.end())
                if of_call[0].startswith("FILE"):
                    continue  # its definition
                calls += 1
                if any("\\n" in form.removesuffix("\\n") for form in formats(of_call[1])):
                    line = text.count("\n", 0, call.start()) + 1
                    bad.append(f"{path.relative_to(source)}:{line}: a newline inside of the format of gmt_say becomes a blank")
    print("\n".join(bad) or f"{calls} messages")
    return 1 if bad or calls < 250 else 0


sys.exit(main())
