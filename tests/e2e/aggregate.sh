#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace --aggregate: sums over steps and nothing else, of any length, whatever ends the program.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

about=$1
gmtrace=$GMT_BUILD/bin/gmtrace
gmanalyze=$GMT_BUILD/bin/gmanalyze
if [ ! -x "$gmtrace" ] || [ ! -x "$gmanalyze" ]; then skip "gmtrace or gmanalyze is not built"; fi
export LD_LIBRARY_PATH=$SIM_LIB

# serve SCENARIO: in the background; its process is $pid, its recorder $recorder.
serve() {
    mkfifo stop
    LD_PRELOAD=$GMT_LIB SIMGPU_COUNTS=$work/t.counts GMTRACE_AGGREGATE=on GMTRACE_OUTPUT=$work/t.db \
        "$CLIENTS/driverclient" "$1" 0 <stop >t.out 2>t.err &
    pid=$!
    at_exit "kill -9 $pid 2>/dev/null"
    exec 9>stop
    until grep -q serving t.out; do sleep 0.02; done
    recorder=
    while [ -z "$recorder" ]; do recorder=$(recorder_of "$work"); done
}

# The trace is finished: its spool is gone. The limit ends a test that has failed.
spool_gone() {
    for ((i = 0; i < 2400; i++)); do
        [ -e "$1.spool" ] || return 0
        sleep 0.05
    done
    fail "the recorder does not end"
}

# launches of kernels that the driver was called for
launches_made() {
    driver_calls t.counts | awk '$1 ~ /^cuLaunchKernel/ { sum += $2 } END { print sum + 0 }'
}


# Rows of steps, and none of calls.
sound() {
    spool_gone "$1"
    "$gmanalyze" validate "$1" >validate.out 2>&1 || fail "validate: $(grep -v ^ok validate.out)"
    equal "rows of calls" 0 "$(sql "$1" "SELECT (SELECT count(*) FROM transfer) + (SELECT count(*) FROM launch) + (SELECT count(*) FROM sync) +
        (SELECT count(*) FROM memset) + (SELECT count(*) FROM api_call) + (SELECT count(*) FROM allocation) + (SELECT count(*) FROM kernel_class)")"
    equal "complete, and what it is" "1 1" "$(sql "$1" "SELECT (SELECT value FROM meta WHERE key = 'complete') || ' ' || (SELECT value FROM meta WHERE key = 'aggregate')")"
    equal "losses" "" "$(sql "$1" 'SELECT group_concat(kind || detail) FROM loss')"
    equal "steps that do not follow each other" 0 \
        "$(sql "$1" 'SELECT count(*) FROM step s JOIN step n ON n.id = s.id + 1 WHERE n.begin_ns < s.end_ns OR n.number <> s.number + s.steps')"
}

# growth FILE: from the least of one fourth of 80 looks to that of the next: what comes and goes lies above it. What grows with
# the run grows from each fourth to the next; room for what a recorder that was kept from running had to catch up with does once.
growth() {
    awk '{ part = int((NR - 1) / 20); if (!(part in least) || $1 < least[part]) least[part] = $1 }
        END { for (part = 1; part < 4; part++) { growth = least[part] - least[part - 1]
                  if (part == 1 || growth < smallest) smallest = growth }
              print smallest }' "$1"
}

case $about in
whole)
    # The same program whole, and as sums: as many calls of each kind, and the same bytes.
    traced whole churn 3000
    GMTRACE_AGGREGATE=on traced sums churn 3000
    sound sums.db
    same "output" whole.out sums.out
    equal "launches" "$(sql whole.db "SELECT count(*) FROM launch WHERE result = 0 AND capturing = 0 AND kind <> 'graph'")" \
        "$(sql sums.db "SELECT sum(calls) FROM step_call WHERE kind = 'kernel'")"
    equal "copied bytes" "$(sql whole.db 'SELECT sum(bytes) FROM transfer WHERE result = 0 AND capturing = 0')" \
        "$(sql sums.db "SELECT sum(bytes) FROM step_call WHERE kind LIKE 'copy%'")"
    equal "waits" "$(sql whole.db 'SELECT count(*) FROM sync WHERE result = 0 AND capturing = 0')" \
        "$(sql sums.db "SELECT coalesce(sum(calls), 0) FROM step_call WHERE kind LIKE 'wait%'")"
    [ "$(sql sums.db 'SELECT count(*) FROM v_step_call WHERE file IS NOT NULL OR function IS NOT NULL')" -ge 1 ] || fail "no place has a name"
    "$gmtrace" --aggregate --device sim -o said.db -- "$CLIENTS/driverclient" basic >said.out 2>said.err || fail "gmtrace: $(cat said.err)"
    grep -q 'sums over [0-9]* steps\?, no calls' said.err || fail "gmtrace does not say what it kept: $(cat said.err)"
    equal "status of two ways to keep less" 125 "$("$gmtrace" --aggregate --ring 1s --device sim -- true 2>said.err; echo $?)"
    # What can be answered is, and what cannot is refused in one line.
    "$gmanalyze" sums.db >answer.out 2>answer.err || fail "gmanalyze: $(cat answer.err)"
    grep -q 'holds sums over steps and no calls' answer.err || fail "it is not said what it is"
    grep -q '^Calls, by kind' answer.out || fail "no sums are shown"
    "$gmanalyze" steps sums.db >steps.out 2>steps.err || fail "gmanalyze steps: $(cat steps.err)"
    "$gmanalyze" steps whole.db >derived.out 2>derived.err || fail "gmanalyze steps: $(cat derived.err)"
    grep -q 'made of its calls' derived.out || fail "it is not said that sums are derived"
    # Ranks that kept whole traces and ranks that kept sums answer the same question.
    mkdir ranks
    cp whole.db sums.db ranks/
    "$gmanalyze" fleet ranks >fleet.out 2>fleet.err || fail "gmanalyze fleet: $(cat fleet.err)"
    grep -q '^2 of 2 ranks compared' fleet.out || fail "fleet: $(head -3 fleet.out)"
    for what in '-o r.html' '-o r.json' '--format json' '--fail-on any --baseline whole.db'; do
        status=0
        # shellcheck disable=SC2086
        "$gmanalyze" sums.db $what >refused.out 2>refused.err || status=$?
        equal "status with $what" 3 "$status"
        equal "lines with $what" 1 "$(wc -l <refused.err)"
    done
    for command in diff fixes lines export; do
        status=0
        case $command in
        diff) "$gmanalyze" diff sums.db whole.db >c.out 2>c.err || status=$? ;;
        export) "$gmanalyze" export --to perfetto sums.db >c.out 2>c.err || status=$? ;;
        *) "$gmanalyze" $command sums.db >c.out 2>c.err || status=$? ;;
        esac
        at_most "status of $command" 4 "$status" # 4: lines has none
    done
    ;;
