#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that is bound to one processor keeps it for itself: its recorder uses all that may be used.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

allowed() {
    sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null
}

# What is left of all processors when the kernel has taken away those that the control group has not.
most=$(python3 -c 'import os
os.sched_setaffinity(0, range(1024))
print(*(line.split()[1] for line in open("/proc/self/status") if line.startswith("Cpus_allowed_list")))')
one=$(allowed self)
one=${one%%[,-]*}
[ "$most" != "$one" ] || skip "there is one processor only"
command -v taskset >/dev/null || skip "no taskset"

LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB SIMGPU_COUNTS=$work/t.counts GMTRACE_OUTPUT=$work/t.db \
    taskset -c "$one" "$CLIENTS/driverclient" many 300000 >t.out 2>t.err &
pid=$!
recorder=
while [ -z "$recorder" ] && kill -0 $pid 2>/dev/null; do recorder=$(recorder_of "$work"); done
[ -n "$recorder" ] || fail "no recorder was seen"
kill -STOP $pid # neither ends before it has been looked at
equal "processors of the program" "$one" "$(allowed $pid)"
tries=1200 # the limit ends a test that has failed
while [ "$(allowed "$recorder")" != "$most" ] && [ "$tries" -gt 0 ]; do
    sleep 0.05
    tries=$((tries - 1))
done
seen=$(allowed "$recorder")
kill -CONT $pid
equal "processors of the recorder" "$most" "$seen"
status=0
wait $pid || status=$?
equal "exit status" 0 $status
finished t.db
all_calls_recorded t
nothing_lost t.db
