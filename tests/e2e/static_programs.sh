#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that libc is linked into statically: the launcher uses the one lookup path that they have.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmtrace=$GMT_BUILD/bin/gmtrace
rounds=50
export LD_LIBRARY_PATH=$CLIENTS/tiny
tried=0

# kind FLAGS: the program, linked so, does the same as untraced, and every call is in the trace.
kind() {
    local name=client$1
    cc -O1 "$1" -o "$name" "$GMT_SOURCE/tests/clients/tinyclient.c" -ldl 2>/dev/null || return 0
    run "$name.plain" "./$name" $rounds
    equal "$name: status" 0 "$(cat "$name.plain.status")"
    GMTRACE_CUPTI=$CLIENTS/cupti_calls/libcupti.so.13 run "$name" "$gmtrace" -o "$name.db" -- "./$name" $rounds
    equal "$name: status under gmtrace" 0 "$(cat "$name.status")"
    same "$name: output differs" "$name.plain.out" "$name.out"
    finished "$name.db"
    nothing_lost "$name.db"
    equal "$name: copies" "$((2 * rounds)) $((2000 * rounds))" \
        "$(sql "$name.db" "SELECT count(*) || ' ' || sum(bytes) FROM transfer WHERE result = 0")"
    equal "$name: allocations" $rounds "$(sql "$name.db" 'SELECT count(*) FROM allocation WHERE free_begin_ns IS NOT NULL')"
    equal "$name: how" "partial" "$(sql "$name.db" "SELECT state FROM capability WHERE name = 'injection'")"
    equal "$name: said" 1 "$(grep -c 'linked statically.*recorded without stacks' "$name.err")"
    tried=$((tried + 1))
}
kind -static
kind -static-pie
[ $tried -gt 0 ] || skip "no static libc to link with"

# Another tool keeps its place, and the program runs as without us: the output that was asked for is missing.
CUDA_INJECTION64_PATH=$work/other.so run other "$gmtrace" -o other.db -- ./client-static $rounds
equal "status with another tool" 125 "$(cat other.status)"
equal "output with another tool" "$(./client-static $rounds)" "$(cat other.out)"
equal "why there is no trace" 1 "$(grep -c "no trace: './client-static' ran without gmtrace in it" other.err)"
equal "said with another tool" 1 "$(grep -c 'names another tool' other.err)"
[ ! -e other.db ] || fail "a trace beside another tool"

# What is not static does not get the variable: it would go to everything that it starts.
equal "the variable in other programs" "" "$("$gmtrace" printenv CUDA_INJECTION64_PATH 2>/dev/null)"
