#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The door CUDA_INJECTION64_PATH alone: the same records as hooks write, from CUPTI's callbacks.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

standin=$CLIENTS/cupti/libcupti.so.13

# injected NAME SCENARIO...: not preloaded, but named to the driver.
injected() {
    local name=$1
    shift
    LD_LIBRARY_PATH=$SIM_LIB CUDA_INJECTION64_PATH=$GMT_LIB SIMGPU_COUNTS=$work/$name.counts \
        GMTRACE_CUPTI=${CUPTI:-$standin} GMTRACE_OUTPUT=$work/$name.db \
        run "$name" "${CLIENT:-$CLIENTS/driverclient}" "$@"
    finished "$name.db"
}

# rows DB: what was recorded, without what differs between two runs of a program. cuInit had begun when
# CUPTI was asked to report.
rows() {
    sql "$1" "SELECT a.name, c.result, c.bytes, count(*) FROM api_call c JOIN api a ON a.id = c.api_id
              WHERE a.name != 'cuInit' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
              SELECT driver_api, direction, src_class, dst_class, blocking, bytes, result, capturing, count(*)
              FROM v_transfer GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8;
              SELECT kind, bytes, free_begin_ns IS NOT NULL, count(*) FROM allocation GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
              SELECT kind, kernel_id, grid_x, block_x, arguments, capturing, count(*) FROM launch
              GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6"
}

injection_says() {
    sql "$1" "SELECT state || ': ' || detail FROM capability WHERE name = 'injection'"
}

# (A call before cuInit, as `errors` makes one, fails and is not reported.)
for scenario in basic "churn 50" "capture 5" "threads 8" memory "graphs 5" "mapped 20" "peer 0"; do
    read -ra words <<<"$scenario"
    name=${words[0]}
    plain "i.$name.plain" "${words[@]}"
    injected "i.$name" "${words[@]}"
    same_behaviour "i.$name"
    all_calls_recorded "i.$name"
    nothing_lost "i.$name.db"
    traced "h.$name" "${words[@]}"
    finished "h.$name.db"
    diff <(rows "h.$name.db") <(rows "i.$name.db") >&2 || fail "$name: hooks (<) and callbacks (>) recorded different things"
    equal "$name: how" "partial: the host side is recorded from CUPTI's driver callbacks, without stacks" \
        "$(injection_says "i.$name.db")"
done

# However the program reaches the driver, and however it ends.
for via in per-thread dlsym; do
    injected "via.$via" --via "$via" basic
    all_calls_recorded "via.$via"
done
for scenario in exit_now exit_segv late_free; do
    injected "$scenario" "$scenario"
    all_calls_recorded "$scenario"
done

# Preloaded as well: hooks record, once, and it is noted.
export CUDA_INJECTION64_PATH=$GMT_LIB GMTRACE_CUPTI=$standin
traced_like_plain both basic
finished both.db
all_calls_recorded both
equal "both doors" "off: CUDA_INJECTION64_PATH names gmtrace, which is preloaded as well: its hooks record the host side" \
    "$(injection_says both.db)"
unset CUDA_INJECTION64_PATH GMTRACE_CUPTI

# Without CUPTI, or with one that refuses, the trace says that it has no host side.
not_covered() {
    same_behaviour "$1"
    equal "$1: what the trace says" "missing: host side not covered: $2" "$(injection_says "$1.db")"
    equal "$1: calls" 0 "$(sql "$1.db" 'SELECT count(*) FROM api_call')"
}
for name in absent refuse old; do
    plain "$name.plain" basic
done
CUPTI=$work/absent.so injected absent basic
not_covered absent "no CUPTI was found"
STANDIN_CUPTI=refuse injected refuse basic
not_covered refuse "cuptiSubscribe: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
STANDIN_CUPTI=old injected old basic
not_covered old "cuptiEnableCallback: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
