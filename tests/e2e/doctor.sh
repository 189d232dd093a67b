#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace doctor: one line per check with its remedy, on machines that stand-in libraries make up.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmtrace=$GMT_BUILD/bin/gmtrace
[ -x "$gmtrace" ] || skip "gmtrace is not built"
command -v jq >/dev/null || skip "no jq"
export XDG_CACHE_HOME=$work/cache

# doctor STATUS ARGUMENT...: its answers as JSON in answers.json. With LD_PRELOAD set to $preload, if that is not empty.
preload=
doctor_command=("$gmtrace" doctor --json)
doctor() {
    local wanted=$1
    shift
    # With AddressSanitizer in the library only, its runtime is not the first.
    run doctor env ${preload:+"LD_PRELOAD=$preload" "ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"} \
        "${doctor_command[@]}" "$@"
    equal "status of doctor $*" "$wanted" "$(cat doctor.status)"
    cp doctor.out answers.json
}

# says CHECK STATE PATTERN: an answer of that check has that state and matches.
says() {
    jq -e --arg check "$1" --arg state "$2" --arg text "$3" \
        'any(.checks[]; .check == $check and .state == $state and (.text | test($text)))' answers.json >/dev/null ||
        fail "no '$3' ($2) of $1 in $(cat answers.json)"
}

# Every line of text is an answer, and what is not well has a remedy.
export LD_LIBRARY_PATH=$SIM_LIB
doctor 0
"$gmtrace" doctor >doctor.txt
equal "lines" "$(jq '.checks | length' answers.json)" "$(wc -l <doctor.txt)"
for check in driver device calibration mig cupti counters dcgm profilers library recorder LD_PRELOAD folder clock; do
    jq -e --arg check $check 'any(.checks[]; .check == $check)' answers.json >/dev/null || fail "nothing of $check"
done
jq -e 'all(.checks[]; .state == "ok" or .remedy != null)' answers.json >/dev/null || fail "no remedy"
says device ok 'software device'
says calibration ok 'no times'

# Without a driver nothing can be recorded.
LD_LIBRARY_PATH='' GMTRACE_CUPTI=/absent doctor "$(ldconfig -p | grep 'libcuda\.so\.1' >/dev/null && echo 0 || echo 1)"
says cupti limited 'libcupti'

# After --device sim it is the software device that counts, whatever driver there is: what is said of GPUs is left out.
export LD_LIBRARY_PATH=
doctor_command=("$gmtrace" --device sim doctor --json)
doctor 0
says device ok 'software device'
says driver ok 'supports CUDA 13'
equal "checks of the software device" "calibration clock device driver folder gmanalyze gmcalibrate library recorder" \
    "$(jq -r '[.checks[].check] | unique | join(" ")' answers.json)"
# A program that gmtrace --device sim refuses is one that doctor warns of, with the same words.
for program in "$GMT_BUILD"/bin/pipeline_slow{,_shared} "$CLIENTS"/runtimeclient_cudart{,_static}; do
    [ -x "$program" ] || continue
    run attempt "$gmtrace" --device sim -o attempt.db "$program" --size 64 --frames 1
    refusal=$(sed -nE "s|^gmtrace: $program: ||p" attempt.err)
    doctor "$([ -z "$refusal" ] && echo 0 || echo 1)" "$program"
    said=$(jq -r '.checks[] | select(.check == "program" and .state == "missing") | (.text | sub(".*device: "; "")) + ": " + .remedy' answers.json)
    equal "what doctor says of $program" "$refusal" "$said"
done
mkdir -p without/bin
cp "$gmtrace" without/bin
doctor_command=(without/bin/gmtrace --device sim doctor --json)
doctor 1
says driver missing 'software device is not installed'
doctor_command=("$gmtrace" doctor --json)

# Stand-ins for a driver with two GPUs, and for NVML, which says that one is partitioned into instances.
mkdir fake
cat >fake/cuda.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int cuInit(unsigned flags) { return (int)flags + (getenv("FAKE_FAILS") != NULL ? 100 : 0); }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGetName(char *name, int bytes, int device) { return snprintf(name, bytes, "Fake %d", device) < 0; }
int cuDeviceGetAttribute(int *value, int which, int device) { *value = 9; return which < 0 || device < 0; }
int cuDeviceGetUuid_v2(void *uuid, int device) { memset(uuid, 0x11, 16); return device < 0; }
END
cat >fake/nvml.c <<'END'
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) { *device = (void *)(unsigned long)(index + 1); return 0; }
int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
    *current = *pending = (unsigned long)device == 2;
    return 0;
}
END
if cc -w -shared -fPIC -o fake/libcuda.so.1 fake/cuda.c 2>/dev/null &&
    cc -w -shared -fPIC -o fake/libnvidia-ml.so.1 fake/nvml.c 2>/dev/null; then
    export LD_LIBRARY_PATH=$work/fake
    doctor 0
    says driver ok 'CUDA 13.0, 1 device'
    says mig limited 'on for 1 of 2 devices'
    says calibration limited 'not calibrated'
    mkdir -p cache/gmtrace/models
    echo '{"device": {"name": "Fake 0"}}' >cache/gmtrace/models/other.json
    doctor 0
    says calibration limited 'another device'
    driver=$(grep -oE ' [0-9]+\.[0-9.]+ ' /proc/driver/nvidia/version 2>/dev/null | head -1 | tr -d ' ' || true)
    version=$(jq -r .tool_version answers.json)
    mv cache/gmtrace/models/other.json \
        "cache/gmtrace/models/GPU-11111111-1111-1111-1111-111111111111-$driver-$version.json"
    doctor 0
    says calibration ok 'this device is calibrated'
    FAKE_FAILS=1 doctor 1
    says driver missing 'cuInit returned 100'
