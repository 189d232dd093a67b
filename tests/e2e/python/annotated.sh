#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# annotated.sh CASE standin|pytorch: gmtrace.torch names what calls lie in, with a stand-in for PyTorch and with the system's own.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

about=$1
here=$GMT_SOURCE/tests/e2e/python
program=$here/annotated.py
modules=$GMT_SOURCE/packaging/python
export PYTHONDONTWRITEBYTECODE=1
case $2 in
standin)
    python=$(command -v python3) || skip "no python3"
    modules=$modules:$here/standin
    ;;
pytorch)
    python=
    for candidate in python3 /usr/bin/python3; do
        if [ -z "$python" ] && "$candidate" -c 'import torch' 2>/dev/null; then python=$candidate; fi
    done
    [ -n "$python" ] || skip "no PyTorch"
    ;;
*) fail "standin or pytorch" ;;
esac
"$python" -c 'import ctypes' || skip "a Python without ctypes"
CLIENT=$python
export PYTHONPATH=$modules

# The ranges around the copies of so many bytes, outermost first; a line per copy.
around() {
    sql "$1" "SELECT coalesce((SELECT group_concat(name, ' > ') FROM (SELECT name FROM v_range r WHERE r.domain = 'torch'
              AND r.thread_id = t.thread_id AND r.begin_ns <= t.begin_ns AND coalesce(r.end_ns, t.end_ns) >= t.end_ns
              ORDER BY r.begin_ns, r.depth)), '-') FROM transfer t WHERE t.bytes = $2 ORDER BY t.begin_ns"
}

line_of() {
    echo "annotated.py:$(grep -n "# line of $1\$" "$program" | cut -d: -f1)"
}

# Results with gmtrace.torch and a recording, with gmtrace.torch alone, and without both.
unchanged() {
    GMT_ANNOTATE=no plain t.plain "$@"
    plain alone "$@"
    same "gmtrace.torch without gmtrace" t.plain.out alone.out
    equal "status without gmtrace" 0 "$(cat alone.status)"
    traced t "$@"
    same_behaviour t
    finished t.db
    nothing_lost t.db
    equal "ranges that are open at the end" 0 "$(sql t.db 'SELECT count(*) FROM range WHERE end_ns IS NULL')"
}

# Of Net, what each copy of the forward and of the backward lies in.
of_net() {
    {
        echo "8 Net > stem"
        for block in 0 1; do
            echo "1 Net > blocks > blocks.$block > blocks.$block.first"
            echo "10 Net > blocks > blocks.$block"
            echo "2 Net > blocks > blocks.$block > blocks.$block.second"
            echo "20 Net > blocks > blocks.$block"
            echo "4 Net > blocks > blocks.$block > blocks.$block.third"
        done
        echo "30 -"
        echo "1030 -"
        for block in 1 0; do
            local outer="backward Net > backward blocks > backward blocks.$block"
            echo "1004 $outer > backward blocks.$block.third ($(line_of third))"
            echo "1020 $outer ($(line_of blocks))"
            echo "1002 $outer > backward blocks.$block.second ($(line_of second))"
            echo "1010 $outer ($(line_of blocks))"
            echo "1001 $outer > backward blocks.$block.first ($(line_of first))"
        done
        echo "1008 backward Net > backward stem ($(line_of blocks))"
        echo "50 -"
    } >expected
}

all_around() {
    sql "$1" "SELECT t.bytes || ' ' || coalesce((SELECT group_concat(name, ' > ') FROM (SELECT name FROM v_range r
              WHERE r.domain = 'torch' AND r.thread_id = t.thread_id AND r.begin_ns <= t.begin_ns
              AND coalesce(r.end_ns, t.end_ns) >= t.end_ns ORDER BY r.begin_ns, r.depth)), '-') FROM transfer t ORDER BY t.begin_ns"
}

