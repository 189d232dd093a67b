#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace --ring: the last seconds only, and a trace of them by command, by signal, after errors and bad ends.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

about=$1
gmtrace=$GMT_BUILD/bin/gmtrace
gmanalyze=$GMT_BUILD/bin/gmanalyze
if [ ! -x "$gmtrace" ] || [ ! -x "$gmanalyze" ]; then skip "gmtrace or gmanalyze is not built"; fi
export LD_LIBRARY_PATH=$SIM_LIB
place=$work

# serve LIMITS SCENARIO [MS]: in the background, under the library; its process is $pid, its recorder $recorder.
serve() {
    mkfifo stop
    LD_PRELOAD=$GMT_LIB GMTRACE_RING=$1 GMTRACE_OUTPUT=$place/t.db \
        "$CLIENTS/driverclient" "$2" "${3-0}" <stop >t.out 2>t.err &
    pid=$!
    at_exit "kill -9 $pid 2>/dev/null"
    exec 9>stop
    until grep -q serving t.out; do sleep 0.02; done
    recorder=
    while [ -z "$recorder" ]; do recorder=$(recorder_of "$place"); done
}

# The program ends, as it is meant to, and has noticed nothing.
ends_well() {
    local status=0
    exec 9>&-
    wait $pid || status=$?
    equal "status" 0 $status
    equal "output" "serving${1+
$1}
ended" "$(cat t.out)"
    equal "standard error" "" "$(cat t.err)"
}

# Wait until the recorder has ended.
recorder_ends() {
    while [ -n "$(recorder_of "$place")" ]; do sleep 0.05; done
}

# Wait for a file. The limit ends a test that has failed.
there() {
    local tries=2400
    until [ -e "$1" ]; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || fail "$1 was not written"
        sleep 0.05
    done
}

# A dump is a trace: whole, with what was loaded at the start, read by the rules.
sound() {
    # On a machine that does many other things it may be left to this.
    if [ -n "$(sql "$1" "SELECT 1 FROM loss WHERE kind = 'frame not symbolized'")" ]; then
        "$gmanalyze" symbolize "$1" >symbolize.out 2>&1 || fail "gmanalyze symbolize: $(cat symbolize.out)"
    fi
    "$gmanalyze" validate --strict "$1" >validate.out 2>&1 || fail "validate: $(grep -v ^ok validate.out)"
    equal "complete" 1 "$(sql "$1" "SELECT value FROM meta WHERE key = 'complete'")"
    equal "losses" "" "$(sql "$1" "SELECT * FROM loss WHERE kind != 'entry point not covered'")"
    "$gmanalyze" --calibrate never --format json -o report.json "$1" 2>analyze.err || fail "gmanalyze: $(cat analyze.err)"
    equal "weights" "1048576|2097152|3145728|4194304" \
        "$(sql "$1" "SELECT group_concat(bytes, '|') FROM (SELECT bytes FROM allocation
                     WHERE bytes > 65536 AND free_begin_ns IS NULL ORDER BY bytes)")"
    equal "page-locked memory" 1024 "$(sql "$1" 'SELECT bytes FROM host_allocation')"
    equal "memory without a place" 0 \
        "$(sql "$1" "SELECT count(*) FROM v_allocation a WHERE NOT EXISTS (SELECT 1 FROM stack_frame f
                     JOIN frame g ON g.id = f.frame_id JOIN string s ON s.id = g.function_id
                     WHERE f.stack_id = a.stack_id AND s.text IN ('load_weights', 'answer'))")"
    equal "calls without a name, a stack, a context or a thread" 0 \
        "$(sql "$1" "SELECT count(*) FROM launch l LEFT JOIN api a ON a.id = l.api_id
                     LEFT JOIN stack s ON s.id = l.stack_id LEFT JOIN context c ON c.id = l.context_id
                     LEFT JOIN thread t ON t.id = l.thread_id
                     WHERE a.id IS NULL OR s.id IS NULL OR c.id IS NULL OR t.id IS NULL")"
    equal "kernels" vector_add "$(sql "$1" 'SELECT DISTINCT k.name FROM launch l JOIN kernel k ON k.id = l.kernel_id')"
    equal "nodes of graphs that were launched" "kernel|memset" \
        "$(sql "$1" "SELECT group_concat(kind, '|') FROM (SELECT DISTINCT kind FROM v_graph_launch ORDER BY kind)")"
    equal "priority of the stream of the launches" -1 \
        "$(sql "$1" 'SELECT DISTINCT s.priority FROM launch l JOIN stream s ON s.id = l.stream_id')"
    equal "mapped files" 1 "$(sql "$1" "SELECT count(*) > 2 FROM module")"
}

