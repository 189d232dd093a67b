#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# leave.sh SCENARIO: calls that never end and processes made in unusual ways: same behaviour as untraced, what
# came afterwards is recorded, what could not be is counted.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

scenario=$1
SIM_LIB=${LEAVE_DRIVER:?}
CLIENT=$CLIENTS/leaveclient
export GMTRACE_STACKS=${STACKS:-full}
traced_like_plain t "$scenario"
finished t.db
"$GMT_BUILD/bin/gmanalyze" validate t.db >validate.out || fail "the trace contradicts itself: $(cat validate.out)"

# copies DB EXPECTED: to the host
copies() {
    equal "copies to the host in $1" "$2" "$(sql "$1" "SELECT count(*) FROM transfer WHERE direction = 'd2h'")"
}
# left DB EXPECTED: calls that were left
left() {
    equal "calls left in $1" "$2" "$(sql "$1" "SELECT coalesce(sum(count), 0) FROM loss WHERE detail LIKE 'left by%'")"
    equal "other losses in $1" "" "$(sql "$1" "SELECT kind || ': ' || detail FROM loss
                                               WHERE detail NOT LIKE 'left by%' AND kind != 'entry point not covered'")"
}

case $scenario in
pending)
    equal "output" "returned 2, cancelled" "$(cat t.out)"
    copies t.db 3
    left t.db 0
    ;;
cancelled)
    copies t.db 18
    left t.db 8
    ;;
ended)
    copies t.db 10
    left t.db 8
    ;;
asynchronous)
    [ "$(sql t.db "SELECT count(*) FROM transfer WHERE direction = 'd2h'")" -ge 310 ] || fail "copies are missing"
    at_most "calls left" 300 "$(sql t.db 'SELECT coalesce(sum(count), 0) FROM loss')"
    ;;
jump)
    copies t.db 100
    left t.db 10
    ;;
nested | alternate | coroutine)
    copies t.db 10
    left t.db 0
    equal "copies to the device" 10 "$(sql t.db "SELECT count(*) FROM transfer WHERE direction = 'h2d'")"
    ;;
lost_coroutine)
    copies t.db 10
    left t.db 5
    ;;
raw_fork)
    copies t.db 50
    left t.db 0
    shopt -s nullglob
    children=()
    for child in t.db.*; do
        [ "${child%.spool}" != "$child" ] || children+=("$child")
    done
    equal "traces of children" 2 "${#children[@]}"
    for child in "${children[@]}"; do
        finished "$child"
    done
    counts=$(for child in "${children[@]}"; do sql "$child" "SELECT count(*) FROM transfer"; done | sort -n | tr '\n' ' ')
    equal "copies of children" "21 22 " "$counts"
    ;;
raw_fork_thread)
    copies t.db 20
    left t.db 0
    equal "traces" "t.db" "$(ls -d t.db*)"
    ;;
small_stack)
    copies t.db 10
    left t.db 0
    ;;
*) fail "no such scenario: $scenario" ;;
esac
