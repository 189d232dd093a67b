#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every kind of fault is seen and its input named, by replay.c as by libFuzzer.
# shellcheck source=tests/lib.sh
. "${GMT_SOURCE:?}/tests/lib.sh"
: "${FAULTS:?}" "${SANITIZED:?}" "${LIBFUZZER:?}"

kinds="crash promise exit memory time"
[ "$SANITIZED" = 1 ] && kinds="$kinds overflow"
for kind in $kinds; do
    echo "$kind" >"$kind"
    status=0
    "$FAULTS" "$kind" >"$kind.err" 2>&1 || status=$?
    [ "$status" != 0 ] || fail "$kind: not seen"
    grep -q "$kind" "$kind.err" || fail "$kind: the input is not named"
done
grep -q "does not hold: data\[0\]" promise.err || fail "a promise: the reason is not printed"
grep -q "more time than the size of the input allows" time.err || fail "time: the reason is not printed"
grep -q "KiB of memory" memory.err || fail "memory: the reason is not printed"
echo harmless >harmless
"$FAULTS" harmless >harmless.err 2>&1 || fail "an input without a fault"

if [ "$LIBFUZZER" = 1 ]; then # an input that it makes is saved
    mkdir near
    printf 'aromise 1\n' >near/a
    "$FAULTS" -runs=1000000 -seed=1 -max_len=16 -artifact_prefix=found- near >near.err 2>&1 &&
        fail "a million changes of 'aromise' never made a fault"
    grep -qE "^(${kinds// /|})" found-* || fail "no fault was saved: $(cat near.err)"
else # the others are run, too
    mkdir all
    for kind in $kinds; do cp "$kind" all; done
    cp harmless all/z
    "$FAULTS" all 2>all.err && fail "no fault in a folder of faults"
    count=$(wc -w <<<"$kinds")
    grep -q "^$((count + 1)) inputs, $count failed" all.err || fail "not every fault was found: $(cat all.err)"
fi
echo "every kind of fault is seen"
