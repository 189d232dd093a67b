#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pipes behind a traced program, and what its children find in their environment.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

# Whoever reads the program's output sees its end at once: the recorder, which is stopped meanwhile, holds no end of the pipe.
mkfifo hold
CLIENT_HOLD=$work/hold LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/pipe.db \
    "$CLIENTS/driverclient" many 200000 2>&1 | timeout 120 cat >pipe.out &
pid=$!
recorder=
while [ -z "$recorder" ] && kill -0 $pid 2>/dev/null; do recorder=$(recorder_of "$work"); done
[ -n "$recorder" ] || fail "no recorder was seen"
at_exit "kill -CONT $recorder 2>/dev/null"
kill -STOP "$recorder"
: >hold
status=0
wait $pid || status=$?
kill -CONT "$recorder"
equal "status of who reads the pipe" 0 $status
equal "last line" "200000 copies" "$(tail -1 pipe.out)"
finished pipe.db

# Children of a traced shell are traced, too, and it passes LD_PRELOAD on unchanged.
LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/sh.db \
    bash -c '"$0" churn 5; echo "$LD_PRELOAD"' "$CLIENTS/driverclient" >sh.out
equal "LD_PRELOAD of a child" "$GMT_LIB" "$(tail -1 sh.out)"
finished sh.db
