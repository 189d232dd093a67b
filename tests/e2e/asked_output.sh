#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A trace that was asked for and not made is an error of gmtrace; what it reports on is of its own run.
# $1: what the test is about.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmtrace=$GMT_BUILD/bin/gmtrace
[ -x "$gmtrace" ] || skip "gmtrace is not built"
export LD_LIBRARY_PATH=$SIM_LIB
client=$CLIENTS/driverclient

# launched STATUS ARGUMENT...: one.out, one.err.
launched() {
    local wanted=$1
    shift
    run one "$gmtrace" "$@"
    equal "status of gmtrace $*" "$wanted" "$(cat one.status)"
}

said() {
    equal "lines about the trace" 1 "$(grep -c '^gmtrace: no trace' one.err)"
    grep -qE "$1" one.err || fail "gmtrace does not say: $1"
}

case $1 in
none)
    launched 125 -o t.db "$client" nothing
    said 'made no CUDA call that reached the driver \(status 125'
    GMTRACE_OUTPUT=t.db launched 125 "$client" nothing
    launched 125 -o t.%p.db "$client" nothing
    # Nobody has asked by name: a program that does not use CUDA is none's failure.
    launched 0 "$client" nothing
    said "made no CUDA call that reached the driver; if it should have, try: gmtrace doctor $client\$"
    # The program's own failure is what the caller learns.
    launched 3 -o t.db sh -c 'exit 3'
    ! grep -q 'status 125' one.err || fail "gmtrace names a status that it does not return: $(cat one.err)"
    launched 127 -o t.db ./absent
    # One process that records is enough.
    # shellcheck disable=SC2016
    launched 0 -o t.db sh -c '"$0" churn 5; true' "$client"
    # What was recorded and removed is not called a program without CUDA.
    # shellcheck disable=SC2016
    launched 125 -o t3.db sh -c '"$0" churn 5; while [ -e t3.db.spool ]; do sleep 0.05; done; rm t3.db' "$client"
    said 'was removed or moved'
    # A pipe of that name is not waited for.
    mkfifo pipe.db
    launched 125 -o pipe.db "$client" churn 5
    rm pipe.db
    # Without a driver.
    LD_LIBRARY_PATH='' launched 125 -o t2.db true
    if ! /sbin/ldconfig -p | grep -F libcuda.so.1 >/dev/null; then
        said 'there is no CUDA driver here'
    fi
    equal "files" "t.db" "$(compgen -G '*.db')"
    ;;
older)
    launched 0 -o t.db "$client" churn 5
    launched 125 -o t.db "$client" nothing
    [ ! -e t.db ] || fail "an older trace is where the new one was to be"
    equal "launches in the older trace" 5 "$(sql t.db.old 'SELECT count(*) FROM launch')"
    launched 0 "$client" churn 5
    launched 0 "$client" nothing
    { [ ! -e trace.db ] && [ -e trace.db.old ]; } || fail "an older trace.db is where the new one was to be"
    # What is not run moves nothing.
    launched 0 -o t.db "$client" churn 6
    launched 127 -o t.db ./absent
    equal "launches" 6 "$(sql t.db 'SELECT count(*) FROM launch')"
    # A link is moved aside, and nothing written to where it leads.
    ln -s made link.db
    touch -h -d '1 hour ago' link.db
    launched 0 -o link.db "$client" churn 5
    { [ ! -e made ] && [ -f link.db ] && [ ! -L link.db ]; } || fail "a dangling link was written through"
    equal "the link" made "$(readlink link.db.old)"
    ;;
variable)
    # The value of a variable may be a folder, whose name would be a pattern of the shell.
    mkdir -p 'in[1]*/deep' in1
    WHERE="$work/in[1]*/deep" launched 0 -o '%q{WHERE}/a-%q{WHAT}.db' "$client" churn 5
    grep -qF "gmtrace: wrote $work/in[1]*/deep/a-.db; next:" one.err || fail "$(cat one.err)"
    # Others may be set by what gmtrace runs.
    # shellcheck disable=SC2016
    WHERE="$work/in1" launched 0 -o '%q{WHERE}/b-%q{WHAT}.db' sh -c 'WHAT=ever exec "$0" churn 5' "$client"
    grep -qF "gmtrace: wrote $work/in1/b-ever.db; next:" one.err || fail "$(cat one.err)"
    ;;