case $about in
train)
    unchanged "$program" train
    of_net
    cat expected expected >twice
    all_around t.db >actual
    same "what copies of two steps lie in" twice actual
    equal "steps of the optimizer" 2 "$(sql t.db "SELECT count(*) FROM v_range WHERE name = 'SGD.step'")"
    ;;
exception)
    unchanged "$program" exception
    # PyTorch before 2.1 calls no hook after an error: what it left ends with the module around it, or when that is called again.
    left=
    "$python" -c 'import inspect, torch.nn.modules.module as m
assert "always_call" in inspect.signature(m.register_module_forward_hook).parameters' 2>/dev/null || left=' > bad'
    equal "after an error that ended the forward" "${left:+Careful$left}" "$(around t.db 99 | sed 's/^-$//')"
    equal "after an error that the module bears" "Careful$left" "$(around t.db 10 | sort -u)"
    equal "the module after it" "Careful$left > good" "$(around t.db 1 | sort -u)"
    grep -q "^backward Careful > .*backward good (annotated.py:$(grep -n 'return self.good' "$program" | cut -d: -f1))\$" \
        <(around t.db 1001) || fail "backward: $(around t.db 1001)"
    ;;
checkpoint)
    unchanged "$program" checkpoint
    equal "the first time" "Outer > block > block.first" "$(around t.db 1 | head -n 1)"
    equal "the second time, in the backward" "backward Outer > block > block.first" \
        "$(around t.db 1 | tail -n 1 | sed 's/ (annotated.py:[0-9]*)//')"
    equal "its backward" "backward Outer > backward block > backward block.second ($(line_of second))" \
        "$(around t.db 1002 | sed 's/Outer (annotated.py:[0-9]*)/Outer/')"
    equal "the last module" "backward Outer > backward last" "$(around t.db 1040 | sed 's/ (annotated.py:[0-9]*)//')"
    ;;
removed)
    unchanged "$program" removed
    equal "forward: before and after the removal" "Net > stem|-" "$(around t.db 8 | tr '\n' '|' | sed 's/|$//')"
    equal "backward after the removal" - "$(around t.db 1008)"
    grep -qx True t.out || fail "attributes are left: $(cat t.out)"
    ;;
generator)
    unchanged "$program" generator
    equal "a module in the body of a generator" inner "$(around t.db 1)"
    equal "the body of a generator" - "$(around t.db 10)"
    ;;
kept)
    unchanged "$program" kept
    equal "a copy of a module" Leaf "$(around t.db 1)"
    ;;
recursion)
    unchanged "$program" recursion
    equal "a module within itself" "Outer > inner|Outer > inner > inner|Outer > inner > inner > inner|Outer" \
        "$(for size in 3 2 1 9; do around t.db $size; done | tr '\n' '|' | sed 's/|$//')"
    ;;
compiled)
    unchanged "$program" compiled
    equal "warnings, of the program's own hook only" 1 "$(grep -c 'Using .torch.compile' t.err)"
    line=annotated.py:$(grep -n 'made = Copy.apply(net(parameter), 30)' "$program" | cut -d: -f1)
    # One range for all that is compiled; none where nobody has named it.
    of_compiled() {
        local within=${1:--} backward=${1:+backward $1 ($line)}
        for size in 8 1 10 2 20 4 1 10 2 20 4; do echo "$size $within"; done
        printf '%s -\n' 30 1030
        for size in 4 20 2 10 1 4 20 2 10 1 8; do echo "$((1000 + size)) ${backward:--}"; done
        echo "50 -"
    }
    of_net
    {
        of_compiled Net
        cat expected
        # What lies in a module that is not compiled.
        of_compiled "Net > blocks" | sed "s/^8 .*/8 Net > stem/; s/backward Net > blocks ($line)/backward Net > backward blocks ($(line_of blocks))/;
            s/^1008 .*/1008 backward Net > backward stem ($(line_of blocks))/"
        of_compiled ""
        of_compiled ""
        of_compiled Net
        of_compiled Net
        of_compiled Net
    } >wanted
    all_around t.db >actual
    same "what copies of eight steps lie in" wanted actual
    ;;
