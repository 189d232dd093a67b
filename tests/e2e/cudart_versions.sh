#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cudart_versions.sh RUNTIME SOVERSION PATH OF LOOK-UPS: a program of another CUDA version is recorded as one of this version is: the runtime asks
# the driver for the functions that NVIDIA's of that version asks for (tests/data/cudart), in the same way.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

version=$1 soversion=$2 path=$3
CLIENT=$CLIENTS/cudartclient_$soversion
[ -x "$CLIENT" ] || skip "the program is not built (no nvcc)"
device=$SIM_LIB
SIM_LIB=$CLIENTS/cudart/$version:$device # the device has a runtime of CUDA 13, too
requests=$GMT_SOURCE/tests/data/cudart/$version.def

# The stand-in asks for what it should.
LD_LIBRARY_PATH=$CLIENTS/cudart/observer:$CLIENTS/cudart/$version OBSERVED_DRIVER=$device/libcuda.so.1 run asked "$CLIENT" count
same "what the runtime asks for" <(grep '^REQUEST' "$requests") <(grep '^REQUEST' asked.err)

COUNT_PLAIN=1 traced_like_plain t
equal "status" 0 "$(cat t.status)"
grep -q "^calls 25, failed 0$" t.out || fail "calls of the program failed: $(grep -v ' 0$' t.out)"
finished t.db
all_calls_recorded t
nothing_lost t.db

equal "copies: function, direction, memory and size" \
    "cudaMemcpy h2d pageable 4096|cudaMemcpyAsync h2d pinned 4096|cudaMemcpy d2h pageable 4096|cudaMemcpyAsync d2h pinned 4096" \
    "$(sql t.db "SELECT group_concat(api || ' ' || direction || ' ' || host_class || ' ' || bytes, '|')
                 FROM (SELECT * FROM v_transfer ORDER BY id)")"
equal "allocations, and how many were freed" "3 of 4096, 3 freed" \
    "$(sql t.db "SELECT count(*) || ' of ' || max(bytes) || ', ' || count(free_end_ns) || ' freed' FROM allocation")"
equal "page-locked memory" 1 "$(sql t.db "SELECT count(*) FROM host_allocation")"
equal "memory that is set" "4096" "$(sql t.db "SELECT group_concat(bytes) FROM memset")"
equal "launches: of the kernel, while a graph is captured, of the graph" \
    "cudaLaunchKernel vector_add 0|cudaLaunchKernel vector_add 1|cudaGraphLaunch - 0" \
    "$(sql t.db "SELECT group_concat(api || ' ' || coalesce(kernel, '-') || ' ' || capturing, '|')
                 FROM (SELECT * FROM v_launch ORDER BY id)")"
equal "operations of the graph" 1 "$(sql t.db "SELECT count(*) FROM graph_node")"
equal "calls without their stack" 0 "$(sql t.db "SELECT count(*) FROM v_transfer WHERE stack_id IS NULL")"

# How it looks for the driver's functions, and which runtime it is.
equal "look-ups by $path that were answered" "$(($(grep -c '^REQUEST' asked.err) - $(grep -c '^REFUSED' asked.err)))" \
    "$(sql t.db "SELECT sum(requests) FROM coverage WHERE kind = 'lookup_path' AND what LIKE 'cuGetProcAddress%'")"
equal "the path" "$path" "$(sql t.db "SELECT what FROM coverage WHERE kind = 'lookup_path' AND what LIKE 'cuGetProcAddress%'")"
equal "the runtime" "shared version $soversion: $CLIENTS/cudart/$version/libcudart.so.$soversion" \
    "$(sql t.db "SELECT class || ' ' || detail FROM coverage WHERE kind = 'runtime' AND what = '$CLIENT'")"
