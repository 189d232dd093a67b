#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CUPTI of CUDA 11.8 and of 12.4: found by its own soname, its shorter records are read, and what it lacks is said in one line. One
# that is older still is not used.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

: "${STANDIN_CUPTI:?the folder of the stand-in CUPTI}"
CLIENT=$CLIENTS/cupticlient
export GMTRACE_COLLECT=standard
export SIMGPU_INTERFACE=0 # a driver like any other, with a CUPTI like any other
COUNT_PLAIN=1

row() { sql "$1.db" "SELECT state || ': ' || detail || '; ' || coalesce(remedy, '') FROM capability WHERE name = '$2'"; }

device=$SIM_LIB:$STANDIN_CUPTI
check() { # TOOLKIT FILE VERSION
    local name=cuda_$1 folder=$STANDIN_CUPTI/$1
    export CUPTICLIENT_CUPTI=$folder/$2
    SIM_LIB=$device GMTRACE_CUPTI=$folder traced_like_plain "$name" keep
    finished "$name.db"
    all_calls_recorded "$name"
    equal "$1: which it is" "ok: CUPTI $3 from $folder/$2; " "$(row "$name" cupti)"
    equal "$1: device times" "ok" "$(sql "$name.db" "SELECT state FROM capability WHERE name = 'timestamps'")"
    # The program takes CUPTI for itself after the first of its rounds: those before have times, of the right size.
    equal "$1: copies with device times" "10 of 35" \
        "$(sql "$name.db" "SELECT count(device_start_ns) || ' of ' || count(*) FROM transfer")"
    equal "$1: launches with device times" 10 "$(sql "$name.db" "SELECT count(device_start_ns) FROM launch")"
    equal "$1: copies whose times are not within the call or after it" 0 \
        "$(sql "$name.db" "SELECT count(*) FROM transfer WHERE device_start_ns < begin_ns OR device_end_ns < device_start_ns")"
    equal "$1: what it lacks, and what helps" \
        "missing: this CUPTI is too old for it: it has no cuptiProfilerHostInitialize; set GMTRACE_CUPTI to the libcupti.so of the driver's CUDA version" \
        "$(row "$name" counters)"
    # Found in a toolkit that has it under its own name alone.
    mkdir -p "$1/lib64"
    cp "$folder/$2" "$1/lib64/"
    SIM_LIB=$device CUDA_HOME=$work/$1 traced "$name.found" twice
    finished "$name.found.db"
    equal "$1: which is found" "ok: CUPTI $3 from $work/$1/lib64/$2; " "$(row "$name.found" cupti)"
    unset CUPTICLIENT_CUPTI
}
check 11.8 libcupti.so.11.8 18
check 12.4 libcupti.so.12 22

# Older than 11.8: nothing of it is used, and recording goes on.
CLIENT=$CLIENTS/driverclient SIM_LIB=$device STANDIN_CUPTI_VERSION=17 GMTRACE_CUPTI=$STANDIN_CUPTI/11.8 \
    traced_like_plain older basic
finished older.db
all_calls_recorded older
equal "what is said of an older one" \
    "missing: CUPTI 17 from $STANDIN_CUPTI/11.8/libcupti.so.11.8 is older than that of CUDA 11.8; install the CUDA toolkit's CUPTI, or set GMTRACE_CUPTI to libcupti.so" \
    "$(row older cupti)"
STANDIN_CUPTI_VERSION=17 GMTRACE_CUPTI=$STANDIN_CUPTI/11.8 LD_LIBRARY_PATH=$device "$GMT_BUILD/bin/gmtrace" doctor >doctor.txt || true
grep -q "^limited  cupti .*version 17, .*libcupti.so.11.8, is older than that of CUDA 11.8" doctor.txt ||
    fail "doctor says of an older one: $(grep ' cupti ' doctor.txt)"
