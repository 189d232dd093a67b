-- SPDX-License-Identifier: Apache-2.0
-- The trace behind the golden reports: several problems at once, gaps, and names that are not clean.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499)
INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result,
                      stack_id, capturing, direction, blocking, bytes, dst, src, dst_class, src_class)
SELECT i + 1, 1, 1, 1, 1, 1000000 + i * 10000, 1007000 + i * 10000, 0, 1, 0, 'h2d', 1, 64,
       1048576 + i * 64, 4096 + (i * 7919 % 1000) * 256, 'device', 'pageable' FROM n
UNION ALL
SELECT i + 2001, 1, 1, 1, 1, 20000000 + i * 2000000, 20750000 + i * 2000000, 0, 2, 0, 'h2d', 1,
       16777216, 134217728, 268435456, 'device', 'pageable' FROM n WHERE i < 20;
INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result,
                      caller, capturing, direction, blocking, bytes, dst, src, dst_class, src_class,
                      device_start_ns, device_end_ns)
VALUES (3000, 2, 1, 1, 1, 95000000, 95040000, 0, 16400, 0, 'd2h', 1, 4194304, 536870912, 134217728,
        'pinned', 'device', 95010000, 95036000);
INSERT INTO stack VALUES (2, 2);
INSERT INTO stack_frame VALUES (2, 0, 1), (2, 1, 3);
INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, stack_id, begin_ns,
                        end_ns)
VALUES (1, 'device', 1048576, 536870912, 1, 1, 4, 1, 500000, 560000);
INSERT INTO fixture_counter (metric_id, value) VALUES
    (1, 495000000), (3, 123750000), (5, 3867187), (2, 495000000), (4, 15468750), (6, 3867187),
    (32, 95), (33, 3960000000), (34, 495000000), (35, 123750000), (36, 15468750);
INSERT INTO kernel (id, name, mangled, registers) VALUES
    (2, 'void thrust::detail::' || char(27) || '[31m<script>alert("é")</script> & kernel<float, 4>(float const*)',
     '_Zbad', 16);
INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                          dynamic_shared_bytes, theoretical_occupancy)
VALUES (2, 2, 64, 64, 1, 16, 16, 1, 0, 1.0);
INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result, capturing,
                    kind, seq, kernel_id, class_id, no_activity, arguments, device_start_ns,
                    device_end_ns)
VALUES (990000, 3, 1, 1, 1, 90000000, 90005000, 0, 0, 'kernel', 11, 2, 2, 0, 'unknown', 90010000,
        90260000);
INSERT INTO capability VALUES ('hardware_counters', 'partial', 35, 'stopped when the budget was used up',
                               'raise --counter-budget');
INSERT INTO loss VALUES ('api', 'cuFutureCall', 12);
