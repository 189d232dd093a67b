#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lines.sh VERSION: in each CPython of this version that is to be had, the functions and lines in the stacks of 1,000 calls are those
# that `traceback` says, also around fork and trampolines; the report names them; sub-interpreters fall back; wrong layouts do no harm.
# shellcheck source=tests/e2e/python/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/python/lib.sh"
version=$1

# With `python`, in a folder of its own.
check() {
    (at_home && LD_LIBRARY_PATH=$libraries "${python[@]}" -c 'import sys; print("CPython", sys.version)')

    in_python lines "$here/lines.py" "$PWD/lines.json"
    finished lines.db
    case $version in
    3.8 | 3.14t | 3.15) # not known, and off
        equal "the interpreter is not known" missing "$(sql lines.db "SELECT state FROM capability WHERE name = 'python.lines'")"
        equal "lines of it" 0 "$(lines_of lines 1)"
        return
        ;;
    esac
    compared=$(python3 "$here/compare.py" lines.db lines.json) || fail "lines differ: $compared"
    echo "$compared"
    equal "the interpreter is known" ok "$(sql lines.db "SELECT state FROM capability WHERE name = 'python.lines'")"
    # Natives that stay are the interpreter's own, but for the loop, whose functions are there instead.
    equal "frames of the interpreter's loop beside its functions" 0 "$(sql lines.db "SELECT count(*) FROM v_stack s WHERE
        s.function = '_PyEval_EvalFrameDefault' AND EXISTS (SELECT 1 FROM stack_frame o JOIN frame f ON f.id = o.frame_id
        WHERE o.stack_id = s.stack_id AND f.address < 0) AND s.stack_id NOT IN (SELECT stack_id FROM stack_frame o JOIN frame f ON
        f.id = o.frame_id WHERE f.address < 0 GROUP BY stack_id HAVING count(*) >= 64)")"
    [ "$(sql lines.db "SELECT count(*) FROM memset m JOIN v_stack s ON s.stack_id = m.stack_id WHERE s.module IS NULL AND s.function IS NULL
        AND EXISTS (SELECT 1 FROM v_stack o WHERE o.stack_id = s.stack_id AND o.position = s.position + 1 AND o.file LIKE '%lines.py')")" -ge 4 ] ||
        fail "the code that the native stack ended in is not there, or not followed by Python"
    "$GMT_BUILD/bin/gmanalyze" lines.db >report.txt
    grep -q 'lines.py:[0-9]* in main' report.txt || fail "the report names no line of Python: $(cat report.txt)"

    in_python sub "$here/switching.py" sub "$PWD/sub.json"
    finished sub.db
    equal "fills of sub-interpreters" 30 "$(sql sub.db 'SELECT count(*) FROM memset WHERE bytes >= 100')"
    equal "fills of sub-interpreters with lines" 0 "$(lines_of sub 'bytes >= 100')"
    python3 "$here/compare.py" sub.db sub.json 6 || fail "lines differ beside sub-interpreters"

    # Threads that go on when the interpreter has ended, and its last calls: nothing of it is read any more.
    in_python ended "$here/ended.py" "$CLIENTS/libpython_ended.so"
    finished ended.db
    [ "$(lines_of ended 'bytes = 1')" -gt 0 ] || fail "calls before the end have no lines"
    for bytes in 2 3; do
        [ "$(sql ended.db "SELECT count(*) FROM memset WHERE bytes = $bytes")" -gt 0 ] || fail "no calls of $bytes bytes"
        equal "calls of $bytes bytes with lines" 0 "$(lines_of ended "bytes = $bytes")"
    done

    # A child of fork has a trace of its own, with numbers of its own for lines.
    OUTPUT=$PWD/fork.%p.db in_python fork "$here/forking.py" "$PWD/fork"
    equal "processes" 2 "$(find . -maxdepth 1 -name 'fork.*.json' | wc -l)"
    for expected in fork.*.json; do
        finished "${expected%.json}.db"
        python3 "$here/compare.py" "${expected%.json}.db" "$expected" 30 || fail "lines differ: $expected"
    done

    # CPython's trampolines name the same functions, where the user asks for them: each is in a stack once.
    case $version in
    3.12 | 3.13 | 3.14)
        PYTHONPERFSUPPORT=1 in_python trampolines "$here/lines.py" "$PWD/trampolines.json"
        finished trampolines.db
        rm -f "/tmp/perf-$(sql trampolines.db 'SELECT pid FROM process').map"
        compared=$(python3 "$here/compare.py" trampolines.db trampolines.json) || fail "lines differ with trampolines: $compared"
        equal "trampolines that are not marked" 0 "$(sql trampolines.db \
            'SELECT count(*) FROM v_frame WHERE module IS NULL AND address > 0 AND function IS NOT NULL AND runtime = 0')"
        ;;
    esac

    GMTRACE_PYTHON=off in_python off "$here/lines.py" "$PWD/off.json" 100
    finished off.db
    equal "lines where they are switched off" 0 "$(lines_of off 1)"

    (at_home && LD_LIBRARY_PATH=$libraries run wrong "${python[@]}" "$here/wrong_layouts.py" "$CLIENTS/libpython_reader.so")
    equal "wrong layouts" "0 own layout there, 0 wrong seeds done" "$(cat wrong.status wrong.out | paste -sd ' ')"
}

in_each "$version" check fetched
