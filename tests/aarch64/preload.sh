#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# preload.sh --via WAY SCENARIO [N]: a program of another machine, by its emulator, over the software device: the same
# output with and without libgmtrace.so, all its calls in the trace, and stacks that reach its start.
# shellcheck source=tests/lib.sh
source "${GMT_SOURCE:?}/tests/lib.sh"
# shellcheck source=tests/e2e/calls.sh
source "$GMT_SOURCE/tests/e2e/calls.sh"
needs sqlite3
read -ra emulator <<<"${GMT_EMULATOR:?}"

# simcounts and gmanalyze are programs of that machine, too.
emulated() {
    "${emulator[@]}" "$@"
}
driver_calls() {
    emulated "$GMT_BUILD/bin/simcounts" "$1" | sort | join - <(recorded_apis)
}

emulated -E LD_LIBRARY_PATH="$SIM_LIB" "$CLIENTS/driverclient" "$@" >plain.out
emulated -E LD_PRELOAD="$GMT_BUILD/lib/libgmtrace.so" -E LD_LIBRARY_PATH="$SIM_LIB" -E GMTRACE_OUTPUT=t.db -E GMTRACE_COLLECT=light \
    -E SIMGPU_COUNTS="$work/counts" "$CLIENTS/driverclient" "$@" >traced.out
same "output without (-) and with gmtrace (+)" plain.out traced.out
# The recorder is a program of that machine: where it cannot be started, gmanalyze does its work.
emulated "$GMT_BUILD/bin/gmanalyze" t.db >report 2>log || fail "gmanalyze"
calls_differ counts t.db >out || fail "calls made (<) and calls in the trace (>) differ"
equal "what was lost" 0 "$(sqlite3 t.db 'SELECT count(*) FROM loss')"
[ "$(sqlite3 t.db 'SELECT max(depth) FROM stack')" -ge 4 ] || fail "no stack reaches the program's start"