# window TRACE LEAST_MS MOST_MS: as long as it should be, nothing older in it, calls from its beginning to its end.
window() {
    local ms
    ms=$(sql "$1" 'SELECT (end_ns - start_ns) / 1000000 FROM process')
    if [ "$ms" -lt "$2" ] || [ "$ms" -gt "$3" ]; then fail "the window has $ms ms"; fi
    equal "calls before the window" 0 \
        "$(sql "$1" "SELECT count(*) FROM (SELECT begin_ns FROM launch UNION ALL SELECT begin_ns FROM transfer
                     UNION ALL SELECT begin_ns FROM sync UNION ALL SELECT begin_ns FROM api_call), process
                     WHERE begin_ns < start_ns")"
    equal "halves of the window with calls" 2 "$(parts "$1" 2)"
}

# parts TRACE N: in how many of N parts of the window there are calls.
parts() {
    sql "$1" "SELECT count(DISTINCT min((l.begin_ns - p.start_ns) * $2 / (p.end_ns - p.start_ns), $2 - 1)) FROM launch l, process p"
}

# dump_of_calls FILE: of a window all through which the program has made calls. Other processes may keep it from running for a while.
dump_of_calls() {
    while :; do
        "$gmtrace" dump "$pid" -o "$1" 2>dump.err || fail "gmtrace dump: $(cat dump.err)"
        [ "$(parts "$1" 4)" != 4 ] || return 0
        rm "$1"
        sleep 0.1
    done
}

cause() {
    equal "cause" "$2" "$(sql "$1" "SELECT value FROM meta WHERE key = 'ring_cause'")"
}

# The number of the program's latest launch. A window is empty where other processes kept the program from running.
seq_of() {
    local seq=0
    while [ "$seq" = 0 ]; do
        rm -f seq.db
        "$gmtrace" dump "$pid" -o seq.db 2>seq.err || fail "gmtrace dump: $(cat seq.err)"
        seq=$(sql seq.db 'SELECT coalesce(max(seq), 0) FROM launch')
    done
    echo "$seq"
}

# Least squares over "x y" lines: y per x. Of each eight the least y, since buffers that are in use come and go.
slope() {
    awk '{ least = NR % 8 == 1 || $2 < least ? $2 : least }
         NR % 8 == 0 { n++; x += $1; y += least; xx += $1 * $1; xy += $1 * least }
         END { print (n * xy - x * y) / (n * xx - x * x) }' "$1"
}

case $about in
window)
    serve 2s serve
    sleep 5
    dump_of_calls before.db
    "$gmtrace" dump $pid >dump.out 2>dump.err || fail "gmtrace dump: $(cat dump.err)"
    grep -q "wrote $work/t-1.db; next: gmanalyze" dump.err || fail "gmtrace does not say what it wrote"
    sound t-1.db
    window t-1.db 1990 2500
    cause t-1.db "gmtrace dump"
    "$gmtrace" dump $pid -o other.db 2>dump.err || fail "gmtrace dump -o: $(cat dump.err)"
    sound other.db
    equal "status of a second dump to the same file" 125 "$("$gmtrace" dump $pid -o other.db 2>dump.err; echo $?)"
    equal "lines about it" 1 "$(wc -l <dump.err)"
    ends_well
    recorder_ends
    if [ -e t.db ] || [ -e t.db.spool ] || [ -e t-2.db ]; then fail "something is left of a program that ended well"; fi
    ;;
size)
    # The limit of size is reached first: the window is shorter, and everything in it is there.
    serve 1h,2M serve_busily
    while [ "$(seq_of)" -lt 40000 ]; do sleep 0.5; done
    "$gmtrace" dump $pid 2>dump.err || fail "gmtrace dump: $(cat dump.err)"
    sound t-1.db
    equal "launches that are missing between the first and the last" 0 \
        "$(sql t-1.db 'SELECT max(seq) - min(seq) + 1 - count(*) FROM launch')"
    # A step has 10 slots of 64 bytes, and a launch or two.
    at_most "launches in 2 MiB and a chunk" 20000 "$(sql t-1.db 'SELECT count(*) FROM launch')"
    ;;
