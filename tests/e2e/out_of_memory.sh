#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An allocation that fails: the launcher and the report say who held the memory at that moment.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmtrace=$GMT_BUILD/bin/gmtrace
[ -x "$gmtrace" ] || skip "gmtrace is not built"
export LD_LIBRARY_PATH=$SIM_LIB

SIMGPU_MEMORY_MB=100 "$gmtrace" -o oom.db "$CLIENTS/driverclient" oom 30 >oom.out 2>oom.err ||
    fail "the program's status"
finished oom.db
equal "blocks that fit" "3 blocks of 30 MiB" "$(cat oom.out)"
equal "failed calls" "30|2" "$(sql oom.db "SELECT c.bytes >> 20, c.result FROM api_call c JOIN api a
    ON a.id = c.api_id WHERE a.name = 'cuMemAlloc_v2'")"
grep -q '^gmtrace: out of memory: .* asked for 30.0 MiB while the program held 90.0 MiB:$' oom.err ||
    fail "nothing about the failure"
grep -q '^gmtrace: *90.0 MiB in 3 allocations from .*scenario_oom' oom.err || fail "not who held it"

if [ -x "$GMT_BUILD/bin/gmanalyze" ]; then
    "$GMT_BUILD/bin/gmanalyze" --top 10 oom.db --format json >oom.json 2>gmanalyze.err || fail "gmanalyze"
    "$GMT_BUILD/bin/gmanalyze" --top 10 oom.db >oom.txt 2>gmanalyze.err || fail "gmanalyze"
    grep -q 'Out of memory' oom.txt || fail "no section in the text report"
    if command -v jq >/dev/null; then
        equal "failure in the report" '{"memory":"device","asked":31457280,"held":94371840,"by":3}' \
            "$(jq -c '.memory.failures[0] | {memory, asked: .asked_bytes, held: .held_bytes,
                by: .holders[0].allocations}' oom.json)"
        equal "peak" 94371840 "$(jq .memory.peak_device_bytes oom.json)"
    fi
fi

# Nothing is said where every allocation got its memory.
"$gmtrace" -o churn.db "$CLIENTS/driverclient" churn 5 >churn.out 2>churn.err || fail "churn"
if grep -q 'out of memory' churn.err; then
    fail "a failure that was none"
fi
