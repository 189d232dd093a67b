#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Faults and migrations of managed memory are recorded as CUPTI reports them, from the first such allocation on and for a
# quarter of the budget; where CUPTI has none the trace says so, and nothing else changes.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

: "${STANDIN_CUPTI:?the folder of the stand-in CUPTI}"
CLIENT=$CLIENTS/cupticlient
export GMTRACE_COLLECT=standard
export SIMGPU_INTERFACE=0 # a driver like any other, with a CUPTI like any other
COUNT_PLAIN=1
device=$SIM_LIB:$STANDIN_CUPTI

row() { sql "$1.db" "SELECT state || ': ' || coalesce(detail, '') || '; ' || coalesce(remedy, '') FROM capability WHERE name = 'managed_memory'"; }
losses() { sql "$1.db" "SELECT detail || ' x' || count FROM loss WHERE kind = 'managed memory'"; }
ops() { sql "$1.db" "SELECT count(*) FROM managed_op WHERE $2"; }

# recorded NAME FOLDER LIBRARY FAULTS
recorded() {
    export CUPTICLIENT_CUPTI=$2/$3
    SIM_LIB=$device GMTRACE_CUPTI=$2 traced_like_plain "$1" managed "$4"
    unset CUPTICLIENT_CUPTI
    finished "$1.db"
    all_calls_recorded "$1"
}
# each NAME: the five that are no faults of the device, with what they say.
each() {
    equal "$1: what happened beside faults of the device" "h2d 262144 -1 0 coherence
d2h 65536 0 -1 prefetch
host_fault -1 -1 -1 read
thrashing 65536 -1 -1 -1
remote_map 65536 0 -1 thrashing" "$(sql "$1.db" "SELECT kind || ' ' || coalesce(bytes, -1) || ' ' || coalesce(src_device_id, -1)
            || ' ' || coalesce(dst_device_id, -1) || ' ' || coalesce(cause, -1) FROM managed_op WHERE kind <> 'gpu_fault' ORDER BY id")"
    equal "$1: the instruction of the host" 4198964 "$(sql "$1.db" "SELECT pc FROM managed_op WHERE kind = 'host_fault'")"
}

recorded plain "$STANDIN_CUPTI" libcupti.so.13 100
equal "faults of the device" 100 "$(ops plain "kind = 'gpu_fault' AND faults = 3 AND cause = 'write' AND bytes IS NULL AND src_device_id = 0")"
each plain
equal "they are within the run" 0 "$(ops plain "start_ns < (SELECT start_ns FROM process) OR coalesce(end_ns, start_ns) > (SELECT end_ns FROM process)")"
equal "of the two allocations" "101 2" "$(sql plain.db "SELECT group_concat(n, ' ') FROM (SELECT count(*) AS n FROM v_managed_op
    WHERE kind NOT IN ('thrashing', 'remote_map') GROUP BY allocation_id ORDER BY allocation_id)")"
equal "what the trace says" "ok: ; " "$(row plain)"
equal "losses" "" "$(losses plain)"
equal "switching them on is time of gmtrace's" 1 "$(sql plain.db "SELECT count(*) FROM own_time o, allocation a
    WHERE o.work = 'session' AND a.kind = 'managed' AND o.begin_ns >= a.end_ns AND NOT EXISTS
    (SELECT 1 FROM allocation b WHERE b.kind = 'managed' AND b.id > a.id AND o.begin_ns >= b.end_ns)
    AND a.id = (SELECT min(id) FROM allocation WHERE kind = 'managed')")"
"$GMT_BUILD/bin/gmanalyze" validate plain.db >validate.txt || fail "validate: $(cat validate.txt)"

# CUPTI of CUDA 12 writes shorter records, that of 11.8 knows fewer kinds.
recorded twelve "$STANDIN_CUPTI/12.4" libcupti.so.12 100
equal "12.4: faults" 100 "$(ops twelve "kind = 'gpu_fault' AND faults = 3")"
each twelve
recorded eleven "$STANDIN_CUPTI/11.8" libcupti.so.11.8 100
equal "11.8: faults" 100 "$(ops eleven "kind = 'gpu_fault' AND faults = 3")"
equal "11.8: the rest of what it knows" "d2h h2d host_fault" \
    "$(sql eleven.db "SELECT group_concat(kind, ' ') FROM (SELECT DISTINCT kind FROM managed_op WHERE kind <> 'gpu_fault' ORDER BY 1)")"

# 250 ms are a quarter of the start allowance: so much do some 71,000 records cost. Then they are switched off. (Of the run, which
# takes as long as the machine likes, next to nothing is added.)
GMTRACE_COUNTER_BUDGET=0.001 recorded many "$STANDIN_CUPTI" libcupti.so.13 100000
kept=$(ops many "kind = 'gpu_fault'")
if [ "$kept" -lt 71000 ] || [ "$kept" -ge 72000 ]; then
    fail "$kept faults of 100000 were kept"
fi
lost=$(losses many)
[[ $lost =~ ^"faults and migrations beyond a quarter of the counter budget x"([0-9]+)$ ]] || fail "the loss is '$lost'"
[ "$((kept + BASH_REMATCH[1]))" -lt 100000 ] || fail "they were not switched off"
equal "what the trace says of many" "partial: recording faults had cost a quarter of the counter budget; record with a larger --counter-budget" "$(row many)"

# Refused, and not asked for.
STANDIN_CUPTI_NO_MANAGED=1 recorded refused "$STANDIN_CUPTI" libcupti.so.13 100
equal "refused: records" 0 "$(ops refused 1)"
[[ $(row refused) == missing:*cuptiActivityConfigureUnifiedMemoryCounter* ]] || fail "refused: $(row refused)"
equal "refused: the rest" "ok ok" "$(sql refused.db "SELECT group_concat(state, ' ') FROM capability WHERE name IN ('cupti', 'timestamps')")"
GMTRACE_COUNTERS=off recorded off "$STANDIN_CUPTI" libcupti.so.13 100
equal "off: records" 0 "$(ops off 1)"
equal "off: what the trace says" "off: counters were not asked for; record with counters" "$(row off)"

"$GMT_BUILD/bin/gmanalyze" --calibrate never --format json refused.db >refused.json
grep -q '"why": *"faults of managed memory were not all recorded: [^"]*cuptiActivityConfigureUnifiedMemoryCounter' refused.json ||
    fail "the report does not say why GM114 could not be checked"

# A program that takes CUPTI has it without our kind, which is switched on again afterwards.
SIM_LIB=$device GMTRACE_CUPTI=$STANDIN_CUPTI CUPTICLIENT_CUPTI=$STANDIN_CUPTI/libcupti.so.13 traced_like_plain taken managed_taken
finished taken.db
equal "faults before and after" "0 131072" "$(sql taken.db "SELECT group_concat(m.address - a.address, ' ') FROM managed_op m
    JOIN allocation a ON a.kind = 'managed'")"
equal "taken: losses" "" "$(losses taken)"

# Without managed memory they are never switched on.
STANDIN_CUPTI_CALLS=$work/calls SIM_LIB=$device GMTRACE_CUPTI=$STANDIN_CUPTI CUPTICLIENT_CUPTI=$STANDIN_CUPTI/libcupti.so.13 \
    traced without twice
finished without.db
equal "without managed memory" 0 "$(grep -c UnifiedMemory calls)"
equal "without managed memory: what the trace says" "" "$(row without)"