flat)
    # Some 40 windows: neither the recorder, nor the spool, nor the base in it grows any more. (A sanitized recorder keeps what it
    # frees for a while, 256 MiB of it unless it is asked for less.)
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1:thread_local_quarantine_size_kb=64
    serve 250ms,16M serve_busily
    while [ "$(seq_of)" -lt 20000 ]; do sleep 0.5; done
    first=$(seq_of)
    for ((i = 0; i < 40 || $(seq_of) < first + 20000; i++)); do
        echo "$i $(awk '/^RssAnon:/ { print $2 * 1024 }' "/proc/$recorder/status")" >>memory
        # Chunks of programs have three sizes.
        find t.db.spool -name 'chunk-*' -printf '%s\n' >chunks 2>find.err || true # a chunk may just be given up
        echo "$i $(grep -vxE '65536|524288|4194304' chunks || echo 0)" >>base
        du -sk t.db.spool 2>du.err | cut -f1 >>disk || true # a chunk may just be given up
        sleep 0.2
    done
    steps=$(($(seq_of) - first))
    for what in memory base; do
        awk -v slope="$(slope $what)" -v looks="$i" -v steps=$steps \
            'BEGIN { growth = slope * looks; exit growth > steps * 64 / 4 || growth < -steps * 64 / 4 }' ||
            fail "$what: $(slope $what) bytes per look, in $i looks and $steps launches: more than a fourth of a slot for each"
    done
    [ "$(tail -n 1 base | cut -d' ' -f2)" -gt 0 ] || fail "there is no base"
    # The limit, the chunk that comes next, and what is left of chunks that were given up.
    at_most "KiB of the spool" $((24 * 1024)) "$(sort -n disk | tail -n 1)"
    [ "$(wc -l <disk)" -ge 20 ] || fail "the spool was never seen"
    ends_well
    ;;
signal)
    serve 2s serve
    sleep 3
    dump_of_calls before.db
    kill -USR1 "$recorder"
    there t-1.db
    sound t-1.db
    window t-1.db 1990 2500
    cause t-1.db "SIGUSR1 to the recorder"
    ends_well
    ;;
error)
    serve 2s serve_too_much 1000
    there t-1.db
    sound t-1.db
    cause t-1.db "out of memory, CUDA error 2 in cuMemAlloc_v2"
    equal "calls that failed" 2 "$(sql t-1.db 'SELECT result FROM api_call WHERE result != 0')"
    ends_well "error 2"
    recorder_ends
    if [ -e t-2.db ]; then fail "one error, two dumps"; fi
    ;;
killed)
    serve 2s serve
    sleep 3
    dump_of_calls before.db
    kill -9 $pid
    there t-1.db
    recorder_ends
    sound t-1.db
    window t-1.db 1 2500
    cause t-1.db "the program was ended by signal 9"
    if [ -e t.db.spool ]; then fail "the spool is left"; fi
    ;;
status)
    # A bad end is the cause of a dump, and gmtrace says where it is; a good one is not.
    status=0
    "$gmtrace" --ring 1s -o r.db "$CLIENTS/driverclient" exit_return >r.out 2>r.err || status=$?
    equal "status" 7 $status
    cause r-1.db "exit status 7"
    "$gmanalyze" validate --strict r-1.db >validate.out || fail "validate: $(cat validate.out)"
    grep -q "wrote r-1.db; next: gmanalyze r-1.db" r.err || fail "gmtrace does not name the dump: $(cat r.err)"
    cp r-1.db r.db
    "$gmtrace" --ring 1s -o r.db "$CLIENTS/driverclient" churn 5 >r.out 2>r.err || fail "a good end: $(cat r.err)"
    same "an older trace of the name of the output is not as it was" r-1.db r.db
    "$gmtrace" --ring 1s -o g.db "$CLIENTS/driverclient" churn 5 >g.out 2>g.err || fail "a good end: $(cat g.err)"
    grep -q "no trace was written: the program ended well" g.err || fail "gmtrace says: $(cat g.err)"
    if compgen -G "g[-.]*db*" >/dev/null; then fail "a good end leaves files"; fi
    equal "status of a second run" 125 "$("$gmtrace" --ring 1s --collect deep true 2>deep.err; echo $?)"
    grep -q -- "--deep phase" deep.err || fail "gmtrace says: $(cat deep.err)"
    # Of the launcher, too, a dump can be had: it is the parent of one recorded process.
    mkfifo stop
    "$gmtrace" --ring 60s -o l.db "$CLIENTS/driverclient" serve <stop >l.out 2>l.err &
    pid=$!
    exec 9>stop
    until grep -q serving l.out; do sleep 0.02; done
    sleep 2
    "$gmtrace" dump $pid -o of_launcher.db 2>dump.err || fail "gmtrace dump LAUNCHER: $(cat dump.err)"
    exec 9>&-
    wait $pid || fail "the program failed: $(cat l.err)"
    sound of_launcher.db
    ;;
recorder_killed)
    # The spool holds all that a dump needs, whoever reads it.
    serve 2s serve
    sleep 4
    kill -9 "$recorder"
    recorder_ends
    dump_of_calls alive.db
    sound alive.db
    window alive.db 1990 2500
    ends_well
    [ -d t.db.spool ] || fail "no spool is left"
    "$gmanalyze" --calibrate never t.db >analyze.out 2>analyze.err || fail "gmanalyze: $(cat analyze.err)"
    sound t.db
    window t.db 1990 2500
    if [ -e t.db.spool ]; then fail "the spool is left"; fi
    ;;
