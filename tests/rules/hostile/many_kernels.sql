-- SPDX-License-Identifier: Apache-2.0
-- Ten thousand kernels more, one launch of each.
WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 10009) INSERT INTO kernel
    (id, name, mangled, registers) SELECT i, 'kernel<' || i || '>()', '_Z' || i, 32 FROM n;
INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, block_z,
    dynamic_shared_bytes) SELECT id, id, 1, 1, 1, 128, 1, 1, 0 FROM kernel WHERE id >= 10;
INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result,
    capturing, kind, seq, kernel_id, class_id, no_activity, arguments, device_start_ns,
    device_end_ns) SELECT 1000000 + id, 3, 1, 1, 1, id * 1000, id * 1000 + 500, 0, 0, 'kernel', id +
    100, id, id, 0, 'unknown', id * 1000 + 600, id * 1000 + 900 FROM kernel WHERE id >= 10;
