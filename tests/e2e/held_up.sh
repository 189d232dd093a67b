#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# held_up.sh: a call of CUPTI that gmtrace makes in the program's thread does not return. `gmtrace status` says which, while the process
# hangs; the trace says it when the process has been killed, by its recorder or, where that was killed too, when it is completed later.
# Where it waits for what a thread has that is held meanwhile (the loader's lock), that one goes on after a while.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmtrace=$GMT_BUILD/bin/gmtrace
gmanalyze=$GMT_BUILD/bin/gmanalyze
standin=$CLIENTS/libcuptisass.so
[ -e "$standin" ] || skip "the stand-in of CUPTI is not built"
if [ ! -x "$gmtrace" ] || [ ! -x "$gmanalyze" ]; then skip "gmtrace or gmanalyze is not built"; fi
export SIMGPU_INTERFACE=0 # a driver like any other, that has its CUPTI
export GMTRACE_COUNTER_BUDGET=unlimited GMTRACE_COLLECT=deep GMTRACE_DEEP=phase
export GMTRACE_CUPTI=$standin CUPTI_STANDIN_CUBIN=$GMT_SOURCE/tests/data/cubin/lines.cubin
call="cuptiSassMetricsDisable and what comes before it"

# hang NAME: a process whose first counted launch does not come back; `pid`.
hang() {
    LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/$1.db CUPTI_STANDIN_MS=3600000 \
        "$CLIENTS/countedclient" rounds 0 >"$1.out" 2>"$1.err" &
    pid=$!
    at_exit "kill -9 $pid 2>/dev/null"
    until "$gmtrace" status $pid 2>/dev/null >status.out && grep -q "held up" status.out; do
        kill -0 $pid || fail "the process has ended: $(cat "$1.err")"
        sleep 0.1
    done
    grep -qE "^process $pid: on; .*; thread $pid has been held up for [0-9]+\.[0-9] s: $call; it is sleeping( in [a-zA-Z0-9_.]+)?$" status.out ||
        fail "gmtrace status: $(cat status.out)"
}

# said NAME DOING: the loss of its trace.
said() {
    equal "losses" "call held up|1" "$(sql "$1.db" "SELECT kind, count FROM loss WHERE kind = 'call held up'")"
    sql "$1.db" "SELECT detail FROM loss WHERE kind = 'call held up'" >detail
    grep -qE "^thread $pid since [0-9]+\.[0-9] s of the recording: $call; $2$" detail || fail "$(cat detail)"
}

hang killed
kill -9 $pid
finished killed.db
said killed "(sleeping( in [a-zA-Z0-9_.]+)?|nobody knows what it did)" # the recorder looks once a second
"$gmanalyze" killed.db >report.txt || fail "no report"
grep -q "1 call was held up by gmtrace when the process ended" report.txt || fail "the report does not say it"

hang both
recorder=$(recorder_of "$work/both.db.spool")
kill -9 "$recorder" $pid
LD_LIBRARY_PATH='' "$gmanalyze" both.db >report.txt || fail "the spool is not completed"
finished both.db
said both "nobody knows what it did"

# Nothing of the kind in a run that ends.
CLIENT=$CLIENTS/countedclient traced well launches 1
finished well.db
equal "losses of a run that ends" "" "$(sql well.db "SELECT detail FROM loss WHERE kind = 'call held up'")"

# A thread that has the loader's lock is held, and the one that holds it waits for that lock. They may miss each other.
library=$CLIENTS/libcountedconstructor.so
[ -e "$library" ] || skip "the library with a constructor is not built"
: >opened.log
for ((turn = 1; turn <= 20; turn++)); do
    rm -f constructed.db
    CLIENT=$CLIENTS/countedclient COUNTED_LIBRARY=$library CUPTI_STANDIN_OPENS=$standin CUPTI_STANDIN_LOG=$work/opened.log \
        traced constructed constructors 1
    equal "status of the program" 0 "$(cat constructed.status)"
    finished constructed.db
    [ "$(sql constructed.db "SELECT count(*) FROM loss WHERE detail LIKE 'measuring a launch did not go on%'")" = 0 ] || break
done
echo "they met in run $turn; $(grep -c '^opened$' opened.log || true) times a library was opened while a launch was counted"
[ "$turn" -le 20 ] || fail "no thread was held with the loader's lock"
! grep -v '^\(opened\|session\)$' opened.log || fail "the stand-in says more"
