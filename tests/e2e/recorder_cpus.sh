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

# A program that ends when it is asked to.
mkfifo go
LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/t.db taskset -c "$one" python3 -c '
import ctypes, sys
print(ctypes.CDLL("libcuda.so.1").cuInit(0), flush=True)
sys.stdin.read()' <go >t.out 2>t.err &
pid=$!
exec 3>go

tries=1200 # the limit ends a test that has failed
recorder=
seen=
while [ "$seen" != "$most" ] && [ "$tries" -gt 0 ] && kill -0 $pid 2>/dev/null; do
    [ -n "$recorder" ] || recorder=$(recorder_of "$work")
    [ -z "$recorder" ] || seen=$(allowed "$recorder")
    tries=$((tries - 1))
    sleep 0.05
done
program=$(allowed $pid)
exec 3>&-
status=0
wait $pid || status=$?
equal "exit status" 0 $status
equal "result of cuInit" 0 "$(cat t.out)"
[ -n "$recorder" ] || fail "no recorder was seen"
equal "processors of the program" "$one" "$program"
equal "processors of the recorder" "$most" "$seen"
finished t.db
nothing_lost t.db
