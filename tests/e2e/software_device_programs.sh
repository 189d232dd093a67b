#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace --device sim and programs that the software device cannot run, or that would not find it.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

unset GMTRACE_COLLECT
gmtrace=$GMT_BUILD/bin/gmtrace
programs=$GMT_BUILD/tests/e2e/programs
[ -x "$programs/no_ptx" ] || skip "the programs are not built (no nvcc)"
tiny=(--size 512 --frames 1)

# refuses PROGRAM LINE: status 125, nothing on standard output, that line alone on standard error, no trace.
refuses() {
    run refused "$gmtrace" --device sim -o refused.db "$1"
    equal "status of $1" 125 "$(cat refused.status)"
    equal "output of $1" "" "$(cat refused.out)"
    equal "message about $1" "gmtrace: $1: $2" "$(cat refused.err)"
    [ ! -e refused.db ] || fail "a trace of $1"
}
# Away from what they were built by; tests/e2e/rebuild.sh is about that.
cp "$GMT_BUILD/bin/pipeline_slow" "$programs"/{no,later}_ptx .
after="build it as before, after: export NVCC_APPEND_FLAGS='-cudart shared"
refuses "$work/pipeline_slow" "static CUDA runtime: $after'"
refuses "$work/no_ptx" "no PTX: $after -gencode arch=compute_90,code=compute_90'"
refuses "$work/later_ptx" "PTX for compute_100 only: $after -gencode arch=compute_90,code=compute_90'"

# Found on PATH as well as by its name.
PATH=$GMT_BUILD/bin:$PATH run by_name "$gmtrace" --device sim -o by_name.db pipeline_slow
equal "status of a program on PATH" 125 "$(cat by_name.status)"

# Without gmtrace the device itself says it, in one line.
LD_LIBRARY_PATH=$SIM_LIB run bare "$programs/no_ptx"
equal "lines about missing PTX" 1 "$(grep -c 'PTX' bare.err)"
[ "$(cat bare.status)" != 0 ] || fail "a program without PTX succeeds"

LD_LIBRARY_PATH=$SIM_LIB run later "$programs/later_ptx"
equal "lines about later PTX" 1 "$(grep -c 'for other devices than compute_90' later.err)"
LD_LIBRARY_PATH=$SIM_LIB run static "$GMT_BUILD/bin/pipeline_slow"
equal "lines about a static runtime" 1 "$(grep -c 'rebuild with CUDA 13 and nvcc -cudart shared' static.err)"

# A kernel that waits for the host cannot end: it is named.
LD_LIBRARY_PATH=$SIM_LIB SIMGPU_NOTICE_S=1 "$programs/endless" 2>endless.err &
endless=$!
for _ in $(seq 600); do
    [ -s endless.err ] && break
    sleep 0.1
done
kill -KILL "$endless"
wait "$endless" || true
equal "lines about a kernel that waits for the host" 1 "$(grep -c 'kernel .*wait_for.* still runs' endless.err)"

# SIMGPU_TIMEOUT ends it with the error of a watchdog, which stays; the trace is whole.
SIMGPU_TIMEOUT=0.3 run watchdog timeout -s KILL 120 "$gmtrace" --device sim -o watchdog.db "$programs/endless"
equal "lines about a kernel that was ended" 1 \
    "$(grep -c 'timeout: kernel .*wait_for.* when SIMGPU_TIMEOUT had passed' watchdog.err)"
equal "what the program gets" "the launch timed out and was terminated" "$(tail -1 watchdog.out)"
equal "status of the program" 1 "$(cat watchdog.status)"
finished watchdog.db

# DT_RPATH leads to another runtime: the device is found all the same.
readelf -d "$programs/pipeline_with_rpath" | grep RPATH >/dev/null || fail "the program has no DT_RPATH"
run rpath "$gmtrace" --device sim -o rpath.db "$programs/pipeline_with_rpath" "${tiny[@]}" --check
equal "status with DT_RPATH" 0 "$(cat rpath.status)"
equal "check with DT_RPATH" "check ok" "$(tail -1 rpath.out)"
finished rpath.db
equal "launches with DT_RPATH" 7 "$(sql rpath.db "SELECT count(*) FROM launch WHERE measured = 'simulated'")"

# The variable is as good as the option; a shell in between, too.
GMTRACE_DEVICE=sim run shell "$gmtrace" -o shell.%e.db \
    sh -c '"$@"' sh "$GMT_BUILD/bin/pipeline_slow_shared" "${tiny[@]}"
equal "status through a shell" 0 "$(cat shell.status)"
finished shell.pipeline_slow_shared.db
equal "the option is in the trace" 1 \
    "$(sql shell.pipeline_slow_shared.db "SELECT count(*) FROM process WHERE options LIKE '%device=sim%'")"

# Counters off: no counts, and the trace says so; light: the same, and it is known as the device's.
run off "$gmtrace" --device sim --counters off -o off.db "$GMT_BUILD/bin/pipeline_slow_shared" "${tiny[@]}"
finished off.db
equal "counters, switched off" "0|off" \
    "$(sql off.db "SELECT (SELECT count(*) FROM kernel_counters), state FROM capability WHERE name = 'counters'")"
run light "$gmtrace" --device sim --collect light -o light.db "$GMT_BUILD/bin/pipeline_slow_shared" "${tiny[@]}"
finished light.db
equal "a light trace is known as the device's" ok \
    "$(sql light.db "SELECT state FROM capability WHERE name = 'software_device'")"
"$GMT_BUILD/bin/gmanalyze" --top 10 light.db >light.txt 2>&1 || fail "gmanalyze light.db"
grep -q 'times are modelled for .*, none is measured' light.txt || fail "host times of the software device are shown as if they were a GPU's"

equal "status of a bad device" 125 "$(run bad "$gmtrace" --device tpu true; cat bad.status)"
"$gmtrace" doctor >doctor.txt 2>&1 || true
grep -q -- '--device sim' doctor.txt || fail "doctor does not mention the software device"
