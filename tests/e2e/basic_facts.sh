#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the rows of `basic` say: bytes, directions, memory classes, pitches, arguments, kernels.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

traced t basic
finished t.db
q() { sql t.db "$1"; }
transfer="FROM transfer t JOIN api a ON a.id = t.api_id WHERE a.name ="

equal "blocking copy" "h2d|1|4096|pageable|device" \
    "$(q "SELECT direction, blocking, bytes, src_class, dst_class $transfer 'cuMemcpyHtoD_v2' ORDER BY t.id LIMIT 1")"
equal "async copy" "h2d|0|4095|pageable|device" \
    "$(q "SELECT direction, blocking, bytes, src_class, dst_class $transfer 'cuMemcpyHtoDAsync_v2' ORDER BY t.id LIMIT 1")"
equal "copies from page-locked memory" 2 \
    "$(q "SELECT count(*) $transfer 'cuMemcpyHtoDAsync_v2' AND src_class = 'pinned'")"
equal "copy to page-locked memory" 1 \
    "$(q "SELECT count(*) $transfer 'cuMemcpyDtoHAsync_v2' AND dst_class = 'pinned'")"
equal "copy to managed memory" 1 \
    "$(q "SELECT count(*) $transfer 'cuMemcpyHtoD_v2' AND dst_class = 'managed'")"
equal "unified copies" "d2h|100
h2d|200" "$(q "SELECT direction, bytes $transfer 'cuMemcpy' UNION ALL SELECT direction, bytes $transfer 'cuMemcpyAsync'")"
equal "2-D copy" "768|96|8|96|512" \
    "$(q "SELECT bytes, width, height, src_pitch, dst_pitch $transfer 'cuMemcpy2D_v2'")"
equal "3-D copy" "704|88|4|2" \
    "$(q "SELECT bytes, width, height, depth $transfer 'cuMemcpy3D_v2'")"
equal "array classes" "pageable|array" \
    "$(q "SELECT src_class, dst_class $transfer 'cuMemcpyHtoA_v2'")"
equal "batch" "0|64
1|128
2|1024" "$(q "SELECT batch, bytes $transfer 'cuMemcpyBatchAsync_v2' ORDER BY batch")"

equal "memset elements" "1|4096
2|128
4|256" "$(q "SELECT element_bytes, bytes FROM memset m JOIN api a ON a.id = m.api_id
             WHERE a.name IN ('cuMemsetD8_v2', 'cuMemsetD16_v2', 'cuMemsetD32_v2') ORDER BY 1")"
equal "2-D memset" "256|16|4" \
    "$(q "SELECT pitch, width, height FROM memset m JOIN api a ON a.id = m.api_id WHERE a.name = 'cuMemsetD2D8_v2'")"

equal "allocation kinds" "array 2
async 1
device 7
managed 1
pitched 1
pool 1" "$(q "SELECT kind || ' ' || count(*) FROM allocation GROUP BY kind")"
equal "host allocation kinds" "pinned 2
registered 1" "$(q "SELECT kind || ' ' || count(*) FROM host_allocation GROUP BY kind")"
equal "never freed" 0 "$(q "SELECT count(*) FROM allocation WHERE free_begin_ns IS NULL")"

equal "launch kinds" "cooperative 1
kernel 4" "$(q "SELECT kind || ' ' || count(*) FROM launch GROUP BY kind")"
equal "kernels" "scale|1024
vector_add|0" "$(q "SELECT DISTINCT name, static_shared_bytes FROM kernel ORDER BY name")"
equal "geometry" "4|1|1|256|1|1|512" \
    "$(q "SELECT grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic_shared_bytes
          FROM launch l JOIN api a ON a.id = l.api_id WHERE a.name = 'cuLaunchKernelEx'")"
equal "pointer arguments of the first launch" "0
1
2" "$(q "SELECT parameter FROM launch_argument WHERE set_id =
         (SELECT argument_set_id FROM launch ORDER BY seq LIMIT 1) ORDER BY 1")"
equal "a pointer inside a struct" 8 \
    "$(q "SELECT word_offset FROM launch_argument WHERE set_id =
         (SELECT argument_set_id FROM launch l JOIN api a ON a.id = l.api_id WHERE a.name = 'cuLaunchKernelEx')")"
equal "syncs" "context
event
stream" "$(q "SELECT DISTINCT kind FROM sync ORDER BY kind")"
equal "times" 0 "$(q "SELECT count(*) FROM transfer WHERE end_ns < begin_ns OR begin_ns <= 0")"
equal "device" "gmtrace software device|9|0" "$(q "SELECT name, compute_major, compute_minor FROM device WHERE id = 0")"
