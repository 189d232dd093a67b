#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CUDA_INJECTION64_PATH alone: the same records as hooks write, from CUPTI's callbacks.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

standin=$CLIENTS/cupti_calls/libcupti.so.13

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
              GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6;
              SELECT kind, data_type, box_0, box_1, swizzle, encodings, launches FROM v_tensor_map ORDER BY id"
}

injection_says() {
    sql "$1" "SELECT state || ': ' || detail FROM capability WHERE name = 'injection'"
}

# same SCENARIO [N]: hooks and callbacks record the same. (A call before cuInit, as `errors` makes one, fails
# and is not reported.)
about_same() {
    plain i.plain "$@"
    injected i "$@"
    same_behaviour i
    all_calls_recorded i
    nothing_lost i.db
    traced h "$@"
    finished h.db
    same "hooks (-) and callbacks (+) recorded different things" <(rows h.db) <(rows i.db)
    equal "how" "partial: the host side is recorded from CUPTI's driver callbacks, without stacks" \
        "$(injection_says i.db)"
}

# However the program reaches the driver ...
about_lookups() {
    local via
    for via in per-thread dlsym; do
        injected "$via" --via "$via" basic
        all_calls_recorded "$via"
    done
}

# ... and however it ends.
about_ends() {
    local how
    for how in exit_now exit_segv late_free; do
        injected "$how" "$how"
        all_calls_recorded "$how"
    done
}

# Preloaded as well: hooks record, once, and it is noted.
about_both() {
    export CUDA_INJECTION64_PATH=$GMT_LIB GMTRACE_CUPTI=$standin
    traced_like_plain both basic
    finished both.db
    all_calls_recorded both
    equal "both ways" "off: CUDA_INJECTION64_PATH names gmtrace, which is preloaded as well: its hooks record the host side" \
        "$(injection_says both.db)"
}

# Without CUPTI, or with one that refuses, the trace says that it has no host side.
about_refused() {
    not_covered absent "no CUPTI was found"
    not_covered refuse "cuptiSubscribe: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
    not_covered old "cuptiEnableCallback: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
    STANDIN_CUPTI=recent injected recent basic
    injection_says recent.db | grep -qE '^partial: .*; [0-9]+ functions are not reported$' ||
        fail "functions that CUPTI does not know: $(injection_says recent.db)"
}

# not_covered HOW SENTENCE
not_covered() {
    local cupti=$standin
    [ "$1" != absent ] || cupti=$work/absent.so
    plain "$1.plain" basic
    CUPTI=$cupti STANDIN_CUPTI=$1 injected "$1" basic
    same_behaviour "$1"
    equal "$1: what the trace says" "missing: host side not covered: $2" "$(injection_says "$1.db")"
    equal "$1: calls" 0 "$(sql "$1.db" 'SELECT count(*) FROM api_call')"
}

"about_$1" "${@:2}"
