#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze fleet on folders of traces: who is odd and why, what cannot be compared, text and JSON.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
: "${MAKE_FLEET:?}"
needs sqlite3 python3
program=("$GMANALYZE" fleet)

# json EXPRESSION: what it gives of `fleet`, the document in out.
json() { python3 -c 'import json, sys; fleet = json.load(open("out")); print(eval(sys.argv[1]))' "$1"; }

# Each cause by its trace: rank and word. The numbers are those of enum fault in physics.h.
causes=([1]=host [2]=kernels [3]=work [4]=link [5]=leak [6]=version [7]=clock [8]=allocation [9]=allocation)
for fault in 1 2 3 4 5 6 7 8 9; do
    odd=$("$MAKE_FLEET" "fault$fault" "$((900 + fault))" "$fault" 32 64)
    expect 0 --format json "fault$fault"
    equal "cause $fault" "True" "$(json "any(o['rank'] == '$odd' and o['cause'] == '${causes[$fault]}' for o in fleet['odd'])")"
    equal "other causes of $fault" "True" "$(json "all(o['cause'] == '${causes[$fault]}' for o in fleet['odd'])")"
done
equal "ranks" "32 64" "$(json "str(fleet['compared']) + ' ' + str(fleet['steps'])")"
equal "clocks" "{'good'}" "$(json "{r['clock']['confidence'] for r in fleet['ranks']}")"

# A clean fleet in which some cannot be compared: those are reported, the others answered.
"$MAKE_FLEET" clean 77 0 32 64 >all
cp -r clean all-ranks
expect 0 --format json clean
equal "odd ranks of a clean fleet" "0" "$(json "len(fleet['odd'])")"
head -c 20000 clean/rank3.db >short && mv short clean/rank3.db
echo "no trace" >clean/rank4.db
sqlite3 clean/rank5.db "DELETE FROM device; DELETE FROM step; DELETE FROM step_work"
sqlite3 clean/rank6.db "DELETE FROM step_work; DELETE FROM step_time; DELETE FROM step_collective"
sqlite3 clean/rank7.db "UPDATE process SET tool_version = '0.0.9', realtime_ns = NULL"
sqlite3 clean/rank8.db "UPDATE step_call SET host_ns = 'x' WHERE step_id = 5 AND kind = 'kernel'"
expect 0 --format json clean
equal "compared" "28" "$(json "fleet['compared']")"
equal "not compared" "4" "$(json "sum(not r['compared'] for r in fleet['ranks'])")"
equal "no GPU" "it has used no GPU" "$(json "[r['why_not'] for r in fleet['ranks'] if 'rank5.db' in r['trace']][0]")"
equal "no device times" "it has no times of its device" "$(json "[r['remark'] for r in fleet['ranks'] if 'rank6.db' in r['trace']][0]")"
equal "another version" "7 version gmtrace 0.0.9" "$(json "' '.join(fleet['odd'][0][k] for k in ('rank', 'cause', 'trait', 'has'))")"
equal "odd" "1" "$(json "len(fleet['odd'])")"
equal "no wall clock" "none" "$(json "[r['clock']['confidence'] for r in fleet['ranks'] if r['rank'] == '7'][0]")"
expect 0 clean
grep -q '^28 of 32 ranks compared, on ' out || fail "the head is missing"
grep -q 'rank 7 on node-.*: another driver, device or version' out || fail "the odd rank is not named"
for rank in 3 4 8; do grep -q "rank$rank.db: " out || fail "rank $rank is not reported"; done
[ "$(wc -l <out)" -le 60 ] || fail "more than a screen"

# Two ranks: what persists over the steps is reported, with the cause.
odd=$("$MAKE_FLEET" two 5 1 2 64)
expect 0 --format json two
equal "of two" "$odd host True" "$(json "fleet['odd'][0]['rank'] + ' ' + fleet['odd'][0]['cause'] + ' ' + str(fleet['few_ranks'])")"

# An earlier run: one in which all ranks have other numbers of copies, and the same again.
expect 0 --format json --against clean clean
equal "the same run" "[]" "$(json "fleet['against']['changes']")"
mkdir before && cp all-ranks/*.db before
for trace in before/*.db; do sqlite3 "$trace" "UPDATE step_call SET calls = calls + 2 WHERE kind = 'copy_h2d'"; done
expect 0 --format json --against before all-ranks
equal "copies before" "[('copies', 5.0, 3.0, 0, 32)]" "$(json "[(c['measure'], float(c['before']), float(c['after']), c['more'], c['less']) for c in fleet['against']['changes']]")"
expect 0 --against before all-ranks
grep -q 'copies between host and device: 3, before 5, in 32 ranks' out || fail "the change is not shown"
expect 0 --against before two
grep -q 'too few to distinguish a change from chance' out || fail "two ranks show a change"
expect 3 --against nowhere all-ranks

# Nothing to compare.
mkdir empty
expect 3 empty
grep -q 'there is no trace in it' err || fail "an empty folder is not explained"
expect 3 nowhere
expect 2
expect 2 clean empty
expect 2 --top x clean
mkdir broken && echo x >broken/a.db
expect 3 broken
grep -q 'a.db: ' out || fail "the broken trace is not named"
