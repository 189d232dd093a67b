# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # row, device_lib: of the test that reads this
# The traces that a row left in `traces`, against the calls that the software device counted in `counts`.

# Traces, finished or not: what is left when journals and the endings of spools are taken off.
traces_made() {
    find traces -mindepth 1 -maxdepth 1 -name '*.db*' ! -name '*-journal' 2>/dev/null | sed 's/\.spool$//' | sort -u
}

# forgive_missing_trace PLAIN LAUNCHED: where a trace was asked for and cannot be had, gmtrace says so and fails, if the
# program did not.
forgive_missing_trace() {
    if [ "$(cat "$1.status") $(cat "$2.status")" = "0 125" ] &&
        grep -qE '^gmtrace: (no trace|[^ ]*\.db:|[^ ]*\.db is not finished:)' "$2.err"; then
        echo 0 >"$2.status"
    fi
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
    local tries=$((20 * ${SETTLE_SECONDS:-120}))
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
            "$GMT_BUILD/bin/gmanalyze" "$db" >/dev/null 2>analysis.err ||
                grep -q "holds no call of the program: " analysis.err ||
                fail "$row: gmanalyze: $(cat analysis.err)"
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
        [ -f "$counts" ] || continue
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
    same "$row: calls made (-) and calls recorded (+) differ" made recorded
    for db in $(traces_made); do
        nothing_lost "$db" "${may_lack-}"
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


# No check of a trace fails, and it was finished; or rows of `loss` say what is missing. What could not be recorded
# where it ran (capabilities) says so itself.
validated() {
    local db faults
    for db in $(traces_made); do
        faults=$("$GMT_BUILD/bin/gmanalyze" validate "$db" 2>&1 | grep -vE '^(ok|skipped|warning +(losses|capabilities)) ' ||
            [ "${PIPESTATUS[*]}" = "0 1" ] || echo "validate ended with ${PIPESTATUS[0]}")
        if [ -n "$faults" ] && [ "$(lost_in "$db")" = 0 ]; then
            fail "$row: ${db##*/} is damaged, and no loss says why: $faults"
        fi
    done
}

# How much a trace says to have lost; 0 also where it cannot be read.
lost_in() {
    local lost
    lost=$(sql "$1" "SELECT coalesce(sum(count), 0) FROM loss WHERE kind <> 'entry point not covered'" 2>/dev/null) || true
    echo "${lost:-0}"
}

# check_said CALLS: what is missing in a trace of a process is said to be missing, by a row of `loss`; at most so many calls
# that threads were killed in are not. Where gmanalyze cannot finish a trace it says so, and fails.
check_said() {
    local in_flight=$1 db pid missing
    while [ -n "$(recorder_of "$work/")" ]; do
        sleep 0.05
    done
    calls_made >made
    for db in $(traces_made); do
        if ! "$GMT_BUILD/bin/gmanalyze" --calibrate never "$db" >analysis.out 2>analysis.err; then
            [ -s analysis.err ] || fail "$row: gmanalyze fails and does not say why"
            rm -rf "$db" "$db".*
            continue
        fi
        pid=$(sql "$db" 'SELECT pid FROM process')
        missing=$(awk -v pid="$pid" 'NR == FNR { if ($1 == pid) sum += $3; next } { sum -= $2 } END { print sum + 0 }' \
            made <(trace_calls "$db" | join - <(recorded_apis)))
        if [ "$missing" -gt "$in_flight" ] && [ "$(lost_in "$db")" = 0 ]; then
            fail "$row: ${db##*/} names no loss, but lacks $missing calls"
        fi
    done
    rm -f traces/*.old # what gmanalyze or a recorder put aside was none of this run
}

# check_expected HOW:
#   none  nothing was made
#   N     that many finished traces with every call that the device saw
#   N%    with every call; recorders that hardly get a CPU may say that they could not name all frames in time
#   N:    with every call, but the device counted them all as one process's
#   N~    at most what is missing is said to be lost
#   N-M   but for M calls that threads were killed in, what is missing is said to be missing
#   N*    gmanalyze finishes what no recorder could
#   any   what is missing in the traces that there are is said to be missing
check_expected() {
    case $1 in
        none) equal "$row: files" "" "$(traces_made)" ;;
        any) check_said 1 ;;
        *'~')
            settle "${1%'~'}"
            check_losses
            ;;
        *-*)
            settle "${1%-*}"
            check_said "${1#*-}"
            ;;
        *%)
            settle "${1%\%}"
            may_lack='frame not symbolized: time limit' check_traces
            ;;
        *:)
            settle "${1%:}"
            device_lib='' check_traces
            ;;
        *'*')
            finish_rest
            settle "${1%'*'}"
            check_traces
            ;;
        *)
            settle "$1"
            check_traces
            ;;
    esac
    validated
}