foreign)
    # -o with the name of the program, or of a source: neither is moved, and nothing runs.
    cp "$client" app
    echo 'int main;' >precious.cu
    touch -d '1 hour ago' app precious.cu
    for name in app precious.cu; do
        launched 125 -o "./$name" ./app churn 5
        equal "what gmtrace says" \
            "gmtrace: './$name' is no trace of gmtrace and is not replaced; name another file with -o" "$(cat one.err)"
        [ ! -s one.out ] || fail "the program has run"
    done
    cmp app "$client" || fail "the program was replaced"
    equal "the source" 'int main;' "$(cat precious.cu)"
    # An older trace would be moved over what is no trace.
    launched 0 -o t.db "$client" churn 5
    cp precious.cu t.db.old
    launched 125 -o t.db "$client" churn 5
    grep -q "^gmtrace: 't.db.old' is no trace" one.err || fail "$(cat one.err)"
    equal "what was no trace" 'int main;' "$(cat t.db.old)"
    # Where the name is known only when the program runs, and where there is no launcher: it runs, unrecorded.
    launched 125 -o '%e' ./app churn 5
    said "cannot write '$work/app': it is no trace of gmtrace and is not replaced\$"
    equal "output" "5 rounds" "$(cat one.out)"
    OUTPUT=$work/precious.cu traced alone churn 5
    equal "status without the launcher" 0 "$(cat alone.status)"
    equal "what is said without the launcher" \
        "gmtrace: no trace: cannot write '$work/precious.cu': it is no trace of gmtrace and is not replaced; the program runs unrecorded" \
        "$(cat alone.err)"
    equal "files" "app precious.cu t.db t.db.old" "$(find . -maxdepth 1 -name '[apt]*' ! -name 'alone*' -printf '%f\n' | sort | paste -sd' ')"
    cmp app "$client" || fail "the program was replaced"
    equal "the source" 'int main;' "$(cat precious.cu)"
    ;;
refused)
    mkdir small
    mount -t tmpfs -o size=64k tmpfs small 2>/dev/null || skip "no file system can be mounted"
    at_exit "umount '$work/small'"
    dd if=/dev/zero of=small/filler bs=4k status=none 2>/dev/null || true
    launched 125 -o small/t.db "$client" churn 5
    said 'cannot write .*: No space left on device$'
    equal "output" "5 rounds" "$(cat one.out)"
    status=0
    (cd small && "$gmtrace" "$client" churn 5 >/dev/null 2>"$work/default.err") || status=$?
    equal "status with the default output" 125 $status
    equal "lines" 1 "$(wc -l <default.err)"
    ;;
together)
    # Several launchers at once in one folder: each reports on its own traces.
    for n in 1 2 3 4 5 6 7 8; do
        # None of them ends before the last has begun: that would be an earlier run.
        # shellcheck disable=SC2016
        "$gmtrace" sh -c 'touch "$2.ready"; while [ ! -e go ]; do sleep 0.01; done; exec "$1" churn "$2"' \
            sh "$client" "$n" >"$n.out" 2>"$n.err" &
    done
    while [ "$(compgen -G '*.ready' | wc -l)" -lt 8 ]; do sleep 0.01; done
    touch go
    wait
    for n in 1 2 3 4 5 6 7 8; do
        equal "traces of launcher $n" 1 "$(grep -c 'wrote trace' "$n.err")"
        if grep -q journal "$n.err"; then fail "a journal is taken for a trace"; fi
        trace=$(sed -nE 's/^gmtrace: wrote ([^;]+);.*/\1/p' "$n.err")
        # The one that has the name is of another run.
        [ "$trace" = trace.db ] || grep -q 'another process has that name, this one a suffix' "$n.err" || fail "$(cat "$n.err")"
        equal "launches of launcher $n" "$n" "$(sql "$trace" 'SELECT count(*) FROM launch')"
    done
    ;;
