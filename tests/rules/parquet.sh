#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze export --to parquet: all values as SQLite has them, read by DuckDB; damaged traces, full disk, killed exporter.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 python3
library=$GMT_SOURCE/tests/parquet/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so
program=("$GMANALYZE" export --to parquet)

for name in pipeline_slow graph; do gunzip -c "$GMT_SOURCE/tests/data/$name.db.gz" >"$name.db"; done
# Without DuckDB: one line that says what to do, and nothing is made.
GMTRACE_DUCKDB=$work/none.so expect 3 files graph.db
equal "lines without DuckDB" 1 "$(wc -l <err)"
grep -q 'none.so: .*GMTRACE_DUCKDB=' err || fail "what is missing is not said"
[ ! -e files ] || fail "a folder was made"
[ -f "$library" ] || skip "no DuckDB: npm ci --prefix tests/parquet"
export GMTRACE_DUCKDB=$library

cp graph.db hostile.db
sqlite3 hostile.db "UPDATE process SET hostname = 'node-7', rank = '3'; DELETE FROM device_op;
    INSERT INTO string (id, text) VALUES (900001, CAST(x'ff41c328' AS TEXT)), (900002, CAST(x'610062' AS TEXT)), (900003, '');
    UPDATE transfer SET bytes = 9007199254740993 WHERE id = (SELECT min(id) FROM transfer);
    INSERT INTO cubin (crc, bytes, image) VALUES (1, 4, x'00ff0a2c');
    INSERT INTO metric VALUES (901, 'm', '', 'simulated', 'u', 'm');
    INSERT INTO kernel_counters (launch_seq, class_id, metric_id, value, source, grp, samples)
        VALUES (1, 1, 901, 0.1, 'simulated', 'simulated', 1), (1, 1, 901, 5e-324, 'simulated', 'simulated', 1)"
head -c 30000 graph.db >damaged.db
expect 3 --run 'night/7 a' files pipeline_slow.db damaged.db graph.db hostile.db
grep -q 'damaged.db: is damaged' err || fail "the damaged trace is not named"
equal "traces exported" 3 "$(grep -c ': wrote ' err)"
grep -q 'pipeline_slow.db: left out .*own_time' err || fail "tables of later versions are not named"
python3 "$GMT_SOURCE/tests/parquet/read_back.py" "$library" files err pipeline_slow.db graph.db hostile.db || fail "other values"
[ -n "$(find files/transfer/run=night%2F7%20a/host=node-7/rank=3 -name '*.parquet')" ] || fail "no partition"
# Again: the same files.
before=$(find files -type f | sort)
expect 0 --run 'night/7 a' files graph.db
equal "files after a second export" "$before" "$(find files -type f | sort)"

# A file that cannot grow: all or nothing.
(ulimit -f 8; expect 3 full pipeline_slow.db; grep -q 'pipeline_slow.db: not exported: ' err || fail "not said") || exit 1
equal "left by a full disk" "" "$(find full -mindepth 1)"

# Killed in the middle: readers see nothing of it, and the next export cleans up.
columns=$(sqlite3 graph.db "SELECT group_concat(name) FROM pragma_table_info('transfer') WHERE name <> 'id'")
cp graph.db long.db
sqlite3 long.db "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000)
    INSERT INTO transfer (id, $columns) SELECT 5000000 + i, $columns FROM n, (SELECT * FROM transfer LIMIT 1)"
for ((i = 0; i < 50; i++)); do # where it was done before that was seen it is tried again
    rm -rf killed
    "${program[@]}" killed long.db 2>/dev/null &
    exporter=$!
    until compgen -G 'killed/.unfinished-*/transfer.parquet' >/dev/null || ! kill -0 $exporter 2>/dev/null; do sleep 0.01; done
    kill -9 $exporter 2>/dev/null || true
    wait $exporter || true
    ! compgen -G 'killed/.unfinished-*' >/dev/null || break
done
equal "seen of a killed export" "" "$(find killed -mindepth 1 -maxdepth 1 ! -name '.unfinished-*')"
compgen -G 'killed/.unfinished-*' >/dev/null || fail "it was not killed in the middle"
sleep 0.3
expect 0 killed graph.db
equal "unfinished folders" "" "$(find killed -name '.unfinished-*')"

expect 2 onlydir
expect 2 -o x dir graph.db
