#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A million calls from four threads: all of them in the trace, in no more memory than a few calls take, and
# a report that fits the screen. Ten million: tests/bench/ten_million.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

calls=1000000

# field NAME FILE: KiB of a copy of /proc/PID/status.
field() {
    awk -v name="$1:" '$1 == name { print $2 }' "$2"
}

LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB SIMGPU_COUNTS=$work/long.counts \
    GMTRACE_OUTPUT=$work/long.db "$CLIENTS/driverclient" mixed $calls >long.out 2>long.err &
pid=$!
# What the last look saw while the program still had memory: VmHWM never falls.
looks=0
while cat /proc/$pid/status >now 2>/dev/null && grep -q '^RssAnon:' now; do
    if [ "$(tr -d '\0' 2>/dev/null </proc/$pid/comm)" = driverclient ]; then
        mv now last
        looks=$((looks + 1))
    fi
    sleep 0.05
done
status=0
wait $pid || status=$?
equal "status" 0 "$status"
equal "output" "$calls calls" "$(cat long.out)"
[ "$looks" -gt 0 ] || fail "the program was never seen"
at_most "KiB of its own memory" 16384 "$(field RssAnon last)"
at_most "KiB at its peak, chunks of the spool included" 131072 "$(field VmHWM last)"

# However long that takes: ctest knows when it is too long.
while [ -e long.db.spool ]; do
    sleep 0.1
done
finished long.db
nothing_lost long.db
all_calls_recorded long
[ "$(total long.trace)" -ge $calls ] || fail "$(total long.trace) calls in the trace"

[ -x "$GMT_BUILD/bin/gmanalyze" ] || exit 0
"$GMT_BUILD/bin/gmanalyze" --calibrate never long.db >text 2>text.err || fail "gmanalyze"
at_most "lines of text" 60 "$(wc -l <text)"
grep -q '500,000 calls' text || fail "the copies are not counted"
