#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# matrix.sh NAME: one row of matrix.table. MATRIX_DEVICE=gpu: with the driver of this machine; the calls
# to be found are then counted by the software device, in a third run.
# shellcheck disable=SC2030,SC2031,SC2317 # subshells are what keeps the runs apart; rows call via
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/matrix_rows.sh
source "$GMT_SOURCE/tests/e2e/matrix_rows.sh"

read -r row expected how what < <(grep -E "^$1 " "$GMT_SOURCE/tests/e2e/matrix.table") || fail "no row $1"
read -ra words <<<"$what"
gmtrace=$GMT_BUILD/bin/gmtrace
# Everybody may write there: some rows give rights up.
chmod 755 "$work"
mkdir traces counts
chmod 1777 traces counts
device_lib=$SIM_LIB
[ "${MATRIX_DEVICE-}" != gpu ] || device_lib=

# Start a program; how is the row's business.
via() {
    "$@"
}

# The folder of a driver; "": this machine's.
set_library_path() {
    if [ -n "$1" ]; then
        export LD_LIBRARY_PATH=$1
    fi
}

in_plain() (
    set_library_path "$device_lib"
    "${words[@]}"
)

# Untraced, to learn what is called.
in_counted() (
    set_library_path "$SIM_LIB"
    export SIMGPU_COUNTS=$work/counts/%p
    "${words[@]}"
)

in_traced() (
    set_library_path "$device_lib"
    [ -z "$device_lib" ] || export SIMGPU_COUNTS=$work/counts/%p
    GMTRACE_OUTPUT=${OUTPUT:-$work/traces/%p.db}
    case $how in
        preload)
            preload=$GMT_LIB
            export GMTRACE_OUTPUT
            export_preload
            ;;
        launcher)
            via() {
                "$gmtrace" -o "$GMTRACE_OUTPUT" -- "$@"
            }
            ;;
    esac
    "${words[@]}"
)

# Rows that preload something else, too, call it again.
export_preload() {
    [ "$how" != preload ] || [ -z "${preload-}" ] || export LD_PRELOAD=$preload
}

# Traces, finished or not: what is left when journals and the endings of spools are taken off.
traces_made() {
    find traces -mindepth 1 -maxdepth 1 -name '*.db*' ! -name '*-journal' | sed 's/\.spool$//' | sort -u
}

all_finished() {
    local db
    for db in $(traces_made); do
        if [ ! -f "$db" ] || [ -e "$db.spool" ] ||
            [ "$(sql "$db" "SELECT value FROM meta WHERE key = 'complete'" 2>/dev/null)" != 1 ]; then
            return 1
        fi
    done
}

# Daemons and recorders may go on after the command. The limit is there to end a test that has failed.
settle() {
    local tries=2400
    until [ "$(traces_made | wc -l)" -ge "$1" ] && all_finished; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || {
            ls -la traces >&2
            fail "$row: there are no $1 finished traces"
        }
        sleep 0.05
    done
    equal "$row: traces" "$1" "$(traces_made | wc -l)"
}

# What no recorder could finish gmanalyze does, as soon as it can be sure that nobody is at it any more.
finish_rest() {
    local db tries=240
    for ((; tries > 0; tries--)); do
        for db in $(traces_made); do
            "$GMT_BUILD/bin/gmanalyze" "$db" >/dev/null 2>analysis.err || fail "$row: gmanalyze: $(cat analysis.err)"
        done
        ! all_finished || return 0
        sleep 0.5
    done
    ls -la traces traces/*.spool >&2
    fail "$row: gmanalyze does not finish: $(cat analysis.err)"
}

# pid, API and count of every call that a process made, and of every one that is in a trace of it.
calls_made() {
    local counts
    for counts in counts/*; do
        driver_calls "$counts" | sed "s/^/${counts##*/} /"
    done | sort
}

calls_in_traces() {
    local db
    for db in $(traces_made); do
        trace_calls "$db" | join - <(recorded_apis) | sed "s/^/$(sql "$db" 'SELECT pid FROM process') /"
    done | awk '{ sum[$1 " " $2] += $3 } END { for (at in sum) print at, sum[at] }' | sort
}

# Other processes were counted than those that were traced: only the sums are to be the same.
of_processes() {
    if [ -n "$device_lib" ]; then
        cat
    else
        awk '{ sum[$2] += $3 } END { for (api in sum) print api, sum[api] }' | sort
    fi
}

check_traces() {
    local db tries=2400
    calls_in_traces | of_processes >recorded
    calls_made | of_processes >made
    # The daemon of the run that counts may be at it still.
    until [ -n "$device_lib" ] || cmp -s made recorded || [ $((tries -= 1)) -eq 0 ]; do
        sleep 0.05
        calls_made | of_processes >made
    done
    [ -s made ] || fail "$row: the driver saw no call"
    diff made recorded >&2 || fail "$row: calls made (<) and calls recorded (>) differ"
    for db in $(traces_made); do
        nothing_lost "$db"
    done
}

# What is missing is said to be lost.
check_losses() {
    local db missing lost=0
    calls_made >made
    calls_in_traces >recorded
    missing=$(awk 'NR == FNR { sum += $3; next } { sum -= $3 } END { print sum }' made recorded)
    for db in $(traces_made); do
        lost=$((lost + $(sql "$db" "SELECT coalesce(sum(count), 0) FROM loss WHERE kind = 'call not recorded'")))
    done
    [ -s recorded ] || fail "$row: no call is recorded"
    at_most "$row: calls that are missing" "$lost" "$missing"
}

run "$row.plain" in_plain
[ "$(cat "$row.plain.status")" != 77 ] || skip "$(tail -1 "$row.plain.out")"
if [ -z "$device_lib" ]; then
    run counted in_counted
    [ "$(cat "$row.plain.status")" = "$(cat counted.status)" ] ||
        skip "ends with $(cat "$row.plain.status") on this driver, untraced, not with $(cat counted.status)"
fi
run "$row" in_traced
[ "$how" != launcher ] || sed -i '/^gmtrace: /d' "$row.err"
[ "$expected" != none ] || sed -i '/^gmtrace: no trace: cannot write/d' "$row.err"
same_behaviour "$row"

case $expected in
    none) equal "$row: files" "" "$(traces_made)" ;;
    any)
        settle "$(traces_made | wc -l)"
        [ -z "$(traces_made)" ] || check_traces
        ;;
    *'~')
        settle "${expected%'~'}"
        check_losses
        ;;
    *'*')
        finish_rest
        settle "${expected%'*'}"
        check_traces
        ;;
    *)
        settle "$expected"
        check_traces
        ;;
esac
if declare -F "after_${words[0]}" >/dev/null; then
    "after_${words[0]}" "${words[@]:1}"
fi
