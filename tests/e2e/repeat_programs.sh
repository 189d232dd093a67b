#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# repeat_programs.sh generate FIRST COUNT | threads COUNT | slow | fill | numbers: where every launch is repeated that may
# be, programs show the same. Memory that others see forbids to repeat launches that can reach it, and no others.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

export SIMGPU_DEVICES=2 REPEAT_TIMING=timing
[ -z "${ORDER-}" ] || export SIMGPU_ORDER=$ORDER # work is done late
# The generated programs say exactly what is repeated, on a busy machine too: threads are held for as long as that takes.
[ "$1" != generate ] || export GMTRACE_HOLD_LIMIT=20000
CLIENT=$CLIENTS/repeatclient

if [ "$1" = fill ]; then # which must not fail for memory of gmtrace's
    export REPEAT_FILL=1
    set -- slow
fi
SIMGPU_COUNTS=$work/plain.counts plain t.plain "$@"
GMTRACE_COLLECT=standard GMTRACE_REPEAT=always traced t "$@"
same_behaviour t
equal "status" 0 "$(cat t.status)"
finished t.db
# A launch behind a host function that waits for its caller is not over when its counts are asked for, where work is done late.
waiting=
[ -z "${ORDER-}" ] || waiting="AND NOT (kind = 'kernel counters' AND (detail GLOB 'hazard_host_function_*' OR detail GLOB 'hazard_callback_*'))"
# What the program calls is in the trace; what gmtrace calls to repeat a launch is not.
[ "$1" = slow ] || equal "calls made (<) and recorded (>)" "" "$(calls_differ plain.counts t.db)"
equal "losses" "" "$(sql t.db "SELECT kind || ': ' || detail || ' x' || count FROM loss
    WHERE kind NOT IN ('entry point not covered', 'kernel not repeated') $waiting")"
equal "integrity" ok "$(sql t.db 'PRAGMA integrity_check')"

# ask WHAT WHERE: of launches of kernels; `repeats` are the rows that say of one that it was repeated.
ask() {
    sql t.db "SELECT $1 FROM (SELECT k.name AS kernel, l.seq, (SELECT count(*) FROM own_time o
        WHERE o.work = 'repeat' AND o.launch_seq = l.seq) AS repeats
        FROM launch l JOIN kernel k ON k.id = l.kernel_id) WHERE $2"
}
# some WHERE: which launches these are.
some() {
    ask "kernel || ', launch ' || seq" "$1 ORDER BY seq" | head -5
}
# refused WHAT WHERE: of kernels that were not repeated. The detail of a loss is "KERNEL: REASON".
refused() {
    sql t.db "SELECT $1 FROM (SELECT substr(detail, 1, instr(detail, ':') - 1) AS kernel,
        substr(detail, instr(detail, ':') + 2) AS reason, count FROM loss
        WHERE kind = 'kernel not repeated') WHERE $2"
}

hazard="kernel LIKE 'hazard\\_%' ESCAPE '\\'"
# Kernels that communicate, by their names, are not even looked at.
never="kernel GLOB '*nccl*'"
safe="kernel LIKE 'safe\\_%' ESCAPE '\\' AND kernel NOT LIKE 'safe\\_beside\\_%' ESCAPE '\\'"
launches=$(ask 'count(*)' 1) unseen=$(ask 'count(*)' "$never") repeated=$(ask 'count(*)' 'repeats > 1') with_hazard=$(ask 'count(DISTINCT kernel)' "$hazard AND NOT $never")

echo "repeated $repeated of $launches launches; $with_hazard kernels have a hazard"
refused "'  refused ' || sum(count) || ' of ' || count(DISTINCT kernel) || ' kernels: ' || reason" "1 GROUP BY reason"
if [ "$1" = generate ]; then
    awk '/^[0-9]/ { count[$3]++ } END { for (kind in count) print "  programs: " count[kind], kind }' t.out | sort -k3
    equal "programs" "$3" "$(grep -c '^[0-9]' t.out)"
    equal "launches" "$(awk '/^[0-9]/ { sum += $4 } END { print sum }' t.out)" "$launches"
    equal "repeated in spite of a hazard" "" "$(some "$hazard AND repeats > 0")"
    equal "refused without a hazard" "" "$(refused "kernel || ': ' || reason" "$safe LIMIT 5")"
    equal "safe and not made twice" "" "$(some "$safe AND repeats <> 2")"
    equal "kernels with a hazard that were refused" "$with_hazard" "$(refused 'count(DISTINCT kernel)' "$hazard")"
    # Others in the same program cannot reach such memory, where no pointer to it lies in memory of the device.
    beside=$(awk '/^[0-9]/ && $3 ~ /^hazard:(peer|imported|exported|mapped|nccl|devices|array)$/ && $2 !~ /list|ping_pong/ {
        print "OR kernel GLOB '"'safe_beside_*_p"'" $1 "'"_[0-9]'"'" }' t.out)
    beside="(0 ${beside//$'\n'/ })"
    echo "innocent beside such: $(ask 'count(*)' "$beside") launches"
    equal "beside, and not made twice" "" "$(some "$beside AND repeats <> 2")"
    equal "beside copies of another device, and not made twice" "" "$(some "kernel LIKE 'either_devices%' AND repeats <> 2")"
elif [ "$1" = numbers ]; then
    equal "made twice" "safe_different safe_few safe_many" "$(ask kernel 'repeats = 2 ORDER BY kernel' | paste -sd ' ')"
    equal "refused" "hazard_among_many hazard_heap hazard_too_different hazard_too_many" "$(refused "kernel" "reason LIKE '%memory that is not restored%' ORDER BY kernel" | paste -sd ' ')"
elif [ -s timing ]; then
    read -r longest_ns copies kernel_ns <timing
    echo "longest of $copies copies beside a kernel of $((kernel_ns / 1000000)) ms: $((longest_ns / 1000000)) ms"
fi
# A row for what came before the first execution, and one for the second: where another thread waited too long it is
# refused after all.
equal "made more than twice" "" "$(some 'repeats > 2')"
equal "launches that were repeated or refused" "$((launches - unseen))" "$((repeated + $(refused 'coalesce(sum(count), 0)' 1)))"
