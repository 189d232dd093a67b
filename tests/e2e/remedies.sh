#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# remedies.sh: where kernels are not measured gmanalyze shows why and what to do, and that helps. CUPTI is the stand-in.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

: "${STANDIN_CUPTI:?the folder of the stand-in CUPTI}"
export GMTRACE_COLLECT=standard GMTRACE_CUPTI=$STANDIN_CUPTI
export SIMGPU_INTERFACE=0 # a driver like any other, with a CUPTI like any other
SIM_LIB=$SIM_LIB:$STANDIN_CUPTI
# A machine that does other things makes measuring take longer than the budget allows.
export GMTRACE_COUNTER_BUDGET=unlimited

# recorded NAME ARG...: the program as without gmtrace, and its report as NAME.json.
recorded() {
    local name=$1
    shift
    traced_like_plain "$name" "$@"
    finished "$name.db"
    "$GMT_BUILD/bin/gmanalyze" --format=json "$name.db" >"$name.json" || true
}

# remedy NAME REASON: what the report says to do about kernels that were not measured for that reason.
remedy() {
    jq -r --arg why "$2" '.could_not_check[] | select(.why | contains($why)) | .remedy' "$1.json" | sed -n 1p
}

# missing NAME: what classes lack, with the reasons.
missing() {
    sql "$1.db" "SELECT substr(detail, instr(detail, ': ') + 2) FROM loss WHERE kind LIKE 'kernel class %'"
}

# has NAME REASON: it is the reason of the trace, and the report shows it with its remedy.
has() {
    equal "why nothing was counted" "$2" "$(missing "$1")"
    said=$(remedy "$1" "$2")
    case $said in '' | null) fail "$1: no remedy for '$2'" ;; esac
}

# gone NAME: nothing lacks anything any more, and some launches were measured.
gone() {
    equal "what is left after the remedy" "" "$(missing "$1")"
    [ "$(sql "$1.db" "SELECT count(DISTINCT grp) FROM kernel_counters WHERE value IS NOT NULL")" -ge 2 ] ||
        fail "$1: not both kinds of counters"
}

# Kernels that are given memory which the host can change: the first one that ends shows that they do. Counting them needs
# more than this stand-in can do, and they are not repeated.
recorded host pinned 4
equal "why nothing was counted" "CUPTI refused the measurement" "$(missing host)"
[ "$(sql host.db "SELECT count(DISTINCT grp) FROM kernel_counters WHERE value IS NOT NULL")" = 1 ] || fail "host: no counters"
# They are not tried while other threads use CUDA.
beside="it is given memory that the host can change while it runs, and it was not seen to end without its caller"
recorded beside pinned_beside 4
has beside "$beside"
equal "remedy" "GMTRACE_COUNTERS=on" "${said%% *}"
GMTRACE_COUNTERS=on recorded beside_on pinned_beside 4
gone beside_on
recorded host_once pinned 1
has host_once "it was launched once, and not repeated: it is given memory that the host can reach (pinned, registered or managed), which is not restored"

# A rank of several is measured like any other program.
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 recorded rank churn 20
gone rank

# A kernel with memory of another device may wait for that. One with memory of its own does not: of it, too, what patches
# kernels inside of their launch is left out, which is all that this stand-in counts with.
shared="it is given memory that another device or process uses, too, and may wait for it"
export SIMGPU_DEVICES=2
recorded shared peer_memory 20
equal "why nothing was counted" "$(printf '%s\n' "$shared" "CUPTI refused the measurement" | sort)" "$(missing shared | sort)"
equal "of which class there are counters" "1,1,1" "$(sql shared.db "SELECT grid_x || ',' || grid_y || ',' || grid_z
    FROM kernel_class WHERE id IN (SELECT class_id FROM kernel_counters)")"
said=$(remedy shared "$shared")
equal "remedy" "GMTRACE_COUNTERS=on" "${said%% *}"
GMTRACE_COUNTERS=on recorded shared_on peer_memory 20
gone shared_on
unset SIMGPU_DEVICES

budget="measuring it would have cost more than the budget"
(unset GMTRACE_COUNTER_BUDGET && recorded budget long 3)
has budget "$budget"
equal "remedy" "record with --counter-budget unlimited, and without --overhead" "$said"
recorded budget_unlimited long 3
gone budget_unlimited

captured="it was launched into captures of graphs"
recorded captured captured 0
# The report prints this remedy from the records of what graphs run, which the stand-in does not make.
equal "why nothing was counted" "$captured" "$(missing captured)"
recorded captured_twice captured 2
gone captured_twice
echo "every remedy helps"
