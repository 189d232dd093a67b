#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What lies beside a trace: reading changes none of it, a trace is made of it in a new file, and where that
# fails gmanalyze says so and gives no report. $1: what the test is about.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmanalyze=$GMT_BUILD/bin/gmanalyze
[ -x "$gmanalyze" ] || skip "gmanalyze is not built"

# analyze STATUS ARGUMENT...: analyze.out, analyze.err.
analyze() {
    local wanted=$1
    shift
    run analyze "$gmanalyze" --calibrate never "$@"
    equal "status of gmanalyze $*" "$wanted" "$(cat analyze.status)"
}

# killed_together NAME [COPIES]: a program and its recorder that are killed at any moment after that; NAME.db.spool is
# left, and chunks that were read are not in it.
killed_together() {
    local pid recorder
    LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/$1.db \
        "$CLIENTS/driverclient" many 100000000 >"${1##*/}.out" 2>"${1##*/}.err" &
    pid=$!
    recorder=
    while [ -z "$recorder" ]; do
        kill -0 $pid || fail "the program ended"
        recorder=$(recorder_of "$work/$1.db.spool")
    done
    while [ "$(sql "$1.db" 'SELECT count(*) FROM transfer' 2>/dev/null || echo 0)" -lt "${2:-500000}" ]; do sleep 0.01; done
    kill -STOP "$recorder"
    sleep 0.1
    kill -9 "$recorder" $pid
    wait $pid 2>/dev/null || true
    while [ -n "$(recorder_of "$work/$1.db.spool")" ]; do sleep 0.05; done
    [ -d "$1.db.spool" ] || fail "no spool is left"
}

# Names, sizes, times and contents of all that lies in a folder. (The time of the folder itself shows a file that
# was made and removed again.)
everything_in() {
    (cd "$1" && find . -mindepth 1 -printf '%p %s %T@ %m\n' | sort && find . -type f -exec md5sum {} + | sort)
}

case $1 in
anew)
    # A new file takes the trace's place; the file that was there is not written to.
    killed_together t
    ln t.db began.db
    began=$(md5sum <began.db)
    analyze 0 t.db
    equal "the file that the recorder began" "$began" "$(md5sum <began.db)"
    rm began.db
    finished t.db
    equal "losses" "" "$(sql t.db "SELECT kind FROM loss WHERE kind != 'entry point not covered'")"
    equal "copies" "$(sql t.db 'SELECT count(*) FROM transfer')" "$(sql t.db 'SELECT count(DISTINCT begin_ns) FROM transfer')"
    equal "integrity" ok "$(sql t.db 'PRAGMA integrity_check')"
    grep -qE "^gmanalyze: t.db: made anew: [0-9]+ copies" analyze.err || fail "gmanalyze does not say what it made"
    if compgen -G 't.db-*' || compgen -G 't.db.recovery'; then fail "something is left beside the trace"; fi
    equal "texts of sources" 0 "$(sql t.db 'SELECT count(*) FROM source_file WHERE text IS NOT NULL')"
    ;;
