#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program of very many Python stacks: every call has a stack, the first 24,576 of them with lines, and the trace says so.
# shellcheck source=tests/e2e/python/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/python/lib.sh"
for version in 3.11 3.13 3.12 3.10 3.9; do
    find_pythons "$version"
    [ "${#found[@]}" -eq 0 ] || break
done
[ "${#found[@]}" -gt 0 ] || skip "no CPython whose lines are read"
python=("${found[0]}")
in_python many "$here/many.py" 26000
finished many.db
equal "calls" "26000|26000" "$(sql many.db 'SELECT count(*), count(stack_id) FROM memset')"
lines=$(lines_of many 1)
if [ "$lines" -le 24500 ] || [ "$lines" -gt 24576 ]; then
    fail "$lines calls have lines of Python"
fi
equal "the first ones are right" 0 "$(sql many.db "SELECT count(*) FROM memset m WHERE bytes <= 24500 AND NOT EXISTS (SELECT 1 FROM v_stack s
    WHERE s.stack_id = m.stack_id AND s.function = 'call' AND s.line = m.bytes + 1)")"
equal "what is lost" 1 "$(sql many.db "SELECT count FROM loss WHERE kind = 'lines of Python not kept'")"
