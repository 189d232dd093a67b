#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# spool_files.sh ABOUT: the files of a spool while a program runs: whose they are, what a clean-up can do to
# them, and what becomes of a recorder that is stopped or loses them.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

SIM_LIB=${LEAVE_DRIVER:?}
client=$CLIENTS/leaveclient

# Start `leaveclient hold`; it goes on when a line is written to descriptor 7, and ends.
held() {
    mkfifo go
    LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/t.db "$client" hold <go >held.out 2>held.err &
    program=$!
    exec 7>go
    until [ "$(cat held.out)" = ready ]; do
        kill -0 "$program" || fail "the program has ended"
        sleep 0.02
    done
    until recorder=$(recorder_of "$work/t.db.spool") && [ -n "$recorder" ]; do
        sleep 0.02
    done
}
let_go() {
    local status=0
    echo >&7
    exec 7>&-
    wait "$program" || status=$?
    equal "exit status" 0 "$status"
    equal "output" ready "$(cat held.out)"
    equal "standard error" "" "$(cat held.err)"
}
copies() {
    equal "copies" "$1" "$(sql t.db 'SELECT count(*) FROM transfer')"
}

case $1 in
modes)
    for mask in 002 077 777; do
        rm -rf t.db*
        (
            umask "$mask"
            LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/t.db "$client" nested
        ) || fail "status under umask $mask"
        finished t.db
    done
    rm -rf t.db*
    umask 000
    held
    equal "mode of the folder" 700 "$(stat -c %a t.db.spool)"
    equal "files that others may use" "" "$(find t.db.spool -type f -perm /077)"
    equal "mapped files that may be written" "" \
        "$(find t.db.spool \( -name 'chunk-*' -o -name control -o -name coverage \) -perm /222)"
    [ -n "$(find t.db.spool -name 'chunk-*')" ] || fail "there is no chunk"
    let_go
    finished t.db
    copies 20
    ;;
user)
    # Root may truncate whatever it likes: the program of another user.
    [ "$(id -u)" = 0 ] || skip "needs root"
    command -v setpriv >/dev/null || skip "needs setpriv"
    chmod 755 "$work"
    mkdir theirs
    chown 65534:65534 theirs
    setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$GMT_LIB" -a -x "$client" ||
        skip "another user cannot read the build"
    LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/theirs/t.db LEAVE_SPOOL=$work/theirs/t.db.spool \
        setpriv --reuid=65534 --regid=65534 --clear-groups "$client" truncate_own >user.out 2>user.err ||
        fail "status $?"
    grep -q '^met [3-9], truncated 0$' user.err || fail "files were truncated: $(cat user.err)"
    finished theirs/t.db
    equal "copies" 1010 "$(sql theirs/t.db 'SELECT count(*) FROM transfer')"
    equal "losses" "" "$(sql theirs/t.db "SELECT kind FROM loss WHERE kind != 'entry point not covered'")"
    ;;
truncated)
    # By root, under the recorder's hands; the program is killed before it writes there again.
    [ "$(id -u)" = 0 ] || skip "needs root"
    held
    for chunk in t.db.spool/chunk-*; do
        truncate -s 100 "$chunk"
    done
    kill -9 "$program"
    exec 7>&-
    wait "$program" 2>/dev/null || true
    finished t.db
    equal "integrity" ok "$(sql t.db 'PRAGMA integrity_check')"
    [ "$(sql t.db "SELECT coalesce(sum(count), 0) FROM loss WHERE kind = 'truncated chunk'")" -ge 1 ] ||
        fail "the loss is not counted"
    ;;
stopped)
    # A recorder that is stopped keeps nobody waiting, and finishes when it is continued.
    held
    kill -STOP "$recorder"
    let_go
    [ -d t.db.spool ] || fail "the spool is not there"
    kill -CONT "$recorder"
    finished t.db
    copies 20
    nothing_lost t.db
    ;;
*) fail "no such test: $1" ;;
esac
