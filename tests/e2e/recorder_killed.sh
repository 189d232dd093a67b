#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The recorder is killed: the program notices nothing, and gmanalyze makes the trace of what is left.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

# The recorder of this test: an executable of that name with our folder among its arguments.
recorder_pid() {
    local proc
    for proc in /proc/[0-9]*; do
        if [ "$(readlink "$proc/exe" 2>/dev/null)" = "$GMT_BUILD/libexec/gmtrace/gmtrace-recorder" ] &&
            tr '\0' '\n' <"$proc/cmdline" 2>/dev/null | grep -qF "$work"; then
            echo "${proc#/proc/}"
            return
        fi
    done
}

LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB SIMGPU_COUNTS=$work/t.counts \
    GMTRACE_OUTPUT=$work/t.db "$CLIENTS/driverclient" many 1500000 >t.out 2>t.err &
pid=$!
recorder=
while [ -z "$recorder" ] && kill -0 $pid 2>/dev/null; do recorder=$(recorder_pid); done
[ -n "$recorder" ] || fail "no recorder was seen"
kill -9 "$recorder"
status=0
wait $pid || status=$?
equal "exit status" 0 $status
equal "output" "started
1500000 copies" "$(cat t.out)"
equal "standard error" "" "$(cat t.err)"
[ -d t.db.spool ] || fail "no spool is left"

[ -x "$GMT_BUILD/bin/gmanalyze" ] || skip "gmanalyze is not built"
"$GMT_BUILD/bin/gmanalyze" --calibrate never t.db >analyze.out 2>analyze.err || fail "gmanalyze failed"
finished t.db
all_calls_recorded t
