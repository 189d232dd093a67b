#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""data.py SOURCE: the data in git stays small, and every recording has a row that says where it comes from.

Data is what nobody wrote by hand and every clone carries: recordings, models, fixtures, goldens, seeds of the fuzzers,
generated pages, and lists of package versions. Lines are counted in files without a zero byte.
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

MOST_BYTES = 8_000_000
MOST_LINES = 60_000
DATA = ("tests/data/*", "kernels/models/*", "tests/fuzz/corpus/*", "*/golden/*", "*/fixtures/*", "*/built/*",
        "docs/prediction.md", "docs/sample-report.html", "*package-lock.json")


def tracked(source: pathlib.Path) -> list[str]:
    try:
        listed = subprocess.run(["git", "-C", source, "ls-files", "-z"], capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        print("skipped: not a git repository")
        sys.exit(77)
    names = listed.decode().split("\0")[:-1]
    return [name for name in names if (source / name).is_file()]


def check_size(source: pathlib.Path, names: list[str]) -> bool:
    sizes = []
    for name in names:
        if any(fnmatch.fnmatch(name, pattern) for pattern in DATA):
            data = (source / name).read_bytes()
            sizes.append((len(data), 0 if b"\0" in data else data.count(b"\n"), name))
    total, lines = sum(row[0] for row in sizes), sum(row[1] for row in sizes)
    print(f"{len(sizes)} files of data: {total} of at most {MOST_BYTES} bytes, {lines} of at most {MOST_LINES} lines")
    if total <= MOST_BYTES and lines <= MOST_LINES:
        return True
    print("FAIL: too much data in git. The largest:")
    for size, count, name in sorted(sizes, reverse=True)[:10]:
        print(f"{size:10} bytes {count:7} lines  {name}")
    return False


def named(readme: pathlib.Path) -> list[str]:
    """The file names and patterns of a page, as `access_h200.txt` or `occupancy_<device>.txt`."""
    words = re.findall(r"`([^`\s]+)`", readme.read_text(encoding="utf-8"))
    return [re.sub(r"<\w+>", "*", word) for word in words if "." in word]


def check_provenance(source: pathlib.Path, names: list[str]) -> bool:
    good = True
    top = source / "tests/data"
    for name in names:
        path = source / name
        if top not in path.parents or path.name == "README.md" or path.name.startswith("."):
            continue
        pages = [folder / "README.md" for folder in path.parents if folder == top or top in folder.parents]
        if not any(fnmatch.fnmatch(str(path.relative_to(page.parent)), word) or fnmatch.fnmatch(path.name, word)
                   for page in pages if page.exists() for word in named(page)):
            print(f"FAIL: {name} has no row in tests/data/README.md: by which command, on which device?")
            good = False
    return good


def main() -> int:
    source = pathlib.Path(sys.argv[1]).resolve()
    names = tracked(source)
    results = [check_size(source, names), check_provenance(source, names)]
    return 0 if all(results) else 1


sys.exit(main())
