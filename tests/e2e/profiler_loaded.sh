#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The libraries of the profiler are loaded when the first launch is measured, not before: loading them takes 0.1 s, during which
# nobody else in the process can load a library or ask the loader anything.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

: "${STANDIN_CUPTI:?the folder of the stand-in CUPTI}"
mkdir cupti
cp "$STANDIN_CUPTI/libcupti.so.13" "$STANDIN_CUPTI/nvperf/libnvperf_host.so" cupti/
export GMTRACE_COLLECT=standard GMTRACE_CUPTI=$work/cupti GMTRACE_COUNTER_BUDGET=unlimited
export SIMGPU_INTERFACE=0 # a driver like any other, with a CUPTI like any other
export CUPTICLIENT_CUPTI=$work/cupti/libcupti.so.13
SIM_LIB=$SIM_LIB:$STANDIN_CUPTI
PROFILER_LOADED=$work/copies.loaded traced copies mapped 4
finished copies.db
[ ! -e copies.loaded ] || fail "the profiler was loaded where nothing was measured"
CLIENT=$CLIENTS/cupticlient
PROFILER_LOADED=$work/launches.loaded traced launches twice
finished launches.db
equal "launches were measured" 1 "$(sql launches.db "SELECT count(measured) > 0 FROM launch")"
equal "the profiler was" loaded "$(cat launches.loaded)"
# Before the session, and as gmtrace's own time.
equal "times of gmtrace's own before the first launch that was measured" 2 "$(sql launches.db "SELECT count(*) FROM own_time
    WHERE work = 'session' AND begin_ns < (SELECT min(begin_ns) FROM own_time WHERE work = 'launch')")"
