#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# regressions.sh SCENARIO [N]: what once went wrong runs as if untraced and is recorded right.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

# A deadlock is a failure of its own (status 124).
both_ways() {
    CLIENT=timeout traced_like_plain t 120 "$CLIENTS/driverregressions" "$@"
    equal "exit status" 0 "$(cat t.status)"
    finished t.db
}

# One value of the trace.
expect() {
    equal "$1" "$2" "$(sql t.db "$3")"
}

# Every stack that a call names is in the trace.
stacks_exist() {
    local table
    for table in transfer memset launch sync; do
        expect "stacks missing from $table" 0 \
            "SELECT count(*) FROM $table WHERE stack_id NOT IN (SELECT id FROM stack)"
    done
}

case $1 in
full_spool)
    export GMTRACE_SPOOL_LIMIT=1 GMTRACE_OUTPUT=$work/t.db
    LD_LIBRARY_PATH=$SIM_LIB run t.plain env -u GMTRACE_OUTPUT "$CLIENTS/driverregressions" "$@"
    CLIENT=timeout traced t 240 "$CLIENTS/driverregressions" "$@"
    same_behaviour t
    finished t.db
    [ "$(sql t.db "SELECT sum(count) FROM loss WHERE kind != 'entry point not covered'")" -gt 0 ] ||
        fail "the spool was never full"
    # What was dropped has no after-effect: new stacks are named once there is room.
    stacks_exist
    expect "memsets with a stack" 1000 'SELECT count(*) FROM memset JOIN stack ON stack.id = stack_id'
    exit 0
    ;;
esac

[ "$1" != streams ] || export SIMGPU_DEVICES=2
both_ways "$@"
all_calls_recorded t
if [ "$1" = constructor ]; then
    # A call that cannot wait for the recording to start goes unrecorded, and that is said.
    at_most "losses" 1 "$(sql t.db "SELECT count(*) FROM loss WHERE kind != 'entry point not covered'")"
else
    nothing_lost t.db
fi
stacks_exist
expect "processes" 1 'SELECT count(*) FROM process'

case $1 in
freed_code)
    # The frame in the library that is gone ends the chain.
    expect "frames below the free" 1 \
        'SELECT s.depth FROM allocation a JOIN stack s ON s.id = a.free_stack_id'
    ;;
replaced_code)
    expect "libraries that free" "libclientplugin_first.so libclientplugin_second.so" "
        SELECT group_concat(replace(m.path, rtrim(m.path, replace(m.path, '/', '')), ''), ' ')
        FROM (SELECT * FROM allocation ORDER BY free_begin_ns LIMIT 2) a
        JOIN stack_frame s ON s.stack_id = a.free_stack_id AND s.position = 0
        JOIN frame f ON f.id = s.frame_id JOIN module m ON m.id = f.module_id"
    ;;
odd_frames)
    # Return addresses that are none make no stacks of their own.
    at_most "stacks" 20 "$(sql t.db 'SELECT count(*) FROM stack')"
    expect "memsets with a stack" 1000 'SELECT count(*) FROM memset JOIN stack ON stack.id = stack_id'
    ;;
reused_handle)
    equal "output" "same handle: 1" "$(cat t.out)"
    expect "parameters of the two kernels" "5 1" "
        SELECT group_concat(parameter_count, ' ') FROM (
            SELECT k.parameter_count FROM launch l JOIN kernel k ON k.id = l.kernel_id ORDER BY l.seq)"
    ;;
reset)
    expect "source before and after" "pinned pageable" \
        "SELECT group_concat(src_class, ' ') FROM (SELECT * FROM transfer ORDER BY begin_ns)"
    ;;
contexts)
    expect "memory and what ended it" \
        "64:cuMemFree_v2 128:cuDevicePrimaryCtxReset_v2 256:cuDevicePrimaryCtxRelease_v2" "
        SELECT group_concat(bytes || ':' || name, ' ') FROM (
            SELECT m.bytes, a.name FROM allocation m JOIN api a ON a.id = m.free_api_id ORDER BY m.id)"
    expect "bytes of the memory copied to" "256 64" "
        SELECT group_concat(bytes, ' ') FROM (SELECT a.bytes FROM transfer t
            JOIN allocation a ON a.id = t.dst_allocation_id ORDER BY t.begin_ns)"
    expect "contexts" 3 'SELECT count(*) FROM context'
    ;;
resets)
    expect "memory, and how much of it ended" "$2 $2 $2" "SELECT count(*) || ' ' || count(free_end_ns) || ' '
        || count(DISTINCT context_id) FROM allocation"
    ;;
streams)
    expect "streams of the first device, by priority" "-1:ended 0:ended" "
        SELECT group_concat(s.priority || ':' || iif(s.end_ns > 0, 'ended', 'open'), ' ') FROM
            (SELECT * FROM stream WHERE handle > 2 ORDER BY priority) s
        JOIN context c ON c.id = s.context_id WHERE c.device_id = 0"
    expect "copies in each" "64,32:-1 16:0" "
        SELECT group_concat(bytes || ':' || priority, ' ') FROM (
            SELECT group_concat(t.bytes) AS bytes, s.priority FROM transfer t JOIN stream s
            ON s.id = t.stream_id GROUP BY s.id ORDER BY s.priority)"
    expect "streams of the second device" 0 "
        SELECT count(*) FROM stream s JOIN context c ON c.id = s.context_id
        WHERE c.device_id = 1 AND s.handle > 2"
    expect "waits for each" "1 1" "SELECT group_concat(n, ' ') FROM (
        SELECT count(*) AS n FROM sync y JOIN stream s ON s.id = y.stream_id GROUP BY s.id)"
    ;;
unified)
    # Unified 2-D copies block as those with named types do; between device addresses nothing waits.
    expect "directions and blocking" "d2d:device:device:0 h2d:pageable:device:1 \
d2h:device:pageable:1 h2d:pageable:device:1 h2d:pageable:device:1" "
        SELECT group_concat(direction || ':' || src_class || ':' || dst_class || ':' || blocking, ' ')
        FROM (SELECT * FROM transfer ORDER BY begin_ns)"
    ;;
constructor | cancelled)
    expect "allocations" 1 'SELECT count(*) FROM allocation WHERE free_end_ns IS NOT NULL'
    ;;
closed_stdout)
    equal "writes" "written -1: Bad file descriptor" "$(sort -u t.err)"
    ;;
esac
