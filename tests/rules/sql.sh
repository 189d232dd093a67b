#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze sql: right rows in every format, views listed, and no way to change a trace or reach a file.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 jq python3

program=("$GMANALYZE" sql)

# refused QUERY: status 2, one line, the trace as it was, no file made.
refused() {
    expect 2 trace.db "$1"
    [ "$(wc -l <err)" = 1 ] || fail "not one line about: $1"
    cmp -s trace.db before.db || fail "changed by: $1"
    [ "$(find . -type f | sort | xargs)" = './before.db ./err ./out ./trace.db' ] || fail "a file is made by: $1"
}

make_trace trace.db fixtures/GM401_positive
cp trace.db before.db

query="SELECT id, NULL AS absent, 'a,\"b\"' AS text, 1.5 AS half, '' AS empty, x'6869' AS id FROM launch ORDER BY id LIMIT 2"
first=$(sqlite3 trace.db 'SELECT min(id) FROM launch')
expect 0 trace.db "$query"
[ "$(sed -n 2p out)" = "$(printf '%s\t\ta,"b"\t1.5\t\thi' "$first")" ] || fail "tsv"
expect 0 --format csv trace.db "$query"
[ "$(sed -n 2p out)" = "$(printf '%s,,"a,""b""",1.5,"",hi\r' "$first")" ] || fail "csv"
expect 0 trace.db "$query" --format=json
jq -e --argjson id "$first" '.[0] == {id: $id, absent: null, text: "a,\"b\"", half: 1.5, empty: "", id_2: "hi"}
    and length == 2' out >/dev/null || fail "json"
expect 0 --format table trace.db "$query"
[ "$(wc -l <out)" = 4 ] || fail "table"
grep -q "^ *$first  " out || fail "numbers of a table stand right"
expect 0 --format json trace.db 'SELECT 1 WHERE 0'
jq -e '. == []' out >/dev/null || fail "no rows as json"
expect 0 trace.db 'SELECT count(*) FROM v_transfer ; -- and that is all
'
# Every row comes out, also of more than are looked at to align a table.
many='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) SELECT i FROM n'
for format in table tsv csv json; do
    expect 0 --format $format trace.db "$many"
    [ "$(grep -cE '[0-9]' out)" = 2500 ] || fail "rows are missing in $format"
done

# Names that hold anything leave JSON and CSV valid.
cp trace.db hostile.db
spoil hostile.db
expect 0 --format json hostile.db 'SELECT * FROM v_launch'
jq -e 'length > 0' out >/dev/null || fail "hostile json"
expect 0 --format csv hostile.db 'SELECT * FROM v_launch'
python3 -c 'import csv, sys; assert len({len(row) for row in csv.reader(sys.stdin, strict=True)}) == 1' <out ||
    fail "hostile csv"
expect 0 hostile.db 'SELECT * FROM v_launch'
[ "$(tr -dc '\t\n' <out | sort -u | wc -l)" = 1 ] || fail "hostile tsv"
rm hostile.db

expect 0 trace.db
for view in $(sqlite3 trace.db "SELECT name FROM sqlite_master WHERE type = 'view' AND name GLOB 'v_*'"); do
    grep -qx "$view" out || fail "$view is not listed"
done
[ "$(grep -c 'not in this trace' out)" = 0 ] || fail "a view of this version is missing"
grep -q 'load_efficiency_percent' out || fail "columns are not listed"

refused 'DELETE FROM launch'
refused 'DROP TABLE launch'
refused 'CREATE TABLE t (x)'
refused 'CREATE TEMP TABLE t (x)'
refused "ATTACH 'other.db' AS other"
refused "VACUUM INTO 'other.db'"
refused VACUUM
refused 'PRAGMA user_version = 7'
refused 'PRAGMA query_only = 0'
refused 'PRAGMA writable_schema = 1'
refused 'BEGIN'
refused "SELECT load_extension('x')"
refused "SELECT writefile('other', 'x')"
refused 'SELECT 1; DELETE FROM launch'
refused ''
refused 'SELECT nothing
    FROM launch'
refused 'SELEC 1'
expect 2 trace.db 'SELECT 1' 'SELECT 2'
expect 2
expect 2 --format pdf trace.db 'SELECT 1'
expect 3 absent.db 'SELECT 1'
expect 0 --help
echo "sql: rows as asked for, and nothing but rows"
