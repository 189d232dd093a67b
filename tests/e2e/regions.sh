#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# regions.sh ABOUT: heaps and regions that allocators register with NVTX reach the trace, and the report.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

CLIENT=$CLIENTS/regionclient
export NVTX_INJECTION64_PATH=$GMT_LIB
UNKNOWN="NVTX memory call not understood"

# Like traced_like_plain; the bare program loads no tool.
like_plain() {
    (unset NVTX_INJECTION64_PATH && plain "$1.plain" "${@:2}")
    traced "$@"
    same_behaviour "$1"
    equal "exit status" 0 "$(cat "$1.status")"
    equal "integrity" ok "$(finished "$1.db" && sql "$1.db" 'PRAGMA integrity_check')"
}

one_line() {
    tr '\n' ' ' | sed 's/ $//'
}

pool() {
    like_plain t pool
    nothing_lost t.db
    equal "heap" "sub_allocator|allocator|pool|67108864|1|1" "$(sql t.db "SELECT usage, d.text, n.text, h.bytes,
        h.address = a.address, h.end_ns < a.free_begin_ns OR a.free_begin_ns IS NULL FROM heap h JOIN string d ON d.id = h.domain_id
        JOIN string n ON n.id = h.name_id JOIN allocation a ON a.bytes = 67108864")"
    # Three weights, three times two activations, of which one was resized.
    equal "regions" "weight|4194304|3 first|8388608|2 later|8388608|4 later|12582912|1" "$(sql t.db \
        "SELECT name, bytes, count(*) FROM v_region GROUP BY 1, 2 ORDER BY min(id)" | one_line)"
    equal "of the heap" 10 "$(sql t.db 'SELECT count(*) FROM region WHERE heap_id = (SELECT id FROM heap)')"
    equal "ended by themselves" 8 "$(sql t.db 'SELECT count(*) FROM region WHERE end_ns >= begin_ns')"
    equal "ended with the heap" 2 "$(sql t.db 'SELECT count(*) FROM v_region v JOIN region r USING (id) JOIN heap h ON h.id = r.heap_id
        WHERE r.end_ns IS NULL AND v.end_ns = h.end_ns')"
    equal "resized: made of" 1 "$(sql t.db 'SELECT count(*) FROM region r JOIN region m ON m.id = r.made_id
        WHERE r.id <> r.made_id AND m.end_ns = r.begin_ns AND m.stack_id = r.stack_id')"
    equal "places" "make_weights|3 make_activations|7" "$(sql t.db "SELECT function, count(*) FROM region r JOIN v_stack s
        ON s.stack_id = r.stack_id WHERE function LIKE 'make_%' GROUP BY 1 ORDER BY min(r.id)" | one_line)"
}

