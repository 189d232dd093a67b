#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# made_code.sh N: calls from code that a program makes as it runs are named by the map that it writes
# for perf (0), keep their address where it writes none (1), and are its parent's after fork (2).
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

remove_maps() {
    [ ! -f "$work/maps.txt" ] || xargs -r rm -f <"$work/maps.txt"
}
at_exit remove_maps

CLIENT=$CLIENTS/driverregressions traced_like_plain t made_code "$1"
equal "exit status" 0 "$(cat t.status)"
finished t.db
all_calls_recorded t
nothing_lost t.db
named() {
    sql t.db "SELECT $1 FROM transfer t JOIN v_stack s ON s.stack_id = t.stack_id WHERE $2"
}
equal "copies with a stack" 1 "$(named 'count(*)' 'position = 0')"
equal "module" '' "$(named module 'position = 0')"
case $1 in
1) equal "function" '' "$(named function 'position = 0')" ;;
*)
    equal "function and file" 'Loader.batch|/home/me/train.py' "$(named 'function, file' 'position = 0')"
    equal "line" '' "$(named line 'position = 0')"
    ;;
esac
equal "its owner" 0 "$(named runtime 'position = 0')"

if [ -x "$GMT_BUILD/bin/gmanalyze" ]; then
    "$GMT_BUILD/bin/gmanalyze" --calibrate never t.db >a.out 2>a.err || fail "gmanalyze refuses the trace"
fi
