#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# apply.sh generated FIRST COUNT SEEDS | large | mutants: programs that copy (copies.c) show the same with the fixes of preload/apply, and
# each fault of apply.mutants is missed.
# shellcheck source=tests/lib.sh
source "${GMT_SOURCE:?}/tests/lib.sh"
: "${GMT_LIB:?}" "${MUTANTS_LIB:?}" "${PROGRAMS:?}"

# plan NAME PARAMETER...
plan() {
    local name=$1
    shift
    printf '%s\n' 'gmtrace-apply 1' "program $(printf '%032d' 0) /test" "fix pageable-staging trying $*" >"$work/$name.plan"
}
# Small pieces, so that small copies pass the whole ring several times; two pieces, so that a copy finds none; large ones.
plan small min_bytes=64 piece_bytes=256 pieces=4
plan full min_bytes=64 piece_bytes=64 pieces=2
plan large min_bytes=65536 piece_bytes=1048576 pieces=3 threads=8

# copies LIBRARY PLAN FIRST COUNT SEEDS
copies() {
    local large=()
    [ "$2" != large ] || large=(large)
    LD_PRELOAD=$1 "$PROGRAMS/order_copies" "$3" "$4" "$5" "$work/$2.plan" "${large[@]}"
}

case $1 in
generated)
    for name in small full; do
        copies "$GMT_LIB" $name "$2" "$3" "$4" >out || fail "$name: $(cat out)"
        cat out
        # What a program may meet was met: each of these conditions refused some copy.
        for reason in 'too small' 'being captured' 'another than that of the ring' 'not one allocation' 'page-locked' \
            'earlier copies' 'no ring'; do
            grep -qE "refused [1-9][0-9]*: .*$reason" out || fail "$name: nothing was refused for: $reason"
        done
    done
    ;;
large) copies "$GMT_LIB" large 0 12 3 || fail "large copies" ;;
mutants)
    count=0
    while read -r name under what; do
        missed=
        for first in 0 10 20 30 40 50 60 70 80 90; do
            if ! GMT_TEST_MUTANT=$name copies "$MUTANTS_LIB" "$under" $first 10 3 >out 2>&1; then
                missed=$(grep -m1 FAIL out || echo 'it ends')
                break
            fi
        done
        [ -n "$missed" ] || fail "nobody misses that $what ($name)"
        echo "$name: $missed"
        count=$((count + 1))
    done < <(grep -v '^#' "$GMT_SOURCE/tests/simgpu/order/apply.mutants")
    # Without a fault the library of the mutants is as good as the other.
    copies "$MUTANTS_LIB" small 0 10 3 >out || fail "without a fault: $(cat out)"
    [ "$count" -ge 20 ] || fail "only $count mutants"
    ;;
esac