# Prints what the expression `e` is of the report `r`.
of_report() {
    python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

# Whose bytes: the parts add up, places are those that called the allocator, and its own functions are none.
report() {
    traced t pool
    finished t.db
    "$GMT_BUILD/bin/gmanalyze" --calibrate never t.db --format json >t.json
    python3 "$GMT_SOURCE/tests/rules/check_report.py" "$GMT_SOURCE/docs/report.schema.json" t.json >schema.txt || true
    grep -q " 0 failures" schema.txt || fail "$(cat schema.txt)"
    local heaps="r['memory']['heaps']['devices']"
    equal "devices" 1 "$(of_report t.json "len($heaps)")"
    equal "parts" "$((32 << 20)) $((32 << 20)) $((16 << 10))" \
        "$(of_report t.json "'%(regions)d %(unused)d %(outside)d' % ${heaps}[0]['parts']")"
    equal "total" "$(((64 << 20) + (16 << 10)))" "$(of_report t.json "${heaps}[0]['total_bytes']")"
    equal "heaps" "pool allocator 1 $((64 << 20)) $((32 << 20)) $((32 << 20)), 0 more" "$(of_report t.json "', '.join(
        ['%(name)s %(domain)s %(count)d %(held_bytes)d %(region_bytes)d %(peak_bytes)d' % h for h in ${heaps}[0]['heaps']['largest']]
        + ['%(rest_names)d more' % ${heaps}[0]['heaps']])")"
    equal "places" "make_activations later 2 $((20 << 20)), make_weights weight 3 $((12 << 20))" "$(of_report t.json "', '.join(
        '%(function)s %(name)s %(count)d %(bytes)d' % h for h in ${heaps}[0]['regions']['largest'])")"
    equal "lines" "regions.c regions.c" "$(of_report t.json "' '.join(
        h['label'].split(':')[0] for h in ${heaps}[0]['regions']['largest'])")"
    equal "outside" "scenario_pool" "$(of_report t.json "${heaps}[0]['outside']['largest'][0]['function']")"
    equal "never ended" "0 0" "$(of_report t.json "'%(never_ended)d %(never_ended_bytes)d' % ${heaps}[0]")"
    # The pool is an allocator's: that is said, and it is not called memory of the program's own.
    equal "holder of the peak" True "$(of_report t.json "r['memory']['peak_holders'][0]['segments']")"
    "$GMT_BUILD/bin/gmanalyze" --calibrate never --top 10 t.db >t.txt
    grep -q "Whose bytes: 64.0 MiB of device 0 when its allocators had handed out most" t.txt || fail "no heading: $(cat t.txt)"
    grep -q "12.0 MiB  regions.c:[0-9]* in make_weights: weight, 3 regions" t.txt || fail "no place: $(cat t.txt)"
    grep -q "32.0 MiB  not handed out, in 1 heap" t.txt || fail "no slack: $(cat t.txt)"
    "$GMT_BUILD/bin/gmanalyze" --calibrate never t.db --format markdown >t.md
    # What can be mailed names nothing of the program.
    "$GMT_BUILD/bin/gmanalyze" --calibrate never --redact=names t.db --format json >mail.json
    equal "parts of what is mailed" "$((32 << 20))" "$(of_report mail.json "${heaps}[0]['parts']['regions']")"
    if grep -qE "weight|later|make_|pool|regions\.c|allocator\"" mail.json; then
        fail "what is mailed names $(grep -oE "[^\"]*(weight|later|make_|pool|regions\.c|allocator\")[^\"]*" mail.json | head -3)"
    fi
    equal "rows of markdown" "| 32.0 MiB | in use, 5 regions |
| 32.0 MiB | not handed out, in 1 heap |
| 16.0 KiB | allocated outside of heaps and regions |" "$(grep -E '^\| [0-9].*(in use|handed out|outside)' t.md)"
}

# Memory that an allocator keeps is not memory that the program does not use.
unused() {
    local said="' '.join(sorted(f['rule'] for f in r['findings'] + r['notes'] if f['rule'] in ('GM204', 'GM205', 'GM206')))"
    traced own unused
    finished own.db
    "$GMT_BUILD/bin/gmanalyze" --calibrate never own.db --format json >own.json
    equal "of the program's own" "GM204 GM205" "$(of_report own.json "$said")"
    traced pool unused 1
    finished pool.db
    "$GMT_BUILD/bin/gmanalyze" --calibrate never pool.db --format json >pool.json
    # What the allocator keeps, and the 16 KiB that are the program's.
    equal "of an allocator" "GM204 GM204" "$(of_report pool.json "$said")"
    equal "said of it" True "$(of_report pool.json "any('1 segment, 64.0 MiB' in f['headline'] for f in r['notes'])")"
}

early() {
    like_plain t early
    nothing_lost t.db
    # Reset: it ends with its two regions, and begins again with one.
    equal "heaps" "layout|early|1 layout|early|0" "$(sql t.db "SELECT usage, n.text, end_ns IS NOT NULL FROM heap h
        LEFT JOIN string n ON n.id = h.name_id ORDER BY h.id" | one_line)"
    equal "regions" "early|named before|1024|1 early||512|1 early||1024|0 |of the process|4096|1" "$(sql t.db \
        "SELECT heap, name, bytes, end_ns IS NOT NULL FROM v_region ORDER BY id" | one_line)"
    equal "begun before CUDA" 3 "$(sql t.db "SELECT count(*) FROM (SELECT begin_ns FROM heap UNION ALL SELECT begin_ns FROM region)
        WHERE begin_ns < (SELECT start_ns FROM process)")"
}

threads() {
    like_plain t threads
    nothing_lost t.db
    equal "regions" "4000|4000" "$(sql t.db 'SELECT count(*), sum(end_ns >= begin_ns) FROM region')"
    equal "two at one address at once" 0 "$(sql t.db 'SELECT count(*) FROM region a JOIN region b ON b.address = a.address
        AND b.id > a.id AND b.begin_ns < a.end_ns')"
}

fork() {
    OUTPUT=$work/%p.db like_plain_child
    equal "heaps of the child" "of the child" "$(sql "$child" 'SELECT n.text FROM heap h JOIN string n ON n.id = h.name_id')"
    equal "regions of the child" 1 "$(sql "$child" 'SELECT count(*) FROM region WHERE heap_id = (SELECT id FROM heap)')"
    nothing_lost "$child"
}

# What the parent got wrong is in its trace, and not in the child's.
fork_recorded() {
    OUTPUT=$work/%p.db traced t fork 1
    equal "exit status" 0 "$(cat t.status)"
    local db counts=()
    for db in ./*.db; do
        finished "$db"
        counts+=("$(sql "$db" "SELECT n.text FROM heap h JOIN string n ON n.id = h.name_id"): $(losses "$db")")
    done
    equal "counted" "of the child: 
of the parent: a region that is not registered|1" "$(printf '%s\n' "${counts[@]}" | sort)"
}

like_plain_child() {
    (unset NVTX_INJECTION64_PATH && plain t.plain fork)
    traced t fork
    same_behaviour t
    equal "exit status" 0 "$(cat t.status)"
    child=$(echo ./*.db)
    finished "$child"
}

# Nothing of it ends the program or changes what it does; what was not understood is counted by its reason.
misuse() {
    like_plain t misuse
    equal "output" "permissions 1 1 1" "$(cat t.out)"
    equal "counted" "a heap that is not registered|4
a region outside of its heap|2
a region that is not registered|5
a structure of another version, or none|14
memory that has no virtual addresses|2
no address, or one that the size goes beyond|3
registered while it was: the older one has ended|2" \
        "$(losses t.db)"
    equal "other losses" 0 "$(sql t.db "SELECT count(*) FROM loss WHERE kind NOT IN ('$UNKNOWN', 'entry point not covered')")"
    equal "heaps" "pool|0 again|1 inner|1" "$(sql t.db "SELECT n.text, h.end_ns IS NULL FROM heap h
        JOIN string n ON n.id = h.name_id ORDER BY h.id" | one_line)"
    equal "regions of which heap" "again|1048576 inner|4096" "$(sql t.db "SELECT heap, bytes FROM v_region
        WHERE end_ns IS NULL ORDER BY heap" | one_line)"
    "$GMT_BUILD/bin/gmanalyze" --calibrate never t.db >t.txt
}

losses() {
    sql "$1" "SELECT detail, count FROM loss WHERE kind = '$UNKNOWN' ORDER BY 1"
}

# However often: they are counted, and are no records. 1.2 million of these would not fit into the spool.
often() {
    local n=50000
    export GMTRACE_SPOOL_LIMIT=1
    like_plain t misuse $n
    equal "counted" "a heap that is not registered|$((3 * n + 1))
a region outside of its heap|2
a region that is not registered|$((4 * n + 1))
a structure of another version, or none|$((13 * n + 1))
memory that has no virtual addresses|$((2 * n))
no address, or one that the size goes beyond|$((2 * n + 1))
registered while it was: the older one has ended|2" "$(losses t.db)"
    equal "other losses" 0 "$(sql t.db "SELECT count(*) FROM loss WHERE kind NOT IN ('$UNKNOWN', 'entry point not covered')")"
}

# What was counted survives the process, from before the recording on.
killed() {
    (unset NVTX_INJECTION64_PATH && plain t.plain killed 1000)
    traced t killed 1000
    same_behaviour t
    finished t.db
    equal "counted" "a region that is not registered|1000" "$(losses t.db)"
}

# Calls in any order: the trace has what the client's own account of them has.
random() {
    like_plain t random 20000
    equal "what it comes to" "$(cat t.out)" "$(sql t.db "SELECT (SELECT count(*) FROM heap) || ' ' || count(*) || ' ' ||
        count(end_ns) || ' ' || (SELECT count(*) || ' ' || sum(bytes) FROM v_region WHERE end_ns IS NULL) || ' ' ||
        (SELECT count FROM loss WHERE detail = 'a region that is not registered') || ' ' ||
        (SELECT count FROM loss WHERE detail = 'registered while it was: the older one has ended') FROM region")"
}

# A program without CUDA leaves nothing.
nothing() {
    like_plain_nothing
    if [ -e t.db ] || [ -e t.db.spool ]; then
        fail "a trace of nothing"
    fi
}

like_plain_nothing() {
    (unset NVTX_INJECTION64_PATH && plain t.plain nothing)
    traced t nothing
    same_behaviour t
    equal "exit status" 0 "$(cat t.status)"
}

# 200,000 records: all there, and one costs about what a range does.
many() {
    traced t many 100000
    finished t.db
    nothing_lost t.db
    equal "regions" "100000|100000" "$(sql t.db 'SELECT count(*), sum(end_ns >= begin_ns) FROM region')"
    (unset NVTX_INJECTION64_PATH && plain bare many 100000)
    echo "$(($(cat t.err) - $(cat bare.err))) ns for the begin and the end of a region"
    [ "$(($(cat t.err) - $(cat bare.err)))" -lt 10000 ] || fail "$(cat t.err) ns for a region"
}

"$1"