both_killed)
    serve 2s serve
    sleep 3
    kill -9 "$recorder" $pid
    wait $pid || true
    recorder_ends
    "$gmanalyze" --calibrate never t.db >analyze.out 2>analyze.err || fail "gmanalyze: $(cat analyze.err)"
    sound t.db
    ;;
full_disk)
    mkdir small
    mount -t tmpfs -o size=64m tmpfs small 2>/dev/null || skip "no file system can be mounted"
    at_exit "umount --lazy '$work/small'"
    place=$work/small
    serve 1s serve
    sleep 2
    for try in 1 2 3 4 5 6 7 8 9 10; do
        dd if=/dev/zero of="small/fill$try" bs=1K count="$(df -k --output=avail small | tail -n 1)" 2>dd.err || true
        status=0
        "$gmtrace" dump $pid 2>dump.err || status=$?
        [ $status = 0 ] || break # a chunk was given up just then, which made room
    done
    equal "status without room" 125 "$status"
    grep -q "no space left on the disk" dump.err || fail "gmtrace dump: $(cat dump.err)"
    equal "lines about it" 1 "$(wc -l <dump.err)"
    sleep 1
    rm small/fill*
    sleep 3
    dump_of_calls after.db
    window after.db 990 1500
    equal "weights" 4 "$(sql after.db "SELECT count(*) FROM allocation WHERE bytes > 65536 AND free_begin_ns IS NULL")"
    ends_well
    ;;
together)
    serve 2s serve
    sleep 3
    kill -USR1 "$recorder"
    for i in 1 2 3; do
        "$gmtrace" dump $pid 2>dump$i.err &
        dumps[i]=$!
    done
    for i in 1 2 3; do wait "${dumps[i]}" || fail "gmtrace dump: $(cat dump$i.err)"; done
    for i in 1 2 3 4; do
        there t-$i.db
        sound t-$i.db
    done
    if compgen -G "*.recovery" >/dev/null; then fail "folders are left"; fi
    ;;
refused)
    serve 2s serve
    # refused TEXT ARGUMENT...: status 125, and one line that says why.
    refused() {
        local text=$1
        shift
        equal "status of dump $*" 125 "$("$gmtrace" dump "$@" >dump.out 2>dump.err; echo $?)"
        equal "lines of dump $*" 1 "$(wc -l <dump.err)"
        grep -q "$text" dump.err || fail "dump $*: $(cat dump.err)"
    }
    refused "is no process id" nonsense
    refused "there is no such process" 4194304
    sleep 60 &
    at_exit "kill $!"
    refused "is being recorded by gmtrace" $!
    if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
        chmod -R a+rX "$work"
        equal "status of another user" 125 "$(setpriv --reuid 65534 --clear-groups "$gmtrace" dump $pid 2>dump.err; echo $?)"
        grep -q "it is not yours" dump.err || fail "another user: $(cat dump.err)"
    fi
    kill -9 $pid
    wait $pid || true
    refused "there is no such process" $pid
    rm stop
    mkfifo stop
    LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/w.db "$CLIENTS/driverclient" serve <stop >w.out 2>w.err &
    whole=$!
    exec 9>stop
    until grep -q serving w.out; do sleep 0.02; done
    refused "recorded as a whole, not with --ring" $whole
    exec 9>&-
    wait $whole || fail "the program failed"
    for value in 0s 30 30s,30s 256M,1G 30x 5s,1P "" ','; do
        equal "status of --ring '$value'" 125 "$("$gmtrace" --ring "$value" true 2>dump.err; echo $?)"
    done
    ;;
quick)
    # Within a second of processor time, of a window of the usual size with some 20,000 calls: other processes may
    # keep this one waiting.
    serve 1h,256M serve
    while [ "$(seq_of)" -lt 4000 ]; do sleep 0.5; done
    best=999999
    for i in 1 2 3; do
        TIMEFORMAT='%U %S'
        { time "$gmtrace" dump $pid -o q$i.db 2>dump.err; } 2>took || fail "gmtrace dump: $(cat dump.err)"
        ms=$(awk '{ printf "%d", 1000 * ($1 + $2) }' took)
        [ "$ms" -ge "$best" ] || best=$ms
    done
    echo "$best ms for a dump"
    at_most "ms for a dump" 1000 "$best"
    sound q1.db
    [ "$(sql q1.db 'SELECT count(*) FROM launch')" -ge 3000 ] || fail "too few calls"
    ;;
*) fail "no such case" ;;
esac
