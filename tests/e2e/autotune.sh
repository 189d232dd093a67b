#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# autotune.sh: of a program that does what XLA's autotuner does, in several threads, nearly all kernels are measured, and
# those that are not are refused for what they do themselves.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

: "${STANDIN_CUPTI:?the folder of the stand-in CUPTI}"
export GMTRACE_COLLECT=standard
CLIENT=$CLIENTS/autotuneclient
candidates=60

# classes NAME WHERE: how many kernel classes there are of which that holds; c is the class, k its kernel.
classes() {
    sql "$1.db" "SELECT count(*) FROM kernel_class c JOIN kernel k ON k.id = c.kernel_id WHERE $2"
}
# mostly NAME WHAT WHERE: it holds for 95 of 100.
mostly() {
    local all of
    all=$(classes "$1" 1) of=$(classes "$1" "$3")
    echo "$1: $2: $of of $all classes"
    [ "$((100 * of))" -ge "$((95 * all))" ] || fail "$1: $2: only $of of $all classes:
$(sql "$1.db" "SELECT kind || ': ' || substr(detail, instr(detail, ': ') + 2) AS what, sum(count) FROM loss GROUP BY what" || true)"
}

# Made twice, as the first launch of a class is on a GPU: what forbids it is the memory of the host that the delay kernel is given.
GMTRACE_REPEAT=always traced_like_plain twice "$candidates"
equal "status" 0 "$(cat twice.status)"
finished twice.db
mostly twice "a launch was repeated" "EXISTS (SELECT 1 FROM launch l JOIN own_time o ON o.launch_seq = l.seq
    WHERE o.work = 'repeat' AND l.class_id = c.id GROUP BY l.seq HAVING count(*) > 1)"
equal "the first launch of a kernel, not repeated" "" "$(sql twice.db "SELECT DISTINCT detail
    FROM loss WHERE kind = 'kernel not repeated' AND detail NOT LIKE 'delay_kernel:%' AND detail NOT LIKE '%other threads used CUDA%'")"

# As a driver and a CUPTI like any others: by what its arguments and the streams show. (Counting needs more than this stand-in can.)
export SIMGPU_INTERFACE=0 GMTRACE_CUPTI=$STANDIN_CUPTI
SIM_LIB=$SIM_LIB:$STANDIN_CUPTI
for order in '' 3; do # executed at once, and late, behind a delay kernel that has not ended yet
    [ -z "$order" ] || export SIMGPU_ORDER=$order
    traced_like_plain "measured$order" "$candidates"
    equal "status" 0 "$(cat "measured$order.status")"
    finished "measured$order.db"
    mostly "measured$order" "hardware counters" "EXISTS (SELECT 1 FROM kernel_counters v WHERE v.class_id = c.id AND v.grp = 'hardware')"
done
