#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace --ring --dump-on slow-step: a step that takes long is dumped, and is in its dump. (Which steps are slow, and that none is in a
# steady program, unit.steps shows: on a machine that does other things, no program is steady.)
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

about=$1
gmtrace=$GMT_BUILD/bin/gmtrace
gmanalyze=$GMT_BUILD/bin/gmanalyze
if [ ! -x "$gmtrace" ] || [ ! -x "$gmanalyze" ]; then skip "gmtrace or gmanalyze is not built"; fi
export LD_LIBRARY_PATH=$SIM_LIB
client=$CLIENTS/driverclient

# begin DUMP_ON SCENARIO WORD
begin() {
    mkfifo stop
    LD_PRELOAD=$GMT_LIB NVTX_INJECTION64_PATH=$GMT_LIB GMTRACE_RING=2s GMTRACE_DUMP_ON=$1 GMTRACE_OUTPUT=$work/t.db \
        "$client" "$2" <stop >t.out 2>t.err &
    pid=$!
    at_exit "kill -9 $pid 2>/dev/null"
    exec 9>stop
    until grep -q "$3" t.out; do sleep 0.02; done
}

# Wait until so many steps of this name are known that the next can be slow.
warmed_up() {
    local count=0
    while [ "${count:-0}" -le 110 ]; do
        "$gmtrace" top --once -d 0.1 $pid >top.out 2>top.err || fail "gmtrace top: $(cat top.err)"
        count=$(sed -n 's/^steps  *[0-9.,]*  *//p' top.out | tr -d ,)
    done
    equal "what steps are known by" "$1" "$(sed -n 's/.* slow: //p' top.out)"
}

dumps() {
    compgen -G 't-*.db' || true
}

# planted SQL: finds the dump of a step that took as long as the program is stopped, and whose length SQL finds in it, in ns.
planted() {
    local file ms ns
    dump=
    for file in $(dumps); do
        ms=$(sql "$file" "SELECT value FROM meta WHERE key = 'ring_cause'" |
            sed -n 's/^slow step: [a-z ]* took \([0-9]*\).*/\1/p')
        [ "${ms:-0}" -ge 1490 ] || continue
        ns=$(sql "$file" "$1")
        if [ "${ns:-0}" -ge 1490000000 ]; then dump=$file; fi
    done
}

# plant SQL: the program is stopped for 1.5 s, in whatever step it is. On a machine that does other things other steps are slow,
# too, and of all there is one dump in 2 s: it is stopped when the last one was 0.7 s ago, so that none can come before its own. A
# recorder that is kept from running may be too late for what lies 2 s back.
plant() {
    local i j before
    for ((i = 0; i < 6; i++)); do
        before=
        until [ "$before" = ":$(dumps)" ]; do
            before=:$(dumps)
            sleep 0.7
        done
        kill -STOP $pid
        sleep 1.5
        kill -CONT $pid
        for ((j = 0; j < 40; j++)); do
            planted "$1"
            [ -z "$dump" ] || return 0
            sleep 0.1
        done
    done
    fail "no slow step was dumped, and is in its dump: $(cat top.out)"
}

sound() {
    "$gmanalyze" validate "$dump" >validate.out 2>&1 || fail "validate: $(grep -v ^ok validate.out)"
    grep -q "dumps" <("$gmtrace" top --once -d 0.1 $pid) || fail "top does not count dumps"
    exec 9>&-
    wait $pid || fail "the program failed: $(cat t.err)"
    equal "standard error" "" "$(cat t.err)"
    at_most "dumps" 10 "$(find . -name 't-*.db' | wc -l)"
}

case $about in
launches)
    begin slow-step serve serving
    warmed_up "launch pattern"
    plant 'SELECT max(pause) FROM (SELECT begin_ns - lag(begin_ns) OVER (ORDER BY begin_ns) AS pause FROM launch)'
    sound
    ;;
ranges)
    client=$CLIENTS/nvtxclient
    if [ ! -x "$client" ]; then skip "nvtxclient is not built"; fi
    begin slow-step=step steps stepping
    warmed_up step
    plant "SELECT max(end_ns - begin_ns) FROM v_range WHERE name = 'step'"
    sound
    ;;
*) fail "no such case" ;;
esac
