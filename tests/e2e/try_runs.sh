#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# try_runs.sh hangs|interrupted|streams: runs of `gmtrace try` that do not end by themselves, the user who has enough, and what runs read and write.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
client=$CLIENTS/tryclient
gmtrace=$GMT_BUILD/bin/gmtrace
unset GMTRACE_COLLECT
said() { grep -qF -- "$2" "$1.err" || fail "$1: it does not say '$2': $(cat "$1.err")"; }

case $1 in
hangs)
    # It is ended with all that it has started, and nothing of it is left.
    cat >starts.sh <<EOF2
#!/bin/bash
trap '' TERM
"$client" hangs 3 &
echo \$\$ \$! >>processes
wait \$!
EOF2
    chmod +x starts.sh
    run hangs "$gmtrace" --device sim try -o hangs.plan pageable-staging ./starts.sh
    equal "exit status" 3 "$(cat hangs.status)"
    said hangs 'RESULTS DIFFER: the program did not end in 10 s'
    equal "state" "differs" "$(sed -n 's/^fix pageable-staging //p' hangs.plan)"
    equal "runs" 4 "$(wc -l <processes)"
    read -ra processes <<<"$(xargs <processes)"
    for process in "${processes[@]}"; do
        if kill -0 "$process" 2>/dev/null; then fail "process $process is left: $(tr '\0' ' ' <"/proc/$process/cmdline")"; fi
    done
    ;;
interrupted)
    # Handles Ctrl-C in the run that $STOP_AT says, and goes on to its end.
    cat >handles.sh <<EOF2
#!/bin/bash
trap 'touch interrupted' INT
echo run >>runs
if [ "\$(wc -l <runs)" -ge "\$STOP_AT" ]; then
    touch ready
    while [ ! -e interrupted ]; do sleep 0.02; done
fi
exec "$client" copies 3
EOF2
    chmod +x handles.sh
    # interrupts NAME STOP_AT: as the terminal does, all processes get the signal.
    interrupts() {
        local name=$1 status=0 pid
        rm -f runs ready interrupted
        STOP_AT=$2 LD_LIBRARY_PATH=$SIM_LIB python3 -c 'import os, signal, sys
os.setsid()
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$gmtrace" try -o "$name.plan" pageable-staging ./handles.sh >"$name.out" 2>"$name.err" </dev/null &
        pid=$!
        at_exit "kill -9 -$pid 2>/dev/null"
        until [ -e ready ]; do
            kill -0 "$pid" 2>/dev/null || fail "$name: it has ended: $(cat "$name.err")"
            sleep 0.02
        done
        kill -INT -- "-$pid"
        wait "$pid" || status=$?
        equal "$name: exit status" 130 "$status"
        equal "$name: no run begins after it" "$2" "$(wc -l <runs)"
        said "$name" 'gmtrace: interrupted'
    }
    interrupts reference 2
    [ ! -e reference.plan ] || fail "a plan of nothing"
    interrupts checks 4
    [ ! -e checks.plan ] || fail "a plan without a turn"
    # Three runs that are compared, one with the fix, two turns, and one run of the third.
    interrupts turns 9
    said turns 'tried in 2 turns: interrupted'
    equal "turns" "interrupted 2" "$(jq -r '"\(.stopped) \(.turns)"' turns.json)"
    equal "the plan" 1 "$(grep -c '^fix pageable-staging ' turns.plan)"
    ;;
streams)
    # A stream that is closed costs nothing but what would be on it.
    for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
        rm -f closed.plan closed.json
        status=0
        bash -c "exec \"\$0\" \"\$@\" $closed" "$gmtrace" --device sim try -o closed.plan pageable-staging "$client" copies 3 \
            >closed.out 2>closed.err || status=$?
        equal "$closed: exit status" 3 "$status"
        equal "$closed: the fix was applied" "tried 8" "$(jq -r '.tried[0] | "\(.state) \(.fixes[0].calls)"' closed.json)"
    done
    # Each run reads a file, from where it stood.
    printf '%s\n' one two three >input
    printf '#!/bin/sh\ncat\nexec "%s" small 3\n' "$client" >reads.sh
    chmod +x reads.sh
    { read -r first && "$gmtrace" --device sim try -o reads.plan GM102 ./reads.sh >reads.out 2>reads.err; } <input || [ $? = 3 ] || fail "$(cat reads.err)"
    equal "what is left of the input" "one two three" "$first $(head -n 2 reads.out | xargs)"
    # It is compared as output, so all runs have read the same.
    said reads 'the exit status and standard output'
    ;;
*) fail "no such case" ;;
esac
