# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the end-to-end tests share: running driverclient with and without gmtrace, and looking into the trace.
#
# From ctest: GMT_BUILD (build tree), GMT_SOURCE (source tree), SIM_LIB (the folder of the software device), CLIENTS (of the clients).

# shellcheck source=tests/lib.sh
source "${GMT_SOURCE:?}/tests/lib.sh"
: "${GMT_BUILD:?}" "${SIM_LIB:?}" "${CLIENTS:?}"
GMT_LIB=$GMT_BUILD/lib/libgmtrace.so
unset "${!GMTRACE_@}" "${!SIMGPU_@}" LD_PRELOAD CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
# CUPTI is no part of the software device: whether one is installed must make no difference to these tests.
# cupti_refused.sh is about that.
export GMTRACE_COLLECT=light

# A bare program run: NAME.out, NAME.err, NAME.status.
run() {
    local name=$1 status=0
    shift
    "$@" >"$name.out" 2>"$name.err" </dev/null || status=$?
    echo "$status" >"$name.status"
}

# driverclient without gmtrace. With COUNT_PLAIN=1 the driver counts its calls, and all_calls_recorded compares with these.
plain() {
    local name=$1
    shift
    [ -z "${COUNT_PLAIN-}" ] || local -x SIMGPU_COUNTS=$work/$name.counts
    LD_LIBRARY_PATH=$SIM_LIB run "$name" "${CLIENT:-$CLIENTS/driverclient}" "$@"
}

# driverclient under gmtrace: the trace is NAME.db, what the driver saw is NAME.counts.
traced() {
    local name=$1
    shift
    LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=${PRELOAD:-$GMT_LIB} SIMGPU_COUNTS=$work/$name.counts \
        GMTRACE_OUTPUT=${OUTPUT:-$work/$name.db} run "$name" "${CLIENT:-$CLIENTS/driverclient}" "$@"
}

# Both ways, and nothing a program shows may differ.
traced_like_plain() {
    local name=$1
    shift
    plain "$name.plain" "$@"
    traced "$name" "$@"
    same_behaviour "$name"
}

same_behaviour() {
    equal "exit status" "$(cat "$1.plain.status")" "$(cat "$1.status")"
    same "output differs" "$1.plain.out" "$1.out"
    same "standard error differs" <(without_shell_notes "$1.plain.err") <(without_shell_notes "$1.err")
}

# bash reports how a child died, with its pid.
without_shell_notes() {
    grep -vE 'line [0-9]+: +[0-9]+ (Aborted|Segmentation fault|Killed)|core dumped' "$1" || true
}

sql() {
    sqlite3 -batch -noheader "file:$1?mode=ro" "$2"
}

# The recorder of this build whose arguments name a folder.
recorder_of() {
    local exe
    while read -r exe; do
        # It may end meanwhile: the shell says so where it cannot open the file.
        if tr '\0' '\n' 2>/dev/null <"${exe%/exe}/cmdline" | grep -qF "$1"; then
            basename "${exe%/exe}"
            return
        fi
    done < <(find /proc/[0-9]*/exe -maxdepth 0 -lname "$GMT_BUILD/libexec/gmtrace/gmtrace-recorder" 2>/dev/null)
}

# Wait until the recorder has finished with a trace. The limit ends a test that has failed, on a machine
# that does many other things.
finished() {
    local db=$1 tries=2400
    while [ "$tries" -gt 0 ]; do
        if [ -f "$db" ] && [ ! -e "$db.spool" ] &&
            [ "$(sql "$db" "SELECT value FROM meta WHERE key = 'complete'" 2>/dev/null)" = 1 ]; then
            return 0
        fi
        sleep 0.05
        tries=$((tries - 1))
    done
    ls -la "$(dirname "$db")" >&2
    fail "$db was not finished"
}

# shellcheck source=tests/e2e/calls.sh
source "$GMT_SOURCE/tests/e2e/calls.sh"

# Every call the driver saw is in the trace, and no other.
all_calls_recorded() {
    local name=$1
    driver_calls "$name${COUNT_PLAIN:+.plain}.counts" >"$name.driver"
    trace_calls "$name.db" | join - <(recorded_apis) >"$name.trace"
    [ -s "$name.driver" ] || fail "the driver saw no call"
    same "calls made (-) and calls recorded (+) differ" "$name.driver" "$name.trace"
}

total() {
    awk '{ sum += $2 } END { print sum + 0 }' "$1"
}

# nothing_lost TRACE [LOSS]: no loss of any kind but `LOSS` ("kind: detail"), no leftover files.
nothing_lost() {
    local lost
    lost=$(sql "$1" "SELECT kind || ': ' || detail || ' x' || count FROM loss
                     WHERE kind != 'entry point not covered' AND kind || ': ' || detail != '${2-}'")
    equal "losses" "" "$lost"
    equal "integrity" ok "$(sql "$1" 'PRAGMA integrity_check')"
    if compgen -G "$1-*" >/dev/null || compgen -G "$1.spool*" >/dev/null; then
        fail "files left beside $1"
    fi
}
