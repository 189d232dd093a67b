#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cuda.sh MINIMUM: programs that use CUDA, the rows of cuda.table, plain and recorded in six ways.
# shellcheck disable=SC2030,SC2031 # rows have a folder of their own
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/matrix/rows.sh
source "$GMT_SOURCE/tests/e2e/matrix/rows.sh"
# shellcheck source=tests/e2e/matrix/traces.sh
source "$GMT_SOURCE/tests/e2e/matrix/traces.sh"

# shellcheck disable=SC2034 # traces.sh: calls are counted by the software device
device_lib=$SIM_LIB
export LD_LIBRARY_PATH=$SIM_LIB

client() {
    exec "$CLIENTS/driverclient" "$@"
}

hard() {
    exec "$CLIENTS/hardclient" "$@"
}

# Programs are started by a shell of their own, in all ways alike.
started() {
    # shellcheck disable=SC2016
    timeout -k 5 300 bash -c "$(declare -f client hard); ulimit -c 0; eval \"\$1\"" bash "$1"
}

# recorded WAY COLLECT COMMAND
recorded() {
    export SIMGPU_COUNTS=$work/counts/%p GMTRACE_COLLECT=$2
    case $1 in
        preload)
            export LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/traces/%p.db
            started "$3"
            ;;
        launcher)
            # shellcheck disable=SC2016
            timeout -k 5 600 "$GMT_BUILD/bin/gmtrace" -o "$work/traces/%p.db" -- \
                bash -c "$(declare -f client hard); ulimit -c 0; eval \"\$1\"" bash "$3"
            ;;
    esac
}

cuda_row() {
    local name=$1 expected command way collect
    read -r expected command <<<"$2"
    run plain started "$command"
    for way in preload launcher; do
        for collect in light standard deep; do
            row="$name, $way, $collect"
            rm -rf traces counts
            mkdir traces counts
            ln -sf plain.out "$way.plain.out"
            ln -sf plain.err "$way.plain.err"
            ln -sf plain.status "$way.plain.status"
            (run "$way" recorded "$way" "$collect" "$command")
            # It makes its calls when the program has ended: there may be no trace yet when gmtrace looks.
            [ "$name" != daemon ] || forgive_missing_trace plain "$way"
            [ "$way" = preload ] || sed -i '/^gmtrace: /d' "$way.err"
            (same_behaviour "$way") || fail "$row: not as untraced"
            check_expected "$expected"
        done
    done
}

grep -E '^[a-z0-9_]+ ' "$GMT_SOURCE/tests/e2e/matrix/cuda.table" |
    while read -r name expected needs command; do
        echo "$name $needs $expected $command"
    done | run_rows cuda_row "$1"
