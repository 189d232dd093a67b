#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze export: trace events by their published rules, CSV by RFC 4180, complete in both, also of
# traces with hostile names, overlapping work, graphs and clocks that run backwards.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 jq python3

program=("$GMANALYZE" export)

# exports NAME: NAME.db in both forms.
exports() {
    expect 0 --to perfetto -o "$1.json" "$1.db"
    python3 "$GMT_SOURCE/tests/rules/check_events.py" "$1.db" "$1.json"
    rm -rf "$1.csv"
    expect 0 "$1.db" --to=csv --output="$1.csv"
    python3 - "$1.db" "$1.csv" <<'PYTHON'
import csv, pathlib, sqlite3, sys
db, seen = sqlite3.connect(sys.argv[1]), 0
for (view,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'view' AND name GLOB 'v_*'").fetchall():
    raw = (pathlib.Path(sys.argv[2]) / f"{view}.csv").read_bytes()
    rows = list(csv.reader(raw.decode().splitlines(keepends=True), strict=True))
    result = db.execute(f"SELECT count(*) FROM {view}").fetchone()[0]
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({view})")]
    assert raw.endswith(b"\r\n") and raw.count(b"\n") == raw.count(b"\r\n") == len(rows), view
    assert rows[0] == columns and len(rows) == result + 1, (view, len(rows), result)
    assert all(len(row) == len(columns) for row in rows), view
    seen += len(rows)
assert seen > 30, seen
PYTHON
}

for name in pipeline_slow pipeline_fast; do
    gunzip -c "$GMT_SOURCE/tests/data/$name.db.gz" >"$name.db"
    expect 0 --to perfetto -o "$name.json" "$name.db"
    python3 "$GMT_SOURCE/tests/rules/check_events.py" "$name.db" "$name.json"
done
# What the software device took on the CPU is not shown as times of a GPU without a word.
named() { jq -r '.traceEvents[] | select(.name == "process_name" and .pid == 1).args.name' pipeline_fast.json; }
named | grep -q '^software device' && fail "a GPU is taken for the software device"
sqlite3 pipeline_fast.db "INSERT INTO capability (name, state) VALUES ('software_device', 'ok')"
expect 0 --to perfetto -o pipeline_fast.json pipeline_fast.db
named | grep -q '^software device, times of the CPU: .*pipeline_fast' || fail "$(named)"
# Ranges of threads enclose calls, those of the process have a row.
{ echo "PRAGMA application_id = $(($(constant GMT_TRACE_APPLICATION_ID)));"
  cat "$GMT_SOURCE/libtrace/store/db/schema.sql" "$GMT_SOURCE"/tests/rules/{common,golden/trace,named_ranges}.sql; } | sqlite3 ranged.db
exports ranged
python3 - ranged.json <<'PYTHON'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
ranges = {(e["name"], e["tid"]) for e in events if e.get("cat") == "range"}
assert ("epoch", 100) in ranges and ("fetch", 100) in ranges and ("all", 0) in ranges, ranges
assert any(e["name"] == "thread_name" and e["args"]["name"] == "ranges of the process" for e in events)
PYTHON
# A recording from before that view, and from before those tables.
expect 0 --to csv -o old pipeline_slow.db
[ "$(wc -l <old/v_allocation.csv)" = 69 ] || fail "not every allocation of an old trace"
[ ! -e old/v_race.csv ] || fail "a file of a view that the trace cannot have"
grep -qE 'left out v_.*, v_race, .*: the trace is of a version without' err || fail "what is left out is not said"
[ "$(grep -c 'left out' err)" = 1 ] || fail "what is left out takes several lines"

make_trace hostile.db fixtures/GM102_positive
spoil hostile.db
exports hostile

# Two kernels at once on one stream, a graph of two nodes, a copy whose call was lost, a call without a
# thread, a word of a later version, and a clock that runs backwards.
make_trace odd.db fixtures/GM401_positive
sqlite3 odd.db "
    INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result, capturing, kind,
        seq, kernel_id, class_id, no_activity, arguments, device_start_ns, device_end_ns) VALUES
        (9001, 3, 1, 1, 1, 96000000, 96000100, 0, 0, 'kernel', 901, 1, 1, 0, 'unknown', 97000000, 98000000),
        (9002, 3, 1, 1, 1, 96000200, 96000300, 0, 0, 'kernel', 902, 1, 1, 0, 'unknown', 97500000, 98500000),
        (9003, 3, 1, 1, 1, 96000400, 96000500, 0, 0, 'graph', 903, NULL, NULL, 0, 'unknown', 98600000, 98700000),
        (9004, 3, NULL, NULL, NULL, 96000700, 96000600, 700, 0, 'kernel', 904, 1, 1, 0, 'unknown', NULL, NULL),
        (9005, 3, 1, 1, 1, -9223372036854775807, 9223372036854775807, 0, 0, 'kernel', 905, 1, 1, 0, 'unknown', NULL, NULL);
    INSERT INTO string VALUES (90, '_Z4workPfPKfi');
    INSERT INTO device_op (kind, context_id, device_id, correlation, graph, start_ns, end_ns, kernel_name_id, call_id)
        VALUES ('kernel', 1, 0, 1, 7, 98600000, 98650000, 90, 9003), ('kernel', 1, 0, 1, 7, 98650000, 98700000, 90, 9003),
               ('copy', NULL, 0, 2, NULL, 99000000, 98000000, NULL, NULL);
    PRAGMA writable_schema = ON;
    UPDATE sqlite_master SET sql = replace(sql, '''memset'')', '''memset'',''co\"py,\\\"'')') WHERE name = 'device_op';
    PRAGMA writable_schema = RESET;
    PRAGMA ignore_check_constraints = ON;
    INSERT INTO device_op (kind, device_id, correlation, start_ns, end_ns)
        VALUES ('co\"py,\\\"', 0, 3, 99500000, 99600000);
    INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, begin_ns, end_ns, free_api_id,
        free_thread_id, free_begin_ns, free_end_ns) VALUES
        (801, 'device', 4096, 1000, 1, 1, 4, 95000000, 95000010, 5, 1, 95000100, 95000110),
        (802, 'device', 8192, 500, 1, 1, 4, 95000020, 95000030, NULL, NULL, NULL, NULL)"
