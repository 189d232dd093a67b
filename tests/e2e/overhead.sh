#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --overhead: what recording costs is measured, and kept within a share by reading fewer stacks; what is an estimate says so.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmtrace=$GMT_BUILD/bin/gmtrace
gmanalyze=$GMT_BUILD/bin/gmanalyze
if [ ! -x "$gmtrace" ] || [ ! -x "$gmanalyze" ]; then skip "gmtrace or gmanalyze is not built"; fi
ms=4000

# shares TRACE: of all memsets, those whose stack has mostly(), in percent.
shares() {
    sql "$1" "SELECT round(100.0 * sum(EXISTS (SELECT 1 FROM v_stack v WHERE v.stack_id = m.stack_id AND v.function = 'mostly')) /
              count(*), 3) FROM memset m WHERE $2"
}

# near WHAT EXPECTED GOT WITHIN
near() {
    awk -v a="$2" -v b="$3" -v d="$4" 'BEGIN { exit !(b >= a - d && b <= a + d) }' || fail "$1: $3, not $2 +- $4"
}

# Without a limit, which is what the software device has, all is read, and it is measured all the same.
traced free paces $ms
finished free.db
equal "calls that took the stack of another" 0 "$(sql free.db 'SELECT count(stack_one_in) FROM memset')"
equal "limits" 0 "$(sql free.db 'SELECT count(budget) + sum(stack_one_in > 1) FROM overhead')"
equal "capability" 0 "$(sql free.db "SELECT count(*) FROM capability WHERE name = 'overhead'")"
equal "share of mostly()" 75.0 "$(shares free.db 1)"
[ "$(sql free.db 'SELECT count(*) FROM overhead')" -ge 2 ] || fail "there are no rows of overhead"
# It knows how many calls there were, by those that it timed.
sql free.db "SELECT (SELECT sum(calls) FROM overhead), count(*) FROM (SELECT end_ns FROM memset UNION ALL SELECT end_ns FROM sync)
             WHERE end_ns BETWEEN (SELECT min(begin_ns) FROM overhead) AND (SELECT max(end_ns) FROM overhead)" >calls
near "calls, in percent of those in the trace" 100 "$(awk -F'|' '{ print 100 * $1 / $2 }' calls)" 5
# What it says that calls cost is no more than the program was away: it waited 5 us for each.
near "share of the time" 15 "$(sql free.db "SELECT 100.0 * sum(hooks_ns + stacks_ns) / sum(end_ns - begin_ns) FROM overhead")" 14.9

# With one, too low for the records alone: stacks are read at some of the calls of each place.
GMTRACE_OVERHEAD=0.1% traced limited paces $ms
finished limited.db
equal "output" "$(sed 's/ .*//' free.out)" "$(sed 's/ .*//' limited.out)"
taken=$(sql limited.db 'SELECT count(stack_one_in) FROM memset')
read_ones=$(sql limited.db "SELECT count(*) FROM memset WHERE stack_one_in IS NULL AND begin_ns >= (SELECT min(begin_ns) FROM overhead)")
[ "$taken" -gt "$read_ones" ] || fail "$taken calls took a stack, $read_ones were read"
equal "calls without a stack" 0 "$(sql limited.db 'SELECT count(*) FROM memset WHERE stack_id IS NULL')"
equal "of the first second" 0 "$(sql limited.db "SELECT count(stack_one_in) FROM memset
    WHERE begin_ns < (SELECT min(begin_ns) FROM overhead)")"
equal "other rows with an estimate" 0 "$(sql limited.db 'SELECT count(stack_one_in) FROM api_call')"
equal "budget" 0.001 "$(sql limited.db 'SELECT max(budget) FROM overhead')"
# The sum in overhead is that of the rows, but for what each thread had not handed in yet.
near "calls that took a stack, in percent" 100 "$(sql limited.db "SELECT 100.0 * sum(stacks_taken) /
    (SELECT count(stack_one_in) FROM (SELECT stack_one_in FROM memset UNION ALL SELECT stack_one_in FROM sync)) FROM overhead")" 1
