#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# rows-in-one and gathered-copies in programs of each kind: applied, or refused with the reason, and the program is as it was.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
client=$CLIENTS/tryclient
unset GMTRACE_COLLECT
export SIMGPU_ORDER_REPORT=$work/report

# FIX MODE TEXT: what gmtrace try says of 64 copies of that program, of which two show that they go on. `late`: also where work is done late.
row() {
    local fix=$1 mode=$2 text=$3 name=${1}_$2 order
    LD_LIBRARY_PATH=$SIM_LIB run "$name.plain" "$client" "$mode" 3
    run "$name" "$GMT_BUILD/bin/gmtrace" --device sim try -o "$name.plan" "$fix" "$client" "$mode" 3
    equal "$name: exit status" 3 "$(cat "$name.status")"
    same "$name: output" "$name.plain.out" "$name.out"
    grep -qF -- "$text" "$name.err" || fail "$name: it does not say '$text': $(cat "$name.err")"
    grep -qF 'RESULTS DIFFER' "$name.err" && fail "$name: $(cat "$name.err")"
    sed -E "/^fix $fix /s/ [^ ]+\$/ proven/" "$name.plan" >"$name.proven"
    for order in 0 1 2 3 4 5; do
        SIMGPU_ORDER=$order LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_APPLY=$work/$name.proven run "$name.$order" "$client" "$mode" 3
        same "$name, order $order: output" "$name.plain.out" "$name.$order.out"
        equal "$name, order $order: exit status" 3 "$(cat "$name.$order.status")"
        [ ! -e report ] || fail "$name, order $order: $(head -1 report)"
    done
    echo "$name: $text"
}
both() {
    row rows-in-one "rows$1" "$2"
    row gathered-copies "pieces$1" "$2"
}

both '' 'applied to 62 copies, 2.42 KiB'
row gathered-copies rows 'applied to 62 copies'
row rows-in-one pieces 'not applied to 62 copies, 2.42 KiB: it does not go on a row of copies at equal distances'
both ,async 'not applied to 64 copies, 2.50 KiB: it is asynchronous, or in another stream than the legacy one'
both ,own 'not applied to 64 copies, 2.50 KiB: it is asynchronous, or in another stream than the legacy one'
both ,capture 'a stream is being captured'
both ,shared 'not applied to 64 copies, 2.50 KiB: memory is shared with other processes, devices or interfaces'
both ,contexts 'the process has several contexts'
both ,child 'applied to 62 copies, 2.42 KiB'
both ,locked 'applied to 62 copies, 2.42 KiB'
both ,combined 'the host side is page-locked'
both ,threads 'it is the first copy, or the first behind another call'

# The twins that rules GM101 and GM104 were planted in, by the runtime.
programs=$GMT_BUILD/tests/gpu/programs/twins/shared
[ -x "$programs/transfer_pairs" ] || skip "the twins are not built (no nvcc)"
for twin in 'GM101 gathered-copies small_up' 'GM104 rows-in-one rows_up'; do
    read -r rule fix problem <<<"$twin"
    run "$rule" "$GMT_BUILD/bin/gmtrace" --device sim try -o "$rule.plan" "$rule" "$programs/transfer_pairs" "$problem" --bad
    equal "$rule: exit status" 0 "$(cat "$rule.status")"
    grep -qE "$fix: applied to [0-9,]{5,} copies" "$rule.err" || fail "$rule: $(cat "$rule.err")"
    grep -qF 'RESULTS DIFFER' "$rule.err" && fail "$rule: $(cat "$rule.err")"
    grep -F 'applied to' "$rule.err"
done
exit 0
