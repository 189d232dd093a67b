#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# repeat_shows.sh COUNT: generated programs do the same every time, traced or not, and show it if a kernel is executed twice.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

export SIMGPU_DEVICES=2
CLIENT=$CLIENTS/repeatclient
count=$1

SIMGPU_THREADS=1 plain once generate 0 "$count"
traced_like_plain t generate 0 "$count"
equal "status" 0 "$(cat t.status)"
same "results depend on the number of workers" once.out t.out
equal "programs" "$count" "$(grep -c '^[0-9]' t.out)"
finished t.db
all_calls_recorded t
nothing_lost t.db

hazards=$(grep -c ' hazard:' t.out)
[ "$((hazards * 100))" -ge "$((count * 35))" ] || fail "$hazards of $count programs have a hazard"

# same_after PREFIX PATTERN: programs of those lines that show nothing when kernels of that name are executed twice.
same_after() {
    REPEAT_TWICE=$1 plain twice generate 0 "$count"
    equal "status of $1" 0 "$(cat twice.status)"
    comm -12 <(grep -E "$2" t.out | sort) <(sort twice.out) | awk '{ print $1, $2, $3 }'
}
# What is not done in place does not show it.
equal "safe kernels executed twice" "" "$(same_after safe_ ' safe ' | grep -vE '^[0-9]+ (out_of_place[.a-z_0-9]*\+?)+ ' || true)"
equal "kernels with hazards executed twice" "" "$(same_after hazard_ ' hazard:' | grep -vE ' hazard:(thread|array|devices)$' || true)"
equal "kernels beside others executed twice" "" "$(same_after either_ ' hazard:(thread|array|devices) ')"
