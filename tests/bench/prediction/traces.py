# SPDX-License-Identifier: Apache-2.0
"""Records the reference kernels under libgmtrace.so, and reads out of a trace what each one did."""

import gzip
import pathlib
import re
import shlex
import sqlite3

from runner import Runner, summary

MARK = "gmt_mark"  # kernels/untimed.h
CLASSES_KEPT = 4   # a variant of more kinds of launches is not taken apart
MANY = 16          # kernels in one launch of a variant, from which a few launches are enough
FEW = (5, 4)       # launches and rounds of such a variant


def segments(db: sqlite3.Connection, printed: int) -> list[list[tuple]]:
    """Launches (seq, class_id, kind, measured, start, end, name, grid) of each variant printed."""
    rows = db.execute(
        "SELECT l.seq, l.class_id, l.kind, l.measured, l.device_start_ns, l.device_end_ns, "
        "coalesce(k.name, ''), l.grid_x, l.grid_y, l.grid_z FROM launch l "
        "LEFT JOIN kernel k ON k.id = l.kernel_id WHERE l.result = 0 AND l.capturing = 0 "
        "ORDER BY l.seq").fetchall()
    marks = [i for i, row in enumerate(rows) if row[6].startswith(MARK)]
    if len(marks) != 2 * printed:
        raise ValueError(f"{len(marks)} marks for {printed} variants")
    ends = [*marks[printed + 1:], len(rows)]
    return [rows[begin + 1:end] for begin, end in zip(marks[printed:], ends)]


def base_name(name: str) -> str:
    return re.sub(r"^void ", "", name).split("<")[0].split("(")[0]


def times(rows: list[tuple], launches: int) -> dict | None:
    """Of one launch of the variant, which may be several of the device: first start to last end."""
    each = len(rows) // launches
    found = []
    for i in range(0, len(rows), each):
        group = rows[i:i + each]
        if all(row[3] is None and row[5] is not None for row in group):
            found.append(max(row[5] for row in group) - min(row[4] for row in group))
    return summary(found)


def counters(db: sqlite3.Connection, classes: list[int]) -> list[dict]:
    found = []
    for class_id in classes[:CLASSES_KEPT]:
        found.append(dict(db.execute(
            "SELECT m.name, avg(c.value) FROM kernel_counters c JOIN metric m ON m.id = "
            "c.metric_id WHERE c.class_id = ? AND c.value IS NOT NULL GROUP BY m.name ORDER BY "
            "m.id", (class_id,))))
    return found


def describe(db: sqlite3.Connection, rows: list[tuple], launches: int) -> dict:
    each = len(rows) // launches
    if each == 0 or len(rows) != each * launches:
        raise ValueError(f"{len(rows)} launches seen where {launches} were made")
    classes = sorted({row[1] for row in rows if row[1] is not None})
    one = [] if any(row[2] == "graph" for row in rows) else rows[:each]
    return {"first_seq": rows[0][0], "last_seq": rows[-1][0], "launches": launches,
            "classes": classes, "kernels_per_launch": each,
            "kernels": [[base_name(row[6]), list(row[7:10])] for row in one[:CLASSES_KEPT]],
            "time": times(rows, launches), "counters": counters(db, classes)}


def shapes(db: sqlite3.Connection, classes: list[int]) -> set:
    """What distinguishes classes, in any trace of these kernels."""
    return {db.execute("SELECT k.mangled, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, "
                       "c.block_z, c.dynamic_shared_bytes FROM kernel_class c JOIN kernel k ON "
                       "k.id = c.kernel_id WHERE c.id = ?", (class_id,)).fetchone()
            for class_id in classes}


def apart(seen: dict[str, set]) -> list[list[str]]:
    """Groups of variants within which no two launch the same kernel in the same shape."""
    groups: list[tuple[list, set]] = []
    for variant, its in seen.items():
        for names, taken in groups:
            if not its & taken:
                names.append(variant)
                taken |= its
                break
        else:
            groups.append(([variant], set(its)))
    return [names for names, _ in groups]


