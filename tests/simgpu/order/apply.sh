#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# apply.sh generated|blocks|uploads FIRST COUNT SEEDS | time | streams | large | zero | mutants: programs that copy (copies.c, uploads.c), and that allocate and free (blocks.c), show the
# same with the fixes of preload/apply, and each fault of apply.mutants is missed.
# shellcheck source=tests/lib.sh
source "${GMT_SOURCE:?}/tests/lib.sh"
: "${GMT_LIB:?}" "${MUTANTS_LIB:?}" "${PROGRAMS:?}"
LEADING=${LEADING-} # libraries that are preloaded first: those of sanitizers

# plan NAME FIX-AND-PARAMETERS...
plan() {
    local name=$1 fix rest
    shift
    printf '%s\n' 'gmtrace-apply 2' "program $(printf '%032d' 0) /test" >"$work/$name.plan"
    for fix; do
        read -r fix rest <<<"$fix"
        printf 'fix %s trying %s\n' "$fix" "$rest" >>"$work/$name.plan"
    done
}
# Small pieces, so that small copies pass the whole ring several times; two pieces, so that a copy finds none; large ones.
plan small 'pageable-staging min_bytes=64 piece_bytes=256 pieces=4'
plan full 'pageable-staging min_bytes=64 piece_bytes=64 pieces=2'
plan large 'pageable-staging min_bytes=65536 piece_bytes=1048576 pieces=3 threads=8'
# Room for a dozen blocks, for some, for less than the larger ones; page-locked memory alone, large enough to be of new pages.
plan blocks 'block-cache min_bytes=1 kept_bytes=16384' 'pinned-cache kept_bytes=16384 clear=0'
plan few 'block-cache min_bytes=1 kept_bytes=700' 'pinned-cache min_bytes=300 kept_bytes=700'
plan device 'block-cache min_bytes=1'
plan zero 'pinned-cache'
# A time that none of them reaches; one that many do, and little room; beside all other fixes; each by itself.
plan long 'rows-in-one most_us=1000000' 'gathered-copies most_us=1000000'
plan short 'rows-in-one most_us=20 batch_bytes=128 most_bytes=64' 'gathered-copies most_us=20 batch_bytes=200 most_bytes=100'
plan beside 'rows-in-one' 'gathered-copies' 'pageable-staging min_bytes=200 piece_bytes=64 pieces=3' 'block-cache min_bytes=1' 'pinned-cache'
plan time 'rows-in-one most_us=100' 'gathered-copies most_us=100'
plan streams 'gathered-copies most_us=1000000'
plan rows 'rows-in-one most_us=1000000'
plan pieces 'gathered-copies most_us=1000000'
plan nothing 'block-cache min_bytes=1 kept_bytes=200' 'pinned-cache kept_bytes=200'

# programs LIBRARY PLAN FIRST COUNT SEEDS
programs() {
    local words=() program=order_copies
    case $2 in
    large) words=(large) ;;
    zero) program=order_blocks words=(zero) ;;
    blocks | few | device | nothing) program=order_blocks ;;
    long | short | beside | rows | pieces) program=order_uploads ;;
    time | streams) program=order_uploads words=("$2") ;;
    esac
    LD_PRELOAD=${LEADING:+$LEADING:}$1 "$PROGRAMS/$program" "$3" "$4" "$5" "$work/$2.plan" "${words[@]}"
}
# expect_refusals FILE NAME TEXT...: what a program may meet was met: each of these conditions refused some call.
expect_refusals() {
    local file=$1 name=$2 reason
    shift 2
    for reason; do
        grep -qE "refused [1-9][0-9]*: .*$reason" "$file" || fail "$name: nothing was refused for: $reason"
    done
}

case $1 in
generated)
    for name in small full; do
        programs "$GMT_LIB" $name "$2" "$3" "$4" >out || fail "$name: $(cat out)"
        cat out
        expect_refusals out $name 'too small' 'being captured' 'another than that of the ring' 'not one allocation' 'page-locked' \
            'earlier copies' 'no ring'
    done
    ;;
large) programs "$GMT_LIB" large 0 12 3 || fail "large copies" ;;
blocks)
    for name in blocks few device; do
        programs "$GMT_LIB" $name "$2" "$3" "$4" >out || fail "$name: $(cat out)"
        cat out
        expect_refusals out $name 'being captured' 'several contexts' 'identity was asked' 'size and kind'
        # AddressSanitizer lets no memory be used again soon.
        [ -n "$LEADING" ] || expect_refusals out $name 'another allocation'
    done
    programs "$GMT_LIB" few "$2" 4 "$4" >out || fail "few: $(cat out)"
    expect_refusals out few 'more would be kept' 'too small'
    # What may not be kept is not: each allocation is the driver's.
    programs "$GMT_LIB" nothing 0 8 1 >out && fail "something was kept: $(cat out)"
    equal "nothing is applied" 2 "$(grep -cE 'orders each: 0 failed|^applied 0 of 0 bytes' out)"
    ;;
uploads)
    for name in long short beside; do
        programs "$GMT_LIB" $name "$2" "$3" "$4" >out || fail "$name: $(cat out)"
        cat out
        expect_refusals out $name 'being captured' 'another than that of the memory' 'not one allocation' 'page-locked' 'several contexts' \
            'asynchronous' 'behind another call' 'equal distances' 'has work' 'is shared'
        [ $name != short ] || expect_refusals out short 'too large'
    done
    for name in rows pieces; do
        programs "$GMT_LIB" $name "$2" 20 "$4" >out || fail "$name: $(cat out)"
        cat out
    done
    ;;
time) programs "$GMT_LIB" time 0 4 3 || fail "copies that no call comes behind" ;;
streams)
    programs "$GMT_LIB" streams 0 5 5 >out || fail "copies beside streams"
    # 8 for each where there are too many; the others beside work that is not done.
    [ "$(sed -nE 's/^refused ([0-9]+): .*has work.*/\1/p' out)" -gt 200 ] || fail "no stream has work: $(cat out)"
    ;;
zero) programs "$GMT_LIB" zero 0 12 3 || fail "page-locked memory" ;;
mutants)
    count=0
    while read -r name under what; do
        missed=
        if [ "$under" = nothing ]; then # what is wrong there is that something was applied
            GMT_TEST_MUTANT=$name programs "$MUTANTS_LIB" nothing 0 8 1 >out 2>&1 && missed=$(grep -m1 '^applied' out)
        fi
        for first in 0 10 20 30 40 50 60 70 80 90; do
            if [ "$under" != nothing ] && ! GMT_TEST_MUTANT=$name programs "$MUTANTS_LIB" "$under" $first 10 3 >out 2>&1; then
                missed=$(grep -m1 FAIL out || echo 'it ends')
                break
            fi
        done
        [ -n "$missed" ] || fail "nobody misses that $what ($name)"
        echo "$name: $missed"
        count=$((count + 1))
    done < <(grep -v '^#' "${MUTANTS:-$GMT_SOURCE/tests/simgpu/order/apply.mutants}")
    # Without a fault the library of the mutants is as good as the other.
    programs "$MUTANTS_LIB" small 0 10 3 >out || fail "without a fault: $(cat out)"
    programs "$MUTANTS_LIB" blocks 0 10 3 >out || fail "without a fault: $(cat out)"
    programs "$MUTANTS_LIB" long 0 10 3 >out || fail "without a fault: $(cat out)"
    [ "$count" -ge 53 ] || fail "only $count mutants"
    ;;
esac
