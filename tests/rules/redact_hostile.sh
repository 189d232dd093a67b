#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze --redact executes nothing of a trace: a view whose text goes on with statements of its own
# neither reads another database of the user into the report nor calls an address of its choice.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 jq python3

make_trace good.db golden/trace
sqlite3 cookies.db "CREATE TABLE jar (secret TEXT); INSERT INTO jar VALUES ('S_E_C_R_E_T')"

# hostile NAME STATEMENTS: good.db with a view that goes on so.
cat >hostile.py <<'END'
import shutil, sqlite3, sys
name, statements = sys.argv[1:]
shutil.copy("good.db", name)
db = sqlite3.connect(name, isolation_level=None)
db.execute("CREATE VIEW aa_first AS SELECT 1")
db.execute("PRAGMA writable_schema = ON")
db.execute("UPDATE sqlite_master SET sql = sql || ';' || ? WHERE name = 'aa_first'", (statements,))
END

attach="ATTACH '$work/cookies.db' AS other; DROP VIEW IF EXISTS temp.kernel;
CREATE TEMP TABLE kernel AS SELECT * FROM main.kernel;
UPDATE temp.kernel SET name = (SELECT secret FROM other.jar)"
for level in paths names; do
    python3 hostile.py attach.db "$attach"
    status=0
    "$GMANALYZE" --calibrate never --redact=$level -o a.json -o a.html --top 0 attach.db >a.txt 2>err </dev/null || status=$?
    ! grep -q S_E_C_R_E_T a.txt err || fail "$level: another database is in the text"
    [ ! -e a.json ] || ! jq -e '[.. | strings | select(contains("S_E_C_R_E_T"))] | length > 0' a.json >/dev/null ||
        fail "$level: another database is in the JSON report"
    [ "$status" = 0 ] || [ "$status" = 3 ] || fail "$level: status $status ($(cat err))"

    for call in "SELECT fts3_tokenizer('simple', x'4141414141414141'); CREATE VIRTUAL TABLE temp.t USING fts3(a)" \
        "SELECT load_extension('$work/none')" "PRAGMA temp_store_directory = '$work'"; do
        python3 hostile.py call.db "$call"
        status=0
        "$GMANALYZE" --calibrate never --redact=$level call.db >c.txt 2>err </dev/null || status=$?
        [ "$status" = 0 ] || [ "$status" = 3 ] || fail "$level: status $status of: $call"
        ! grep -qi 'extension\|not authorized' err || fail "$level: executed: $call ($(cat err))"
    done
done

# Of an ordinary trace nothing is refused.
"$GMANALYZE" --calibrate never --redact=names good.db >good.txt 2>err </dev/null || fail "status $? ($(cat err))"
[ -s good.txt ] || fail "no report"
echo "gmanalyze: --redact executes nothing of a trace"
