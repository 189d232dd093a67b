#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where standard output cannot be written every command says why, in one line, and ends with 3.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3
[ -e /dev/full ] || fail "there is no /dev/full"

make_trace good.db golden/trace
make_trace counted.db golden/trace
sqlite3 counted.db "INSERT INTO instruction (launch_seq, class_id, site, kind, executed, lanes, bytes, sectors, ideal_sectors, source)
    SELECT seq, class_id, 1, 'global_load', 1, 32, 256, 8, 8, 'simulated' FROM launch ORDER BY seq LIMIT 1"
gunzip -c "$GMT_SOURCE/tests/data/pipeline_fast.db.gz" >recorded.db
mkdir nights
cp good.db nights/
while read -r line; do
    # shellcheck disable=SC2086 # several words
    status=0 && "$GMANALYZE" $line >out 2>err </dev/null || status=$?
    { [ -s out ] && [ "$status" -lt 2 ]; } || fail "gmanalyze $line prints nothing, status $status: $(cat err)"
    # shellcheck disable=SC2086
    status=0 && "$GMANALYZE" $line >/dev/full 2>err </dev/null || status=$?
    [ "$status" = 3 ] || fail "status $status of gmanalyze $line"
    grep -v '^gmanalyze: wrote .*[^t]$' err >said
    [ "$(cat said)" = "gmanalyze: standard output: No space left on device" ] || fail "gmanalyze $line: $(cat err)"
done <<'END'
--calibrate never good.db
--calibrate never --format json good.db
--calibrate never good.db counted.db
--calibrate never --format json good.db counted.db
--list-rules
--list-rules --format json
--explain GM101
--help
--version
help
help sql
fixes good.db
diff good.db good.db
diff --format json good.db good.db
trend nights
trend --format json nights
export --to perfetto good.db
export --to pprof good.db
export --to speedscope good.db
sql good.db
sql good.db SELECT/**/1
sql --format json good.db SELECT/**/1
lines counted.db
lines --format json counted.db
steps good.db
symbolize recorded.db
validate recorded.db
validate --json recorded.db
END
echo "gmanalyze: what cannot be written is said"
