#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze on what is not a good trace: status 3, one line on stderr, nothing on stdout, no crash.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmanalyze=$GMT_BUILD/bin/gmanalyze
[ -x "$gmanalyze" ] || skip "gmanalyze is not built"
traced good churn 50
finished good.db

refused() {
    local what=$1 status=0
    shift
    "$gmanalyze" --calibrate never "$@" >bad.out 2>bad.err </dev/null || status=$?
    equal "status on $what" 3 $status
    equal "output on $what" "" "$(cat bad.out)"
    equal "lines about $what" 1 "$(wc -l <bad.err)"
    grep -qF "$1" bad.err || fail "the line about $what does not name the file: $(cat bad.err)"
}

refused "a missing file" absent.db
: >empty.db
refused "an empty file" empty.db
mkdir folder.db
refused "a directory" folder.db
head -c 20000 good.db >truncated.db
refused "a truncated trace" truncated.db
head -c 50 good.db >half.db
refused "half a header" half.db
head -c 40000 /dev/urandom >noise.db
refused "noise" noise.db
sqlite3 foreign.db 'CREATE TABLE t (x); INSERT INTO t VALUES (1)'
refused "a foreign database" foreign.db
cp good.db newer.db
sqlite3 newer.db 'PRAGMA user_version = 9999'
refused "a newer trace" newer.db
if [ "$(id -u)" != 0 ]; then
    cp good.db closed.db && chmod 000 closed.db
    refused "a file without permission" closed.db
fi

# Of a table that is not there it is said how to list those that are.
status=0
"$gmanalyze" sql good.db 'SELECT * FROM kernels' >bad.out 2>bad.err || status=$?
equal "status of a query on a table that is not there" 2 $status
equal "what is said of it" "gmanalyze: sql: no such table: kernels; without a query, the views and their columns are listed" "$(cat bad.err)"

# A finished trace has nothing to recover.
status=0
"$gmanalyze" recover good.db >bad.out 2>bad.err || status=$?
equal "status of recovering a finished trace" 3 $status
grep -qF 'good.db: no trace was made: it has no spool; a finished trace needs none' bad.err || fail "$(cat bad.err)"

status=0
"$gmanalyze" recover nowhere.db >bad.out 2>bad.err || status=$?
equal "status of recovering what is not there" 3 $status
equal "what is said of it" "gmanalyze: nowhere.db: no trace was made: No such file or directory" "$(cat bad.err)"

# The beginning of a command, and a mistyped one behind help, are answered with what was likely meant.
while read -r words; do
    status=0
    # shellcheck disable=SC2086 # several words
    "$gmanalyze" ${words%|*} >bad.out 2>bad.err || status=$?
    equal "status of ${words%|*}" 2 $status
    grep -qF "did you mean '${words#*|}'?" bad.err || fail "${words%|*}: $(cat bad.err)"
done <<'END'
fix good.db|gmanalyze fixes
sym good.db|gmanalyze symbolize
help fixe|fixes
help dif|diff
END
# Two letters are too few to guess by.
! "$gmanalyze" li good.db >bad.out 2>bad.err || fail "li is taken"
! grep -q 'did you mean' bad.err || fail "a command is guessed: $(cat bad.err)"

status=0
"$gmanalyze" --no-such-option good.db >/dev/null 2>&1 || status=$?
equal "status on bad usage" 2 $status
status=0
"$gmanalyze" --calibrate never good.db >good.out 2>good.err || status=$?
equal "status on a good trace" 0 $status
[ -s good.out ] || fail "nothing is said about a good trace"
