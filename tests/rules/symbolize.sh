#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze symbolize: a trace of an earlier format, recorded elsewhere, gets the lines of modules whose
# files come later, and keeps what it has.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 cc objcopy nm

program=("$GMANALYZE" symbolize)

# is WHAT EXPECTED QUERY
is() {
    local found
    found=$(sqlite3 -batch old.db "$3")
    [ "$found" = "$2" ] || fail "$1: '$found', not '$2'"
}

gunzip -c "$GMT_SOURCE/tests/data/pipeline_fast.db.gz" >old.db
is 'the recording is of an earlier format' 1 \
    "SELECT count(*) FROM pragma_user_version WHERE user_version < 4"
frames() {
    sqlite3 -batch old.db "SELECT id, function_id, file_id, line, runtime FROM frame WHERE id < 9000 ORDER BY id"
}
frames >before

id=1122334455667788
cc -shared -fPIC -O2 -g -Wl,--build-id=0x$id -o full.so "$GMT_SOURCE/tests/unit/symbols/chain.c"
at=$((0x$(nm full.so | sed -n 's/ T chain_outer$//p')))
mkdir -p store/opt/app
objcopy --strip-all full.so store/opt/app/chain.so
objcopy --only-keep-debug full.so chain.so.debug
sqlite3 old.db "INSERT INTO module(id, path, build_id, load_bias, start_address, end_address)
        VALUES (9000, '/opt/app/chain.so', '$id', 4096, 4096, 1000000);
    INSERT INTO frame(id, address, module_id, offset) VALUES (9000, 4096 + $at + 1, 9000, $at + 1);"

expect 0 old.db
grep -q "^0 frames got a line" out || fail 'nothing to find'
grep -q "^/opt/app/chain.so is not here: .*(1 frames, build id $id)" out || fail 'the module that is missing'
expect 4 --strict old.db
is 'its format' "$(awk '/define GMT_TRACE_USER_VERSION/ { print $3 }' "$GMT_SOURCE/libtrace/store/db/database.h")" \
    'PRAGMA user_version'
expect 0 --debug-dir store old.db
grep -q "^/opt/app/chain.so is stripped: " out || fail 'found, and stripped'
is 'function' chain_outer 'SELECT function FROM v_frame WHERE id = 9000'
is 'no line yet' '' 'SELECT line FROM v_frame WHERE id = 9000'
expect 0 --debug-dir store --debug-dir . old.db
grep -q "^1 frames got a line" out || fail 'one frame'
line=$(grep -n '^void chain_outer.*)$' "$GMT_SOURCE/tests/unit/symbols/chain.c" | cut -d: -f1)
found=$(sqlite3 old.db 'SELECT line FROM v_frame WHERE id = 9000')
((found >= line && found <= line + 2)) || fail "line $found, not $line or just behind"
expect 0 --debug-dir store --debug-dir . old.db
grep -q "^0 frames got a line" out || fail 'a second time'

frames >after
diff before after >err || fail 'what was known has changed'
"$GMANALYZE" validate old.db >out 2>err || fail 'no valid trace any more'
"$GMANALYZE" old.db >out 2>err || fail 'no analysis any more'

# Values that no recorder writes, in tables that declare what they like: one line that names them, and no change.
# spoiled NAMED SQL
spoiled() {
    cp good.db old.db
    sqlite3 old.db "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(replace(replace(replace(sql,
        'NOT NULL', ''), 'INTEGER PRIMARY', 'KEY_'), 'INTEGER', 'ANY'), 'KEY_', 'INTEGER PRIMARY') WHERE name IN ('module', 'frame', 'stack_frame')"
    sqlite3 old.db "$2"
    local before status=0
    before=$(sha256sum <old.db)
    timeout 900 "$GMANALYZE" symbolize --debug-dir . old.db >out 2>err </dev/null || status=$?
    [ "$status" = 3 ] || fail "$1: status $status"
    { grep -q "^gmanalyze: old.db: is damaged.*$1" err && [ "$(wc -l <err)" = 1 ]; } || fail "$1: the reason"
    [ "$before" = "$(sha256sum <old.db)" ] || fail "$1: the trace has changed"
}
cp old.db good.db
chain="UPDATE frame SET file_id = NULL, line = NULL WHERE id = 9000;"
spoiled module.path "$chain UPDATE module SET path = NULL WHERE id = 9000"
spoiled module.build_id "$chain UPDATE module SET build_id = x'00' WHERE id = 9000"
spoiled module.load_bias "$chain UPDATE module SET load_bias = 'x' WHERE id = 9000"
spoiled frame.address "$chain UPDATE frame SET address = 'x' WHERE id = 9000"
# Each module has all frames looked at: 40,000 times 40,000.
spoiled 'made to be slow' "WITH RECURSIVE n(i) AS (SELECT 10000 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
    INSERT INTO module(id, path, load_bias, start_address, end_address) SELECT i, 'x', 0, 0, 0 FROM n;
    INSERT INTO frame(id, address, module_id, runtime) SELECT id, id, id, 0 FROM module WHERE id >= 10000"
# A pipe in the place of a file: opening it would wait for who writes to it.
cp good.db old.db
mkfifo pipe
sqlite3 old.db "$chain UPDATE module SET path = '$work/pipe', symbols = NULL WHERE id = 9000"
timeout 900 "$GMANALYZE" symbolize old.db >out 2>err </dev/null || fail "status $? where a module is a pipe"
grep -q "^$work/pipe is not here" out || fail 'a pipe was taken for a module'
cp good.db old.db

expect 2 --debug-dir /no/such/folder old.db
expect 2
expect 3 /no/such/trace.db
chmod a-w old.db
if [ ! -w old.db ]; then
    expect 3 old.db
fi
echo 'symbolize: lines came, and nothing else changed'