fi

# Others that may hold the counters are seen by their names, and by what they leave in the environment.
export LD_LIBRARY_PATH=$SIM_LIB
for name in nsys nv-hostengine; do
    cp "$(command -v sleep)" $name
    ./$name 600 &
    pids+=("$!")
    until [ "$(tr -d '\0' <"/proc/$!/comm")" = $name ]; do sleep 0.02; done
done
CUDA_INJECTION64_PATH=/opt/tool.so doctor 0
kill "${pids[@]}"
wait "${pids[@]}" 2>/dev/null || true
says profilers limited "nsys \\(${pids[0]}\\).*CUDA_INJECTION64_PATH=/opt/tool.so"
says dcgm limited "nv-hostengine \\(${pids[1]}\\)"
doctor 0
jq -e 'all(.checks[] | select(.check == "profilers"); .text | test("INJECTION") | not)' answers.json >/dev/null ||
    fail "a variable is seen that is not set"

# The name by which LD_PRELOAD finds the library, and one by which it does not.
says LD_PRELOAD ok "by hand: LD_PRELOAD=$(realpath "$GMT_LIB") "
preload=$GMT_LIB doctor 0
says LD_PRELOAD ok "libgmtrace.so is found"
if ! ldconfig -p | grep 'libgmtrace\.so' >/dev/null; then
    preload="/absent/other.so libgmtrace.so" doctor 1
    says LD_PRELOAD missing 'does not find libgmtrace.so '
    jq -e --arg path "$(realpath "$GMT_LIB")" 'any(.checks[]; .check == "LD_PRELOAD" and (.remedy | contains($path)))' \
        answers.json >/dev/null || fail "no path in the remedy"
fi
preload=/absent/libgmtrace.so doctor 1
says LD_PRELOAD missing 'does not find /absent/libgmtrace.so '

# A program: can it be recorded, and where is its runtime?
doctor 0 "$CLIENTS/driverclient"
says program ok 'no CUDA code of its own'
doctor 1 ./absent
says program missing 'not found'
printf '#!/bin/sh\n' >script
doctor 1 ./script
says program missing 'cannot be executed'
chmod +x script
doctor 0 ./script
says program ok 'is a script'
printf 'int main(void) { return 0; }\n' >empty.c
if cc -static -o static empty.c 2>/dev/null; then
    doctor 0 ./static
    says program limited 'linked statically.*through CUPTI'
fi
if musl-gcc -o musl empty.c 2>/dev/null; then
    doctor 1 ./musl
    says program missing 'linked with musl'
fi
for kind in '' _shared; do
    if [ -x "$GMT_BUILD/bin/pipeline_slow$kind" ]; then
        doctor 0 "$GMT_BUILD/bin/pipeline_slow$kind"
        says program ok "$([ -z "$kind" ] && echo 'linked statically, and is recorded' || echo 'shared CUDA runtime')"
    fi
done

for form in cudart cudart_static; do
    if [ -x "$CLIENTS/runtimeclient_$form" ]; then
        doctor 0 "$CLIENTS/runtimeclient_$form"
        says program ok "$([ $form = cudart ] && echo 'shared CUDA runtime' || echo 'linked statically, and is recorded')"
    fi
done
printf 'int cuMemRetainAllocationHandle(void), cuMemAlloc_v2(void);\nint main(void) { return cuMemRetainAllocationHandle() + cuMemAlloc_v2(); }\n' >linked.c
if cc -o linked linked.c "$SIM_LIB/libcuda.so.1" -Wl,--allow-shlib-undefined 2>/dev/null; then
    doctor 0 ./linked
    says program limited 'linked with cuMemRetainAllocationHandle, of which calls are neither recorded'
    jq -e 'all(.checks[]; .state == "ok" or .remedy != null)' answers.json >/dev/null || fail "no remedy"
fi
doctor 0 "$CLIENTS/driverclient_linked"
jq -e 'all(.checks[]; .text | test("linked with") | not)' answers.json >/dev/null || fail "a hooked function is said to be missed"

# A folder that cannot be written to.
if [ "$(id -u)" != 0 ]; then
    mkdir closed
    chmod 500 closed
    # shellcheck disable=SC2016 # the inner shell expands it
    run closed sh -c 'cd closed && exec "$0" doctor --json' "$gmtrace"
    equal "status in a closed folder" 1 "$(cat closed.status)"
    cp closed.out answers.json
    says folder missing 'cannot write'
fi
run usage "$gmtrace" doctor --no-such-option
equal "status of a bad option" 125 "$(cat usage.status)"
