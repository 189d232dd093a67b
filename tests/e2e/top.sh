#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace top: what it shows of a program that runs is what a dump of that moment holds.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

about=$1
gmtrace=$GMT_BUILD/bin/gmtrace
if [ ! -x "$gmtrace" ]; then skip "gmtrace is not built"; fi
export LD_LIBRARY_PATH=$SIM_LIB

# serve NAME [RING]: in the background; its process is $pid.
serve() {
    mkfifo "$1.stop"
    LD_PRELOAD=$GMT_LIB GMTRACE_RING=${2-} GMTRACE_OUTPUT=$work/$1.db \
        "$CLIENTS/driverclient" serve <"$1.stop" >"$1.out" 2>"$1.err" &
    pid=$!
    at_exit "kill -9 $pid 2>/dev/null"
    exec 9>"$1.stop"
    until grep -q serving "$1.out"; do sleep 0.02; done
}

# number TITLE COLUMN: of a line of top.out, without its commas.
number() {
    sed -n "s/^$1  *//p" top.out | tr -d , | awk -v column="$2" '{ print $column }'
}

top() {
    "$gmtrace" top "$@" >top.out 2>top.err || fail "gmtrace top $*: $(cat top.err)"
}

case $about in
numbers)
    # A window that holds all of the run: the program stops, and both see the same.
    serve t 1h,1G
    launches=0
    while [ "${launches:-0}" -le 100 ]; do
        top --once -d 0.1 $pid
        launches=$(number "kernel launches" 2)
    done
    kill -STOP $pid
    "$gmtrace" dump $pid -o d.db 2>dump.err || fail "gmtrace dump: $(cat dump.err)"
    # What is shown is a second old at most, and as much older as the recorder was kept from running.
    launches=$(sql d.db "SELECT count(*) FROM launch WHERE kind != 'graph' AND capturing = 0")
    for ((i = 0; i < 300; i++)); do
        top --once -d 0.3 $pid
        [ "$(number "kernel launches" 2) $(number "copies h2d" 1)" != "$launches 0" ] || break
    done
    equal "copies" "$(sql d.db "SELECT count(*) FROM transfer WHERE direction = 'h2d'")" "$(number "copies h2d" 4)"
    equal "launches of kernels" "$launches" "$(number "kernel launches" 2)"
    equal "launches of graphs" "$(sql d.db "SELECT count(*) FROM launch WHERE kind = 'graph'")" "$(number "graph launches" 2)"
    equal "allocations of device memory" "$(sql d.db "SELECT count(*) FROM allocation WHERE free_begin_ns IS NULL")" \
        "$(number "device 0 device" 3)"
    equal "allocations there ever were" "$(sql d.db "SELECT count(*) FROM allocation")" "$(number "device 0 device" 4)"
    equal "page-locked memory" "1.00 KiB" "$(number "host pinned" 1) $(number "host pinned" 2)"
    equal "copies per second of a program that is stopped" 0 "$(number "copies h2d" 1)"
    kill -CONT $pid
    for ((i = 0; i < 60; i++)); do
        top --once $pid
        [ "$(number "kernel launches" 1)" = 0 ] || break
    done
    [ "$(number "kernel launches" 1)" != 0 ] || fail "no launches per second: $(cat top.out)"
    grep -q "vector_add (1,1,1) x (256,1,1)" top.out || fail "no kernel: $(cat top.out)"
    grep -q "of the last 3600 s, 1.00 GiB at most; 0 dumps" top.out || fail "the ring is not shown: $(cat top.out)"
    grep -q "^device times are not recorded" top.out || fail "it claims device times: $(cat top.out)"
    exec 9>&-
    wait $pid || fail "the program failed"
    equal "output" "serving
ended" "$(cat t.out)"
    equal "standard error" "" "$(cat t.err)"
    ;;
