#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rule_pages.py SOURCE: the pages of the rules are complete, and agree with thresholds.h and the tree.

Every page has the same headings in the same order. Thresholds that it, or docs/thresholds.md, names
exist and have the value of the header; each threshold is named on one of them. So is, on a page of
its own or in the general list, each that the file of a rule uses. Files and metrics that are named
exist. As plain text a page has no line above 100 columns, no markup that hides text, and fits a
reader's two minutes.
"""
import pathlib
import re
import sys

HEADINGS = ["What", "How it is seen", "How it is priced", "Thresholds", "Fix", "Limits", "Example", "Read more"]
GUIDES = ("CUDA C++ Programming Guide", "CUDA C++ Best Practices Guide")
MOST_WORDS = 700  # two minutes at 350 words a minute; listings and metric names read faster
NOT_HELD = "no recording holds this value"

faults = []


def fault(where, what):
    faults.append(f"{where}: {what}")


def header_values(source):
    """The constants of thresholds.h as numbers, by name."""
    text = (source / "analyzer/base/thresholds.h").read_text()
    values = {}
    for name, value in re.findall(r"^#define (GMT_\w+)[ \t]+(\S[^\n]*)$", text, re.M):
        value = re.sub(r"/\*.*", "", value).strip()
        value = re.sub(r"INT64_C\((\d+)\)", r"\1", value)
        value = re.sub(r"GMT_\w+", lambda other: repr(values[other.group()]), value)
        values[name] = eval(value, {"__builtins__": {}})  # numbers and operators of our own header
    return values


def one_line(text):
    return " ".join(text.split())


def named(where, text, values):
    """The thresholds of a list; each must have the value of the header."""
    found = set()
    for item in re.split(r"^- ", text, flags=re.M)[1:]:
        item = one_line(item.split("\n\n")[0])
        match = re.match(r"(GMT_\w+) = (\d[\d.e+-]*(?:/\d+)?)(?= |:)", item)
        if match is None:
            fault(where, f"not 'GMT_NAME = VALUE UNIT': {item}")
            continue
        name, value = match.groups()
        found.add(name)
        over = value.split("/")
        number = float(over[0]) / float(over[1] if len(over) > 1 else 1)
        if name not in values:
            fault(where, f"{name} is not in thresholds.h")
        elif abs(number - values[name]) > 1e-9 * abs(values[name]):
            fault(where, f"{name} is {values[name]}, not {value}")
        if "held by " not in item and NOT_HELD not in item:
            fault(where, f"{name}: neither held by a test, nor said not to be")
    for name in re.findall(r"GMT_[A-Z0-9_]+", text):
        if name not in found:
            fault(where, f"{name} is named outside of the list")
    return found


def check_listing(where, text):
    for side in ("Bad", "Good"):
        match = re.search(rf"^{side}:\n\n((?:    .*\n|\n)+)", text, re.M)
        lines = match.group(1).rstrip("\n").split("\n") if match else []
        if not 1 <= len(lines) <= 12:
            fault(where, f"{side}: {len(lines)} lines")
        code = "\n".join(lines)
        for opening, closing in ("()", "[]", "{}"):
            if code.count(opening) != code.count(closing):
                fault(where, f"{side}: {opening}{closing} do not match")


def check_page(source, page, values, metrics):
    where = f"docs/rules/{page.name}"
    text = page.read_text()
    parts = re.split(r"^## (.*)\n", text, flags=re.M)
    sections = dict(zip(parts[1::2], parts[2::2]))
    if parts[1::2] != HEADINGS:
        fault(where, f"headings are {parts[1::2]}")
        return set()
    for heading, section in sections.items():
        if not section.strip():
            fault(where, f"{heading} is empty")
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > 100 or line != line.rstrip():
            fault(where, f"line {number} is too long, or ends in spaces")
        if not line.isascii():
            fault(where, f"line {number} is not ASCII, which every terminal shows")
        if re.search(r"\*\*|```|<[a-z/]+>|\]\(|^\|", line):
            fault(where, f"line {number} does not read well as plain text: {line}")
    words = len(re.sub(r"^    .*$", "", text, flags=re.M).split())
    if words > MOST_WORDS:
        fault(where, f"{words} words")
    if not one_line(sections["How it is seen"]).count("Records: "):
        fault(where, "names no records")
    if "Formula: " not in sections["How it is priced"]:
        fault(where, "has no formula")
    for metric in re.findall(r"^- (\w+)(?: \(|$)", sections["How it is seen"], re.M):
        if metric not in metrics:
            fault(where, f"{metric} is not in libtrace/metrics.def")
    for item in re.findall(r"^- (.*(?:\n  .*)*)", sections["Read more"], re.M):
        if not re.fullmatch(rf'(?:{"|".join(map(re.escape, GUIDES))}), "[^"]+"', one_line(item)):
            fault(where, f"not a section of a guide: {item}")
    if not sections["Read more"].lstrip().startswith("- "):
        fault(where, "names no section of a guide")
    check_listing(where, sections["Example"])
    return named(where, sections["Thresholds"], values)


def check_files(source, where, text):
    for name in re.findall(r"(?:tests|docs|kernels|analyzer)/[\w./-]*\w", one_line(text)):
        if not (source / name).exists():
            fault(where, f"{name} is not there")
    for family in re.findall(r"famil(?:y|ies) ((?:`\w+`(?:, | and )?)+)", one_line(text)):
        for name in re.findall(r"`(\w+)`", family):
            if not list((source / "kernels/families").glob(f"family_{name}.cu")):
                fault(where, f"there is no family {name}")


def main():
    source = pathlib.Path(sys.argv[1])
    values = header_values(source)
    metrics = set(re.findall(r"^GMT_METRIC\(\d+, (\w+),", (source / "libtrace/metrics.def").read_text(), re.M))
    general_text = (source / "docs/thresholds.md").read_text()
    general = named("docs/thresholds.md", general_text, values)
    check_files(source, "docs/thresholds.md", general_text)
    on_page = {}
    for page in sorted((source / "docs/rules").glob("GM*.md")):
        on_page[page.name[:5]] = check_page(source, page, values, metrics)
        check_files(source, f"docs/rules/{page.name}", page.read_text())
    everywhere = general.union(*on_page.values())
    for name in values.keys() - everywhere:
        fault("docs", f"{name} is on no page of a rule, and not in docs/thresholds.md")
    for file in sorted((source / "analyzer/rules").glob("*/*.c")):
        text = file.read_text()
        rules = re.findall(r'\.id = "(GM\d+)"', text)
        here = general.union(*(on_page.get(rule, set()) for rule in rules))
        for name in sorted(set(re.findall(r"GMT_[A-Z0-9_]+", text)) & values.keys() - here):
            if rules:
                fault(str(file.relative_to(source)), f"{name} is not on the page of {', '.join(rules)}")
    print("\n".join(faults) or f"{len(on_page)} pages, {len(everywhere)} thresholds")
    return 1 if faults else 0


sys.exit(main())
