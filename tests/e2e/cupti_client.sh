#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cupti_client.sh CLIENT SCENARIO [N]: a program that uses CUPTI itself gets of it what it gets without gmtrace,
# whose trace has the host side complete, and says for which times it has no device times. With CUPTI_COPY=1 the
# program's CUPTI is another file than gmtrace's.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

: "${STANDIN_CUPTI:?the folder of the stand-in CUPTI}"
CLIENT=$CLIENTS/$1
scenario=$2
shift
export GMTRACE_COLLECT=standard GMTRACE_CUPTI=$STANDIN_CUPTI
export SIMGPU_INTERFACE=0 # a driver like any other, with a CUPTI like any other
# A machine that does other things makes measuring take longer than the budget allows.
export GMTRACE_COUNTER_BUDGET=unlimited
# What gmtrace calls to repeat a launch is no call of the program, which makes more or fewer launches each time in these two.
case $scenario in
    busy | inside) export GMTRACE_REPEAT=off ;;
    *) COUNT_PLAIN=1 ;;
esac
SIM_LIB=$SIM_LIB:$STANDIN_CUPTI
if [ "${CUPTI_COPY:-0}" = 1 ]; then
    mkdir copy
    cp "$STANDIN_CUPTI/libcupti.so.13" copy/
    export CUPTICLIENT_CUPTI=$work/copy/libcupti.so.13
fi

# counts SQL: of the trace, in one line.
counts() { sql "$scenario.db" "$1" | tr '\n' ' ' | sed 's/ $//'; }
# gaps EXPECTED: who took CUPTI, by which call, and whether it was given back.
gaps() {
    equal "times without device times" "$1" \
        "$(counts "SELECT request || CASE WHEN end_ns >= begin_ns THEN '' WHEN end_ns IS NULL THEN '...'
                          ELSE '?' END FROM device_gap ORDER BY id")"
    equal "who it was" "" "$(counts "SELECT client FROM device_gap WHERE client <> '${CLIENT##*/}'")"
}
# timed COPIES OF LAUNCHES: how many have device times. (Launches that were measured have none.)
timed() {
    equal "copies with device times" "$1" \
        "$(counts "SELECT count(device_start_ns) || ' of ' || count(*) FROM transfer")"
    equal "launches with device times" "$2" \
        "$(counts "SELECT count(device_start_ns) + count(measured) FROM launch")"
}
# What gmtrace did meanwhile is in the trace: each launch that was counted lies within such a time of its thread.
own_time() {
    equal "began and ended" "setup exit" "$(counts "SELECT work FROM own_time WHERE work IN ('setup', 'exit') ORDER BY id")"
    equal "launches that were counted in no time of ours" 0 "$(counts "SELECT count(*) FROM launch l WHERE
        measured IS NOT NULL AND NOT EXISTS (SELECT 1 FROM own_time o WHERE o.launch_seq = l.seq AND work = 'launch'
        AND o.thread_id = l.thread_id AND o.begin_ns <= l.begin_ns AND o.end_ns >= l.end_ns)")"
    equal "counted without a session that began before" 0 "$(counts "SELECT count(*) FROM own_time o WHERE work = 'launch'
        AND NOT EXISTS (SELECT 1 FROM own_time s WHERE s.work = 'session' AND s.end_ns <= o.begin_ns)")"
    equal "times that end before they begin" 0 "$(counts "SELECT count(*) FROM own_time WHERE end_ns < begin_ns")"
}
# Nothing lost, calls in the gaps included. What was not measured is no loss here.
complete() {
    finished "$scenario.db"
    own_time
    all_calls_recorded "$scenario"
    equal "losses" "" "$(counts "SELECT kind || ': ' || detail || ' x' || count FROM loss
        WHERE kind NOT LIKE 'kernel class%' AND kind <> 'entry point not covered'")"
    equal "capabilities" "ok ok ok" \
        "$(counts "SELECT state FROM capability WHERE name IN ('cupti', 'timestamps', 'counters')")"
    equal "device times within gaps" 0 \
        "$(counts "SELECT count(*) FROM transfer t, device_gap g WHERE t.begin_ns > g.begin_ns
                   AND t.end_ns < coalesce(g.end_ns, t.end_ns + 1) AND t.device_start_ns IS NOT NULL")"
}

if [ "$scenario" = nothing ]; then
    traced_like_plain "$scenario" "$@"
    [ ! -e nothing.db ] || fail "a trace without CUDA"
    exit 0
