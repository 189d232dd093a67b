#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace off, on and status: what a running process records, from its next call on.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmtrace=$GMT_BUILD/bin/gmtrace
gmanalyze=$GMT_BUILD/bin/gmanalyze
if [ ! -x "$gmtrace" ] || [ ! -x "$gmanalyze" ]; then skip "gmtrace or gmanalyze is not built"; fi
export LD_LIBRARY_PATH=$SIM_LIB
needs python3

mkfifo stop
LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/t.db "$CLIENTS/driverclient" serve <stop >t.out 2>t.err &
pid=$!
at_exit "kill -9 $pid 2>/dev/null"
exec 9>stop
until grep -q serving t.out; do sleep 0.02; done

# CLOCK_MONOTONIC, the clock of traces.
now() {
    python3 -c 'import time; print(time.monotonic_ns())'
}

# status PATTERN: what gmtrace says of the process.
status() {
    "$gmtrace" status $pid >status.out 2>status.err || fail "gmtrace status: $(cat status.err)"
    equal "lines of gmtrace status" 1 "$(wc -l <status.out)"
    grep -qE "$1" status.out || fail "gmtrace status: $(cat status.out)"
}

# The recorder comes up beside the program.
until "$gmtrace" status $pid | grep -q "; recorder [0-9]"; do sleep 0.02; done
status "^process $pid: on; the whole run, into $work/t.db; [0-9.]+ MiB in the spool; recorder [0-9]+(; overhead [^;]+)?$"

# A process that makes calls has seen it soon, or the command says that it will; others may keep it from running, but not each time.
best=999999
for ((i = 0; i < 100; i++)); do
    for word in off on; do
        "$gmtrace" $word $pid 2>switch.err || fail "gmtrace $word: $(cat switch.err)"
        us=$(sed -n "s/^gmtrace: recording of process $pid is $word (after \([0-9]*\)\.\([0-9]\) ms)$/\1\200/p" switch.err)
        if [ -n "$us" ] && [ "$us" -lt "$best" ]; then best=$us; fi
        until "$gmtrace" status $pid | grep -q "^process $pid: $word; the"; do sleep 0.02; done
    done
    [ $i -lt 4 ] || [ "$best" = 999999 ] || break
done
[ "$best" != 999999 ] || fail "no call has ever seen it soon: $(cat switch.err)"
echo "seen after $best us, the best of $((2 * i + 2))"

# One that does not: at its next call.
kill -STOP $pid
"$gmtrace" off $pid 2>switch.err || fail "gmtrace off: $(cat switch.err)"
equal "what it says of a process that makes no call" "gmtrace: recording of process $pid: off takes effect at the next call" \
    "$(cat switch.err)"
status "^process $pid: off, takes effect at the next call; "
kill -CONT $pid
until "$gmtrace" status $pid | grep -q "^process $pid: off; "; do sleep 0.02; done
off_since=$(now)
sleep 1.5
off_until=$(now)
"$gmtrace" on $pid 2>switch.err || fail "gmtrace on: $(cat switch.err)"
sleep 0.5

# A recorder that is gone is gone, also where its number is another process's now.
mkfifo stop2
LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/second.db "$CLIENTS/driverclient" serve <stop2 >second.out 2>second.err &
second=$!
at_exit "kill -9 $second 2>/dev/null"
exec 8>stop2
until "$gmtrace" status $second 2>/dev/null | grep -q "; recorder [0-9]"; do sleep 0.02; done
kill -9 "$("$gmtrace" status $second | sed 's/.*; recorder //')"
until "$gmtrace" status $second | grep -q "; its recorder is gone"; do sleep 0.02; done
control=$(sed -n 's|^[^/]*\(/.*/control\)$|\1|p' /proc/$second/maps | head -1)
python3 - "$control" $$ <<'END'
import struct, sys
with open(sys.argv[1], "r+b") as file:
    file.seek(76)  # struct gmt_control.recorder_pid
    assert struct.unpack("<I", file.read(4))[0] != 0
    file.seek(76)
    file.write(struct.pack("<I", int(sys.argv[2])))
END
grep -q "; its recorder is gone" <("$gmtrace" status $second) || fail "a recorder that is gone: $("$gmtrace" status $second)"
exec 8>&-
wait $second || fail "the second program failed"

# Nobody else's, and nothing that is not there.
for word in off on status; do
    equal "status of gmtrace $word without such a process" 125 "$("$gmtrace" $word 4194304 2>switch.err; echo $?)"
    equal "lines of gmtrace $word" 1 "$(wc -l <switch.err)"
done
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    equal "status for another user" 125 \
        "$(setpriv --reuid 65534 --clear-groups "$gmtrace" off $pid 2>switch.err; echo $?)"
fi
"$gmtrace" status >all.out || fail "gmtrace status"
grep -q "^process $pid: on; " all.out || fail "gmtrace status without a process: $(cat all.out)"

exec 9>&-
wait $pid || fail "the program failed"
equal "output" "serving
ended" "$(cat t.out)"
finished t.db
"$gmanalyze" validate t.db >validate.out || fail "validate: $(grep -v ^ok validate.out)"
between="BETWEEN $off_since AND $off_until"
equal "calls that were recorded while it was off" 0 \
    "$(sql t.db "SELECT (SELECT count(*) FROM launch WHERE begin_ns $between) + (SELECT count(*) FROM transfer WHERE begin_ns
                 $between) + (SELECT count(*) FROM sync WHERE begin_ns $between)")"
[ "$(sql t.db "SELECT count(*) FROM allocation WHERE begin_ns $between")" -gt 0 ] || fail "memory is not recorded while it is off"
[ "$(sql t.db "SELECT count(*) FROM launch WHERE begin_ns > $off_until")" -gt 0 ] || fail "nothing is recorded afterwards"
[ "$(sql t.db "SELECT count FROM loss WHERE kind = 'call not recorded' AND detail = 'while recording was switched off'")" -gt 0 ] ||
    fail "what was left out is not counted"
equal "capability" partial "$(sql t.db "SELECT state FROM capability WHERE name = 'switch'")"