def wanted_of(command: str, variants: list[dict]) -> list[tuple[str, str]]:
    """The variants that gmcalibrate --variant stands for, in the order in which it runs them."""
    items = [item.split(":") for item in option_of(command, "--variant").split(",")]
    return [(row["family"], row["variant"]) for row in variants
            if any(item in ([row["family"], row["variant"]], [row["family"], "all"])
                   for item in items)]


def option_of(command: str, name: str) -> str:
    words = shlex.split(command)
    return words[words.index(name) + 1]


def read(runner: Runner, path: pathlib.Path, variants: list[dict]
         ) -> tuple[list[dict], dict[str, set]]:
    """What each variant of a trace did, and the shapes of its launches."""
    found, seen = [], {}
    with sqlite3.connect(path) as db:
        command = db.execute("SELECT command FROM process").fetchone()[0]
        wanted = wanted_of(command, variants)
        launches = int(option_of(command, "--launches"))
        for (family, variant), rows in zip(wanted, segments(db, len(wanted))):
            try:
                entry = describe(db, rows, launches)
            except ValueError as error:
                runner.fail(f"{family}:{variant}: {error}")
                continue
            seen[variant] = shapes(db, entry["classes"])
            found.append({"family": family, "variant": variant, **entry})
    return found, seen


def record_group(runner: Runner, name: str, family: str, wanted: list[str], launches: int,
                 rounds: int, variants: list[dict]) -> tuple[list[dict], dict[str, set],
                                                            pathlib.Path]:
    _, path = runner.traced(name, [
        runner.calibrate, "--once", "--launches", launches, "--rounds", rounds, "--variant",
        ",".join(f"{family}:{variant}" for variant in wanted)])
    return *read(runner, path, variants), path


def record_family(runner: Runner, family: str, launches: int, rounds: int,
                  variants: list[dict]) -> list[dict]:
    found, seen, path = record_group(runner, family, family, ["all"], launches, rounds, variants)
    many = {entry["variant"] for entry in found if entry["kernels_per_launch"] > MANY}
    groups = apart({name: its for name, its in seen.items() if name not in many})
    if len(groups) <= 1 and not many:
        name = runner.keep(path)
        return [{**entry, "trace": name} for entry in found]
    # Counters are per kernel and shape: variants that share both go into traces of their own.
    found = []
    plans = [(group, launches, rounds) for group in groups]
    plans += [([name], *FEW) for name in sorted(many)]
    for number, plan in enumerate(plans, 1):
        some, _, path = record_group(runner, f"{family}_{number}", family, *plan, variants)
        name = runner.keep(path)
        found += [{**entry, "trace": name} for entry in some]
    return found


def reread(runner: Runner, variants: list[dict]) -> dict:
    """The same out of traces that are already there."""
    found = []
    for packed in sorted((runner.out / "traces").glob("*.db.gz")):
        path = runner.work / packed.name.removesuffix(".gz")
        path.write_bytes(gzip.decompress(packed.read_bytes()))
        with sqlite3.connect(path) as db:
            command = db.execute("SELECT command FROM process").fetchone()[0]
        if "--variant" in command:
            some, _ = read(runner, path, variants)
            found += [{**entry, "trace": f"traces/{packed.name}"} for entry in some]
        path.unlink()
    return {"traced": found}


def record(runner: Runner, variants: list[dict], launches: int, rounds: int) -> dict:
    found = []
    for family in dict.fromkeys(row["family"] for row in variants):
        try:
            found += record_family(runner, family, launches, rounds, variants)
        except Exception as error:  # the other families are worth having
            runner.fail(f"trace of {family}: {error!r}")
    bare = [entry for entry in found if not any(entry["counters"])]
    print(f"     {len(found)} of {len(variants)} variants traced, {len(bare)} without counters",
          flush=True)
    return {"traced": found}
