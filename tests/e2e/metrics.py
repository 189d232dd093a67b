# SPDX-License-Identifier: Apache-2.0
"""Reads a file of Prometheus' text format, version 0.0.4, as strictly as its grammar is, and compares it with a trace.

metrics.py FILE                     prints the samples as "name{labels} value"
metrics.py FILE --trace TRACE.db    and compares them with the rows of the trace
"""

import re
import sqlite3
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*,?)\}})? (\S+)( -?[0-9]+)?")
VALUE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|Inf)|NaN")
LABELS = {"direction", "kind", "device", "cause", "pid", "rank"}  # nothing without a bound, as names of kernels
UNITS = ("_bytes", "_seconds")


def parse(text: str) -> dict:
    """{(name, ((label, value), ...)): number}; asserts whatever the format or its conventions ask for."""
    samples, helps, types, finished, family = {}, {}, {}, set(), None
    assert text.endswith("\n"), "the last line has no end"
    for line in text[:-1].split("\n"):
        match = re.fullmatch(rf"# (HELP|TYPE) ({NAME}) (.*)", line)
        if match:
            what, name, rest = match.groups()
            table = helps if what == "HELP" else types
            assert name not in table, f"{what} of {name} twice"
            table[name] = rest
            if what == "HELP":
                assert name not in types, f"HELP of {name} behind its TYPE"
                assert rest and "\n" not in rest
            else:
                assert rest in ("counter", "gauge"), line
                assert name in helps, f"{name} has no HELP"
                assert name not in finished, f"the samples of {name} do not stand together"
                finished.update({family} if family else set())
                family = name
                assert (rest == "counter") == name.endswith("_total"), f"{name} is a {rest}"
            continue
        assert not line.startswith("#") and line, f"a comment or an empty line: {line!r}"
        match = SAMPLE.fullmatch(line)
        assert match, f"no sample: {line!r}"
        name, labels, value = match.group(1), match.group(2), match.group(7)
        assert name == family, f"{name} below the TYPE of {family}"
        assert VALUE.fullmatch(value), f"no number: {line!r}"
        pairs = tuple(sorted(re.findall(LABEL, labels or "")))
        assert len({label for label, _ in pairs}) == len(pairs), f"a label twice: {line!r}"
        assert {label for label, _ in pairs} <= LABELS, f"a label that is not expected: {line!r}"
        assert (name, pairs) not in samples, f"a sample twice: {line!r}"
        number = float(value)
        assert number >= 0
        samples[name, pairs] = number
    assert set(helps) == set(types)
    for name in types:
        base = name.removesuffix("_total")
        for word in ("bytes", "seconds"):
            assert word not in base or base.endswith(UNITS), f"the unit of {name} is not its end"
    return samples


def compare(samples: dict, trace: str) -> None:
    """Counts and bytes are those of the trace; times, which the trace has by a later clock, within 1 % and 1 ms."""
    db = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)
    common = {pair for _, pairs in samples for pair in pairs if pair[0] in ("pid", "rank")}

    def value(name, **labels):
        return samples[name, tuple(sorted(set(labels.items()) | common))]

    def query(sql):
        return list(db.execute(sql))

    def same(name, number, **labels):
        found = value(name, **labels)
        assert found == number, f"{name} {labels}: {found}, and {number} in the trace"

    done = "result = 0 AND capturing = 0"
    rows = {row[0]: row[1:] for row in query(
        f"SELECT direction, count(*), sum(bytes) FROM transfer WHERE {done} GROUP BY 1")}
    for direction in "unknown", "h2d", "d2h", "d2d", "h2h", "peer":
        count, size = rows.get(direction, (0, 0))
        same("gmtrace_copies_total", count, direction=direction)
        same("gmtrace_copy_bytes_total", size, direction=direction)
    count, size = query(f"SELECT count(*), coalesce(sum(bytes), 0) FROM memset WHERE {done}")[0]
    same("gmtrace_memsets_total", count)
    same("gmtrace_memset_bytes_total", size)
    same("gmtrace_kernel_launches_total", query(f"SELECT count(*) FROM launch WHERE kind != 'graph' AND {done}")[0][0])
    same("gmtrace_graph_launches_total", query(f"SELECT count(*) FROM launch WHERE kind = 'graph' AND {done}")[0][0])
    waits = {row[0]: row[1:] for row in query(
        f"SELECT kind, count(*), sum(end_ns - begin_ns) FROM sync WHERE {done} GROUP BY 1")}
    for kind in "stream", "context", "event", "device":
        count, ns = waits.get(kind, (0, 0))
        same("gmtrace_waits_total", count, kind=kind)
        seconds = value("gmtrace_wait_seconds_total", kind=kind)
        assert abs(seconds - ns / 1e9) <= 0.001 + 0.01 * ns / 1e9, f"{kind}: {seconds} s, {ns} ns"
    held = "count(*) FILTER (WHERE free_begin_ns IS NULL), coalesce(sum(bytes) FILTER (WHERE free_begin_ns IS NULL), 0), count(*)"
    for table, where in ("allocation", "device"), ("host_allocation", "host"):
        for kind, count, size, made in query(f"SELECT kind, {held} FROM {table} GROUP BY 1"):
            labels = {"kind": kind, "device": "0"} if where == "device" else {"kind": kind}
            same(f"gmtrace_{where}_memory_bytes", size, **labels)
            same(f"gmtrace_{where}_memory_live_allocations", count, **labels)
            same(f"gmtrace_{where}_memory_allocations_total", made, **labels)
    same("gmtrace_dropped_records_total", 0)
    same("gmtrace_partial", 0)
    begin = query("SELECT realtime_ns FROM process")[0][0] / 1e9
    assert abs(value("gmtrace_start_time_seconds") - begin) < 5, "the start"


def main() -> None:
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        samples = parse(file.read())
    if sys.argv[2:3] == ["--trace"]:
        compare(samples, sys.argv[3])
    for (name, pairs), number in samples.items():
        print(f"{name}{{{','.join(f'{label}={text}' for label, text in pairs)}}} {number:.15g}")


if __name__ == "__main__":
    main()