killed)
    # SIGKILL in the middle: all that it did is in the sums, to the last launch.
    serve serve
    while [ "$(launches_made)" -lt 1500 ]; do sleep 0.1; done
    kill -9 $pid
    wait $pid 2>/dev/null || true
    sound t.db
    equal "how it ended" killed "$(sql t.db "SELECT CASE WHEN end_reason IN ('killed', 'unknown') THEN 'killed' ELSE end_reason END FROM process")"
    [ "$(sql t.db 'SELECT count(*) FROM step')" -ge 1 ] || fail "no steps"
    # One of them went into a capture, one was perhaps under way.
    made=$(($(launches_made) - 1))
    kept=$(sql t.db "SELECT sum(calls) FROM step_call WHERE kind = 'kernel'")
    at_most "launches in the sums" $made "$kept"
    at_most "launches of $made that are missing" 1 $((made - kept))
    ;;
size)
    # Steps of 10 ms and more: what each takes in the file.
    CLIENT=$CLIENTS/nvtxclient
    [ -x "$CLIENT" ] || skip "nvtxclient is not built"
    export NVTX_INJECTION64_PATH=$GMT_LIB GMTRACE_AGGREGATE=on
    mkfifo stop
    LD_PRELOAD=$GMT_LIB GMTRACE_STEP=step GMTRACE_OUTPUT=$work/t.db "$CLIENT" steps <stop >t.out 2>t.err &
    pid=$!
    at_exit "kill -9 $pid 2>/dev/null"
    exec 9>stop
    while [ "$(sql t.db 'SELECT count(*) FROM step' 2>sql.err || echo 0)" -lt 400 ]; do
        kill -0 $pid || fail "the program has ended"
        sleep 0.1
    done
    exec 9>&-
    wait $pid || fail "the program failed: $(cat t.err)"
    sound t.db
    rows=$(sql t.db 'SELECT count(*) FROM step')
    equal "what they are" range "$(sql t.db "SELECT source FROM step WHERE id = 2")"
    bytes=$(sql t.db "SELECT CAST(sum(pgsize) AS INTEGER) FROM dbstat WHERE name GLOB 'step*'" 2>/dev/null || true)
    bytes=${bytes:-$(stat -c %s t.db)}
    at_most "bytes per step" 3072 $((bytes / rows))
    ;;
flat)
    # The recorder does not grow, the spool is given back, and the trace grows by the rows that steps have (of which it keeps 8192:
    # unit.step_sums).
    # Memory that AddressSanitizer keeps back is no growth of ours: little of it, and that at once.
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1:thread_local_quarantine_size_kb=64
    serve serve_busily
    sleep 8
    for ((i = 0; i < 80; i++)); do
        awk '/^RssAnon:/ { print $2 * 1024 }' "/proc/$recorder/status" >>memory
        { du -sk t.db.spool 2>/dev/null || true; } | awk '{ print $1 * 1024 }' >>disk # a chunk may just be given back
        sleep 0.25
    done
    exec 9>&-
    wait $pid || fail "the program failed: $(cat t.err)"
    sound t.db
    steps=$(sql t.db 'SELECT sum(steps) FROM step')
    rows=$(sql t.db 'SELECT count(*) FROM step')
    [ "$steps" -ge 1000 ] || fail "only $steps steps"
    at_most "rows, one each 10 ms" "$(sql t.db 'SELECT (max(end_ns) - min(begin_ns)) / 10000000 + 2 FROM step')" "$rows"
    at_most "bytes of the trace" $((600 * 1024 + rows * 3072)) "$(stat -c %s t.db)"
    # 5 s are some 30,000 steps of some 300 bytes in the spool: 20 bytes of each would be seen in the memory, and a chunk that is
    # not given back in the spool.
    at_most "growth of the memory, bytes" 655360 "$(growth memory)"
    at_most "growth of the spool, bytes" 4194304 "$(growth disk)"
    ;;
*) fail "no such case" ;;
esac
