#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze --range, and ranges in reports, on a synthetic trace.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 jq

program=("$GMANALYZE" --calibrate never --model "$rules/model.json" --top 10)

# says TEXT FILE
says() { grep -qF -- "$1" "$2" || fail "nothing of '$1' in $2"; }

make_trace t.db golden/trace
sqlite3 t.db <"$rules/named_ranges.sql"

expect 0 t.db -o r.json -o r.html
says 'range   fetch@loader' out
says 'Ranges that the program names' out
says 'step #' out
# What lies within another is below it.
[ "$(grep -A 1 '^  epoch ' out | tail -n 1 | cut -c1-17)" = '    fetch@loader ' ] ||
    fail "not below what is around it: $(grep -A 6 'Ranges that the program names' out)"
# What every report begins with is as long without ranges.
sed -E '/^── (Do first|Where the recorded)/,/^$/d' out >rest
[ "$(wc -l <rest)" -le 95 ] || fail "$(wc -l <rest) lines"
[ "$(jq -r '.ranges | length' r.json)" = 5 ] || fail "ranges: $(jq -c .ranges r.json)"
[ "$(jq -r '.findings[] | select(.rule == "GM101") | .range' r.json)" = fetch@loader ] ||
    fail "GM101 is in no range"

expect 0 --range epoch t.db -o epoch.json
says 'only calls inside of ranges named epoch' out
[ "$(jq -r '.verdict.transfers, .verdict.launches, .range_limit' epoch.json | tr '\n' ' ')" = "500 0 epoch " ] ||
    fail "limited to epoch: $(jq -c .verdict epoch.json)"
[ "$(jq -r '[.findings[].rule] | unique | join(" ")' epoch.json)" = GM101 ] || fail "findings: $(jq -c '[.findings[].rule]' epoch.json)"

# Of a trace of an earlier version, whose table of copies lacks a column.
cp t.db earlier.db
sqlite3 t.db "SELECT 'DROP VIEW ' || name || ';' FROM sqlite_master WHERE type = 'view'" | sqlite3 earlier.db
sqlite3 earlier.db 'ALTER TABLE transfer DROP COLUMN batch'
for redact in '' --redact=paths --redact=names; do
    # shellcheck disable=SC2086
    expect 0 $redact --range epoch earlier.db -o earlier.json
    [ "$(jq -c '[.verdict.transfers, .verdict.launches, [.findings[].rule]]' earlier.json)" = \
        "$(jq -c '[.verdict.transfers, .verdict.launches, [.findings[].rule]]' epoch.json)" ] ||
        fail "limited to epoch, of an earlier version: $redact"
done

expect 3 --range nowhere t.db
says "t.db: no range 'nowhere'; the most frequent are: all, elsewhere, epoch" err
[ ! -s out ] || fail "output all the same"
make_trace none.db golden/trace
expect 3 --range epoch none.db
says 'the trace has none' err

# What is redacted is in no report.
expect 0 --redact names --range epoch t.db -o names.json
for name in epoch fetch loader elsewhere; do
    if grep -q "$name" out names.json; then
        fail "'$name' is not redacted"
    fi
done
says 'range 5' names.json

spoil t.db
expect 0 t.db -o bad.json
jq -e '.ranges | length > 0' bad.json >/dev/null || fail "hostile names"
