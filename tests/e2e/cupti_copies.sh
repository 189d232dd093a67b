#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Several copies of CUPTI in one process, of which the driver serves one: which it is, and what is said of the rest.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

: "${STANDIN_CUPTI:?the folder of the stand-in CUPTI}"
CLIENT=$CLIENTS/cupticlient
export GMTRACE_COLLECT=standard GMTRACE_CUPTI=$STANDIN_CUPTI
export SIMGPU_INTERFACE=0 # a driver like any other, with a CUPTI like any other
COUNT_PLAIN=1 # what gmtrace calls to repeat a launch is no call of the program
SIM_LIB=$SIM_LIB:$STANDIN_CUPTI
mkdir first second
cp "$STANDIN_CUPTI/libcupti.so.13" first/
cp "$STANDIN_CUPTI/libcupti.so.13" second/

row() { sql "$1.db" "SELECT state || ': ' || detail FROM capability WHERE name = '$2'"; }
used() {
    finished "$1.db"
    all_calls_recorded "$1"
    equal "the CUPTI that gmtrace uses" "$2" "$(row "$1" cupti | sed 's/.* from //')"
    equal "device times" "$3" "$(sql "$1.db" "SELECT count(device_start_ns) || ' of ' || count(*) FROM transfer")"
}

# The driver distinguishes copies: else the rest shows nothing.
export CUPTICLIENT_CUPTI=$work/second/libcupti.so.13
LD_LIBRARY_PATH=$SIM_LIB run alone "$CLIENT" twice
equal "alone" 0 "$(cat alone.status)"
grep -q "second: 50 copies, 50 memsets, 50 kernels" alone.out || fail "the program's profiler does not work alone"

# Two are there when recording begins: the one of which the program has looked up functions.
export CUPTICLIENT_BESIDE=$work/first/libcupti.so.13
traced_like_plain early early
used early "$work/second/libcupti.so.13" "10 of 20"
equal "what is said of others" "" "$(row early cupti.program)"
unset CUPTICLIENT_BESIDE

# One of another interface cannot stand in for ours, nor ours for it: recording goes on, and that is said.
other=$STANDIN_CUPTI/12/libcupti.so.12
export CUPTICLIENT_CUPTI=$other
plain refused.plain twice
traced refused twice
used refused "$STANDIN_CUPTI/libcupti.so.13" "80 of 80"
grep -q "^cupti.cuptiActivityEnable(kinds\[i\]): 39$" refused.out || fail "the driver serves two copies"
equal "what is said of it" \
    "partial: the program uses $other, which the driver refuses beside the CUPTI that gmtrace uses" \
    "$(row refused cupti.program)"
LD_LIBRARY_PATH=$SIM_LIB run launched "$GMT_BUILD/bin/gmtrace" -o launched.db -- "$CLIENT" twice
grep -qF "gmtrace: cupti.program partial: the program uses $other" launched.err ||
    fail "gmtrace does not say that the program's CUPTI was refused"

# The remedy that it names helps.
GMTRACE_CUPTI=$other traced_like_plain refused_not twice
used refused_not "$other" "30 of 80"
GMTRACE_COLLECT=light traced_like_plain light twice
finished light.db
equal "what is said of it" "" "$(row light cupti.program)"
