#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The driver sees every kind of fault, saves the input that has it, and makes the same inputs again.
# shellcheck source=tests/lib.sh
. "${GMT_SOURCE:?}/tests/lib.sh"
: "${FAULTS:?}" "${SANITIZED:?}"

kinds="crash promise exit memory time"
[ "$SANITIZED" = 1 ] && kinds="$kinds overflow"
for kind in $kinds; do
    mkdir "$kind"
    echo harmless >"$kind/a"
    echo "$kind" >"$kind/b"
    status=0
    "$FAULTS" --cpu-seconds 1 --seconds 0 --failures "$kind.found" "$kind" 2>"$kind.err" || status=$?
    [ "$status" = 1 ] || fail "$kind: status $status ($(cat "$kind.err"))"
    cmp -s "$kind/b" "$kind.found/$(basename "$FAULTS")-1-1" || fail "$kind: the input was not saved"
    grep -q "2 inputs of 2 seeds (--seed 1), 1 failed" "$kind.err" || fail "$kind: $(cat "$kind.err")"
done
grep -q "does not hold: data\[0\]" promise.found/*.log || fail "a promise: the reason was not saved"

# It goes on where it is asked to, and all of them are found.
mkdir all
for kind in $kinds; do echo "$kind" >"all/$kind"; done
echo harmless >all/z
status=0
"$FAULTS" --cpu-seconds 1 --seconds 0 --keep-going --failures all.found all 2>all.err || status=$?
found=$(find all.found -type f ! -name '*.log' | wc -l)
if [ "$status" != 1 ] || [ "$found" != "$(wc -w <<<"$kinds")" ]; then
    fail "not every fault was found: $(cat all.err)"
fi

# An input depends on the seed and its number only.
mkdir good
printf 'a fine day, 1 2 3\n' >good/a
"$FAULTS" --runs 200 --seed 7 good 2>good.err || fail "a good input: $(cat good.err)"
grep -q "200 inputs of 1 seeds (--seed 7), 0 failed" good.err || fail "$(cat good.err)"
mkdir near
printf 'aromise 1\n' >near/a
for i in 1 2; do
    "$FAULTS" --runs 5000 --seed 3 --failures "near.$i" near 2>"near.$i.err" || true
done
diff -r near.1 near.2 >/dev/null || fail "two runs made other inputs"
[ -n "$(ls near.1 2>/dev/null)" ] || fail "5,000 changes of 'aromise' never made 'promise'"
echo "the driver finds crashes, broken promises, exits, and too much memory and time"
