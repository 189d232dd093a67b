#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fixes.sh FORM MINIMUM: a program of that form under all conditions: each fix is applied or refused with its reason, as the rows of fixes.table
# say, and what the program prints is what it prints without gmtrace: in each try, and with all fixes on, also where work is done late.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
form=$1 minimum=$2
client=$CLIENTS/fixesclient_$form
table=$GMT_SOURCE/tests/e2e/matrix/fixes.table
unset GMTRACE_COLLECT
export SIMGPU_ORDER_REPORT=$work/report

# Rows of this condition, compared with what gmtrace try found out.
compare_rows() {
    python3 - "$table" "$1" "$1.json" <<'EOP'
import json
import sys

table, condition, results = sys.argv[1:]
rows = [line.split(None, 3) for line in open(table, encoding="utf-8") if line.startswith(condition + " ")]
found = {tried["name"]: tried for tried in json.load(open(results, encoding="utf-8"))["tried"]}
wrong = []
for _, fix, calls, reason in rows:
    reason = reason.strip()
    [counts] = found[fix]["fixes"]
    applied, refused = counts["calls"], {one["reason"] for one in counts["refused"]}
    expected = {"any": True, "some": applied > 0, "none": applied == 0}.get(calls, str(applied) == calls)
    if not expected or not (reason == "-" or reason in refused):
        wrong.append(f"{fix}: applied to {applied} calls, refused for {sorted(refused)}; expected {calls} and '{reason}'")
    if found[fix]["state"] not in ("tried", "no-gain"):
        wrong.append(f"{fix}: {found[fix]['state']}: {found[fix]['why']}")
if wrong:
    sys.exit("\n".join(wrong))
print(f"{condition}: {len(rows)} rows")
EOP
}

rows=0
while read -r condition count; do
    LD_LIBRARY_PATH=$SIM_LIB run "$condition.plain" "$client" "$condition"
    equal "$condition: exit status" 0 "$(cat "$condition.plain.status")"
    [ -s "$condition.plain.out" ] || fail "$condition: the program prints nothing"
    run "$condition" "$GMT_BUILD/bin/gmtrace" --device sim try -o "$condition.plan" "$client" "$condition"
    equal "$condition: exit status" 0 "$(cat "$condition.status")"
    same "$condition: output" "$condition.plain.out" "$condition.out"
    ! grep -qF 'RESULTS DIFFER' "$condition.err" || fail "$condition: $(cat "$condition.err")"
    compare_rows "$condition" || fail "$condition: $(cat "$condition.err")"
    sed -E '/^fix /s/ [^ ]+$/ proven/' "$condition.plan" >"$condition.proven"
    # Where another process reads a copy without a call that waits for it, it is there at once only in the order of the calls.
    orders='0 1 2 3 4 5'
    [ "$condition" != ipc ] || orders=0
    for order in $orders; do
        SIMGPU_ORDER=$order LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_APPLY=$work/$condition.proven \
            run "$condition.$order" "$client" "$condition"
        same "$condition, order $order: output" "$condition.plain.out" "$condition.$order.out"
        equal "$condition, order $order: exit status" 0 "$(cat "$condition.$order.status")"
        [ ! -e report ] || fail "$condition, order $order: $(head -1 report)"
    done
    rows=$((rows + count))
done < <(sed -nE 's/^([a-z]+) .*/\1/p' "$table" | sort | uniq -c | awk '{ print $2, $1 }')
[ "$rows" -ge "$minimum" ] || fail "only $rows rows"

# That another process would see copies too late is seen here: with the fault that sharing is not looked for.
mutants=$GMT_BUILD/tests/simgpu/order/libgmtrace_mutants.so
[ -e "$mutants" ] || skip "the library with faults is not built"
sed -E 's/^(fix (gathered-copies|rows-in-one) .*)/\1 most_us=1000000/' ipc.proven >slow.proven
GMT_TEST_MUTANT=gather_shared LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$mutants GMTRACE_APPLY=$work/slow.proven run mutant "$client" ipc
! cmp -s ipc.plain.out mutant.out || fail "nobody misses that memory which is shared is not looked for"
LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$mutants GMTRACE_APPLY=$work/slow.proven run no_mutant "$client" ipc
same "without the fault: output" ipc.plain.out no_mutant.out
echo "$form: $rows rows"