exports odd
jq -e '[.traceEvents[] | select(.ph == "X" and .args.what == "of a graph") | .name] == ["work(float*, float const*, int)",
    "work(float*, float const*, int)"]' odd.json >/dev/null || fail "a graph's kernels have no name"
jq -e '[.traceEvents[] | select(.ph == "M" and .name == "thread_name" and .pid == 2 and .args.name == "default stream")]
    | length == 2' odd.json >/dev/null || fail "overlapping kernels share a lane"

# gmtrace's own work stands in the thread that did it.
sqlite3 odd.db "INSERT INTO own_time VALUES (1, 'session', 1, 95500000, 95900000, 0, NULL),
    (2, 'launch', 1, 95900000, 96000150, 0, 901), (3, 'exit', NULL, 99000000, 99000001, 1, NULL)"
exports odd
jq -e '[.traceEvents[] | select(.cat == "gmtrace") | .name] | sort == ["gmtrace: exit", "gmtrace: launch", "gmtrace: session"]' \
    odd.json >/dev/null || fail "gmtrace's own work is not among the events"

# Numbers of threads and streams that, times the lanes of a track, exceed 64 bits: the place of such a track is the
# last one.
make_trace far.db fixtures/GM401_positive
sqlite3 far.db "PRAGMA foreign_keys = OFF; UPDATE launch SET thread_id = 9000000000000000000, stream_id = 9000000000000000000"
expect 0 --to perfetto -o far.json far.db
[ "$(grep -o '"sort_index":9223372036854775807' far.json | wc -l)" = 2 ] || fail "the places of tracks wrap around"

# Nothing at all happened.
make_trace empty.db fixtures/GM101_negative
sqlite3 empty.db 'DELETE FROM transfer; DELETE FROM launch; DELETE FROM allocation; DELETE FROM device_op; DELETE FROM sync'
expect 0 --to perfetto -o empty.json empty.db
python3 "$GMT_SOURCE/tests/rules/check_events.py" empty.db empty.json

expect 0 --to perfetto hostile.db
cmp -s out hostile.json || fail "standard output gets something else"
expect 2 hostile.db
expect 2 --to perfetto
expect 2 --to pdf hostile.db
expect 2 --to csv hostile.db
expect 2 --to perfetto hostile.db odd.db
expect 3 --to perfetto -o x.json absent.db
[ ! -e x.json ] || fail "a file of nothing"
expect 3 --to perfetto -o /nonexistent/x.json hostile.db
expect 3 --to csv -o /nonexistent/x hostile.db
[ "$(wc -l <err)" = 1 ] || fail "more than one line of complaint"
expect 0 --help
echo "export: complete and valid"
