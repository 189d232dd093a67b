#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A small program with one fault and its repaired twin, on the software device: twins.sh RULE. The rule
# names the line that the fault was planted in, and nothing is said of the twin; or it says that it needs times.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

unset GMTRACE_COLLECT
table=$GMT_SOURCE/tests/gpu/steps/twin_table.py
read -r program problem needs options < <(python3 "$table" --row "$1")
binary=$GMT_BUILD/tests/gpu/programs/twins/shared/$program
[ -x "$binary" ] || skip "the programs are not built (no nvcc)"
read -ra options <<<"$options"
export SIMGPU_DEVICES=2
collect=light
if [ "$needs" = counters ]; then
    collect=standard
elif [ "$needs" = fingerprints ]; then
    export GMTRACE_FINGERPRINTS=whole GMTRACE_FINGERPRINT_BUDGET=100
fi

for twin in bad good; do
    run $twin "$GMT_BUILD/bin/gmtrace" --device sim --collect $collect -o $twin.db \
        "$binary" "$problem" --$twin "${options[@]}"
    equal "status of the $twin twin" 0 "$(cat $twin.status)"
    finished $twin.db
    nothing_lost $twin.db
    "$GMT_BUILD/bin/gmanalyze" $twin.db -o $twin.json >$twin.txt 2>$twin.analyze.err || fail "gmanalyze $twin.db"
done
python3 "$table" "$1" "$work" || fail "the reports of $program $problem"