threads)
    unchanged "$program" threads
    equal "each thread by itself" "4 Net > stem" "$(around t.db 8 | sort | uniq -c | sed 's/^ *//')"
    equal "deepest" 3 "$(sql t.db 'SELECT max(depth) FROM range')"
    ;;
whole)
    unchanged -m gmtrace.torch "$program" whole
    grep -qx "\['whole'\] __main__ python" t.out || fail "not as when it is run by itself: $(cat t.out)"
    run unknown "$python" -m gmtrace.torch
    equal "status without a program" 1 "$(cat unknown.status)"
    of_net
    all_around t.db >actual
    same "what copies of a step lie in" expected actual
    ;;
scripted)
    unchanged "$program" scripted
    # The compiled module, and of the net itself: it, what was loaded and the copy for another device.
    equal "backward" "backward RecursiveScriptModule|1 backward Sequential|3" \
        "$(sql t.db "SELECT rtrim(substr(name, 1, instr(name || '(', '(') - 1)), count(*) FROM v_range
                     WHERE depth = 0 AND name LIKE 'backward %' GROUP BY 1" | tr '\n' ' ' | sed 's/ $//')"
    ;;
kernel)
    # Launches of the backward, by two modules of a sequence.
    export GMTRACE_COLLECT=standard
    unchanged "$program" kernel
    line=annotated.py:$(grep -n 'return self.after' "$program" | cut -d: -f1)
    equal "launches and what they lie in" "backward Outer > backward slow > backward slow.0 ($line)|4
backward Outer > backward slow > backward slow.1 ($line)|4" \
        "$(sql t.db "SELECT (SELECT group_concat(name, ' > ') FROM (SELECT name FROM v_range r WHERE r.thread_id = l.thread_id
                     AND r.begin_ns <= l.begin_ns AND r.end_ns >= l.end_ns ORDER BY r.begin_ns, r.depth)), count(*)
                     FROM launch l GROUP BY 1")"
    "$GMT_BUILD/bin/gmanalyze" --calibrate never --top 0 t.db >report.txt
    # Of all ranges, what lies in others is below them.
    sed -n '/^── Ranges that the program names/,/^$/p' report.txt |
        sed -nE 's/^( +)(backward )?([A-Za-z][a-zA-Z.01]+)( \(|@torch).*/\1\2\3/p' >actual
    cat >expected <<EOF
  Outer
    after
    before
    slow
      slow.0
      slow.1
  backward Outer
    backward after
    backward before
    backward slow
      backward slow.0
      backward slow.1
EOF
    same "ranges of the report" <(LC_ALL=C sort expected) <(LC_ALL=C sort actual)
    same "what lies within a range is below it" <(tail -n 2 expected) \
        <(grep -A 2 'backward slow$' actual | tail -n 2 | LC_ALL=C sort)
    # What is said of the kernel names the module of the forward that is around both.
    grep -A 12 "strided" report.txt >finding.txt || fail "nothing is said of the kernel"
    grep -q "range *backward slow@torch" finding.txt || fail "the finding does not name its module: $(cat finding.txt)"
    ;;
memory)
    unchanged "$program" memory
    files=$(echo memory-*.pickle*)
    equal "files, of the recorded run only" 2 "$(echo "$files" | wc -w)"
    "$GMT_BUILD/bin/gmanalyze" --calibrate never --memory-snapshot memory-*.pickle t.db >report.txt 2>&1 ||
        fail "the snapshot is not read: $(cat report.txt)"
    "$GMT_BUILD/bin/gmanalyze" --calibrate never --memory-snapshot memory-*.pickle.oom t.db >oom.txt 2>&1 ||
        fail "the snapshot of out of memory is not read: $(cat oom.txt)"
    grep -q "all python 7" memory-*.pickle || fail "the history was asked for otherwise"
    ;;
*) fail "no such case" ;;
esac