elsewhere)
    # Unpacked on another machine: nothing is finished unasked, and nothing at all is changed.
    killed_together t
    mkdir mailed && mv t.db* mailed/
    # boot_id of struct gmt_control (libtrace/record/layout/files.h): behind output, which is 3584 bytes.
    at=$(grep -obaF "$(cat /proc/sys/kernel/random/boot_id)" mailed/t.db.spool/control | cut -d: -f1)
    printf '00000000' | dd of=mailed/t.db.spool/control bs=1 seek="$at" conv=notrunc status=none
    before=$(everything_in mailed)
    analyze 3 mailed/t.db
    equal "lines on standard error" 1 "$(grep -vc 'finishing it from' analyze.err)"
    grep -q 'gmanalyze recover -o' analyze.err || fail "gmanalyze does not say what to do"
    [ ! -s analyze.out ] || fail "a report of an unfinished trace"
    equal "what was mailed" "$before" "$(everything_in mailed)"
    # Asked for: a new file.
    run recover "$gmanalyze" recover -o new.db mailed/t.db.spool
    equal "status of recover" 0 "$(cat recover.status)"
    equal "what was mailed" "$before" "$(everything_in mailed)"
    grep -qE '^wrote new.db: [0-9]+ copies' recover.out || fail "recover does not say what it made"
    equal "losses" "" "$(sql new.db "SELECT kind FROM loss WHERE kind != 'entry point not covered'")"
    analyze 0 new.db
    # In proportion to what was mailed. The kernel says what the process is limited to.
    if [ -z "$GMT_SANITIZED" ]; then
        limit=
        for ((i = 0; i < 20; i++)); do # where it has ended before it was looked at that is done again
            rm -f limited.db
            "$gmanalyze" recover -o limited.db mailed/t.db.spool >recover.out 2>&1 &
            pid=$!
            while kill -0 $pid 2>/dev/null; do
                now=$(awk '/^Max data size/ {print $4}' /proc/$pid/limits 2>/dev/null || true)
                case $now in '' | unlimited) ;; *) limit=$now ;; esac
                [ -z "$limit" ] || break
            done
            wait $pid
            [ -z "$limit" ] || break
        done
        bytes=$(find mailed/t.db mailed/t.db.spool -type f -printf '%s\n' | awk '{n += $1} END {print n}')
        equal "limit of memory" $((64 * 1048576 + 20 * bytes)) "$limit"
    fi
    run recover "$gmanalyze" recover -o new.db mailed/t.db.spool
    equal "status of recover to a file that is there" 3 "$(cat recover.status)"
    (cd mailed && run recover "$gmanalyze" recover t.db.spool)
    equal "complete" 1 "$(sql mailed/t.recovered.db "SELECT value FROM meta WHERE key = 'complete'")"
    ;;
mailed)
    # A folder made to do harm: a journal that names a file to be removed beside a trace, with the spool of
    # an unfinished one and without it.
    traced t churn 10
    finished t.db
    killed_together k
    echo mine >victim
    for trace in t k; do
        mkdir $trace.mailed
        cp $trace.db $trace.mailed/x.db
        [ ! -d $trace.db.spool ] || cp -r $trace.db.spool $trace.mailed/x.db.spool
        python3 - "$work/victim" $trace.mailed/x.db-journal <<'END'
import struct, sys
magic = bytes.fromhex("d9d505f920a163d7")
name = sys.argv[1].encode()
head = magic + struct.pack(">IIIII", 0xffffffff, 0, 2, 512, 8192)
tail = struct.pack(">I", 1) + name + struct.pack(">II", len(name), sum(name)) + magic
open(sys.argv[2], "wb").write(head.ljust(512, b"\0") + tail)
END
        before=$(everything_in $trace.mailed)
        for command in "" validate sql symbolize lines; do
            # shellcheck disable=SC2086
            run mailed "$gmanalyze" $command $trace.mailed/x.db
            equal "status of gmanalyze $command" 3 "$(cat mailed.status)"
        done
        equal "the victim" mine "$(cat victim)"
        equal "what was mailed" "$before" "$(everything_in $trace.mailed)"
    done
    # A control file and a lock that are links, a trace that is a dangling one.
    mkdir links && cp -r k.db.spool links/x.db.spool
    mv links/x.db.spool/control . && ln -s ../../control links/x.db.spool/control
    run mailed "$gmanalyze" links/x.db
    equal "status with a link to a control file" 3 "$(cat mailed.status)"
    rm links/x.db.spool/control && mv control links/x.db.spool/
    ln -s ../made links/x.db
    run mailed "$gmanalyze" links/x.db
    equal "status with a dangling link" 3 "$(cat mailed.status)"
    [ ! -e made ] || fail "a file was made where a link leads"
    ;;
replaced)
    # Somebody else's file has the name of the trace: it stays, and a trace of another name is made of the spool.
    killed_together t
    for taken in 'echo text >t.db' 'mkdir t.db' 'ln -s absent t.db'; do
        rm -rf t.db t.db-journal new.db
        eval "$taken"
        before=$(ls -ld t.db)
        analyze 3 t.db
        grep -q 'gmanalyze recover -o NEW.db t.db.spool' analyze.err || fail "gmanalyze does not say what to do ($taken)"
        run recover "$gmanalyze" recover -o new.db t.db.spool
        equal "status of recover ($taken)" 0 "$(cat recover.status)"
        equal "what was there ($taken)" "$before" "$(ls -ld t.db)"
        [ "$(sql new.db "SELECT count FROM loss WHERE kind = 'chunk lost'")" -gt 0 ] || fail "no loss is reported ($taken)"
    done
    ;;
