#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Of a deep trace of the reference kernels: the line with most excess is the planted one, and lines sum up.

reference_lines.py TRACE[.gz] PRINTED RAW.JSON: TRACE is of `gmtrace -c deep gmcalibrate --once
--launches 4 --rounds 2 --variant all:all`; PRINTED is what that printed, of which the family and name
that begin each line are read; RAW.JSON is the recording of prediction/, which says of each variant what
is bad about it and what the patched group counted. Prints a line per variant; status 1 if one is wrong.
"""

import gzip
import json
import pathlib
import re
import sqlite3
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench" / "prediction"))

from traces import MARK as MARK_KERNEL, base_name  # noqa: E402

MARK = "/* planted */"
LINE_RULES = {"GM301", "GM302", "GM303", "GM304", "GM305", "GM306", "GM309", "GM310", "GM401"}
# Variants of such rules whose instructions move nothing in excess: why.
WITHOUT_EXCESS = {
    "words_2": "narrow words, side by side: all of each sector is used",
    "words_1": "narrow words, side by side: all of each sector is used",
}
WITH_EXCESS = {"pieces_4", "aos_fields_16"}  # GM305 too, but of structs, whose pieces are in excess
# Rules about work of which no part is in excess by itself: kinds of instructions, how much of it each does, and
# the text of the line that does it (or calls what does it).
WORK = {
    "GM305": ("'global_load', 'global_store'", "max(0, 4.0 - width) * lanes", r"(ld|st)\.global(\.ca)?\.u(8|16) "),
    "GM307": ("'constant_load'", "executed", r"gmt_load_constant\(gmt_constant_table \+ at\)"),
    "GM308": ("'global_load'", "sectors", r"gmt_load\(a \+ .*gmt_load\(b \+ "),
    "GM402": ("'shared_store'", "executed", r"fill<fillers>\(base, source \+ first\)"),
    "GM403": ("'global_load'", "sectors", r"gmt_load\(source \+ first \+ threadIdx\.x \+ i \* ROW_WORDS\)"),
}
# Where the patched group's bytes are no whole sectors or passes, and the ideal of the instructions is: why.
ROUNDED = {
    "partial_stream_33": "a warp of one lane asks for 4 bytes, which is a sector",
    "partial_compute_33": "a warp of one lane asks for 4 bytes, which is a sector",
    "serial_thread": "one lane asks for 4 bytes, which is a sector",
    "packed_1001": "the last warp of a row asks for part of a sector",
    "packed_100": "the last warp of a row asks for part of a sector",
    "matmul_naive": "all lanes read one word: bytes count it 32 times",
    "fill_thread": "one lane asks for 4 bytes, which is a sector or a pass",
}
# One instruction's bytes in excess, by kind: column, its ideal, and the bytes of one.
KINDS = {
    "global_load": ("sectors", "ideal_sectors", 32),
    "global_store": ("sectors", "ideal_sectors", 32),
    "shared_load": ("wavefronts", "ideal_wavefronts", 128),
    "shared_store": ("wavefronts", "ideal_wavefronts", 128),
    "local_load": ("sectors", None, 32),
    "local_store": ("sectors", None, 32),
}
EXCESS = "CASE kind " + " ".join(
    f"WHEN '{kind}' THEN {size} * max(0, {column} - {ideal or 0})"
    for kind, (column, ideal, size) in KINDS.items()) + " END"


class Judge:
    def __init__(self):
        self.bad = 0

    def check(self, good: bool, what: str) -> bool:
        self.bad += not good
        print(f"{'ok  ' if good else 'FAIL'} {what}", flush=True)
        return good


def sources(db: sqlite3.Connection) -> dict[str, list[str]]:
    return {path: text.split("\n") for path, text in db.execute(
        "SELECT s.text, f.text FROM source_file f JOIN string s ON s.id = f.file_id "
        "WHERE f.text IS NOT NULL")}


def is_planted(texts: dict, file: str | None, line: int | None) -> bool:
    text = texts.get(file, [])
    return line is not None and 0 < line <= len(text) and MARK in text[line - 1]


def places(db: sqlite3.Connection, class_id: int) -> list[tuple]:
    """(excess bytes of a launch, file, line, caller's file and line), the most first."""
    return db.execute(
        f"SELECT sum({EXCESS}) * 1.0 / (SELECT count(DISTINCT launch_seq) FROM instruction WHERE "
        "class_id = :class AND source = 'sass') AS excess, f.text, line, c.text, caller_line "
        "FROM instruction LEFT JOIN string f ON f.id = file_id LEFT JOIN string c ON c.id = "
        "caller_file_id WHERE class_id = :class AND source = 'sass' GROUP BY 2, 3, 4, 5 "
        "HAVING excess > 0 ORDER BY excess DESC", {"class": class_id}).fetchall()


def name_of(file: str | None, line: int | None) -> str:
    return f"{pathlib.PurePath(file).name}:{line}" if file else "no line"


def planted(judge: Judge, db: sqlite3.Connection, texts: dict, row: dict, class_id: int) -> None:
    """Inlined or not: the access's own line or the line of the kernel that calls it has the mark."""
    what = f"{row['family']}:{row['variant']} ({row['rule']})"
    found = places(db, class_id)
    if row["variant"] in WITHOUT_EXCESS:
        judge.check(not found, f"{what}: no excess; {WITHOUT_EXCESS[row['variant']]}")
        return
    if not judge.check(bool(found), f"{what}: instructions with excess"):
        return
    marked = [is_planted(texts, file, line) or is_planted(texts, caller_file, caller)
              for _, file, line, caller_file, caller in found]
    share = sum(entry[0] for entry, good in zip(found, marked) if good) / sum(e[0] for e in found)
    _, file, line, caller_file, caller = found[0]
    through = f", inlined at {name_of(caller_file, caller)}" if caller_file else ""
    judge.check(marked[0], f"{what}: {name_of(file, line)}{through}; "
                f"{share:.1%} of the excess on planted lines")


def working(judge: Judge, db: sqlite3.Connection, texts: dict, row: dict, class_id: int) -> None:
    """The line that does most of the work that the rule is about."""
    kinds, weight, wanted = WORK[row["rule"]]
    what = f"{row['family']}:{row['variant']} ({row['rule']})"
    found = db.execute(
        f"SELECT sum({weight}) AS work, f.text, line, c.text, caller_line FROM instruction LEFT JOIN string f "
        "ON f.id = file_id LEFT JOIN string c ON c.id = caller_file_id WHERE class_id = ? AND source = 'sass' "
        f"AND kind IN ({kinds}) GROUP BY 2, 3, 4, 5 HAVING work > 0 ORDER BY work DESC", (class_id,)).fetchall()
    if not judge.check(bool(found), f"{what}: instructions that do it"):
        return
    _, file, line, caller_file, caller = found[0]
    shown = [texts[name][number - 1] for name, number in ((file, line), (caller_file, caller))
             if name in texts and number]
    judge.check(any(re.search(wanted, text) for text in shown),
                f"{what}: {name_of(file, line)}: {shown[-1].strip() if shown else 'no text'}")


def sums(judge: Judge, db: sqlite3.Connection, row: dict, class_id: int, patched: dict) -> int:
    """What instructions took and would have taken at best, against the patched group of the kernel."""
    compared, differs, values = 0, False, []
    launches = db.execute("SELECT count(DISTINCT launch_seq) FROM instruction WHERE class_id = ? AND "
                          "source = 'sass'", (class_id,)).fetchone()[0]
    for kind, (column, ideal, size) in KINDS.items():
        theirs = patched.get(f"{kind}_{column}")
        took, excess = (value / launches for value in db.execute(
            f"SELECT coalesce(sum({column}), 0) * 1.0, coalesce(sum(max(0, {column} - "
            f"{ideal or 0})), 0) * 1.0 FROM instruction WHERE class_id = ? AND kind = ? AND "
            "source = 'sass'", (class_id, kind)).fetchone())
        if theirs is None or not theirs and not took:
            continue
        compared += 1
        what = f"{row['family']}:{row['variant']}: {kind} {column}"
        if abs(took - theirs) > 0.01 * theirs:
            judge.check(False, f"{what}: {took:.0f} by instruction, {theirs:.0f} patched")
        least = patched.get(f"{kind}_bytes")
        if row["quality"] == "bad" and ideal and least is not None:
            of_kernel = theirs - least / size
            differs |= abs(excess - of_kernel) > 0.01 * max(of_kernel, 1)
            values.append(f"{kind} {excess:.0f} by instruction, {of_kernel:.0f} patched")
    if values:
        why = ROUNDED.get(row["variant"])
        judge.check(differs == (why is not None), f"{row['family']}:{row['variant']}: excess of "
                    f"{'; '.join(values)}{f' ({why})' if why else ''}")
    return compared


def kernel_classes(db: sqlite3.Connection) -> dict[int, str]:
    return {class_id: base_name(name) for class_id, name in db.execute(
        "SELECT c.id, k.name FROM kernel_class c JOIN kernel k ON k.id = c.kernel_id")}


def variants_of(printed: str, recorded: dict) -> list[dict]:
    """Rows of the recording in the order in which they were launched; KeyError: it has one no row of."""
    rows = {f"{row['family']}:{row['variant']}": row for row in recorded["variants"]}
    return [rows[line.split()[0]] for line in printed.splitlines()
            if re.match(r"\w+:\w+ ", line)]


def launches_of(db: sqlite3.Connection, variants: list[dict]) -> list[set[int]]:
    """Classes that each variant launched: a mark before each in the first round, and before its launches."""
    rows = db.execute("SELECT l.class_id, coalesce(k.name, '') FROM launch l LEFT JOIN kernel k ON k.id = "
                      "l.kernel_id WHERE l.result = 0 AND l.capturing = 0 ORDER BY l.seq").fetchall()
    marks = [i for i, row in enumerate(rows) if row[1].startswith(MARK_KERNEL)] + [len(rows)]
    if len(marks) != 2 * len(variants) + 1:
        raise ValueError(f"{len(marks) - 1} marks for {len(variants)} variants")
    found, at = [], 0
    for family in dict.fromkeys(row["family"] for row in variants):
        number = sum(row["family"] == family for row in variants)
        for i in range(at + number, at + 2 * number):
            found.append({row[0] for row in rows[marks[i] + 1:marks[i + 1]] if row[0] is not None})
        at += 2 * number
    return found


def judge_trace(path: pathlib.Path, printed: str, recorded: dict) -> int:
    judge = Judge()
    variants = variants_of(printed, recorded)
    patched = {(row["family"], row["variant"]): row for row in recorded["traced"]}
    named = compared = 0
    with sqlite3.connect(path) as db:
        texts, names = sources(db), kernel_classes(db)
        counted = {row[0] for row in db.execute(
            "SELECT DISTINCT class_id FROM instruction WHERE source = 'sass'")}
        launched = launches_of(db, variants)
        # Launches that differ in their arguments alone are one class: its sums are of no one variant.
        shared = {c for i, classes in enumerate(launched) for c in classes
                  if any(c in others for others in launched[:i] + launched[i + 1:])}
        for row, classes in zip(variants, launched):
            what = f"{row['family']}:{row['variant']}"
            ours = [c for c in classes if names[c] == row["kernel"] and c in counted]
            if row["quality"] == "bad" and row["rule"] in LINE_RULES:
                named += 1
                if judge.check(len(ours) == 1, f"{what}: its kernel's instructions were counted"):
                    planted(judge, db, texts, row, ours[0])
            if row["quality"] == "bad" and row["rule"] in WORK and row["variant"] not in WITH_EXCESS:
                named += 1
                if judge.check(len(ours) == 1, f"{what}: its kernel's instructions were counted"):
                    working(judge, db, texts, row, ours[0])
            theirs = patched.get((row["family"], row["variant"]), {"counters": []})["counters"]
            if len(classes) == len(ours) == len(theirs) == 1 and not shared & classes:
                compared += sums(judge, db, row, ours[0], theirs[0])
    judge.check(named > 50, f"{named} variants with a planted line")
    judge.check(compared > 300, f"{compared} sums within 1 % of what the patched group counted, "
                "but for those above")
    return judge.bad


def main() -> int:
    trace, printed, raw = (pathlib.Path(argument) for argument in sys.argv[1:4])
    with tempfile.TemporaryDirectory() as folder:
        if trace.suffix == ".gz":
            path = pathlib.Path(folder) / "trace.db"
            path.write_bytes(gzip.decompress(trace.read_bytes()))
            trace = path
        bad = judge_trace(trace, printed.read_text(encoding="utf-8"),
                          json.loads(gzip.decompress(raw.read_bytes())))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
