#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reading a trace takes memory in proportion to the file, by whatever command, or is refused in one line: thousands of
# kernels, long names that many rows share, more rows than the file has room for, and too little memory at any place.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs python3 sqlite3 timeout

gunzip -c "$GMT_SOURCE/tests/data/pipeline_fast.db.gz" >good.db
# AddressSanitizer reserves more than any limit on addresses, and its memory is not limited by us.
asan=$(grep -c -a __asan_init "$GMANALYZE" || true)

# --- Names of 1,000,000 bytes of 60,000 launches: each event has its names, cut.
python3 - <<'END'
import shutil, sqlite3
shutil.copy("good.db", "names.db")
db = sqlite3.connect("names.db", isolation_level=None)
columns = [row[1] for row in db.execute("PRAGMA table_info(launch)") if row[1] != "id"]
db.execute("BEGIN")
while db.execute("SELECT count(*) FROM launch").fetchone()[0] < 50000:
    db.execute(f"INSERT INTO launch ({', '.join(columns)}) SELECT {', '.join(columns)} FROM launch")
for table in "kernel", "thread":
    db.execute(f"UPDATE {table} SET name = printf('%.*c', 999990, 'x') || '{table}' || id")
db.execute("COMMIT")
END
status=0
(   [ "$asan" -gt 0 ] || ulimit -v 400000
    exec timeout 900 "$GMANALYZE" export --to perfetto -o names.json names.db >out 2>err) || status=$?
[ "$status" = 0 ] || fail "status $status of an export with long names"
python3 - <<'END' || fail "names of the export"
import json, sqlite3
events = json.load(open("names.json"))["traceEvents"]
rows = sqlite3.connect("names.db").execute("SELECT count(*) FROM launch WHERE kind <> 'graph'").fetchone()[0]
cut = "x" * 999 + "…"
launches = [e for e in events if e.get("cat") == "launch"]
assert len(launches) >= rows > 50000, (len(launches), rows)
assert all(e["args"]["what"] == cut for e in launches if e["args"]["what"] != "graph")
assert all(e["name"] == cut for e in events if e.get("cat") == "kernel")
names = [e["args"]["name"] for e in events if e["name"] == "thread_name" and e["pid"] == 1]
assert cut in names and max(map(len, names)) == 1000, names
END
rm names.json

# --- Every command, with the limit that docs/security.md states: 64 MB and 20 times the file.
make_trace many_kernels.db golden/trace
sqlite3 many_kernels.db <"$GMT_SOURCE/tests/rules/hostile/many_kernels.sql"
sqlite3 many_kernels.db <"$GMT_SOURCE/libtrace/store/db/indexes.sql"
gunzip -c "$GMT_SOURCE/tests/data/pipeline_slow.db.gz" >slow.db
gunzip -c "$GMT_SOURCE/tests/data/deep/reference_h200.db.gz" >counted.db
python3 "$GMT_SOURCE/tests/rules/memory.py" "$GMANALYZE" "$asan" good.db slow.db many_kernels.db counted.db >memory ||
    fail "memory of the commands"
[ "$(wc -l <memory)" = $((4 * 26)) ] || fail "commands were left out: $(cat memory)"

# --- Twenty thousand things that the recorder could not do, for one reason: each once where all is asked for, and a count in a short text.
make_trace missing.db golden/trace
sqlite3 missing.db "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO capability SELECT 'ability' || i, 'missing', 1, 'none', 'wait' FROM n"
"$GMANALYZE" --calibrate never --top 0 missing.db >out 2>err || fail "status $? of a report with 20,000 gaps"
[ "$(tr -s ' \n' '\n' <out | sort | uniq -c | grep -cE '^ *1 ability[0-9]+$')" = 20000 ] || fail "20,000 gaps: not each once"
"$GMANALYZE" --calibrate never missing.db >out 2>err || fail "status $? of a short report with 20,000 gaps"
[ "$(wc -l <out)" -le 60 ] || fail "20,000 gaps: $(wc -l <out) lines of a short report"

