#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# real_cuda.sh TOOLKIT RUNTIME SOVERSION CUPTI VERSION: NVIDIA's own runtime and CUPTI of CUDA 11.8 or 12.4 in a program that is traced. Without
# NVIDIA's driver both refuse to work, gmtrace or not (docs/software-device.md): what is shown is what they ask for, that nothing
# changes for the program, and what the trace says.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/cuda_packages.sh
source "$GMT_SOURCE/tests/e2e/cuda_packages.sh"

version=$2 soversion=$3 cupti=$4 number=$5
cuda_packages "$1"
CLIENT=$CLIENTS/cudartclient_$soversion
[ -x "$CLIENT" ] || skip "the program is not built (no nvcc)"
device=$SIM_LIB
requests=$GMT_SOURCE/tests/data/cudart/$version.def

# tests/data/cudart is what this runtime asks for, and then it wants a table that no header describes.
LD_LIBRARY_PATH=$CLIENTS/cudart/observer:$cuda OBSERVED_DRIVER=$device/libcuda.so.1 run asked "$CLIENT" count
same "what the runtime asks for" <(grep '^REQUEST' "$requests") <(grep '^REQUEST' asked.err)
equal "the table" "TABLE(6bd5fb6c-5bf4-e74a-8987-d93912fd9df9)" "$(grep '^TABLE' asked.err)"
equal "what the program gets" "cudaGetDeviceCount(&count) 500" "$(grep '^cudaGetDeviceCount' asked.out)"

# The same with gmtrace as without: the same output, the look-ups answered, and CUPTI found beside the runtime, by its own name. That
# refuses this driver, and the trace says so in one line.
row() { sql "$1.db" "SELECT state || ': ' || detail FROM capability WHERE name = '$2'"; }
refused() {
    equal "which CUPTI" "ok: CUPTI $number from $2" "$(row "$1" cupti)"
    case $(row "$1" timestamps) in
    "missing: CUPTI refused (cupti"*": CUPTI_ERROR_"*")") ;;
    *) fail "what it says of device times: $(row "$1" timestamps)" ;;
    esac
    equal "counters" "missing: CUPTI does not work with this driver (see timestamps)" "$(row "$1" counters)"
}
export GMTRACE_COLLECT=standard SIMGPU_INTERFACE=0 # a driver like any other
SIM_LIB=$cuda:$device traced_like_plain t count
equal "the runtime that was used" "$cuda/libcudart.so.$soversion" \
    "$(LD_LIBRARY_PATH=$cuda:$device ldd "$CLIENT" | sed -n 's/.*=> \(.*libcudart[^ ]*\) .*/\1/p')"
finished t.db
equal "look-ups that were answered" "$(($(grep -c '^REQUEST' asked.err) - $(grep -c '^REFUSED' asked.err)))" \
    "$(sql t.db "SELECT sum(requests) FROM coverage WHERE kind = 'lookup_path' AND what LIKE 'cuGetProcAddress%'")"
refused t "$cuda/./$cupti"

# In a program that goes on, nothing is lost by it.
CLIENT=$CLIENTS/driverclient
SIM_LIB=$device GMTRACE_CUPTI=$cuda COUNT_PLAIN=1 traced_like_plain cupti basic
finished cupti.db
refused cupti "$cuda/$cupti"
all_calls_recorded cupti
