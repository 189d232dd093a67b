#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lines.sh VERSION: the functions and lines of a CPython in the stacks of 1,000 calls are those that `traceback` says, and what the
# report names; sub-interpreters fall back; wrong layouts do no harm.
# shellcheck source=tests/e2e/python/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/python/lib.sh"
find_python "$1"
(at_home && LD_LIBRARY_PATH=$libraries "${python[@]}" -c 'import sys; print("CPython", sys.version)')

in_python lines "$here/lines.py" "$work/lines.json"
finished lines.db
compared=$(python3 "$here/compare.py" lines.db lines.json) || fail "lines differ: $compared"
echo "$compared"
equal "the interpreter is known" ok "$(sql lines.db "SELECT state FROM capability WHERE name = 'python.lines'")"
# Natives that stay are the interpreter's own, but for the loop, whose functions are there instead.
equal "frames of the interpreter's loop beside its functions" 0 "$(sql lines.db "SELECT count(*) FROM v_stack s WHERE
    s.function = '_PyEval_EvalFrameDefault' AND EXISTS (SELECT 1 FROM stack_frame o JOIN frame f ON f.id = o.frame_id
    WHERE o.stack_id = s.stack_id AND f.address < 0) AND s.stack_id NOT IN (SELECT stack_id FROM stack_frame o JOIN frame f ON
    f.id = o.frame_id WHERE f.address < 0 GROUP BY stack_id HAVING count(*) >= 64)")"
"$GMT_BUILD/bin/gmanalyze" lines.db >report.txt
grep -q 'lines.py:[0-9]* in main' report.txt || fail "the report names no line of Python: $(cat report.txt)"

in_python sub "$here/switching.py" sub "$work/sub.json"
finished sub.db
equal "fills of sub-interpreters" 30 "$(sql sub.db 'SELECT count(*) FROM memset WHERE bytes >= 100')"
equal "fills of sub-interpreters with lines" 0 "$(lines_of sub 'bytes >= 100')"
python3 "$here/compare.py" sub.db sub.json 6 || fail "lines differ beside sub-interpreters"

GMTRACE_PYTHON=off in_python off "$here/lines.py" "$work/off.json" 100
finished off.db
equal "lines where they are switched off" 0 "$(lines_of off 1)"

(at_home && LD_LIBRARY_PATH=$libraries run wrong "${python[@]}" "$here/wrong_layouts.py" "$CLIENTS/libpython_reader.so")
equal "wrong layouts" "0 own layout there, 0 wrong seeds done" "$(echo "$(cat wrong.status wrong.out)" | tr '\n' ' ' | sed 's/ $//')"
