#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Progress: on a terminal, for what takes over a second, with the time left; nowhere else.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 script
export TERM=xterm

gunzip -c "$GMT_SOURCE/tests/data/pipeline_slow.db.gz" >small.db
cp small.db large.db
# Two million copies more: seconds to read on any machine.
sqlite3 large.db "PRAGMA synchronous = off; PRAGMA ignore_check_constraints = on;
    CREATE TEMP TABLE one AS SELECT * FROM transfer WHERE result = 0 AND capturing = 0 LIMIT 1;
    CREATE TEMP TABLE n AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000000) SELECT i FROM c;
    CREATE TEMP TABLE more AS SELECT one.* FROM n, one;
    UPDATE more SET id = 1000000 + rowid;
    INSERT INTO transfer SELECT * FROM more"

# terminal COMMAND: its output on a terminal, into log; standard output stays away from it.
terminal() { script -qefc "$1 >out" log </dev/null >/dev/null; }

analyze="'$GMANALYZE' --calibrate never --rule GM101"
terminal "$analyze large.db"
grep -qE 'gmanalyze: reading, [0-9]+ %, [0-9]+ s left' log || fail "no progress with the time left: $(cat -v log)"
! grep -q '100 %' log || fail "done before it is"
# The last thing said of a step takes its line away.
tr '\r' '\n' <log | grep 'gmanalyze: \|^.\[K$' | tail -1 | grep -q $'^\033\\[K$' || fail "the line stays"
! grep -q 'reading' out || fail "progress among the results"

# It is shown after a second, which other processes may take from us.
for ((i = 0; i < 50; i++)); do
    began=$(date +%s%N)
    terminal "$analyze small.db"
    grep -q 'reading' log || break
    [ $(($(date +%s%N) - began)) -ge 1000000000 ] || fail "progress of what takes no time"
done
! grep -q 'reading' log || fail "progress of what takes no time"
TERM=dumb terminal "$analyze large.db"
! grep -q 'reading' log || fail "progress on a terminal that cannot show it"
"$GMANALYZE" --calibrate never --rule GM101 large.db >out 2>err
[ ! -s err ] || fail "progress in a file"

echo "gmanalyze: progress on terminals only"
