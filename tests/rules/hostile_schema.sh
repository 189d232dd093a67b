#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Nothing of a trace is executed, whatever its schema says: by no command, for reading or for writing. A trace
# whose tables are no plain tables is refused in one line.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs python3 timeout

gunzip -c "$GMT_SOURCE/tests/data/pipeline_fast.db.gz" >good.db

# make NAME SQL...: a copy of good.db (or $MADE_OF), changed.
cat >make.py <<'END'
import os, shutil, sqlite3, sys
name, *statements = sys.argv[1:]
shutil.copy(os.environ.get("MADE_OF", "good.db"), name)
db = sqlite3.connect(name, isolation_level=None)
db.execute("PRAGMA writable_schema = ON")
for statement in statements:
    db.execute(statement)
END

commands=(
    "--calibrate never" "--calibrate never --redact=names" "--calibrate never -o r.html -o r.json"
    "export --to perfetto -o p.json" "export --to csv -o csv" "export --to speedscope -o s.json" "export --to pprof -o p.pb.gz" "validate" "symbolize" "lines"
    "sql" "diff good.db"
)
asan=$(grep -c -a __asan_init "$GMANALYZE" || true)
# each FILE STATUS: every command ends with that status, within the time of an ordinary trace.
each() {
    local file=$1 wanted=$2 status command
    for command in "${commands[@]}"; do
        rm -rf r.html r.json p.json csv
        status=0
        # shellcheck disable=SC2086
        ([ "$asan" -gt 0 ] || ulimit -v 2000000; exec timeout 900 "$GMANALYZE" $command "$file" >out 2>err </dev/null) || status=$?
        case $wanted in
            refused) [ "$status" = 3 ] || fail "$file: status $status of: $command"
                [ "$(cat out err | grep -c 'is damaged')" -ge 1 ] || fail "$file: no reason: $command"
                [ "$(wc -l <err)" -le 1 ] || fail "$file: more than one line: $command" ;;
            read) [[ $status = [014] ]] || fail "$file: status $status of: $command" ;;
        esac
    done
}
each good.db read

# A table of ours that is computed.
make() { python3 make.py "$@"; }
bomb="printf('%.*c', 900000000, 'x')"
endless="WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r"
for table in api transfer meta; do
    make "view_$table.db" "ALTER TABLE $table RENAME TO other" \
        "CREATE VIEW $table AS SELECT * FROM other UNION ALL SELECT * FROM other WHERE ($endless) IS NULL"
    each "view_$table.db" refused
done
make printf.db "ALTER TABLE thread RENAME TO other" "CREATE VIEW thread AS SELECT id, tid, $bomb AS name FROM other"
each printf.db refused
make virtual.db "UPDATE sqlite_master SET rootpage = 0, sql = 'CREATE VIRTUAL TABLE memset USING fts3(a)' WHERE name = 'memset'"
each virtual.db refused
make generated.db "ALTER TABLE thread ADD COLUMN more TEXT GENERATED ALWAYS AS ($bomb) VIRTUAL"
each generated.db refused
make expression.db "CREATE INDEX odd ON thread(length($bomb || name))" 2>/dev/null || true
make expression.db "CREATE INDEX odd ON thread(tid + 1)"
each expression.db refused
make partial.db "CREATE INDEX odd ON thread(tid) WHERE tid > 1"
each partial.db refused
# The entry is not what its columns say.
make lie.db "CREATE VIEW odd AS SELECT 1" \
    "UPDATE sqlite_master SET type = 'table', name = 'thread2', rootpage = 3 WHERE name = 'odd'"
each lie.db refused
make lie2.db "DROP TABLE range" "CREATE VIEW odd AS SELECT 1 AS id" \
    "UPDATE sqlite_master SET sql = replace(sql, 'odd', 'range') WHERE name = 'odd'"
each lie2.db refused

# A table or view that has the name of a function of ours to ask: integrity_check would print what it holds.
for entry in "TABLE pragma_integrity_check(integrity_check)" "TABLE Pragma_foreign_key_check(a)" \
    "VIEW pragma_integrity_check AS SELECT 'ok' AS integrity_check" "VIEW pragma_table_xinfo AS SELECT 1 AS hidden"; do
    make shadow.db "CREATE $entry"
    each shadow.db refused
done

# Views of a trace are never asked: ours are. So an endless one, and one of an absurd size, are of no effect.
for view in v_frame v_stack v_transfer v_kernel v_counter; do
    make "own_$view.db" "DROP VIEW $view" "CREATE VIEW $view AS $endless"
    each "own_$view.db" read
    make "own_$view.db" "DROP VIEW $view" "CREATE VIEW $view AS SELECT $bomb AS id"
    each "own_$view.db" read
