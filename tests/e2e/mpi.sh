#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mpi.sh ABOUT: four ranks whose devices exchange data over the memory of their host, under a launcher that does what mpirun does, and
# under mpirun where there is one: traces, exit status and output are right.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
needs sqlite3

RANKS=4 STEPS=6
export TMPDIR=$work SIMGPU_THREADS=1 GMTRACE_SUMMARY=off GMTRACE_FINGERPRINTS=whole GMTRACE_FINGERPRINT_BUDGET=100
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
gmtrace=$GMT_BUILD/bin/gmtrace
# Of a real one, too, its processes and what it does with signals count; the program needs no MPI of it.
launchers=(standin_mpirun)
if command -v mpirun >/dev/null && mpirun --version 2>/dev/null | grep -q 'Open MPI'; then launchers+=(open_mpirun); fi

# standin_mpirun COMMAND...: a rank each; the first that fails ends the others, and its status is that of the job.
standin_mpirun() {
    local rank pids=() status=0 one
    for ((rank = 0; rank < RANKS; rank++)); do
        OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=$RANKS "$@" &
        pids+=($!)
    done
    while [ ${#pids[@]} -gt 0 ]; do
        sleep 0.02
        for rank in "${!pids[@]}"; do
            ! kill -0 "${pids[rank]}" 2>/dev/null || continue
            one=0
            wait "${pids[rank]}" 2>/dev/null || one=$?
            unset "pids[rank]"
            if [ "$one" -ne 0 ] && [ "$status" -eq 0 ]; then
                status=$one
                kill -TERM "${pids[@]}" 2>/dev/null || true
            fi
        done
    done
    return "$status"
}

open_mpirun() {
    mpirun --oversubscribe -n $RANKS "$@"
}

# job NAME WISH...: under each launcher, bare and recorded: NAME.LAUNCHER.out and .status, traces in the folder NAME.LAUNCHER.
job() {
    local name=$1 launcher how
    shift
    for launcher in "${launchers[@]}"; do
        for how in plain ""; do
            local at=$name.$launcher${how:+.$how} command=()
            mkdir -p "$at.pipes" "$at"
            if [ -z "$how" ]; then command=("$gmtrace" -o "$work/$at/%r.db"); fi
            LD_LIBRARY_PATH=$SIM_LIB run "$at" "$launcher" ${command[0]+"${command[@]}"} "$CLIENTS/mpiclient" "$work/$at.pipes" "$STEPS" "$@"
        done
        for ((rank = 0; rank < RANKS; rank++)); do
            finished "$name.$launcher/$rank.db"
            nothing_lost "$name.$launcher/$rank.db"
        done
        equal "exit status under $launcher" "$(cat "$name.$launcher.plain.status")" "$(cat "$name.$launcher.status")"
        same "output under $launcher" <(sort "$name.$launcher.plain.out") <(sort "$name.$launcher.out")
        equal "traces" "0.db 1.db 2.db 3.db" "$(cd "$name.$launcher" && echo *)"
        equal "ranks" "0 1 2 3" "$(for rank in 0 1 2 3; do sql "$name.$launcher/$rank.db" 'SELECT rank FROM process'; done | xargs)"
    done
}

# Both clocks of a trace are read at one moment: looking up the name of the host may take long.
clock() {
    launchers=(standin_mpirun)
    job clock slow_name=300000
    equal "clocks of ranks 1 and 2 differ" 1 "$(for rank in 1 2; do sql "clock.standin_mpirun/$rank.db" 'SELECT realtime_ns - start_ns FROM process'; done |
        xargs | awk '{ d = $1 - $2; print (d < 150e6 && d > -150e6) }')"
}

"$1"
