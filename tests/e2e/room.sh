#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# room.sh: no launch is repeated where a copy of what it can write would not leave the program enough free memory, and that is
# the reason given; with more memory it is repeated.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

CLIENT=$CLIENTS/repeatclient
export GMTRACE_REPEAT=always SIMGPU_DEVICES=2
export GMTRACE_HOLD_LIMIT=20000 # what is repeated does not depend on how busy the machine is

# recorded NAME MIB: generated programs on a device with so much memory, as without gmtrace.
recorded() {
    export SIMGPU_MEMORY_MB=$2
    GMTRACE_COLLECT=standard traced_like_plain "$1" generate 0 6
    equal "status" 0 "$(cat "$1.status")"
    finished "$1.db"
}

# without_room NAME: kernels that were not repeated for that reason.
without_room() {
    sql "$1.db" "SELECT count(*) FROM loss WHERE kind = 'kernel not repeated' AND
        substr(detail, instr(detail, ': ') + 2) = '$room'"
}

# Launches that were made twice: a row for what came before the first execution, and one for the second.
repeated() {
    sql "$1.db" "SELECT count(*) FROM launch l WHERE (SELECT count(*) FROM own_time o
        WHERE o.work = 'repeat' AND o.launch_seq = l.seq) = 2"
}

room=$(sed -nE 's/^GMT_UNMEASURED\(ONCE_ROOM, "([^"]+)".*/\1/p' "$GMT_SOURCE/libtrace/record/unmeasured.def")
[ -n "$room" ] || fail "no reason ONCE_ROOM"

recorded little 256 # of which as much has to stay free
equal "launches repeated without room" 0 "$(repeated little)"
[ "$(without_room little)" -gt 0 ] || fail "the reason is not given"

recorded enough 2048
equal "kernels without room, with enough memory" 0 "$(without_room enough)"
[ "$(repeated enough)" -gt 0 ] || fail "nothing was repeated"
