#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A real Python of 3.12 or newer calls the driver: the program's functions are in the stack, innermost
# first, and the place of the copy is the program's own line of them.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

python=
for candidate in "${GMT_PYTHON:-}" python3 python3.12 python3.13 python3.14 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9]*/bin/python3; do
    if [ -n "$candidate" ] && "$candidate" -c 'import sys, ctypes; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || skip "no Python 3.12 or newer"

LD_LIBRARY_PATH=$SIM_LIB run t "$GMT_BUILD/bin/gmtrace" --python on -o t.db "$python" "$GMT_SOURCE/tests/gpu/programs/driver_names.py"
equal "exit status" 0 "$(cat t.status)"
equal "output" copied "$(cat t.out)"
finished t.db
rm -f "/tmp/perf-$(sql t.db 'SELECT pid FROM process').map"
equal "the program's functions" "upload Loader.batch main <module>" "$(sql t.db "
    SELECT group_concat(function, ' ') FROM (SELECT s.function FROM transfer t JOIN v_stack s ON s.stack_id = t.stack_id
        WHERE s.module IS NULL AND s.file LIKE '%/driver_names.py' ORDER BY s.position)")"
equal "frames of the interpreter that are not marked" 0 "$(sql t.db "
    SELECT count(*) FROM v_stack WHERE module LIKE '%libpython3%' AND runtime <> 2")"
