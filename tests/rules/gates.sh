#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --budget and --baseline on the sample program's recordings: what they refuse, what they let pass, and
# what they say about it.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 jq

for name in slow fast; do
    gunzip -c "$GMT_SOURCE/tests/data/pipeline_$name.db.gz" >$name.db
done

program=("$GMANALYZE" --calibrate never)

# says PATTERN: a line of standard error matches; silent PATTERN: none does.
says() { grep -qE -- "$1" err || fail "nothing like '$1'"; }
silent() { ! grep -qE -- "$1" err || fail "something like '$1'"; }

# budget ASSERTIONS: into budget.json.
budget() { printf '{"assertions": {%s}}\n' "$1" >budget.json; }

# A limit on a figure, on a rule's number of findings, on its savings, and on it as a whole.
budget '"pageable_bytes": ["error", {"maxNumericValue": 1048576}], "copies": ["error", {"maxNumericValue": 16449}]'
expect 1 --budget budget.json slow.db -o gate.json
says '^gmanalyze: slow.db: 1 of 2 gates failed$'
says '^  FAILED  budget   pageable_bytes  4.02 GiB  <= 1.00 MiB$'
silent copies # exactly at its limit
[ "$(jq .verdict.transfers gate.json)" = 16449 ] || fail "a failed gate suppressed the output"
expect 0 --budget budget.json fast.db
silent .
# Where both would read alike, they are written in full.
budget '"pageable_bytes": ["error", {"maxNumericValue": 4311808004}], "copies": ["error", {"maxNumericValue": 16448.75}]'
expect 1 --budget budget.json slow.db
says '^  FAILED  budget   pageable_bytes  4,311,810,052 bytes  <= 4,311,808,004 bytes$'
says '^  FAILED  budget   copies                       16,449  <= 16448.75$'
budget '"GM201": ["error", {"maxLength": 1.5}]'
expect 1 --budget budget.json slow.db
says '2 findings  <= 1.5 findings '
budget '"GM201": ["error", {"maxLength": 1}]'
expect 1 --budget budget.json slow.db
says '2 findings  <= 1 finding .*pipeline_slow.cu:160, pipeline_slow.cu:161'
budget '"GM201": ["error", {"maxLength": 2}]'
expect 0 --budget budget.json slow.db
budget '"row-by-row-copy": ["error", {"maxNumericValue": 5e7}]'
expect 1 --budget budget.json slow.db
budget '"row-by-row-copy": ["error", {"maxNumericValue": 1e8}]'
expect 0 --budget budget.json slow.db
budget '"GM102": "error"'
expect 1 --budget budget.json slow.db
expect 0 --budget budget.json fast.db
budget '"GM102": ["error", {"minScore": 0}]'
expect 0 --budget budget.json slow.db

# Levels, and the file as lighthouse-ci nests it.
budget '"GM102": "warn", "GM101": "off"'
expect 0 --budget budget.json slow.db
says 'warning budget   GM102'
silent GM101
jq '{ci: {assert: .}}' <<<'{"assertions": {"GM102": "error"}}' >budget.json
expect 1 --budget budget.json slow.db

# Each gate that is asked for counts; together they fail when one does.
budget '"copies": ["error", {"maxNumericValue": 1e9}]'
expect 1 --budget budget.json --fail-on high slow.db
expect 0 --budget budget.json --fail-on high fast.db

# What is not known neither holds nor fails, except under --strict.
budget '"wall_ns": ["error", {"maxNumericValue": 1}], "GM102": "error"'
make_trace simulated.db fixtures/GM301_positive
sqlite3 simulated.db <"$GMT_SOURCE/tests/rules/simulated.sql"
expect 0 --skip-rule GM102 --budget budget.json simulated.db
says 'unknown budget   wall_ns  *–'
says 'unknown budget   GM102 .*did not run'
expect 4 --strict --skip-rule GM102 --budget budget.json simulated.db

