#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Savings modelled from exact counts against the H200's own, for programs that were recorded on both.

ranks.py GMANALYZE SOURCE: prints the tables, and fails where a group's rank correlation is below 0.8, or
where docs/modelled-prices.md holds others (GMT_UPDATE_GOLDEN=1 writes them there).
"""

import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

import packed

LEAST = 0.8  # Spearman's rank correlation of each group
BEGIN, END = "<!-- tables: tests/modelled/ranks.py -->\n", "<!-- end of tables -->\n"

# Group -> what is compared: the trace of the GPU, the same of the software device, and launches of each
# kernel in the former for one in the latter.
TWINS = ("small_up", "small_down", "rows_up", "rows_down", "pageable_up", "pageable_down", "churn")
GROUPS = {
    "samples": [("pipeline_slow_h200", "pipeline_slow", 1)],
    "twins": [(f"transfer_{pair}_h200", f"transfer_{pair}", 1) for pair in TWINS],
    "reference kernels": [("reference_h200", "reference", 6)],
}


def unpack(source: pathlib.Path, folder: pathlib.Path) -> None:
    data = source / "tests/data"
    for name, path in (("pipeline_slow", data / "pipeline_slow.db.gz"), ("reference", data / "deep/reference_h200.db.gz")):
        (folder / f"{name}_h200.db").write_bytes(gzip.decompress(path.read_bytes()))
    with tarfile.open(data / "prediction/traces.tar.xz") as archive:
        for member in archive:
            name = pathlib.PurePath(member.name).stem
            if name.removeprefix("transfer_") in TWINS:
                (folder / f"{name}_h200.db").write_bytes(archive.extractfile(member).read())
    packed.unpack(data / "simulated/traces.json.xz", folder)


def report(gmanalyze: str, trace: pathlib.Path) -> dict:
    """By the model that comes with gmtrace, as there is no other."""
    done = subprocess.run([gmanalyze, "--calibrate", "never", "--format", "json", trace],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def short(kernel: str) -> str:
    return kernel.split("(")[0].removeprefix("void ").replace("gmt_kernel_", "")


def found(of: dict) -> dict[tuple[str, str], dict]:
    """Findings and notes with a saving, by rule and kernel or place."""
    rows: dict[tuple[str, str], dict] = {}
    for finding in of["findings"] + of["notes"]:
        where = finding["where"]
        place = short(where["kernel"]) if where["kernel"] else where["label"]
        if finding["saving"]["best_ns"]:
            rows.setdefault((finding["rule"], place), finding)
    return rows


def times(of: dict) -> dict[tuple, float]:
    return {(short(kernel["name"]), *kernel["grid"], *kernel["block"]): kernel["device_ns"] / kernel["launches"]
            for kernel in of["kernels"] if kernel["device_ns"]}


def ranks(values: list[float]) -> list[float]:
    """The largest is 1; equal ones share the mean of theirs."""
    order = sorted(values, reverse=True)
    return [(2 * order.index(value) + 1 + order.count(value)) / 2 for value in values]


def spearman(a: list[float], b: list[float]) -> float:
    x, y = ranks(a), ranks(b)
    mean = (len(x) + 1) / 2
    product = sum((p - mean) * (q - mean) for p, q in zip(x, y))
    return product / (sum((p - mean) ** 2 for p in x) * sum((q - mean) ** 2 for q in y)) ** 0.5


def text_of(ns: float) -> str:
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns / size < 999.5 else f"{ns / size:.0f} {unit}"
    return f"{ns:.0f} ns"


def rank_text(rank: float) -> str:
    return f"{rank:g}"


def group_of(name: str, pairs: list, reports: dict) -> tuple[list[str], float, list, list]:
    """The lines of a group's table, its correlation, pairs of kernel times, and what only one side has."""
    rows, alone, kernels, inside = [], {"H200": set(), "software device": set()}, [], 0
    for gpu, device, launches in pairs:
        a, b = found(reports[gpu]), found(reports[device])
        for key in sorted(set(a) & set(b)):
            measured = a[key]["saving"]["best_ns"] / launches
            saving = b[key]["saving"]
            assert b[key]["modelled"] and b[key]["confidence"] == "modelled", key
            inside += saving["low_ns"] <= measured <= saving["high_ns"]
            rows.append((f"{key[0]} `{key[1]}`", measured, saving["best_ns"]))
        alone["H200"] |= {key[0] for key in set(a) - set(b)}
        alone["software device"] |= {key[0] for key in set(b) - set(a)}
        before, after = times(reports[gpu]), times(reports[device])
        kernels += [(before[key], after[key]) for key in before if key in after]
    measured, modelled = [row[1] for row in rows], [row[2] for row in rows]
    correlation = spearman(measured, modelled)
    lines = [f"### {name}\n", "\n",
             f"{len(rows)} findings, rank correlation **{correlation:.2f}**; {inside} of the H200's savings lie "
             "inside the modelled interval.\n"]
    for side, rules in alone.items():
        if rules:
            lines.append(f"Only on the {side}: {', '.join(sorted(rules))}.\n")
    lines += ["\n", "| finding | H200 | rank | modelled | rank |\n", "|---|--:|--:|--:|--:|\n"]
    for (title, a, b), x, y in sorted(zip(rows, ranks(measured), ranks(modelled)), key=lambda row: (row[1], row[0][0])):
        lines.append(f"| {title} | {text_of(a)} | {rank_text(x)} | {text_of(b)} | {rank_text(y)} |\n")
    return lines + ["\n"], correlation, kernels, rows


def kernel_lines(kernels: list[tuple[float, float]]) -> list[str]:
    shares = [sum(1 / factor <= b / a <= factor for a, b in kernels) / len(kernels) for factor in (1.25, 1.5, 2, 3)]
    return ["### Times of kernels\n", "\n",
            f"Of {len(kernels)} kernels and shapes with a time on both, modelled within a factor of the H200's time:\n",
            "\n", "| 1.25 | 1.5 | 2 | 3 |\n", "|--:|--:|--:|--:|\n",
            "| " + " | ".join(f"{100 * share:.0f} %" for share in shares) + " |\n", "\n"]


def check_page(page: pathlib.Path, tables: str) -> bool:
    text = page.read_text()
    whole = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: BEGIN + tables + END, text, flags=re.S)
    if whole == text:
        return True
    if os.environ.get("GMT_UPDATE_GOLDEN"):
        page.write_text(whole)
        return True
    print(f"FAIL {page} holds other tables: GMT_UPDATE_GOLDEN=1 writes them anew")
    return False


def main() -> int:
    gmanalyze, source = sys.argv[1], pathlib.Path(sys.argv[2])
    lines, kernels, ok = ["\n"], [], True
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        os.environ["XDG_CACHE_HOME"] = folder
        unpack(source, work)
        reports = {path.stem: report(gmanalyze, path) for path in sorted(work.glob("*.db"))}
    for name, pairs in GROUPS.items():
        table, correlation, of_group, rows = group_of(name, pairs, reports)
        lines += table
        kernels += of_group
        good = correlation >= LEAST and len(rows) >= 5
        ok &= good
        print(f"{'ok  ' if good else 'FAIL'} {name}: rank correlation {correlation:.3f} of {len(rows)} findings")
    lines += kernel_lines(kernels)
    tables = "".join(lines)
    print(tables)
    return 0 if check_page(source / "docs/modelled-prices.md", tables) and ok else 1


if __name__ == "__main__":
    sys.exit(main())
