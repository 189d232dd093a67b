#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Disk limits: RLIMIT_FSIZE, a full file system, a full spool. The program never notices; it is said.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

plain plain many 100000

# ulimit -f counts KiB in bash: from "nothing may be written" to "some chunks fit".
for limit in 0 4 64 300; do
    (
        ulimit -f $limit
        LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/l$limit.db \
            "$CLIENTS/driverclient" many 100000 2> >(cat >&3)
    ) 3>l$limit.err | cat >l$limit.out
    equal "status under ulimit -f $limit" 0 "${PIPESTATUS[0]}"
    at_most "lines on standard error under ulimit -f $limit" 1 "$(wc -l <l$limit.err)"
    same "output under ulimit -f $limit differs" plain.out l$limit.out
done

# A file system of 1 MiB.
mkdir small
if mount -t tmpfs -o size=1m tmpfs small 2>/dev/null; then
    # Lazily: the recorder may still be at it.
    at_exit "umount --lazy '$work/small'"
    OUTPUT=$work/small/full.db traced full many 100000
    equal "status on a full disk" 0 "$(cat full.status)"
    same "output on a full disk differs" plain.out full.out
    at_most "lines on standard error on a full disk" 1 "$(wc -l <full.err)"
    # gmtrace says what was in the way.
    LD_LIBRARY_PATH=$SIM_LIB run launched "$GMT_BUILD/bin/gmtrace" -o "$work/small/launched.db" "$CLIENTS/driverclient" many 100000
    grep -qi 'no space left' launched.err || fail "gmtrace does not say that the disk is full"
fi

# A spool limit of 1 MiB with the recorder stopped: dropped records are counted.
GMTRACE_SPOOL_LIMIT=1 traced spool many 300000
finished spool.db
driver_calls spool.counts >spool.driver
trace_calls spool.db | join - <(recorded_apis) >spool.trace
lost=$(sql spool.db "SELECT coalesce(sum(count), 0) FROM loss WHERE kind != 'entry point not covered'")
missing=$(($(total spool.driver) - $(total spool.trace)))
[ "$missing" -le "$lost" ] || fail "$missing calls are missing, only $lost are said to be lost"
