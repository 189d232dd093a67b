#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the trace says of descriptors of tensor maps, with the numbers of the scenario.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

traced_like_plain maps tensor_maps 40
equal status 0 "$(cat maps.status)"
finished maps.db
all_calls_recorded maps
nothing_lost maps.db
maps() {
    sql maps.db "$1" | tr '|' ' '
}
equal "calls" "cuTensorMapEncodeIm2col 1 0
cuTensorMapEncodeTiled 43 2
cuTensorMapReplaceAddress 1 0" "$(maps "SELECT a.name, count(*), sum(result <> 0) FROM api_call c JOIN api a
    ON a.id = c.api_id WHERE a.name LIKE 'cuTensorMap%' GROUP BY 1 ORDER BY 1")"
equal "descriptors" "tiled float16 2 64 256 128 64 32 128 none 128b 128b zero 40
tiled float16 2 64 256 128 8 32 16 none none 128b zero 1
tiled float16 2 64 256 128 8 32 16 none none 128b zero 1
im2col float16 4 32 16 64 32 64 64 none none none zero 1" "$(maps "SELECT kind, data_type, rank, dim_0, dim_1, stride_1,
    box_0, box_1, inner_bytes, interleave, swizzle, l2_promotion, oob_fill, encodings FROM v_tensor_map ORDER BY id")"
equal "corners" "-1 -1 -1 -1 NULL" "$(maps "SELECT lower_0, lower_1, upper_0, upper_1, quote(lower_2) FROM tensor_map
    WHERE kind = 'im2col'")"
equal "where the tensors lie" "0 3,4096 1" "$(maps "SELECT m.address - a.address, count(*) FROM tensor_map m
    JOIN allocation a ON a.id = m.allocation_id WHERE a.bytes = 65536 GROUP BY 1 ORDER BY 1" | paste -sd,)"
equal "successful calls with a descriptor" 43 "$(maps "SELECT count(*) FROM tensor_map_encoding e JOIN api_call c
    ON c.id = e.call_id WHERE c.result = 0")"
equal "host time is that of the calls" 1 "$(maps "SELECT sum(host_ns) = (SELECT sum(c.end_ns - c.begin_ns) FROM api_call c
    JOIN tensor_map_encoding e ON e.call_id = c.id) AND min(host_ns) > 0 FROM v_tensor_map")"
equal "launches that were given one" "given 0 0 128b 40
inside 1 192 none 1" "$(maps "SELECT l.kernel, t.parameter, t.parameter_offset, m.swizzle, count(*) FROM v_launch l
    JOIN launch r USING (id) JOIN launch_tensor_map t ON t.set_id = r.argument_set_id JOIN tensor_map m
    ON m.id = t.tensor_map_id GROUP BY 1, 2, 3, 4 ORDER BY 1")"
equal "launches by descriptor" "40 1 0 0" "$(maps "SELECT launches FROM v_tensor_map ORDER BY id" | paste -sd' ')"
"$GMT_BUILD/bin/gmanalyze" validate maps.db >validated.txt || fail "$(cat validated.txt)"

# The driver's answer stands where the descriptor cannot be read.
traced_like_plain nowhere tensor_map_nowhere
equal "refused: status" 0 "$(cat nowhere.status)"
equal "refused" 201 "$(cat nowhere.out)"
finished nowhere.db
all_calls_recorded nowhere
nothing_lost nowhere.db

# Rows of 16 bytes are reported with the kernel that was given them, and at the place that makes those that none is
# known to use; the loop is found by its calls.
command -v jq >/dev/null || exit 0
"$GMT_BUILD/bin/gmanalyze" --format json maps.db >report.json || fail "gmanalyze: $?"
equal "findings" "inside 16 -
- - 39
- 16 -" "$(jq -r '.findings[] | select(.rule == "GM405") | [.where.kernel, .evidence.inner_box.value,
    .evidence.encoded_again.value] | map(. // "-") | join(" ")' report.json)"
