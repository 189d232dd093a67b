#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# phases.sh VERSION: under --overhead, where stacks are read at some calls only, lines of Python that call the same function in phases
# keep their calls: each takes the stack of its own line.
# shellcheck source=tests/e2e/python/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/python/lib.sh"

# With `python`: lines of phases.py that end in "# line N" fill with the value N.
check() {
    GMTRACE_OVERHEAD=0.1 in_python phases "$here/phases.py" 4
    finished phases.db
    sql phases.db "SELECT count(*), count(stack_one_in) FROM memset" >taken
    awk -F'|' '{ exit !($2 > $1 / 2) }' taken || fail "calls, and those that took a stack: $(cat taken)"
    sql phases.db "WITH said AS (SELECT DISTINCT stack_id, line FROM v_stack WHERE file LIKE '%phases.py'),
        made AS (SELECT value, stack_id, count(*) calls FROM memset GROUP BY value, stack_id)
        SELECT value, line, sum(calls) FROM made LEFT JOIN said USING (stack_id) GROUP BY value, line" >said
    for value in 1 2 3 4 5 6 7 8 9 10 11; do
        lines=$(grep -n "# line $value\$" "$here/phases.py" | cut -d : -f 1 | paste -sd ' ')
        made=$(sql phases.db "SELECT count(*) FROM memset WHERE value = $value")
        [ "$made" -gt 0 ] || fail "no calls of line $value"
        equal "calls of line $value that have it" "$made" "$(awk -F'|' -v v="$value" -v lines="$lines" '
            BEGIN { split(lines, list, " "); for (i in list) is[list[i]] = 1 } $1 == v && $2 in is { sum += $3 } END { print sum + 0 }' said)"
    done
}

in_each "$1" check