# Who called is an estimate, within two and a half times what the trace says (95 %: 1.96 of the standard error).
detail=$(sql limited.db "SELECT detail FROM capability WHERE name = 'overhead' AND state = 'partial'")
points=$(sed -n 's/.*shares of lines are estimates, +-\([0-9.]*\) points at most (95 %).*/\1/p' <<<"$detail")
[ -n "$points" ] || fail "the capability: $detail"
near "share of mostly()" 75 "$(shares limited.db 1)" "$(awk -v p="$points" 'BEGIN { print 2.5 * p }')"
"$gmanalyze" validate limited.db >validate.out || fail "validate: $(grep -v ^ok validate.out)"
nothing_lost limited.db
"$gmanalyze" --calibrate never limited.db >report.txt || fail "gmanalyze"
tr -s '\n ' '  ' <report.txt | grep -q "shares of lines are estimates" || fail "the report does not say so: $(cat report.txt)"

equal "was it kept" 0 "$(sql limited.db 'SELECT 1 - max(is_beyond) FROM overhead')"
[[ $detail = *"the calls' records alone cost more"* ]] || fail "the capability: $detail"

# Either it is kept, from the moment that it is known what calls cost, or the trace says that it could not be.
GMTRACE_OVERHEAD=1 traced kept paces $ms
finished kept.db
sql kept.db "SELECT 100.0 * sum(hooks_ns + stacks_ns + hashing_ns + counters_ns) / sum(end_ns - begin_ns), max(is_beyond)
             FROM overhead WHERE begin_ns > (SELECT min(begin_ns) FROM overhead)" >kept
awk -F'|' '{ exit !($1 <= 1.1 || $2) }' kept || fail "not kept: $(cat kept)"

# Stacks that are off stay off, and what is wrong is no limit of its own.
GMTRACE_STACKS=off GMTRACE_OVERHEAD=0.5 traced nostacks paces 2000
finished nostacks.db
equal "stacks" 0 "$(sql nostacks.db 'SELECT count(stack_id) + count(stack_one_in) FROM memset')"
equal "status for a bad value" 125 "$("$gmtrace" --overhead much true 2>bad.err; echo $?)"
grep -q "overhead takes a number from 0 to 100" bad.err || fail "a bad value: $(cat bad.err)"

# While it runs.
export LD_LIBRARY_PATH=$SIM_LIB
mkfifo stop
LD_PRELOAD=$GMT_LIB GMTRACE_OVERHEAD=0.1 GMTRACE_OUTPUT=$work/live.db "$CLIENTS/driverclient" paces 0 <stop >live.out &
pid=$!
at_exit "kill -9 $pid 2>/dev/null"
exec 9>stop
line='overhead +[0-9.]+ \+-[0-9.]+ % of 0.1 % \(calls [0-9.]+, stacks [0-9.]+, hashing 0.00, counters 0.00\), one stack in [0-9]+ is read'
tries=1200
until "$gmtrace" status $pid 2>/dev/null | grep -qE "; $line$"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || fail "gmtrace status: $("$gmtrace" status $pid)"
    sleep 0.05
done
for ((i = 0; i < 60; i++)); do
    "$gmtrace" top --once -d 0.5 $pid >top.out || fail "gmtrace top"
    ! grep -qE "^$line$" top.out || break
done
grep -qE "^$line$" top.out || fail "gmtrace top: $(cat top.out)"
exec 9>&-
wait $pid || fail "the program failed"

# On a driver like any other, which has a limit: what hashing takes by a budget of its own is not part of what was used of that.
LD_PRELOAD=$GMT_LIB SIMGPU_INTERFACE=0 GMTRACE_FINGERPRINTS=whole GMTRACE_FINGERPRINT_BUDGET=100 GMTRACE_OUTPUT=$work/apart.db \
    "$CLIENTS/driverclient" reupload_for 600000 >apart.out 2>&1 &
pid=$!
at_exit "kill -9 $pid 2>/dev/null"
line='overhead +([0-9.]+) \+-[0-9.]+ % of 3 % \(calls [0-9.]+, stacks [0-9.]+, counters 0.00\) besides ([0-9.]+) % by budgets of their own \(hashing ([0-9.]+)\)'
tries=1200
until "$gmtrace" status $pid >status.out 2>/dev/null && grep -qE "; $line" status.out; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || fail "gmtrace status of a budget apart: $(cat status.out)"
    sleep 0.05
done
equal "what is besides is hashing" same "$(sed -nE "s/.*$line.*/\2 \3/p" status.out | awk '{ print $1 == $2 ? "same" : $0 }')"
kill -9 $pid
finished apart.db
