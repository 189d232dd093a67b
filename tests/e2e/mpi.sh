#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mpi.sh ABOUT: four ranks whose devices exchange data over the memory of their host, under a launcher that does what mpirun does, and
# under mpirun where there is one: traces, exit status and output are right, and gmanalyze fleet names what went over the host, and what did not.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
needs sqlite3 python3

RANKS=4 STEPS=6 BYTES=$((256 << 10))
export TMPDIR=$work SIMGPU_THREADS=1 GMTRACE_SUMMARY=off GMTRACE_FINGERPRINTS=whole GMTRACE_FINGERPRINT_BUDGET=100
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
gmtrace=$GMT_BUILD/bin/gmtrace
# Of a real one, too, its processes and what it does with signals count; the program needs no MPI of it.
launchers=(standin_mpirun)
# shellcheck disable=SC2016 # the shell of that rank expands it
if mpirun --oversubscribe -n 1 sh -c 'echo "rank $OMPI_COMM_WORLD_RANK"' >mpirun.out 2>/dev/null </dev/null && grep -q '^rank 0$' mpirun.out; then
    launchers+=(open_mpirun)
fi

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

# fleet FOLDER: fleet.txt, and fleet.json for json.
fleet() {
    LD_LIBRARY_PATH='' "$GMT_BUILD/bin/gmanalyze" fleet "$1" >fleet.txt 2>fleet.err || fail "gmanalyze fleet: $(cat fleet.err)"
    LD_LIBRARY_PATH='' "$GMT_BUILD/bin/gmanalyze" fleet --format json "$1" >fleet.json 2>fleet.err || fail "gmanalyze fleet: $(cat fleet.err)"
}

json() {
    python3 -c 'import json, sys
fleet = json.load(open("fleet.json"))
staged = fleet["staged"]
print(eval(sys.argv[1]))' "$1"
}

# What is in no pair, and why.
others() {
    json '" ".join(f"{k} {staged[k]}" for k in ("without_fingerprint", "few", "ambiguous", "early", "left_out"))'
}

line_of() {
    grep -n "/\* $1 \*/" "$GMT_SOURCE/tests/clients/mpiclient.c" | cut -d: -f1
}

pairs() {
    json '" ".join(sorted("{}-{}:{}x{}".format(p["from"], p["to"], p["number"], p["bytes"] // p["number"]) for p in staged["pairs"]))'
}

# Each to the next.
ring() {
    job ring
    for launcher in "${launchers[@]}"; do
        equal "status" 0 "$(cat "ring.$launcher.status")"
        fleet "ring.$launcher"
        equal "pairs" "0-1:${STEPS}x$BYTES 1-2:${STEPS}x$BYTES 2-3:${STEPS}x$BYTES 3-0:${STEPS}x$BYTES" "$(pairs)"
        equal "others" "without_fingerprint 0 few 0 ambiguous 0 early 0 left_out 0" "$(others)"
        equal "places" "mpiclient.c:$(line_of 'read back') mpiclient.c:$(line_of uploaded)" \
            "$(json '" ".join({p["read_back"] + " " + p["uploaded"] for p in staged["pairs"]})')"
        equal "of one host, priced, in order" True \
            "$(json 'all(p["one_host"] and p["modelled"] and 0 < p["saving_ns"] < p["cost_ns"] and p["between_ns"] > 0 for p in staged["pairs"])')"
        grep -q "^From device to device over hosts: $((4 * STEPS)) contents of 6.00 MiB " fleet.txt || fail "$(cat fleet.txt)"
        grep -q "^  rank 3 to 0: $STEPS of 1.50 MiB, read back at mpiclient.c:$(line_of 'read back'), uploaded at " fleet.txt || fail "$(cat fleet.txt)"
    done
}

# What the read-back cost is shared by those that upload it.
broadcast() {
    job broadcast broadcast=1
    fleet broadcast.standin_mpirun
    equal "pairs" "0-1:${STEPS}x$BYTES 0-2:${STEPS}x$BYTES 0-3:${STEPS}x$BYTES" "$(pairs)"
}

# Nothing goes from device to device where the host changes it, where all devices compute the same, or where there is one content.
none() {
    launchers=(standin_mpirun)
    job changed changed=1
    fleet changed.standin_mpirun
    equal "changed by the host" " without_fingerprint 0 few 0 ambiguous 0 early 0 left_out 0" "$(pairs) $(others)"
    grep -q 'over hosts' fleet.txt && fail "$(cat fleet.txt)"
    job same same=1
    fleet same.standin_mpirun
    equal "computed by all" " without_fingerprint 0 few 0 ambiguous 0 early 0 left_out 0" "$(pairs) $(others)"
    job short bytes=252
    fleet short.standin_mpirun
    equal "short contents" " without_fingerprint 0 few 0 ambiguous 0 early 0 left_out 0" "$(pairs) $(others)"
    STEPS=2
    job two
    fleet two.standin_mpirun
    equal "two contents" " without_fingerprint 0 few 8 ambiguous 0 early 0 left_out 0" "$(pairs) $(others)"
}