shapes)
    needs python3
    serve a
    first=$pid
    # Samples for scripts: blocks, without codes of terminals.
    top -n 3 -d 0.2 $pid
    equal "blocks" 3 "$(grep -c "^process $pid (driverclient), recorded for " top.out)"
    if grep -q $'\033' top.out; then fail "codes of a terminal in a pipe"; fi
    # On a terminal one table takes the place of the other, and no line is longer than it.
    python3 - "$gmtrace" $pid >pty.out <<'END' || fail "gmtrace top on a terminal"
import fcntl, os, pty, struct, subprocess, sys, termios
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 50, 0, 0))
child = subprocess.Popen([sys.argv[1], "top", "-n", "2", "-d", "0.2", sys.argv[2]], stdout=theirs)
os.close(theirs)
text = b""
while True:
    try:
        piece = os.read(ours, 4096)
    except OSError:
        break
    if not piece:
        break
    text += piece
assert child.wait() == 0
assert text.startswith(b"\x1b[2J\x1b[H"), text[:20]
screens = text.split(b"\x1b[H")[1:]
assert len(screens) == 2, len(screens)
for screen in screens:
    lines = screen.decode().replace("\x1b[K", "").replace("\x1b[J", "").split("\r\n")
    assert len(lines) <= 12, len(lines)
    assert max(map(len, lines)) <= 50, max(map(len, lines))
    assert lines[0].startswith("process "), lines[0]
END
    # One process that is being recorded needs no number; of several there is a list. Other tests may run meanwhile.
    mkfifo b.stop
    LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/b.db "$CLIENTS/driverclient" serve <b.stop >b.out 2>b.err &
    second=$!
    at_exit "kill -9 $second 2>/dev/null"
    exec 8>b.stop
    until grep -q serving b.out; do sleep 0.02; done
    columns=
    for ((i = 0; i < 60; i++)); do # their recorders come up beside the programs
        top --once -d 0.5
        columns=$(awk -v first="$first" -v second="$second" '$1 == first || $1 == second { print NF }' top.out | xargs)
        [ "$columns" != "9 9" ] || break
    done
    for each in $first $second; do
        equal "columns of process $each" 9 "$(awk -v pid="$each" '$1 == pid { print NF }' top.out)"
    done
    # Of one that ends while it is watched, that is said.
    "$gmtrace" top -d 0.1 $second >end.out 2>end.err 8>&- 9>&- &
    watcher=$!
    until grep -q "^process $second " end.out; do
        kill -0 $watcher || fail "gmtrace top: $(cat end.err)"
        sleep 0.05
    done
    exec 8>&-
    wait $second || fail "the program failed"
    wait $watcher || fail "gmtrace top of a program that ended: $(cat end.err)"
    equal "what it says then" "gmtrace: its recording has ended" "$(cat end.err)"
    # Its recorder is gone.
    recorder=
    while [ -z "$recorder" ]; do recorder=$(recorder_of "$work/a.db"); done
    kill -9 "$recorder"
    while [ -n "$(recorder_of "$work/a.db")" ]; do sleep 0.05; done
    top --once -d 0.1 $first
    grep -q "^its recorder is gone: the numbers are of before" top.out || fail "a recorder that is gone: $(cat top.out)"
    ;;
refused)
    # refused TEXT ARGUMENT...: status 125, and why.
    refused() {
        local text=$1
        shift
        equal "status of top $*" 125 "$("$gmtrace" top "$@" >top.out 2>top.err; echo $?)"
        grep -q -- "$text" top.err || fail "top $*: $(cat top.err)"
    }
    refused "is no process id" nonsense
    refused "there is no such process" 4194304
    refused "is no number from 1 to" -n 0
    refused "is no number from 0.1 to" -d 0
    refused "is no number from 0.1 to" -d nan
    refused "one process at a time" 1 2
    serve t
    if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
        equal "status of another user" 125 \
            "$(setpriv --reuid 65534 --clear-groups "$gmtrace" top --once $pid 2>top.err; echo $?)"
        grep -q "it is not yours" top.err || fail "another user: $(cat top.err)"
    fi
    "$gmtrace" help top >help.out
    grep -q -- --once help.out || fail "gmtrace help top"
    ;;
*) fail "no such case" ;;
esac
