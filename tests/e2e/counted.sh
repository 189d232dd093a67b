#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# counted.sh: while a launch's instructions are counted no other thread is inside of the driver, whatever they do beside it. The
# stand-in of CUPTI ends the process where one is (tests/clients/cupti_inside.h).
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

standin=$CLIENTS/libcuptisass.so
[ -e "$standin" ] || skip "the stand-in of CUPTI is not built"
CLIENT=$CLIENTS/countedclient
export SIMGPU_INTERFACE=0 # a driver like any other, that has its CUPTI
# A machine that does other things makes measuring take longer than the budget allows.
export GMTRACE_COUNTER_BUDGET=unlimited
export GMTRACE_CUPTI=$standin CUPTI_STANDIN_CUBIN=$GMT_SOURCE/tests/data/cubin/lines.cubin

# Nobody keeps the others out: the stand-in sees them.
export CUPTI_STANDIN_LOG=$work/unguarded.log
plain unguarded unguarded 1
equal "status of a process with another thread inside" 134 "$(cat unguarded.status)"
grep -qE '^crash: cu[A-Z][A-Za-z0-9_]+ (by another thread during counting|of another thread under way when counting began)$' \
    unguarded.log || fail "the stand-in saw nobody: $(cat unguarded.log)"

# once MODE THREADS: as without gmtrace. The launches that were counted are in the trace.
once() {
    local log=$work/$1$2.log
    rm -f "$1$2.db"
    : >"$log" # where no launch is counted nobody else makes it
    plain "$1$2.plain" "$1" "$2"
    CUPTI_STANDIN_LOG=$log GMTRACE_COLLECT=deep GMTRACE_DEEP=phase traced "$1$2" "$1" "$2"
    ! grep '^crash' "$log" || fail "$1, $2 threads"
    same_behaviour "$1$2"
    equal "$1, $2 threads: status" 0 "$(cat "$1$2.status")"
    finished "$1$2.db"
}

# counted MODE THREADS LEAST: ... of so many launches in all. On a busy machine others may not leave the driver for all of a run.
counted() {
    local turn sessions=0 traced=0
    for ((turn = 1; turn <= 40; turn++)); do
        once "$1" "$2"
        sessions=$((sessions + $(grep -c '^session$' "$1$2.log" || true)))
        traced=$((traced + $(sql "$1$2.db" "SELECT count(DISTINCT launch_seq) FROM instruction")))
        [ "$traced" -lt "$3" ] || break
    done
    echo "$1, $2 threads: $sessions launches counted, $traced in the trace, in $turn runs"
    [ "$traced" -ge "$3" ] || fail "$1, $2 threads: too few to show anything"
}
for mode in modules libraries lookups copies launches contexts starts; do
    counted "$mode" 1 20
done
counted captures 1 30    # those before the first capture, and none after
counted destructors 1 30 # those before: it cannot be known where such a thread is
for mode in modules launches captures; do
    counted "$mode" 4 20
done
# Nothing is waited for behind work that waits for the launching thread: others could be held as long, and nothing would be counted
# for 50 times that.
SIMGPU_ORDER=1 GMTRACE_COUNTERS=off counted awaited 1 20
equal "launches that another thread is said to have kept from being counted" "" "$(sql awaited1.db "SELECT detail FROM loss
    WHERE detail LIKE '%one was whenever it ran'")"

# CUPTI's own thread sleeps meanwhile: else it and the launch may wait for each other.
export CUPTI_STANDIN_WORKER=1
for threads in 1 4; do
    GMTRACE_COUNTERS=off counted launches "$threads" 20
done
CUPTI_STANDIN_WORKER=busy GMTRACE_COUNTERS=off once launches 1
equal "launches counted beside a thread that never rests" 0 "$(grep -c '^session$' "$work/launches1.log" || true)"
[ "$(sql launches1.db "SELECT total(count) FROM loss WHERE detail LIKE '%only while the worker thread of CUPTI sleeps%'")" != 0.0 ] ||
    fail "nothing says why: $(sql launches1.db 'SELECT * FROM loss')"
unset CUPTI_STANDIN_WORKER

# A budget that is spent opens again as the run goes on, for kernels that it has refused meanwhile, too: of 8 s some 3 s may be
# spent, and 1 s was at once.
export CUPTI_STANDIN_LOG=$work/rounds.log CUPTI_STANDIN_MS=300
GMTRACE_COUNTER_BUDGET=30 GMTRACE_COLLECT=deep GMTRACE_DEEP=phase traced rounds rounds 0
finished rounds.db
sessions=$(grep -c '^session$' rounds.log || true)
echo "12 classes in turn, 300 ms for one: $sessions counted in 8 s"
[ "$sessions" -ge 5 ] || fail "counted no more than what the start allows: $sessions"
