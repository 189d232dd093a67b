#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nccl.sh ABOUT: 8 ranks over a stand-in NCCL on the software device: what its ranges say is in the traces, and gmanalyze fleet
# matches collectives, corrects clocks, and names who was waited for.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
: "${STANDIN_NCCL:?}"
needs sqlite3 python3

RANKS=8 STEPS=${STEPS:-30}
export TMPDIR=$work SIMGPU_THREADS=1

# ranks NAME [RANK:FAULT=NUMBER...]...: the job, a process per rank; traces in NAME. Status of each in NAME.status.
ranks() {
    local name=$1 rank pids=() faults=()
    shift
    mkdir -p "$name"
    for rank in "$@"; do faults[${rank%%:*}]=${rank#*:}; done
    for ((rank = 0; rank < RANKS; rank++)); do
        # shellcheck disable=SC2086 # a fault is a word
        LD_LIBRARY_PATH=$SIM_LIB:$STANDIN_NCCL LD_PRELOAD=$GMT_LIB NVTX_INJECTION64_PATH=$GMT_LIB RANK=$rank WORLD_SIZE=$RANKS \
            GMTRACE_OUTPUT=$work/$name/$rank.db "$CLIENTS/ncclclient" $rank $RANKS "$work/$name.id" "$STEPS" ${faults[rank]-} \
            >"$name.$rank.out" 2>"$name.$rank.err" </dev/null &
        pids+=($!)
    done
    at_exit "kill -9 ${pids[*]} 2>/dev/null"
    : >"$name.status"
    for rank in "${!pids[@]}"; do
        status=0
        wait "${pids[rank]}" 2>/dev/null || status=$?
        echo "$rank $status" >>"$name.status"
    done
    for ((rank = 0; rank < RANKS; rank++)); do finished "$name/$rank.db"; done
}

all_ended() {
    equal "ranks that failed" "" "$(awk '$2 != 0' "$1.status")$(cat "$1".*.err)"
    for ((rank = 0; rank < RANKS; rank++)); do nothing_lost "$1/$rank.db"; done
}

fleet() {
    LD_LIBRARY_PATH='' "$GMT_BUILD/bin/gmanalyze" fleet --format json "$1" >fleet.json 2>fleet.err || fail "gmanalyze fleet: $(cat fleet.err)"
    LD_LIBRARY_PATH='' "$GMT_BUILD/bin/gmanalyze" fleet "$1" >fleet.txt 2>fleet.err || fail "gmanalyze fleet: $(cat fleet.err)"
}

# timeline NAME RANKS: of these ranks, whose ends of collectives agree but for when this machine wakes them; after `fleet NAME`.
timeline() {
    LD_LIBRARY_PATH='' "$GMT_BUILD/bin/gmanalyze" fleet --timeline timeline.json --ranks "$2" "$1" >fleet.txt 2>fleet.err || fail "gmanalyze fleet --timeline: $(cat fleet.err)"
    GMANALYZE=$GMT_BUILD/bin/gmanalyze python3 "$GMT_SOURCE/tests/fleet/check_timeline.py" timeline.json fleet.json inf 1e9 >timeline.txt || fail "$(cat timeline.txt)"
}

# json EXPRESSION: what it gives of `fleet`, and of `ranks`, its ranks by number.
json() {
    python3 -c 'import json, sys
fleet = json.load(open("fleet.json"))
ranks = {r["rank"]: r for r in fleet["ranks"]}
print(eval(sys.argv[1]))' "$1"
}

# each TRACE... SQL: what all of them answer, once where it is the same.
each() {
    local sql=${*: -1} db
    for db in "${@:1:$#-1}"; do sql "$db" "$sql"; done | sort -u
}

# Times of what is left out would be missing in this list.
matched() {
    equal "collectives: of communicators, matched, of not all ranks, ambiguous" "$1" \
        "$(json '" ".join(str(fleet["collectives"][k]) for k in ("communicators", "matched", "incomplete", "ambiguous"))')"
}

payloads() {
    ranks job
    all_ended job
    equal "the program's own" "rank 3 of 8" "$(cat job.3.out)"
    local all=("$work"/job/*.db)
    equal "communicators of each rank" "ncclCommInitRank|8 ncclCommSplit|4 " \
        "$(each "${all[@]}" "SELECT name, ranks FROM v_range WHERE domain = 'NCCL' AND rank IS NOT NULL AND name IN ('ncclCommInitRank', 'ncclCommSplit')" | tr '\n' ' ')"
    equal "their numbers in them" "0/0 1/1 2/2 3/3 4/0 5/1 6/2 7/3" \
        "$(for rank in 0 1 2 3 4 5 6 7; do sql "job/$rank.db" "SELECT group_concat(rank, '/') FROM (SELECT rank FROM v_range WHERE name IN ('ncclCommInitRank', 'ncclCommSplit') ORDER BY id)"; done | tr '\n' ' ' | sed 's/ $//')"
    equal "communicators of all ranks" 3 "$(each "${all[@]}" 'SELECT DISTINCT communicator FROM range WHERE communicator IS NOT NULL' | wc -l)"
    equal "operations, with the bytes of their messages" "ncclAllGather|262144|$STEPS ncclAllReduce|4194304|$STEPS ncclRecv|65536|$STEPS ncclSend|65536|$STEPS " \
        "$(each "${all[@]}" "SELECT name, bytes, count(*) FROM v_range WHERE bytes IS NOT NULL AND communicator IS NOT NULL GROUP BY 1, 2 ORDER BY 1" | tr '\n' ' ')"
    equal "ranges without a payload" "ncclGetUniqueId ncclGroupEnd ncclGroupStart " \
        "$(each "${all[@]}" "SELECT DISTINCT name FROM v_range WHERE domain = 'NCCL' AND communicator IS NULL" | tr '\n' ' ')"
    fleet job
    matched "3 $((3 * STEPS)) 0 0"
    grep -q "^Collectives of 3 communicators: $((3 * STEPS)) matched" fleet.txt || fail "$(cat fleet.txt)"
    grep -Eq '^  AllReduce +8 +4.00 MiB +'"$STEPS" fleet.txt || fail "$(cat fleet.txt)"
    # How good they are depends on when this machine wakes the ranks.
    equal "clocks" 8 "$(json 'sum(r["clock"]["confidence"] != "none" for r in fleet["ranks"])')"
    # Sums over steps know as much.
    GMTRACE_AGGREGATE=on ranks sums
    all_ended sums
    fleet sums
    matched "3 $((3 * STEPS)) 0 0"
    equal "rows of ranges" 0 "$(each "$work"/sums/*.db 'SELECT count(*) FROM range')"
}

# Before NCCL 2.26 payloads have no communicator: nothing is matched by numbers that are not there.
older() {
    STANDIN_NCCL_VERSION=22503 ranks job
    all_ended job
    equal "communicators" "0" "$(each "$work"/job/*.db 'SELECT count(*) FROM range WHERE communicator IS NOT NULL')"
    equal "bytes" "ncclAllReduce|4194304" "$(each "$work"/job/*.db "SELECT DISTINCT name, bytes FROM v_range WHERE name = 'ncclAllReduce'")"
    fleet job
    matched "0 0 0 0"
    grep -q '^Clocks: no collectives to compare them by' fleet.txt || fail "$(cat fleet.txt)"
}

# Two clocks are wrong: found within 1 %. How exactly clocks are found where ranks come as they do on GPUs, fleet.fleet_clocks
# says: here this machine decides when it wakes them, some of them later than others at each collective.
skew() {
    STEPS=100
    ranks job 3:skew_ns=5000000000 6:"skew_ns=-7000000000 node=1"
    all_ended job
    fleet job
    matched "3 $((3 * STEPS)) 0 0"
    for planted in 3:5e9 6:-7e9; do
        equal "clock of rank ${planted%:*}: $(json "ranks['${planted%:*}']['clock']")" True "$(json "abs(
            sorted(ranks[r]['clock']['offset_ns'] for r in '012457')[3] - ranks['${planted%:*}']['clock']['offset_ns'] - ${planted#*:}) <= 50e6")"
        equal "is named" True "$(json "any(o['rank'] == '${planted%:*}' and o['cause'] == 'clock' for o in fleet['odd'])")"
    done
    # Rank 0 is in one half with rank 3, and not with rank 6: each has a reduction over all in each step, and one gathering.
    timeline job 0,3,6
    equal "timeline" "0 3 6 $((2 * STEPS)) collectives of several ranks" "$(cat timeline.txt)"
    # Times are those of the corrected clocks: by their own, rank 6 would wait 7 s each time.
    equal "nobody waited for a clock" True "$(json 'fleet["collectives"]["kinds"][0]["late_ns"] < 1e9')"
}

# A host thread that sleeps: the others wait for it, and their bytes are not slow.
sleep_() {
    STANDIN_NCCL_GBPS=1 ranks job 5:sleep_us=100000
    all_ended job
    fleet job
    matched "3 $((3 * STEPS)) 0 0"
    equal "cause of rank 5" host "$(json "[o['cause'] for o in fleet['odd'] if o['rank'] == '5'][0]")"
    equal "most waited for" 5 "$(json 'max(ranks, key=lambda r: ranks[r]["collectives"]["made_wait_ns"])')"
    equal "it made the others wait" True "$(json "ranks['5']['collectives']['made_wait_ns'] > $STEPS * 10e6")"
    reduce='[k for k in fleet["collectives"]["kinds"] if k["operation"] == "AllReduce"][0]'
    equal "late peers, not transfers" True "$(json "${reduce}['late_ns'] > 10e6 and ${reduce}['late_ns'] > ${reduce}['transfer_ns']")"
    # 4 MiB x 2 x 7/8 at 1 GB/s and the latency; who wakes late makes it less.
    equal "bus bandwidth of AllReduce" True "$(json "0.01e9 < ${reduce}['bus_bytes_per_s'] < 1e9")"
    grep -q '^  Rank 5 came last in ' fleet.txt || fail "$(cat fleet.txt)"
}

copies() {
    ranks job 2:copies=20
    all_ended job
    fleet job
    equal "cause of rank 2" work "$(json "[o['cause'] for o in fleet['odd'] if o['rank'] == '2'][0]")"
    equal "by what" True "$(json "'copies' in [d['measure'] for o in fleet['odd'] if o['rank'] == '2' for d in o['differences']]")"
}

# SIGKILL of one rank: what was whole is whole, of the others too.
killed() {
    local whole=12
    ranks job 2:die_at=$whole
    equal "how they ended" "2 137" "$(awk '$1 == 2' job.status)"
    equal "the others" 7 "$(grep -c ' 3$' job.status)"
    grep -q 'remote process exited' job.0.err || fail "$(cat job.0.err)"
    for ((rank = 0; rank < RANKS; rank++)); do nothing_lost "job/$rank.db"; done
    equal "reductions of the rank that was killed" "$whole|$whole" "$(sql job/2.db "SELECT count(*), count(end_ns) FROM v_range WHERE name = 'ncclAllReduce'")"
    equal "its steps" "$((whole + 1))|$whole" "$(sql job/2.db "SELECT count(*), count(end_ns) FROM v_range WHERE name = 'step'")"
    fleet job
    equal "compared" 8 "$(json 'fleet["compared"]')"
    # The one that it did not come to is left out.
    matched "3 $((3 * whole)) 1 0"
    timeline job 2,0,7
}

# A rank that finds no device has no trace; one whose trace is damaged is reported; the others are answered.
broken() {
    ranks job
    all_ended job
    head -c 20000 job/4.db >short && mv short job/4.db
    LD_LIBRARY_PATH=$SIM_LIB:$STANDIN_NCCL LD_PRELOAD=$GMT_LIB SIMGPU_DEVICES=0 RANK=5 WORLD_SIZE=8 GMTRACE_OUTPUT=$work/job/none.db \
        run none "$CLIENTS/ncclclient" 5 8 "$work/none.id" 1
    equal "status without a device" 3 "$(cat none.status)"
    rm job/5.db
    equal "traces" 7 "$(find job -name '*.db' | wc -l)"
    fleet job
    equal "compared" 6 "$(json 'fleet["compared"]')"
    equal "damaged" True "$(json "any('/4.db' in r['trace'] and not r['compared'] and r['why_not'] for r in fleet['ranks'])")"
    grep -q 'job/4.db: ' fleet.txt || fail "the damaged trace is not reported: $(cat fleet.txt)"
    # Of the communicators that these two were in nobody knows who came last; of the other half's all is known.
    matched "3 $STEPS $((2 * STEPS)) 0"
    equal "clocks of the others" 6 "$(json 'sum(r["clock"]["confidence"] != "none" for r in fleet["ranks"])')"
}

case $1 in
    sleep) sleep_ ;;
    *) "$1" ;;
esac
