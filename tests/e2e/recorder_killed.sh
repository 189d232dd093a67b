#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The recorder is killed: the program notices nothing, and gmanalyze makes the trace of what is left.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

mkfifo hold
CLIENT_HOLD=$work/hold LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB SIMGPU_COUNTS=$work/t.counts \
    GMTRACE_OUTPUT=$work/t.db "$CLIENTS/driverclient" many 500000 >t.out 2>t.err &
pid=$!
recorder=
while [ -z "$recorder" ] && kill -0 $pid 2>/dev/null; do recorder=$(recorder_of "$work"); done
[ -n "$recorder" ] || fail "no recorder was seen"
: >hold
kill -9 "$recorder"
status=0
wait $pid || status=$?
equal "exit status" 0 $status
equal "output" "started
500000 copies" "$(cat t.out)"
equal "standard error" "" "$(cat t.err)"
[ -d t.db.spool ] || fail "no spool is left"

[ -x "$GMT_BUILD/bin/gmanalyze" ] || skip "gmanalyze is not built"
"$GMT_BUILD/bin/gmanalyze" --calibrate never t.db >analyze.out 2>analyze.err || fail "gmanalyze failed"
finished t.db
all_calls_recorded t
