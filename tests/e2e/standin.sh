#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The software device driver itself: every lookup path leads to the same results, and its calls are counted.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

plain proc --via proc basic
for via in per-thread dlsym; do
    plain $via --via $via basic
    same "--via $via gives other results" proc.out $via.out
done
CLIENT=$CLIENTS/driverclient_linked plain linked basic
same "the linked program gives other results" proc.out linked.out
CLIENT=$CLIENTS/clienthost plain plugin "$CLIENTS/libclientplugin.so" basic
same "the plugin gives other results" proc.out plugin.out

SIMGPU_COUNTS=$work/counts plain counted many 1000
equal "copies" "cuMemcpyHtoDAsync_v2 1000" "$("$GMT_BUILD/bin/simcounts" counts | grep HtoDAsync)"
equal "launches" "cuLaunchKernel 100" "$("$GMT_BUILD/bin/simcounts" counts | grep Launch)"

SIMGPU_MEMORY_MB=100 plain oom oom 30
equal "blocks that fit" "3 blocks of 30 MiB" "$(cat oom.out)"

# What gmtrace hooks, the software device must have: else a hook goes untested.
missing=$(comm -23 <(sed -nE 's/^GMT_HOOK\w*\((\w+),.*/\1/p' "$GMT_SOURCE/preload/driver/hooks.def" | sort) \
    <(nm -D --defined-only "$SIM_LIB/libcuda.so.1" | awk '{ print $3 }' | sort))
equal "hooked functions the software device lacks" "" "$missing"

# What cuda.h declares is exported, so that a program linked with the driver starts: what is not
# supported says so when it is called.
if declared=$(echo '#include <cuda.h>' | "${CC:-cc}" -E -P -x c -D__CUDA_API_VERSION_INTERNAL \
    -I"${CUDA_HOME:-/usr/local/cuda}/include" - 2>/dev/null); then
    missing=$(comm -23 <(tr '\n' ' ' <<<"$declared" | grep -oE 'CUresult +cu[A-Z]\w+ *\(' |
        grep -oE 'cu[A-Z]\w+' | sort -u) \
        <(nm -D --defined-only "$SIM_LIB/libcuda.so.1" | awk '{ print $3 }' | sort))
    equal "declared functions the software device lacks" "" "$missing"
fi