fi
traced_like_plain "$scenario" "$@"
equal "exit status" 0 "$(cat "$scenario.status")"
if [ "${CUPTI_COPY:-0}" = 1 ]; then
    finished "$scenario.db"
    # A copy that is there when recording begins is the one that is used.
    used=$STANDIN_CUPTI said="ok: the program's calls of $CUPTICLIENT_CUPTI are answered by the CUPTI that gmtrace uses"
    [ "$scenario" != early ] || used=$work/copy said=
    equal "the CUPTI that gmtrace uses" "$used/libcupti.so.13" \
        "$(counts "SELECT substr(detail, instr(detail, ' from ') + 6) FROM capability WHERE name = 'cupti'")"
    equal "what it says of the other one" "$said" \
        "$(counts "SELECT state || ': ' || detail FROM capability WHERE name = 'cupti.program'")"
fi
case $scenario in
twice)
    complete
    gaps "cuptiActivityEnable cuptiActivityEnable"
    equal "CUPTI was given twice" 2 "$(counts "SELECT count(*) FROM own_time WHERE work = 'handover'")"
    timed "30 of 80" 30
    "$GMT_BUILD/bin/gmanalyze" --calibrate never --format json "$scenario.db" >report.json
    grep -q "another CUPTI client (${CLIENT##*/}, cuptiActivityEnable) was active" report.json ||
        fail "the report does not say why device times are missing"
    LD_LIBRARY_PATH=$SIM_LIB run launched "$GMT_BUILD/bin/gmtrace" -o launched.db -- "$CLIENT" twice
    grep -qE "^gmtrace: device times missing: for [0-9.]+ ms, while ${CLIENT##*/} used CUPTI itself$" launched.err ||
        fail "gmtrace does not say that device times are missing"
    ;;
keep)
    complete
    gaps "cuptiActivityEnable..."
    timed "10 of 35" 10
    ;;
early)
    complete
    gaps "cuptiActivityEnable"
    timed "10 of 20" 10
    ;;
finalize)
    complete
    gaps "cuptiActivityEnable cuptiFinalize"
    timed "20 of 50" 20
    ;;
counters)
    complete
    gaps "cuptiRangeProfilerEnable cuptiProfilerDeInitialize"
    equal "measured by the grid of the launch" "1 2 4" "$(counts \
        "SELECT DISTINCT grid_x FROM launch WHERE measured IS NOT NULL ORDER BY 1")"
    ;;
settings)
    complete
    timed "20 of 25" 20
    equal "gaps that end" "0" "$(counts "SELECT count(*) FROM device_gap WHERE end_ns IS NULL")"
    ;;
busy)
    finished "$scenario.db"
    all_calls_recorded "$scenario"
    equal "gaps" "$2" "$(counts "SELECT count(*) FROM device_gap WHERE end_ns >= begin_ns")"
    [ "$(counts "SELECT count(*) FROM kernel_counters")" -gt 0 ] || fail "no launch was measured"
    ;;
inside)
    finished "$scenario.db"
    all_calls_recorded "$scenario"
    gaps "cuptiActivityEnable"
    equal "measured before and after" "2 8" "$(counts \
        "SELECT DISTINCT grid_x FROM launch WHERE measured IS NOT NULL AND grid_x IN (2, 8) ORDER BY 1")"
    ;;
subscriber)
    complete
    gaps ""
    timed "30 of 30" 30
    # Where a client of activities counts as a subscriber, we go.
    export STANDIN_CUPTI_EXCLUSIVE=1
    rm -f subscriber.*
    traced_like_plain "$scenario" "$@"
    complete
    gaps "cuptiSubscribe"
    timed "20 of 30" 20
    unset STANDIN_CUPTI_EXCLUSIVE
    # Under Nsight Systems nobody gets a subscription, and we use nothing of CUPTI.
    export STANDIN_CUPTI_OTHER_TOOL=1 STANDIN_CUPTI_CALLS=$work/calls CUDA_INJECTION64_PATH=/opt/tool.so
    plain other.plain "$@"
    sort -u calls >calls.plain
    rm calls
    traced other "$@"
    same_behaviour other
    equal "calls of CUPTI" "$(cat calls.plain)" "$(sort -u calls)"
    finished other.db
    all_calls_recorded other
    equal "what the trace says" "missing: another tool in this process uses CUPTI: /opt/tool.so" \
        "$(sql other.db "SELECT state || ': ' || substr(detail, 1, instr(detail, ' (') - 1)
                         FROM capability WHERE name = 'timestamps'")"
    unset STANDIN_CUPTI_OTHER_TOOL STANDIN_CUPTI_CALLS CUDA_INJECTION64_PATH
    ;;
fork)
    complete
    gaps "cuptiActivityEnable"
    timed "10 of 15" 10
    ;;
*) fail "no such scenario" ;;
esac

# With the host side alone there is nothing to give, and no gap to record.
export GMTRACE_COLLECT=light
rm -f "$scenario".*
traced_like_plain "$scenario" "$@"
finished "$scenario.db"
gaps ""