helper)
    # A child that only asks the driver what there is, as a library does to generate code, leaves no trace and no word, whether it
    # ends before the program or after it.
    for n in 0 500; do
        launched 0 -o t$n.db "$client" helper $n
        equal "traces and spools" "t$n.db" "$(compgen -G "t$n.db*")"
        equal "copies" 2 "$(sql t$n.db 'SELECT count(*) FROM transfer')"
        if grep -E "output partial|t$n\.db\.[0-9]| traces" one.err; then fail "gmtrace speaks of the child"; fi
        grep -q "^gmtrace: wrote t$n.db; next: gmanalyze t$n.db\$" one.err || fail "no summary of one trace: $(cat one.err)"
    done
    # A call that failed is worth one, and so is a program by itself.
    launched 0 -o failed.db "$client" helper 1
    equal "traces" 2 "$(compgen -G 'failed.db*' | wc -l)"
    equal "calls that failed" 1 "$(sql "$(compgen -G 'failed.db.*')" 'SELECT count(*) FROM api_call WHERE result <> 0')"
    launched 0 -o works.db "$client" posix_spawn
    equal "traces of a child that works" 2 "$(compgen -G 'works.db*' | wc -l)"
    launched 0 -o look.db "$client" look
    finished look.db
    # Two of which neither did anything: the one that has the name stays.
    # shellcheck disable=SC2016
    launched 0 -o two.db sh -c '"$0" look & "$0" look; wait' "$client"
    equal "traces" two.db "$(compgen -G 'two.db*')"
    # The name is another run's: all that this one has.
    mkfifo hold
    CLIENT_HOLD=$work/hold "$gmtrace" -o both.db "$client" many 10 >other.out 2>other.err &
    other=$!
    while [ ! -e both.db ]; do sleep 0.02; done
    launched 0 -o both.db "$client" look
    : >hold
    wait $other
    equal "traces" 2 "$(compgen -G 'both.db*' | wc -l)"
    # Of one that was killed it is not known what it was about to do.
    mkfifo wait_here
    # shellcheck disable=SC2016
    launched 0 -o killed.db sh -c 'exec 3<>wait_here
        "$0" serve 0 <&3 >/dev/null & first=$!; while [ ! -e killed.db ]; do sleep 0.02; done
        "$0" look 100000 & second=$!; while ! ls killed.db.*.spool >/dev/null 2>&1; do sleep 0.02; done
        kill -9 $second; kill $first; wait; true' "$client"
    equal "traces" 2 "$(compgen -G 'killed.db*' | wc -l)"
    ;;
limit)
    # The recorder is killed, so that gmtrace finishes the trace, which may not grow to its size.
    # In bash ulimit -f counts KiB.
    mkfifo hold
    # shellcheck disable=SC2016
    (ulimit -f 6000 && CLIENT_HOLD=$work/hold exec "$gmtrace" -o "$work/t.db" sh -c '"$0" many 600000 >/dev/null; exit 3' "$client" \
        >one.out 2>one.err) &
    pid=$!
    recorder=
    while [ -z "$recorder" ] && kill -0 $pid 2>/dev/null; do recorder=$(recorder_of "$work"); done
    [ -n "$recorder" ] || fail "no recorder was seen"
    : >hold
    kill -9 "$recorder"
    status=0
    wait $pid || status=$?
    equal "status under ulimit -f" 3 $status
    grep -q 'is not finished: .*ulimit' one.err || fail "gmtrace does not say what is wrong"
    # The program has the signal's default action.
    equal "SigIgn of the program" "$(grep SigIgn /proc/self/status)" "$("$gmtrace" grep SigIgn /proc/self/status 2>/dev/null)"
    ;;
*) fail "unknown: $1" ;;
esac
