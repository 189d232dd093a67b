#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ranges.sh ABOUT: NVTX ranges and cuProfilerStart/Stop reach the trace and scope it.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

CLIENT=$CLIENTS/nvtxclient
export NVTX_INJECTION64_PATH=$GMT_LIB

# Without the variable.
without_tool() {
    (unset NVTX_INJECTION64_PATH && "$@")
}

# The innermost pushed range of its thread around the copy of so many bytes.
around() {
    sql "$1" "SELECT group_concat(DISTINCT (SELECT name FROM v_range r
              WHERE r.kind = 'push' AND r.thread_id = t.thread_id AND r.begin_ns <= t.begin_ns
                AND coalesce(r.end_ns, t.end_ns) >= t.end_ns ORDER BY r.begin_ns DESC LIMIT 1))
              FROM transfer t WHERE t.bytes = $2"
}

nested() {
    without_tool plain t.plain nested
    traced t nested
    finished t.db
    same_behaviour t
    nothing_lost t.db
    equal "levels, as without a tool" "-2 -2" "$(cat t.out)"
    equal "ranges" "fetch|push|loader|0|2 größer|push||2|2 level|push||0|1 run|push||0|1 step|push||1|2 whole|start|loader|0|1 " \
        "$(sql t.db "SELECT name, kind, domain, depth, count(*) FROM v_range GROUP BY 1, 2, 3, 4
                     ORDER BY 1" | tr '\n' ' ')"
    equal "open ranges" 0 "$(sql t.db 'SELECT count(*) FROM range WHERE end_ns IS NULL')"
    equal "copies and the ranges around them" "step fetch größer größer run" \
        "$(for bytes in 100 200 300 400 600; do around t.db $bytes; done | tr '\n' ' ' | sed 's/ $//')"
    equal "begun before CUDA" 1 \
        "$(sql t.db "SELECT begin_ns < (SELECT start_ns FROM process) FROM v_range WHERE name = 'run'")"
    # As a tree: "fetch" ends before "größer", which began in it.
    if [ -x "$GMT_BUILD/bin/gmanalyze" ] && command -v jq >/dev/null; then
        "$GMT_BUILD/bin/gmanalyze" --calibrate never t.db -o tree.json >/dev/null 2>tree.err || fail "$(cat tree.err)"
        equal "paths, ranges and copies" "level:1:0 run:1:10 run>step:2:8 run>step>fetch@loader:2:4 run>step>größer:2:4 whole@loader:1:1" \
            "$(jq -r '.range_tree as $all | def path: if .parent == null then .name else "\($all[.parent] | path)>\(.name)" end;
                     $all[] | "\(path):\(.count):\(.copies)"' tree.json | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')"
    fi
    # Without the variable NVTX reports to nobody, and the program is traced all the same.
    without_tool traced none nested
    finished none.db
    equal "ranges without the variable" 0 "$(sql none.db 'SELECT count(*) FROM range')"
    # The launcher sets it.
    unset NVTX_INJECTION64_PATH
    LD_LIBRARY_PATH=$SIM_LIB GMTRACE_OUTPUT=$work/run.db run launched "$GMT_BUILD/bin/gmtrace" "$CLIENT" nested
    finished run.db
    equal "ranges under gmtrace" 9 "$(sql run.db 'SELECT count(*) FROM range')"
}

threads() {
    traced_like_plain t threads
    finished t.db
    nothing_lost t.db
    equal "ranges" 801 "$(sql t.db 'SELECT count(*) FROM range WHERE end_ns >= begin_ns')"
    for thread in 1 2 3 4 5 6 7 8; do
        equal "copies of thread $thread" "thread $thread" "$(around t.db $thread)"
    done
    equal "copies inside of the range of the process" 800 \
        "$(sql t.db "SELECT count(*) FROM transfer t, v_range r WHERE r.name = 'all threads'
                     AND t.begin_ns BETWEEN r.begin_ns AND r.end_ns")"
}

unbalanced() {
    traced_like_plain t unbalanced
    finished t.db
    equal "deepest" 63 "$(sql t.db 'SELECT max(depth) FROM range')"
    equal "lost" "range not recorded: more than 64 open in one thread x36" \
        "$(sql t.db "SELECT kind || ': ' || detail || ' x' || count FROM loss
                     WHERE kind <> 'entry point not covered'")"
    equal "without a name" 3 "$(sql t.db 'SELECT count(*) FROM range WHERE name_id IS NULL')"
    equal "open" "never popped" "$(sql t.db 'SELECT name FROM v_range WHERE end_ns IS NULL')"
    equal "all" 68 "$(sql t.db 'SELECT count(*) FROM range')"
}