# --- A table whose pages are linked many times over: 200 x 200 times the rows of one page.
cat >linked.py <<'END'
import shutil, sqlite3, struct, sys
shutil.copy("good.db", "linked.db")
db = sqlite3.connect("linked.db")
for (index,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'transfer' AND sql IS NOT NULL").fetchall():
    db.execute(f"DROP INDEX {index}")  # rows are counted by an index where there is one
db.commit()
size = db.execute("PRAGMA page_size").fetchone()[0]
pages = db.execute("PRAGMA page_count").fetchone()[0]
root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'transfer'").fetchone()[0]
db.close()
data = bytearray(open("linked.db", "rb").read())
def page(n):
    return data[(n - 1) * size:n * size]
leaf = root
while page(leaf)[0] == 5:  # the right-most child
    leaf = struct.unpack(">I", page(leaf)[8:12])[0]
if leaf == root:  # its rows move to a page of their own
    data += page(root)
    pages += 1
    leaf = pages
def interior(child, cells):
    made = bytearray(size)
    at = size
    for i in range(cells):
        at -= 5
        made[at:at + 5] = struct.pack(">IB", child, min(i, 127))
        made[12 + 2 * i:14 + 2 * i] = struct.pack(">H", at)
    made[:12] = struct.pack(">BHHHBI", 5, 0, cells, at, 0, child)
    return made
*lower, top = map(int, sys.argv[1:])
for cells in lower:
    data += interior(leaf, cells)
    pages += 1
    leaf = pages
data[(root - 1) * size:root * size] = interior(leaf, top)
data[28:32] = struct.pack(">I", pages)
open("linked.db", "wb").write(data)
END
python3 linked.py 200 200
status=0
(   [ "$asan" -gt 0 ] || ulimit -v 400000
    exec timeout 900 "$GMANALYZE" --calibrate never linked.db >out 2>err) || status=$?
[ "$status" = 3 ] || fail "status $status of a table with more rows than its file"
{ grep -q 'linked.db: is damaged: .*more rows' err && [ "$(wc -l <err)" = 1 ]; } || fail "more rows: the reason"
[ ! -s out ] || fail "more rows: a report"

# --- The same in five levels: counting alone would take hours, and is one instruction of SQLite.
python3 linked.py 1000 1000 1000 1000 >/dev/null
status=0
timeout 900 "$GMANALYZE" --calibrate never linked.db >out 2>err || status=$?
[ "$status" = 3 ] || fail "status $status of a table that is never counted"
{ grep -q 'linked.db: is damaged, or made to be slow' err && [ "$(wc -l <err)" = 1 ]; } || fail "time: the reason"

# --- Too little memory anywhere: the whole report or none, and one line that says so.
# whole_or_none STATUS ARGUMENT...: of a command that ends so with enough memory; it may write r.json, r.html, r.sarif.
whole_or_none() {
    local wanted=$1 status=0 refused=0 kilobytes file
    shift
    rm -rf full && mkdir full
    "$GMANALYZE" "$@" >whole 2>err || status=$?
    [ "$status" = "$wanted" ] || fail "status $status, not $wanted: gmanalyze $*"
    for file in r.json r.html r.sarif; do [ ! -e $file ] || mv $file full; done
    for kilobytes in $(seq 1400 200 6000); do
        status=0
        (ulimit -d "$kilobytes"; exec "$GMANALYZE" "$@" >out 2>err) || status=$?
        case $status in
            "$wanted") cmp -s out whole || fail "$kilobytes kB: another output of gmanalyze $*"
                for file in full/*; do
                    [ ! -e "$file" ] || cmp -s "${file#full/}" "$file" || fail "$kilobytes kB: another ${file#full/}: gmanalyze $*"
                done ;;
            3) refused=$((refused + 1))
                grep -q 'not enough memory: the limit of this process' err out || fail "$kilobytes kB: no reason: gmanalyze $*"
                for file in r.json r.html r.sarif; do
                    [ ! -e $file ] || cmp -s $file full/$file || fail "$kilobytes kB: a part of $file: gmanalyze $*"
                done ;;
            127) ;; # the loader's own
            *) fail "$kilobytes kB: status $status of gmanalyze $*" ;;
        esac
        rm -f r.json r.html r.sarif
    done
    [ "$refused" -gt 0 ] || fail "no limit was reached: gmanalyze $*"
    [ -z "$(find . -name 'r.*.*')" ] || fail "parts of a file are left: gmanalyze $*"
}

if [ "$asan" = 0 ]; then
    for name in GM101 GM104; do make_trace $name.db fixtures/${name}_positive; done
    make_trace lines.db fixtures/GM301_positive
    sqlite3 lines.db <"$GMT_SOURCE/tests/rules/simulated.sql"
    sqlite3 lines.db "INSERT INTO string VALUES (50, '/src/kernels/work.cu'), (51, 'ld.global.f32');
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        INSERT INTO instruction (launch_seq, class_id, site, opcode_id, file_id, line, kind, executed, lanes, sectors,
            ideal_sectors, source) SELECT 1, 1, i, 51, 50, i, 'global_load', 9, 9, 900, 100, 'simulated' FROM n"
    whole_or_none 0 --calibrate never -o r.json -o r.html -o r.sarif good.db
    whole_or_none 1 --calibrate never --fail-on any GM101.db GM104.db
    whole_or_none 0 --calibrate never --format json -o r.html GM101.db GM104.db
    whole_or_none 1 --calibrate never --baseline GM101.db GM104.db
    whole_or_none 0 diff --calibrate never GM101.db GM104.db
    whole_or_none 0 diff --calibrate never --format json -o r.html GM101.db GM104.db
    whole_or_none 0 lines --format json lines.db
    whole_or_none 0 validate --json good.db
    whole_or_none 0 export --to perfetto GM101.db
    whole_or_none 0 export --to speedscope GM101.db
    whole_or_none 0 export --to pprof GM101.db
    whole_or_none 0 sql --format table good.db "SELECT * FROM launch ORDER BY end_ns LIMIT 100"
fi
echo "gmanalyze: memory in proportion to the file"