direct() {
    json "fleet['direct']['$1']"
}

direct_pairs() {
    json '" ".join(sorted("{}-{} by {}{}:{}x{}".format(p["from"], p["to"], p["by"], " over its host" if p["over_host"] else "", p["copies"],
        p["bytes"] // p["copies"]) for p in fleet["direct"]["pairs"]))'
}

# Memory of another rank that is opened by its handle: whose it is, whoever copies, and nothing goes over the hosts.
ipc() {
    launchers=(standin_mpirun)
    BYTES=$((1 << 20)) # what is smaller has no handle on the software device
    job ipc ipc=1 bytes=$BYTES
    equal "handles" "exported 1 2|imported 1 1" "$(sql ipc.standin_mpirun/2.db 'SELECT kind, count(DISTINCT hash), count(*)
        FROM memory_handle GROUP BY kind' | tr '|' ' ' | paste -sd'|')"
    equal "of the rank before it" 1 "$(sqlite3 ipc.standin_mpirun/2.db "ATTACH 'ipc.standin_mpirun/1.db' AS other;
        SELECT count(DISTINCT o.allocation_id) FROM memory_handle h JOIN other.memory_handle o USING (hash, bytes)
        JOIN allocation a ON a.id = h.allocation_id WHERE h.kind = 'imported' AND o.kind = 'exported' AND a.kind = 'ipc' AND a.address = h.address")"
    fleet ipc.standin_mpirun
    equal "read" "0-1 by 1:${STEPS}x$BYTES 1-2 by 2:${STEPS}x$BYTES 2-3 by 3:${STEPS}x$BYTES 3-0 by 0:${STEPS}x$BYTES" "$(direct_pairs)"
    equal "in sum" "$((4 * STEPS)) $((4 * STEPS * BYTES)) 0 0 4" "$(for key in copies bytes unknown_copies ambiguous_copies allocations; do direct $key; done | xargs)"
    equal "opened" "0 by 1: 1 $BYTES True|1 by 2: 1 $BYTES True|2 by 3: 1 $BYTES True|3 by 0: 1 $BYTES True" "$(json '"|".join(
        "{} by {}: {} {} {}".format(o["owner"], o["by"], o["allocations"], o["bytes"], o["copied"]) for o in fleet["direct"]["opened"])')"
    equal "times" True "$(json 'all(p["modelled"] and p["device_ns"] > 0 and p["bytes_per_s"] > 0 for p in fleet["direct"]["pairs"])')"
    equal "over hosts" 0 "$(json 'staged["number"]')"
    grep -q "^Between device memory of ranks: $((4 * STEPS)) copies of 24.0 MiB " fleet.txt || fail "$(cat fleet.txt)"
    grep -q "^  rank 3 to 0: $STEPS of 6.00 MiB, copied by rank 0; .* (modelled), " fleet.txt || fail "$(cat fleet.txt)"

    job write ipc=2 bytes=$BYTES
    fleet write.standin_mpirun
    equal "written" "0-3 by 0:${STEPS}x$BYTES 1-0 by 1:${STEPS}x$BYTES 2-1 by 2:${STEPS}x$BYTES 3-2 by 3:${STEPS}x$BYTES" "$(direct_pairs)"

    job host ipc=3 bytes=$BYTES
    fleet host.standin_mpirun
    equal "written by hosts" "0-3 by 0 over its host:${STEPS}x$BYTES 1-0 by 1 over its host:${STEPS}x$BYTES 2-1 by 2 over its host:${STEPS}x$BYTES 3-2 by 3 over its host:${STEPS}x$BYTES" \
        "$(direct_pairs)"
    equal "between devices" "0 0" "$(direct copies) $(direct bytes)"
    grep -q "^  rank 1 (its host) to 0: $STEPS of 6.00 MiB, copied by rank 1" fleet.txt || fail "$(cat fleet.txt)"

    # Opened alone: kernels may use it.
    for rank in 0 1 2 3; do sqlite3 write.standin_mpirun/$rank.db "DELETE FROM transfer"; done
    fleet write.standin_mpirun
    equal "not copied" "0 4 {False}" "$(direct copies) $(direct allocations) $(json '{o["copied"] for o in fleet["direct"]["opened"]}')"
    grep -q "^  opened, and in no copy of a call: 4 allocations of 4.00 MiB, by 4 pairs of ranks" fleet.txt || fail "$(cat fleet.txt)"

    # Rank 1 opened memory of rank 0, whose trace is not there; then there are two of it.
    rm ipc.standin_mpirun/0.db
    fleet ipc.standin_mpirun
    equal "without a trace" "1-2 by 2:${STEPS}x$BYTES 2-3 by 3:${STEPS}x$BYTES $STEPS $((STEPS * BYTES))" \
        "$(direct_pairs) $(direct unknown_copies) $(direct unknown_bytes)"
    grep -q "^  $STEPS of 6.00 MiB with memory whose handle no trace of the host has$" fleet.txt || fail "$(cat fleet.txt)"
    cp ipc.standin_mpirun/2.db ipc.standin_mpirun/copy.db
    fleet ipc.standin_mpirun
    equal "of two traces" "$STEPS" "$(direct ambiguous_copies)"
    grep -q "^  $STEPS of 6.00 MiB with memory whose handle several traces have$" fleet.txt || fail "$(cat fleet.txt)"
}