open() {
    traced t open
    finished t.db
    equal "open ranges" $'push|outer|0\npush|inner|1\nstart|process|0' \
        "$(sql t.db 'SELECT kind, name, depth FROM v_range WHERE end_ns IS NULL ORDER BY id')"
}

fork() {
    OUTPUT=$work/%p.db traced_like_plain t fork
    child=$(echo ./*.db)
    finished "$child"
    nothing_lost "$child"
    equal "ranges of the child" $'push|parent|1\nstart|whole|1' \
        "$(sql "$child" 'SELECT kind, name, end_ns > begin_ns FROM v_range ORDER BY id')"
}

# Copies by size, with their count, of a run with this scope.
scope_of() {
    GMTRACE_RANGE=$1 traced t scoped
    finished t.db
    nothing_lost t.db
    equal "allocations in scope '$1'" 1 "$(sql t.db 'SELECT count(*) FROM allocation')"
    sql t.db 'SELECT bytes, count(*) FROM transfer GROUP BY 1' | tr '\n' ' '
    rm -f t.db
}

scope() {
    traced_like_plain all scoped
    finished all.db
    equal "everything" "1|1 2|10 3|10 4|10 5|10 6|10 " \
        "$(sql all.db 'SELECT bytes, count(*) FROM transfer GROUP BY 1' | tr '\n' ' ')"
    equal "hot" "3|10 4|10 " "$(scope_of hot)"
    equal "part" "4|10 " "$(scope_of part)"
    equal "nothing of that name" "" "$(scope_of ho)"
    equal "nothing of that domain" "" "$(scope_of hot@loader)"
    # Counters, too: of launches inside only.
    GMTRACE_COLLECT=standard GMTRACE_RANGE=hot traced counted scoped
    finished counted.db
    nothing_lost counted.db
    equal "launches" 10 "$(sql counted.db 'SELECT count(*) FROM launch')"
    equal "counters without a launch" 0 \
        "$(sql counted.db 'SELECT count(*) FROM kernel_counters WHERE launch_seq NOT IN (SELECT seq FROM launch)')"
    equal "launches counted" 10 "$(sql counted.db 'SELECT count(DISTINCT launch_seq) FROM kernel_counters')"
    "$GMT_BUILD/bin/gmanalyze" --calibrate never --top 10 counted.db >counted.txt
    tr -s '\n ' ' ' <counted.txt |
        grep -q "only copies, memsets, launches and waits inside of ranges named 'hot'" ||
        fail "the report does not say what was left out"
    # What is recorded whole can be limited later.
    "$GMT_BUILD/bin/gmanalyze" --calibrate never --range hot all.db --format json >hot.json
    grep -q '"transfers": 20,' hot.json || fail "not 20 copies in the range: $(grep '"transfers"' hot.json)"
    GMTRACE_RANGE=hot traced said scoped
    finished said.db
    equal "said in the trace" "off" "$(sql said.db "SELECT state FROM capability WHERE name = 'range'")"
}

# Findings of these rules in a report.
of_rules() {
    python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
wanted = sys.argv[2:]
print(" ".join(sorted(f["rule"] for f in report["findings"] + report["notes"] if f["rule"] in wanted)))' "$@"
}

# What is used outside of the range is not called unused, early, late or redundant, and copies are not
# joined over what lies between.
load() {
    local about=(GM101 GM104 GM105 GM106 GM107 GM111 GM117 GM204 GM205 GM206 GM208)
    traced all load
    finished all.db
    GMTRACE_RANGE=load traced t load
    finished t.db
    equal "recorded" "20|0|2" "$(sql t.db 'SELECT (SELECT count(*) FROM transfer), (SELECT count(*) FROM launch),
                                           (SELECT count(*) FROM allocation)')"
    "$GMT_BUILD/bin/gmanalyze" --calibrate never t.db --format json >t.json
    equal "what is said of a recording of range load" "" "$(of_rules t.json "${about[@]}")"
    "$GMT_BUILD/bin/gmanalyze" --calibrate never --top 10 t.db >t.txt
    for rule in GM107 GM205 GM206; do
        tr -s '\n ' ' ' <t.txt | grep -q "$rule [a-z-]* [^.]*ranges named 'load' are recorded: uses outside of them" ||
            fail "$rule does not say why it could not be checked: $(cat t.txt)"
    done
    if grep -q 'only while in use' t.txt; then
        fail "the report knows what memory is needed for"
    fi
    # An analysis of that range, of a trace that has all, says no more.
    "$GMT_BUILD/bin/gmanalyze" --calibrate never --range load all.db --format json >limited.json
    equal "what is said of range load of a whole recording" "" "$(of_rules limited.json "${about[@]}")"
}

# One that never came is named, with those that did: by gmtrace, and by gmanalyze without it.
never() {
    GMTRACE_RANGE=nosuch traced t load
    finished t.db
    equal "state" missing "$(sql t.db "SELECT state FROM capability WHERE name = 'range'")"
    "$GMT_BUILD/bin/gmanalyze" --calibrate never --top 10 t.db >t.txt
    tr -s '\n ' ' ' <t.txt |
        grep -q "range 'nosuch' was never entered while CUDA was in use; the program's ranges are: compute, load;" ||
        fail "gmanalyze does not name the ranges: $(cat t.txt)"
    unset NVTX_INJECTION64_PATH
    LD_LIBRARY_PATH=$SIM_LIB run launched "$GMT_BUILD/bin/gmtrace" --range nosuch -o run.db "$CLIENT" load
    equal "lines of gmtrace about it" 1 "$(grep -c "range 'nosuch' was never entered" launched.err)"
    grep -q "the program's ranges are: compute, load" launched.err || fail "no names: $(cat launched.err)"
    LD_LIBRARY_PATH=$SIM_LIB run entered "$GMT_BUILD/bin/gmtrace" --range load -o run.db "$CLIENT" load
    if grep -q 'never entered' entered.err; then
        fail "a range that came: $(cat entered.err)"
    fi
    # Ranges of other names are counted while nothing is recorded, and none is kept in memory.
    LD_LIBRARY_PATH=$SIM_LIB run many "$GMT_BUILD/bin/gmtrace" --range nosuch -o many.db "$CLIENT" many 1000
    grep -q "the program's ranges are: .* and 1992 more" many.err || fail "no names: $(cat many.err)"
    # A program without NVTX.
    GMTRACE_RANGE=nosuch without_tool traced none load
    finished none.db
    grep -q 'the program named no range' <(sql none.db "SELECT detail FROM capability WHERE name = 'range'") ||
        fail "ranges of a program that names none"
}

# Calls of another thread are left out while one is inside: the trace says so.
others() {
    GMTRACE_RANGE=alone traced t others
    finished t.db
    equal "recorded" "1|2" "$(sql t.db 'SELECT bytes, count(*) FROM transfer GROUP BY 1')"
    equal "said" 1 "$(sql t.db "SELECT count(*) FROM capability WHERE name = 'range.threads'")"
    GMTRACE_RANGE=load traced one load
    finished one.db
    equal "said of a single thread" 0 "$(sql one.db "SELECT count(*) FROM capability WHERE name = 'range.threads'")"
}

profiler() {
    equal "profiler" "5|10 " "$(scope_of profiler)"
    # Not a matter of NVTX.
    without_tool traced t scoped
    finished t.db
    equal "ranges" "profiler|10" \
        "$(sql t.db "SELECT kind, count(*) FROM v_range WHERE end_ns > begin_ns GROUP BY 1")"
    equal "copies inside" 10 \
        "$(sql t.db "SELECT count(*) FROM transfer t, range r WHERE t.begin_ns BETWEEN r.begin_ns AND r.end_ns")"
}

# Another tool's place is not taken, by the library or by the launcher.
other_tool() {
    NVTX_INJECTION64_PATH=$CLIENTS/libothernvtx.so
    plain t.plain nested
    traced t nested
    finished t.db
    same_behaviour t
    equal "what the other tool saw" "other tool: 4 pushes" "$(cat t.err)"
    equal "ranges" 0 "$(sql t.db 'SELECT count(*) FROM range')"
    LD_LIBRARY_PATH=$SIM_LIB GMTRACE_OUTPUT=$work/run.db run launched "$GMT_BUILD/bin/gmtrace" "$CLIENT" nested
    grep -qx "other tool: 4 pushes" launched.err || fail "the launcher displaced the other tool"
}

# A program without CUDA leaves nothing, whatever ranges it names.
nothing() {
    traced_like_plain t nothing
    if [ -e t.db ] || [ -e t.db.spool ]; then
        fail "a trace of nothing"
    fi
}

# 100,000 ranges: all there, the process does not grow by them, and each costs little.
many() {
    traced t many 100000
    finished t.db
    nothing_lost t.db
    equal "ranges" 200000 "$(sql t.db 'SELECT count(*) FROM range WHERE end_ns >= begin_ns')"
    equal "names" 200000 "$(sql t.db 'SELECT count(DISTINCT name_id) FROM range')"
    read -r ns growth <t.err
    without_tool plain bare many 100000
    read -r bare_ns _ <bare.err
    echo "$((ns - bare_ns)) ns per range, $growth KiB of growth"
    [ "$((ns - bare_ns))" -lt 5000 ] || fail "$((ns - bare_ns)) ns per range"
    # Of its own memory; their records are 12 MB.
    [ "$growth" -lt 2048 ] || fail "the process grew by $growth KiB"
}

"$1"
