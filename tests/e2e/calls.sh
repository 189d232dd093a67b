# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Calls in a trace, and calls that the software device was asked for (SIMGPU_COUNTS): to be compared by
# the end-to-end tests and by scripts/demo. GMT_BUILD and GMT_SOURCE are set.

# `api count` of all calls of the program in the trace, sorted. Operations of graphs that gmtrace made one by one are none. A batch copy is one call, and one call may free several.
trace_calls() {
    sqlite3 -batch -noheader "file:$1?mode=ro" "
        SELECT a.name || ' ' || count(*) FROM (
            SELECT api_id FROM transfer WHERE (batch IS NULL OR batch = 0) AND capturing <> 3
            UNION ALL SELECT api_id FROM memset WHERE capturing <> 3
            UNION ALL SELECT api_id FROM launch WHERE capturing <> 3
            UNION ALL SELECT api_id FROM sync
            UNION ALL SELECT api_id FROM api_call
            UNION ALL SELECT api_id FROM allocation
            UNION ALL SELECT * FROM (SELECT free_api_id FROM allocation WHERE free_api_id IS NOT NULL
                GROUP BY free_api_id, free_thread_id, free_begin_ns)
            UNION ALL SELECT api_id FROM host_allocation
            UNION ALL SELECT free_api_id FROM host_allocation WHERE free_api_id IS NOT NULL
        ) c JOIN api a ON a.id = c.api_id GROUP BY a.name" | sort
}

# The families whose every call must be in the trace, from the hook table; look-ups move nothing.
recorded_apis() {
    sed -nE 's/^GMT_HOOK\w*\((\w+), (ALLOC|TRANSFER|MEMSET|LAUNCH|SYNC|MODULE|STREAM),.*/\1/p' \
        "$GMT_SOURCE/preload/driver/hooks.def" | grep -vx cuLibraryGetKernel | sort
}

# `api count` of what the driver was called for, of those families.
driver_calls() {
    "$GMT_BUILD/bin/simcounts" "$1" | sort | join - <(recorded_apis)
}

# calls_differ COUNTS DB: what one of them has and the other has not; nothing when they are equal.
calls_differ() {
    diff <(driver_calls "$1") <(trace_calls "$2" | join - <(recorded_apis))
}
