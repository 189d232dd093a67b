#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGKILL in the middle of a copy loop: the trace opens and lacks at most the last 10 ms.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

for round in 1 2 3; do
    LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB SIMGPU_COUNTS=$work/k$round.counts \
        GMTRACE_OUTPUT=$work/k$round.db "$CLIENTS/driverclient" many 100000000 >k$round.out 2>&1 &
    pid=$!
    while ! [ -s k$round.out ]; do sleep 0.01; done
    begin=$(date +%s%N)
    sleep "0.$((round * 2))"
    while [ "$(driver_calls k$round.counts | awk '{ sum += $2 } END { print sum + 0 }')" -le 2000 ]; do sleep 0.01; done
    kill -9 $pid
    end=$(date +%s%N)
    wait $pid 2>/dev/null || true
    finished k$round.db

    driver_calls k$round.counts >k$round.driver
    trace_calls k$round.db | join - <(recorded_apis) >k$round.trace
    made=$(total k$round.driver)
    kept=$(total k$round.trace)
    [ "$kept" -gt 1000 ] || fail "only $kept calls of $made recorded"
    at_most "calls recorded" "$made" "$kept"
    at_most "calls missing of $made" $((made * 10000000 / (end - begin) + 1)) $((made - kept))
    equal "integrity" ok "$(sql k$round.db 'PRAGMA integrity_check')"
    # No gaps: launches are numbered.
    equal "launch numbers" "$(sql k$round.db 'SELECT count(*) FROM launch')" \
        "$(sql k$round.db 'SELECT max(seq) FROM launch')"
done
