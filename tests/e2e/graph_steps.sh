#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# graph_steps.sh: kernels that only run in graphs are measured where the operations of a graph are launched one by one, and
# programs do not notice. CUPTI is the stand-in, then the software device counts.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

: "${STANDIN_CUPTI:?the folder of the stand-in CUPTI}"
export GMTRACE_COLLECT=standard
# A machine that does other things makes measuring take longer than the budget allows.
export GMTRACE_COUNTER_BUDGET=unlimited
launches=10

# count NAME TABLE WHERE
count() {
    sql "$1.db" "SELECT count(*) FROM $2 WHERE $3"
}

# all_launched NAME: the program's launches of graphs are in the trace, each once, as if they had been made whole.
all_launched() {
    equal "$1: launches of graphs" "$((4 * launches))" "$(count "$1" launch "kind = 'graph' AND capturing = 0 AND result = 0")"
}

# With a driver and a CUPTI like any other.
(
    export GMTRACE_CUPTI=$STANDIN_CUPTI SIMGPU_INTERFACE=0
    SIM_LIB=$SIM_LIB:$STANDIN_CUPTI
    traced_like_plain on graph_steps "$launches"
    finished on.db
    all_launched on
    equal "kinds of counters" "hardware patched" "$(sql on.db "SELECT group_concat(grp, ' ') FROM (SELECT DISTINCT grp
        FROM kernel_counters WHERE value IS NOT NULL ORDER BY 1)")"
    equal "classes that lack something" 0 "$(count on loss "kind LIKE 'kernel class %'")"
    # The graph has two kernels of one class: one for each kind of counters, and none again.
    equal "measured launches of operations" 2 "$(count on launch 'capturing = 3 AND measured IS NOT NULL')"
    equal "times of gmtrace's own" 1 "$(count on own_time "work = 'graph'")"
    at_most "kernels launched one by one" 2 "$(count on launch 'capturing = 3')"

    GMTRACE_GRAPH_STEPS=off traced_like_plain off graph_steps "$launches"
    finished off.db
    all_launched off
    equal "operations launched one by one" 0 "$(count off launch 'capturing = 3')"
    equal "classes that lack something" 1 "$(count off loss "kind LIKE 'kernel class %'")"

    # Without counters nothing is to be gained.
    GMTRACE_COUNTERS=off traced_like_plain no_counters graph_steps "$launches"
    finished no_counters.db
    all_launched no_counters
    equal "operations launched one by one" 0 "$(count no_counters launch 'capturing = 3')"

    # Copies of pageable memory read it at another time: such a graph is launched as a whole.
    traced_like_plain pageable graphs "$launches"
    finished pageable.db
    equal "operations launched one by one" 0 "$(count pageable launch 'capturing = 3')"
)

# At every launch, on the software device. What a node is that is switched off cannot be followed: its graph is launched whole.
GMTRACE_GRAPH_STEPS=always traced_like_plain graph_steps graph_steps "$launches"
finished graph_steps.db
all_launched graph_steps
equal "kernels launched one by one" "$((3 * launches * 2))" "$(count graph_steps launch 'capturing = 3')"
equal "copies made one by one" "$((3 * launches * 2))" "$(count graph_steps transfer 'capturing = 3')"
# Beside another device: this driver does not say of which context a kernel of a graph is, so that it is launched whole.
SIMGPU_DEVICES=2 GMTRACE_GRAPH_STEPS=always traced_like_plain peer graph_steps_peer "$launches"
finished peer.db
all_launched peer
equal "kernels of no known context, launched one by one" 0 "$(count peer launch 'capturing = 3')"
equal "memsets made one by one" "$((3 * launches))" "$(count graph_steps memset 'capturing = 3')"
equal "losses" "" "$(sql graph_steps.db "SELECT kind || ': ' || detail FROM loss WHERE kind <> 'entry point not covered'")"
"$GMT_BUILD/bin/gmanalyze" --format=json graph_steps.db >graph_steps.json || true
equal "launches that the report counts" "$((4 * launches))" "$(jq .verdict.launches graph_steps.json)"
echo "kernels in graphs are measured, and nobody sees it"