# A budget that says nothing sensible is no budget that holds: refused before anything is read.
refuse() {
    expect 2 --budget budget.json absent.db
    says "^gmanalyze: budget.json: .*$1"
}
rm budget.json
refuse 'No such file'
for case in \
    '{"assertions": {"no-such-rule": "error"}}|neither a figure' \
    '{"assertions": {"GM102": "loud"}}|off, warn or error' \
    '{"assertions": {"GM102": ["error", {"maxLenght": 0}]}}|no limit .maxLenght' \
    '{"assertions": {"copies": "error"}}|needs a limit' \
    '{"assertions": {"copies": ["error", {"maxNumericValue": -1}]}}|between 0 and' \
    '{"assertions": {"GM102": ["error", {"maxLength": 1e300}]}}|between 0 and' \
    '{"assertions": {"copies": ["error", {"maxLength": 1}]}}|asked of rules' \
    '{"assertions": {"copies": ["error", {"maxNumericValue": "1"}]}}|must be a number' \
    '{"assertions": {"copies": ["error", 1]}}|an object of limits' \
    '{"assertions": {"GM102": "off", "GM102": "error"}}|line 1' \
    '{"assertion": {}}|no object .assertions' \
    '{"assertions": {|line 2'; do
    echo "${case%%|*}" >budget.json
    refuse "${case#*|}"
done

# A baseline: what is counted fails exactly, what is new fails, and less is never worse.
expect 0 --baseline slow.db slow.db
silent .
expect 0 --baseline slow.db fast.db
silent FAILED
expect 1 --baseline fast.db slow.db
says 'FAILED  baseline copies  *16,449  <= 135  '
says 'FAILED  baseline GM104 .*medium, row-by-row-copy at pipeline_slow.cu:171'
says 'FAILED  baseline kernel_ns'
first_time=$(grep -n '_ns ' err | head -1 | cut -d: -f1)
last_count=$(grep -nE '(copies|bytes|allocations) ' err | tail -1 | cut -d: -f1)
[ "$last_count" -lt "$first_time" ] || fail "times stand before counts"
silent 'GM201' # low severity: no reason to stop anybody
cp slow.db more.db
add_copies() {
    sqlite3 "$1" "CREATE TEMP TABLE t AS SELECT * FROM transfer WHERE result = 0 AND capturing = 0 LIMIT $2;
        UPDATE t SET id = id + 1000000; INSERT INTO transfer SELECT * FROM t"
}
add_copies more.db 800 # 4.9 % of 16449
expect 0 --baseline slow.db more.db
expect 1 --baseline slow.db --max-regression 4.8% more.db
says 'FAILED  baseline copies  *17,249  <= 17,239  \+4.9 %'
expect 1 --baseline slow.db --max-regression 0 more.db
cp slow.db byte.db
sqlite3 byte.db "UPDATE transfer SET bytes = bytes + 1 WHERE id = (SELECT min(id) FROM transfer WHERE src_class = 'pageable')"
expect 1 --baseline slow.db --max-regression 0 byte.db
says 'FAILED  baseline pageable_bytes  *4,311,810,053 bytes  <= 4,311,810,052 bytes'
expect 3 --baseline absent.db slow.db
expect 2 --max-regression much slow.db
expect 2 --max-regression -1 slow.db

# Times: inside the noise of a run a longer one is reported and passes, beyond it it fails.
stretch() {
    cp slow.db "$1"
    sqlite3 "$1" "UPDATE process SET end_ns = end_ns + (SELECT $2 * (end_ns - start_ns) FROM process)"
}
stretch longer.db 0.2
expect 0 --baseline slow.db longer.db
says 'warning baseline wall_ns .* inside the noise of a run'
stretch longest.db 0.6
expect 1 --baseline slow.db longest.db
says 'FAILED  baseline wall_ns'
expect 0 --baseline slow.db --max-regression 100 longest.db
# Three runs that agree leave little room for noise: what passed above fails.
expect 1 --baseline slow.db --baseline slow.db --baseline slow.db longer.db
says 'FAILED  baseline wall_ns'

echo "gmanalyze: budgets and baselines gate as documented"
