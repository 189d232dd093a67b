#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# conditions.sh MINIMUM: recorded programs under hostile conditions, the rows of conditions.table. The condition is the same
# for the plain run; the program must end as in that, with the same output, and no trace may claim more than it holds.
# shellcheck disable=SC2030,SC2031,SC2086,SC2317 # rows have a folder of their own; counted may be nothing
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/matrix/rows.sh
source "$GMT_SOURCE/tests/e2e/matrix/rows.sh"
# shellcheck source=tests/e2e/matrix/traces.sh
source "$GMT_SOURCE/tests/e2e/matrix/traces.sh"
# shellcheck source=tests/e2e/matrix/conditions_rows.sh
source "$GMT_SOURCE/tests/e2e/matrix/conditions_rows.sh"

# shellcheck disable=SC2034 # traces.sh: calls are counted by the software device
device_lib=$SIM_LIB
export LD_LIBRARY_PATH=$SIM_LIB
chmod 755 "$work"

# via PROGRAM ARG...: the program, plain or recorded; `output` names its trace, `counted` where the device counts.
via() {
    case $way in
        plain) "$@" ;;
        preload) env $counted LD_PRELOAD="$GMT_LIB" GMTRACE_OUTPUT="$output" "$@" ;;
        launcher) env $counted "$GMT_BUILD/bin/gmtrace" -o "$output" -- "$@" ;;
    esac
}

one_condition() {
    local output=$work/traces/%p.db counted=SIMGPU_COUNTS=$work/counts/%p
    ulimit -c 0
    eval "$1"
}

clear_places() {
    umount traces 2>/dev/null || true
    rm -rf traces counts moved
    mkdir traces
    mkdir -m 1777 counts
}

condition_row() {
    local name=$1 ways expected command way
    read -r ways expected command <<<"$2"
    trap 'umount "$work/traces" 2>/dev/null || true' EXIT
    for way in plain ${ways//both/preload launcher}; do
        row="$name, $way"
        clear_places
        (run "$way" one_condition "$command")
        [ "$way" != plain ] || continue
        ln -sf plain.out "$way.plain.out"
        ln -sf plain.err "$way.plain.err"
        ln -sf plain.status "$way.plain.status"
        [ "$way" != launcher ] || forgive_missing_trace plain launcher
        # At most one line says that there is no trace; the launcher has more to say.
        case $way in
            preload) sed -i '/^gmtrace: no trace: /d' "$way.err" ;;
            launcher) sed -i '/^gmtrace: /d' "$way.err" ;;
        esac
        (same_behaviour "$way") || fail "$row: not as untraced"
        check_expected "$expected"
        if declare -F "after_$name" >/dev/null; then
            "after_$name"
        fi
    done
}

grep -E '^[a-z0-9_]+ ' "$GMT_SOURCE/tests/e2e/matrix/conditions.table" |
    while read -r name ways expected needs command; do
        echo "$name $needs $ways $expected $command"
    done | run_rows condition_row "$1"
