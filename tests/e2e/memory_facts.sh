#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the trace says of mapped memory, arrays, pools and hints, with the numbers of the scenarios.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

# calls NAME API: how many, and the bytes of each.
calls() {
    sql "$1.db" "SELECT count(*) || ' ' || coalesce(group_concat(DISTINCT c.bytes), '-') FROM api_call c
                 JOIN api a ON a.id = c.api_id WHERE a.name = '$2'"
}

traced_like_plain mapped mapped 3
equal status 0 "$(cat mapped.status)"
finished mapped.db
all_calls_recorded mapped
nothing_lost mapped.db
MIB2=$((2 << 20))
equal "mappings" "3 mapped $((3 * MIB2))" \
    "$(sql mapped.db "SELECT count(*) || ' ' || kind || ' ' || sum(bytes) FROM allocation GROUP BY kind")"
equal "mappings never freed" 0 "$(sql mapped.db 'SELECT count(*) FROM allocation WHERE free_end_ns IS NULL')"
equal "unmapped by one call" 1 "$(sql mapped.db 'SELECT count(DISTINCT free_begin_ns) FROM allocation')"
equal "mappings lie side by side" 2 "$(sql mapped.db \
    'SELECT count(*) FROM allocation a JOIN allocation b ON b.address = a.address + a.bytes')"
equal "physical memory made" "3 $MIB2" "$(calls mapped cuMemCreate)"
equal "addresses reserved" "1 $((4 * MIB2))" "$(calls mapped cuMemAddressReserve)"
equal "copies to mapped memory" "h2d device 1" "$(sql mapped.db "SELECT t.direction, t.dst_class, count(*)
    FROM transfer t JOIN allocation a ON a.id = t.dst_allocation_id WHERE a.kind = 'mapped'" | tr '|' ' ')"

traced_like_plain memory memory
equal status 0 "$(cat memory.status)"
finished memory.db
all_calls_recorded memory
nothing_lost memory.db
equal "arrays" "array:2048 array:1024" "$(sql memory.db \
    "SELECT kind || ':' || bytes FROM allocation WHERE kind = 'array' ORDER BY id" | paste -sd' ')"
equal "arrays never freed" 0 \
    "$(sql memory.db "SELECT count(*) FROM allocation WHERE kind = 'array' AND free_end_ns IS NULL")"
equal "copies of the batch" "0 d2d array 2048|1 d2d device 1024" "$(sql memory.db "SELECT batch || ' ' || direction
    || ' ' || dst_class || ' ' || bytes FROM transfer t JOIN api a ON a.id = t.api_id
    WHERE a.name LIKE 'cuMemcpy3DBatchAsync%' ORDER BY batch" | paste -sd'|')"
equal "the array is the one copied to" 1 "$(sql memory.db "SELECT count(*) FROM transfer t
    JOIN allocation a ON a.id = t.dst_allocation_id WHERE a.kind = 'array' AND a.bytes = t.bytes")"
equal "trim" "1 4096" "$(calls memory cuMemPoolTrimTo)"
# The second is the largest number there is, as NCCL sets it: 2^57 is the most that a trace has.
equal "release thresholds" "2 $((1 << 20)),$((1 << 57))" "$(calls memory cuMemPoolSetAttribute)"
for api in cuMemAdvise_v2 cuMemPrefetchAsync_v2 cuMemPrefetchBatchAsync cuStreamAttachMemAsync; do
    equal "$api" "1 8192" "$(calls memory $api)"
done
equal "uncovered" "" "$(sql memory.db "SELECT detail FROM loss WHERE kind = 'entry point not covered'")"

traced_like_plain mapped_otherwise mapped_otherwise
equal status 0 "$(cat mapped_otherwise.status)"
finished mapped_otherwise.db
nothing_lost mapped_otherwise.db
# The device does not count what it refuses: the client says how many there were.
equal "calls that were refused" "$(grep -oE '[0-9]+ calls' mapped_otherwise.out)" "$(sql mapped_otherwise.db "
    SELECT count(DISTINCT a.name) || ' calls' FROM api_call c JOIN api a ON a.id = c.api_id WHERE c.result = 801")"
equal "values written by a stream" "1 4|1 8" "$(for bits in 32 64; do
    calls mapped_otherwise cuStreamWriteValue${bits}_v2; done | paste -sd'|')"
equal "memory of a multicast object" "1 $MIB2" "$(calls mapped_otherwise cuMulticastBindMem)"
equal "uncovered" "" "$(sql mapped_otherwise.db "SELECT detail FROM loss WHERE kind = 'entry point not covered'")"

traced_like_plain host_pool host_pool
equal status 0 "$(cat host_pool.status)"
finished host_pool.db
all_calls_recorded host_pool
nothing_lost host_pool.db
equal "copies from memory of a host pool" "h2d pinned 2" "$(sql host_pool.db "SELECT direction || ' ' || src_class
    || ' ' || count(*) FROM transfer GROUP BY direction, src_class")"
equal "page-locked memory, freed" "2 4096" \
    "$(sql host_pool.db 'SELECT count(free_end_ns), sum(bytes) FROM host_allocation' | tr '|' ' ')"

# Where memory is known to be the host's, the copy is what it does, not what its function is called.
traced_like_plain copies_named_otherwise copies_named_otherwise
equal status 0 "$(cat copies_named_otherwise.status)"
finished copies_named_otherwise.db
nothing_lost copies_named_otherwise.db
equal "copies to and from page-locked memory" \
    "h2h pageable pinned|h2d pinned device|d2h device pinned|h2h pinned pageable" \
    "$(sql copies_named_otherwise.db "SELECT direction || ' ' || src_class || ' ' || dst_class FROM transfer
        ORDER BY begin_ns" | paste -sd'|')"
