#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# late_work.sh mutants | SCENARIO [N]: where the software device does work late, programs show under gmtrace what they show without both,
# and nothing is reported. `mutants`: each wait and edge that gmtrace needs is missed when it is left out.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

export GMTRACE_COLLECT=standard GMTRACE_REPEAT=always GMTRACE_GRAPH_STEPS=always
seeds=(1 2 3 4 5 6 7 8)

# late SEED NAME ARGUMENT...: a traced run.
late() {
    local seed=$1 name=$2
    shift 2
    rm -f "$name.db" "$name.report"
    SIMGPU_ORDER=$seed SIMGPU_ORDER_REPORT=$work/$name.report traced "$name" "$@"
    finished "$name.db"
}

if [ "$1" != mutants ]; then
    plain t.plain "$@"
    for seed in "${seeds[@]:0:5}"; do
        # Without counters kernels are late, too: a launch is waited for where its counts are recorded.
        collect=(light standard)
        export GMTRACE_COLLECT=${collect[seed % 2]}
        late "$seed" t "$@"
        [ ! -e t.report ] || fail "order $seed: $(head -1 t.report)"
        same_behaviour t
        equal "order $seed: losses" "" "$(sql t.db "SELECT kind || ': ' || detail FROM loss
            WHERE kind NOT IN ('entry point not covered', 'kernel not repeated')")"
    done
    exit
fi

CLIENT=${ORDER_APP:?}
# shows MODE PROGRAM: "N wrong, M reported".
shows() {
    local wrong=0 reported=0 seed
    local -x GMTRACE_REPEAT=off GMTRACE_GRAPH_STEPS=off
    [ "$1" != repeat ] || GMTRACE_REPEAT=always
    [ "$1" != steps ] || GMTRACE_GRAPH_STEPS=always
    for seed in "${seeds[@]}"; do
        late "$seed" m "$2"
        case $(cat m.status) in
        0) ;;
        3) wrong=$((wrong + 1)) ;;
        *) fail "$1 $2, order $seed: status $(cat m.status)" ;;
        esac
        [ ! -e m.report ] || reported=$((reported + 1))
    done
    echo "$wrong wrong, $reported reported"
}

while read -r mode program; do
    equal "$mode $program" "0 wrong, 0 reported" "$(shows "$mode" "$program")"
done < <(awk '!/^#/ { print $1, $2 }' "$GMT_SOURCE/tests/e2e/late_work.mutants" | sort -u)
count=0
while read -r mode program left_out; do
    shown=$(SIMGPU_SKIP=$left_out shows "$mode" "$program")
    echo "$mode $program without $left_out: of ${#seeds[@]}, $shown"
    [ "$shown" != "0 wrong, 0 reported" ] || fail "nobody misses $left_out"
    count=$((count + 1))
done < <(grep -v '^#' "$GMT_SOURCE/tests/e2e/late_work.mutants")
[ "$count" -ge 10 ] || fail "only $count rows"
