#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# matrix.sh NAME: one row of matrix.table. MATRIX_DEVICE=gpu: with the driver of this machine; the calls
# to be found are then counted by the software device, in a third run.
# shellcheck disable=SC2030,SC2031,SC2317 # subshells are what keeps the runs apart; rows call via
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/matrix_rows.sh
source "$GMT_SOURCE/tests/e2e/matrix_rows.sh"
# shellcheck source=tests/e2e/matrix/traces.sh
source "$GMT_SOURCE/tests/e2e/matrix/traces.sh"

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

run "$row.plain" in_plain
[ "$(cat "$row.plain.status")" != 77 ] || skip "$(tail -1 "$row.plain.out")"
if [ -z "$device_lib" ]; then
    run counted in_counted
    [ "$(cat "$row.plain.status")" = "$(cat counted.status)" ] ||
        skip "ends with $(cat "$row.plain.status") on this driver, untraced, not with $(cat counted.status)"
fi
run "$row" in_traced
[ "$how" != launcher ] || forgive_missing_trace "$row.plain" "$row"
[ "$how" != launcher ] || sed -i '/^gmtrace: /d' "$row.err"
[ "$expected" != none ] || sed -i '/^gmtrace: no trace: cannot write/d' "$row.err"
same_behaviour "$row"

if [ "$expected" = any ]; then
    settle "$(traces_made | wc -l)"
    [ -z "$(traces_made)" ] || check_traces
    validated
else
    check_expected "$expected"
fi
if declare -F "after_${words[0]}" >/dev/null; then
    "after_${words[0]}" "${words[@]:1}"
fi