full)
    # No room for the trace: no report, status 3, one line that says why; with room all is there.
    mkdir small
    mount -t tmpfs -o size=4g tmpfs small 2>/dev/null || skip "no file system can be mounted"
    at_exit "umount --lazy '$work/small'"
    killed_together small/t 100000
    mount -o remount,size="$(($(du -sk small | cut -f1) + 64))k" small
    before=$(everything_in small)
    analyze 3 small/t.db
    [ ! -s analyze.out ] || fail "a report of an unfinished trace"
    grep -q 'no space left' analyze.err || fail "gmanalyze does not say why"
    equal "what is there" "$before" "$(everything_in small)"
    mount -o remount,size=4g small
    analyze 0 small/t.db
    equal "losses" "" "$(sql small/t.db "SELECT kind FROM loss WHERE kind != 'entry point not covered'")"
    # gmtrace says it when the program has ended: what to do here, and on another disk.
    mkdir tiny
    mount -t tmpfs -o size=300k tmpfs tiny
    at_exit "umount --lazy '$work/tiny'"
    LD_LIBRARY_PATH=$SIM_LIB run tiny "$GMT_BUILD/bin/gmtrace" -o tiny/t.db "$CLIENTS/driverclient" churn 5
    equal "status where there is no room" 125 "$(cat tiny.status)"
    grep -q 'no space left.*: free some space, then gmanalyze tiny/t.db makes.*recover -o NEW.db tiny/t.db.spool)$' tiny.err ||
        fail "gmtrace does not say what to do: $(cat tiny.err)"
    # The same under a limit on the size of files, which ends a process that does not expect it.
    killed_together k
    status=0
    (ulimit -f 512 && "$gmanalyze" --calibrate never k.db >analyze.out 2>analyze.err) || status=$?
    equal "status under ulimit -f" 3 $status
    grep -q 'ulimit' analyze.err || fail "gmanalyze does not say why"
    ;;
removed)
    # The trace is removed while it is written: what came before is lost, and the trace says so.
    LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/t.db \
        "$CLIENTS/driverclient" many 100000000 >t.out 2>t.err &
    pid=$!
    while [ "$(sql t.db 'SELECT count(*) FROM transfer' 2>/dev/null || echo 0)" -lt 300000 ]; do
        kill -0 $pid || fail "the program ended"
        sleep 0.01
    done
    rm t.db
    while [ "$(sql t.db 'SELECT count(*) FROM transfer' 2>/dev/null || echo 0)" -lt 100000 ]; do
        kill -0 $pid || fail "the program ended"
        sleep 0.01
    done
    kill -9 $pid
    wait $pid 2>/dev/null || true
    while [ -e t.db.spool ]; do sleep 0.05; done
    equal "complete" 0 "$(sql t.db "SELECT value FROM meta WHERE key = 'complete'")"
    [ "$(sql t.db "SELECT count FROM loss WHERE kind = 'chunk lost'")" -gt 0 ] || fail "no loss is reported"
    analyze 4 --strict t.db
    tr -s ' \n' '  ' <analyze.out | grep -q 'removed or moved while it was written' || fail "the report does not say so"
    ;;
all_lost)
    # Not one record fits: there is nothing to report on, and no report of an empty run.
    status=0
    (ulimit -f 10 && "$GMT_BUILD/bin/gmtrace" -o t.db env "LD_LIBRARY_PATH=$SIM_LIB" "$CLIENTS/driverclient" many 20000 \
        >t.out 2>t.err) || status=$?
    equal "status of gmtrace" 125 $status
    grep -q 'is not finished: .*ulimit' t.err || fail "gmtrace does not say why there is no trace"
    analyze 3 t.db
    grep -qE '^gmanalyze: t.db: made anew: 0 copies, 0 launches, 0 other calls; [0-9,]+ records were dropped: File too large$' \
        analyze.err || fail "gmanalyze does not say what is missing"
    equal "reason" 1 "$(grep -cE 'holds no call of the program: [0-9,]+ records were dropped: File too large$' analyze.err)"
    [ ! -s analyze.out ] || fail "a report of a run that is not in the trace"
    analyze 3 --range nothing t.db
    analyze 3 --redact=names t.db
    ;;
*) fail "unknown: $1" ;;
esac
