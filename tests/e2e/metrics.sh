#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace --metrics: a file in Prometheus' text format, whole at any moment, whose last numbers are those of the trace.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

about=$1
gmtrace=$GMT_BUILD/bin/gmtrace
if [ ! -x "$gmtrace" ]; then skip "gmtrace is not built"; fi
needs python3
export LD_LIBRARY_PATH=$SIM_LIB

# metrics FILE [--trace TRACE]: samples.out has the samples.
metrics() {
    python3 "$GMT_SOURCE/tests/e2e/metrics.py" "$@" >samples.out 2>metrics.err || fail "$1: $(tail -n 1 metrics.err)"
}

# value NAME [LABELS]
value() {
    sed -n "s/^$1{${2-}} //p" samples.out
}

case $about in
whole)
    # Programs of several kinds, to their ends.
    for scenario in "churn 200" "mixed 400" "graphs 5" memory "mapped 20" "capture 5" errors host_memory exit_return; do
        # shellcheck disable=SC2086 # a scenario and its number
        LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/t.db GMTRACE_METRICS=$work/m.prom \
            run t "$CLIENTS/driverclient" $scenario
        finished t.db
        metrics m.prom --trace t.db
        equal "gmtrace_up of $scenario that has ended" 0 "$(value gmtrace_up)"
        equal "files beside it" m.prom "$(find . -name '*m.prom*' -printf '%P\n')"
        equal "mode" 644 "$(stat -c %a m.prom)"
        [ "$(wc -l <samples.out)" -gt 30 ] || fail "too few samples"
        rm t.db m.prom
    done
    # A link is followed; what is no file is neither replaced nor waited for.
    mkdir there
    ln -s there/m.prom link.prom
    mkfifo pipe.prom
    for name in link pipe; do
        LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/t.db GMTRACE_METRICS=$work/$name.prom run t "$CLIENTS/driverclient" basic
        finished t.db
        rm t.db
    done
    metrics there/m.prom
    [ -L link.prom ] || fail "the link was replaced"
    [ -p pipe.prom ] || fail "the pipe was replaced"
    ;;
running)
    # While the program runs each reading is whole, and counters only grow.
    mkfifo stop
    LD_PRELOAD=$GMT_LIB GMTRACE_RING=1s GMTRACE_OUTPUT=$work/t.db GMTRACE_METRICS=m-%p.prom GMTRACE_METRICS_INTERVAL=1 \
        "$CLIENTS/driverclient" serve <stop >t.out 2>t.err &
    pid=$!
    at_exit "kill -9 $pid 2>/dev/null"
    exec 9>stop
    until [ -e m-$pid.prom ]; do sleep 0.02; done
    before=-1 times=0
    for ((i = 0; i < 1200 && times < 3; i++)); do
        metrics m-$pid.prom
        equal "gmtrace_up" 1 "$(value gmtrace_up pid=$pid)"
        now=$(value gmtrace_kernel_launches_total pid=$pid)
        [ "$now" -ge "$before" ] || fail "a counter went back from $before to $now"
        if [ "$now" != "$before" ]; then times=$((times + 1)); fi
        before=$now
        sleep 0.05
    done
    [ "$times" -ge 3 ] || fail "the file is not written anew"
    "$gmtrace" off $pid 2>off.err || fail "gmtrace off: $(cat off.err)"
    for ((i = 0; i < 1200; i++)); do
        metrics m-$pid.prom
        [ "$(value gmtrace_recording pid=$pid)" = 1 ] || break
        sleep 0.05
    done
    equal "gmtrace_recording of one that is off" 0 "$(value gmtrace_recording pid=$pid)"
    "$gmtrace" dump $pid -o d.db 2>dump.err || fail "gmtrace dump: $(cat dump.err)"
    kill -9 $pid
    wait $pid || true
    while [ -n "$(recorder_of "$work/t.db")" ]; do sleep 0.05; done
    metrics m-$pid.prom
    equal "gmtrace_up of one that was killed" 0 "$(value gmtrace_up pid=$pid)"
    equal "dumps of one that was killed" 1 "$(value gmtrace_dumps_total pid=$pid)"
    if [ -e t.db.spool ]; then fail "the spool is left"; fi
    ;;
several)
    # Two processes of one name: each has a file, and no sample of one is a sample of the other.
    "$gmtrace" -o t.db --metrics m.prom bash -c \
        "'$CLIENTS/driverclient' churn 20; '$CLIENTS/driverclient' churn 30" >several.out 2>several.err || fail "gmtrace: $(cat several.err)"
    files=(m*.prom)
    equal "files" 2 ${#files[@]}
    for file in "${files[@]}"; do
        metrics "$file"
        sed 's/ [^ ]*$//' samples.out >>all
    done
    equal "samples that are there twice" "" "$(sort all | uniq -d)"
    # Of two runs of one program, that for instructions leaves the file as it is.
    for second in "" 1; do
        LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/d$second.db GMTRACE_METRICS=$work/d$second.prom GMTRACE_COLLECT=deep \
            run d env ${second:+GMTRACE_SECOND_RUN=1} "$CLIENTS/driverclient" churn 5
        finished d$second.db
    done
    [ -e d.prom ] || fail "the first run has no metrics"
    if [ -e d1.prom ]; then fail "the second run has metrics"; fi
    ;;
refused)
    # refused TEXT OPTION...: status 125, one line, and the program does not run.
    refused() {
        local text=$1
        shift
        equal "status of gmtrace $*" 125 "$("$gmtrace" "$@" touch ran 2>refused.err; echo $?)"
        grep -q -- "$text" refused.err || fail "gmtrace $*: $(cat refused.err)"
        if [ -e ran ]; then fail "the program ran"; fi
    }
    refused "cannot write the metrics into" --metrics "$work/nowhere/m.prom"
    refused "is a directory" --metrics "$work"
    refused "is not valid" --metrics m-%z.prom
    refused "takes a number from 1 to 3600" --metrics m.prom --metrics-interval 0
    refused "give --ring too" --dump-on slow-step
    refused "takes slow-step" --ring 1s --dump-on error
    # A place that goes while the program runs costs nothing but the file.
    mkdir place
    mkfifo stop
    LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/t.db GMTRACE_METRICS=$work/place/m.prom GMTRACE_METRICS_INTERVAL=1 \
        "$CLIENTS/driverclient" serve <stop >t.out 2>t.err &
    pid=$!
    at_exit "kill -9 $pid 2>/dev/null"
    exec 9>stop
    until [ -e place/m.prom ]; do sleep 0.02; done
    until rm -rf place 2>/dev/null; do :; done # the recorder may just write into it
    for ((i = 0; i < 600; i++)); do
        "$gmtrace" top --once -d 0.1 $pid >top.out 2>top.err || fail "gmtrace top: $(cat top.err)"
        grep -q "metrics file" top.out && break
    done
    grep -q "^the metrics file cannot be written: No such file or directory" top.out || fail "top: $(cat top.out)"
    exec 9>&-
    wait $pid || fail "the program failed"
    finished t.db
    equal "standard error" "" "$(cat t.err)"
    ;;
*) fail "no such case" ;;
esac