done
make more.db "CREATE VIEW v_more AS SELECT $bomb AS a"
each more.db read
status=0
"$GMANALYZE" sql more.db "SELECT length(a) FROM v_more" >out 2>err || status=$?
{ [ "$status" = 2 ] && grep -q 'prohibited' err; } || fail "a view of the trace was executed"
"$GMANALYZE" sql more.db "SELECT count(*) > 0 FROM v_transfer" >out 2>err || fail "our own view"
grep -qx 1 out || fail "our own view is empty"

# Lines of counted instructions, of a trace whose format has no table of inlined calls; and what is damaged is
# not called uncounted.
gunzip -c "$GMT_SOURCE/tests/data/deep/reference_h200.db.gz" >counted.db
lines() {
    local status=0
    timeout 900 "$GMANALYZE" lines "$2" >out 2>err </dev/null || status=$?
    [ "$status" = "$1" ] || fail "$2: status $status of: lines"
}
lines 0 counted.db
grep -q 'inlined at .*/family_bank.cu:29' out || fail "no line is inlined"
export MADE_OF=counted.db
make own_line.db "DROP VIEW v_line" "CREATE VIEW v_line AS $endless"
lines 0 own_line.db
make text.db "UPDATE instruction SET caller_line = 'x' WHERE id = (SELECT max(id) FROM instruction WHERE caller_line IS NOT NULL)"
lines 3 text.db
{ grep -q 'is damaged: instruction.caller_line' err && [ "$(wc -l <err)" = 1 ]; } || fail "no reason"
make none.db "DELETE FROM instruction"
lines 4 none.db
grep -q 'no instruction was counted' err || fail "no reason"
unset MADE_OF

# Texts that many rows share are copied for each of them: an absurd one refuses the file, and is named.
make long.db "UPDATE thread SET name = printf('%.*c', 5000000, 'x') WHERE id = 1"
each long.db refused
grep -q 'thread.name' err out || fail "the column is not named"
make long.db "UPDATE kernel SET name = printf('%.*c', 10000000, 'x') WHERE id = 1"
each long.db refused
grep -q 'kernel.name' err out || fail "the column is not named"
make long.db "UPDATE kernel SET name = printf('%.*c', 50000, 'x') WHERE id = 1"
each long.db read

# CHECK constraints are executed by integrity_check: not those of a trace.
make check.db "UPDATE sqlite_master SET sql = replace(sql, 'tid INTEGER NOT NULL', 'tid INTEGER NOT NULL CHECK (length($(printf %s "$bomb" | sed "s/'/''/g")) > 1)') WHERE name = 'thread'"
each check.db read

# A trigger is not run by a command that writes, either.
make trigger.db "CREATE TABLE victim (a)" "CREATE TRIGGER odd AFTER UPDATE ON module BEGIN INSERT INTO victim VALUES (1); END" \
    "CREATE TRIGGER odd2 AFTER INSERT ON frame BEGIN INSERT INTO victim VALUES (1); END" \
    "CREATE TRIGGER odd3 AFTER UPDATE ON frame BEGIN INSERT INTO victim VALUES (1); END" \
    "UPDATE module SET symbols = NULL" "DELETE FROM victim"
each trigger.db read
[ "$(python3 -c 'import sqlite3; print(sqlite3.connect("trigger.db").execute("SELECT count(*) FROM victim").fetchone()[0])')" = 0 ] ||
    fail "symbolize ran a trigger of the trace"

# The user's own statement reads the trace and nothing else.
# refused PART SQL
refused() {
    local status=0
    timeout 900 "$GMANALYZE" sql good.db "$2" >out 2>err || status=$?
    { [ "$status" = 2 ] && grep -q "$1" err; } || fail "status $status: $2"
}
refused 'not authorized\|read-only' "SELECT fts3_tokenizer('simple')"
refused 'not authorized\|read-only' "SELECT fts3_tokenizer('simple', x'4141414141414141')"
refused 'read-only' "ATTACH 'x.db' AS x"
refused 'read-only' "CREATE TEMP TABLE t (a)"
refused 'read-only\|not authorized' "SELECT load_extension('x')"
refused 'longer' "SELECT zeroblob(900000000)"
refused 'read-only' "PRAGMA temp_store_directory = '/'"

# A file with a write-ahead log would be written beside.
python3 - <<'END'
import shutil
shutil.copy("good.db", "wal.db")
with open("wal.db", "r+b") as file:
    file.seek(18)
    file.write(b"\2\2")
END
status=0
"$GMANALYZE" wal.db >out 2>err || status=$?
{ [ "$status" = 3 ] && grep -q 'write-ahead log' err; } || fail "status $status of a file with a write-ahead log"
{ [ ! -e wal.db-wal ] && [ ! -e wal.db-shm ]; } || fail "reading wrote beside the file"
echo "gmanalyze: nothing of a trace is executed"