# MPI_Abort, and a rank that is killed: the others are ended by the launcher. What was whole is in the traces.
failed() {
    local wish launcher status
    for wish in "" kill=1; do
        status=$([ -z "$wish" ] && echo 7 || echo 137)
        job "failed$wish" fail_rank=1 fail_at=4 $wish
        for launcher in "${launchers[@]}"; do
            equal "status" "$status" "$(cat "failed$wish.$launcher.status")"
            equal "how rank 1 ended" "$([ -z "$wish" ] && echo 'exit|1792' || echo 'killed|9')" \
                "$(sql "failed$wish.$launcher/1.db" 'SELECT end_reason, exit_status FROM process')"
            for rank in 0 2 3; do
                equal "how rank $rank ended" "killed|15" "$(sql "failed$wish.$launcher/$rank.db" 'SELECT end_reason, exit_status FROM process')"
            done
            equal "copies of rank 1" 9 "$(sql "failed$wish.$launcher/1.db" 'SELECT count(*) FROM transfer')"
            fleet "failed$wish.$launcher"
            # Of the fourth one the launcher may have ended rank 2 before it uploaded it.
            pairs | tr ' ' '\n' >lines
            grep -qE "^1-2:[34]x$BYTES$" lines || fail "handed on by rank 1: $(cat lines)"
        done
    done
}

# One gmtrace for the whole job: the launcher's own processes leave no traces.
outer() {
    local launcher
    for launcher in standin open; do
        [ "$launcher" = standin ] || [ ${#launchers[@]} -gt 1 ] || continue
        mkdir -p "outer.$launcher" "$launcher.pipes"
        if [ "$launcher" = standin ]; then
            declare -f standin_mpirun >launch.sh
            command=(bash -c ". ./launch.sh; standin_mpirun \"\$@\"" standin_mpirun)
        else
            command=(mpirun --oversubscribe -n "$RANKS")
        fi
        LD_LIBRARY_PATH=$SIM_LIB RANKS=$RANKS run outer "$gmtrace" -o "$work/outer.$launcher/%r.db" "${command[@]}" "$CLIENTS/mpiclient" "$work/$launcher.pipes" "$STEPS"
        equal "status: $(cat outer.err)" 0 "$(cat outer.status)"
        equal "ranks that ended" "$RANKS" "$(grep -c '^rank [0-3] of 4: ' outer.out)"
        for ((rank = 0; rank < RANKS; rank++)); do finished "outer.$launcher/$rank.db"; done
        equal "traces" "0.db 1.db 2.db 3.db" "$(cd "outer.$launcher" && echo *)"
        fleet "outer.$launcher"
        equal "handed on" $((RANKS * STEPS)) "$(json 'staged["number"]')"
    done
}

# Ranks that were given one name have a number behind it, and are ranks all the same; a copy of one is none.
one_name() {
    mkdir -p job pipes
    GMTRACE_OUTPUT=$work/job/trace.db LD_LIBRARY_PATH=$SIM_LIB run job standin_mpirun "$gmtrace" "$CLIENTS/mpiclient" "$work/pipes" "$STEPS"
    equal "status" 0 "$(cat job.status)"
    find job -maxdepth 1 -name 'trace.db*' | sed -E 's/(\.spool|-journal)$//' | sort -u >names
    equal "traces" 4 "$(wc -l <names)"
    while read -r db; do finished "$db"; done <names
    equal "what helps" 3 "$(while read -r db; do sql "$db" "SELECT remedy FROM capability WHERE name = 'output'"; done <names |
        awk '/-o trace-%r.db/ { n++ } END { print n }')"
    fleet job
    equal "ranks" "0 1 2 3" "$(json '" ".join(r["rank"] for r in fleet["ranks"])')"
    equal "handed on" $((RANKS * STEPS)) "$(json 'staged["number"]')"
    cp job/trace.db job/trace.db.99
    fleet job
    equal "ranks" "0 1 2 3" "$(json '" ".join(r["rank"] for r in fleet["ranks"])')"
}

# Both clocks of a trace are read at one moment: looking up the name of the host may take long.
clock() {
    launchers=(standin_mpirun)
    job clock slow_name=300000
    equal "clocks of ranks 1 and 2 differ" 1 "$(for rank in 1 2; do sql "clock.standin_mpirun/$rank.db" 'SELECT realtime_ns - start_ns FROM process'; done |
        xargs | awk '{ d = $1 - $2; print (d < 150e6 && d > -150e6) }')"
    fleet clock.standin_mpirun
    equal "handed on" "$((RANKS * STEPS)) 0" "$(json 'str(staged["number"]) + " " + str(staged["early"])')"
}

"$1"
