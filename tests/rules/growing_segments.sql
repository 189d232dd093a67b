-- SPDX-License-Identifier: Apache-2.0
-- 500 launches, one each 190 us from 1 ms on: a hundred steps of four, and a hundred that read what these left behind. Each
-- second step, from the first on, is given a segment of 20 MiB for two tensors of 8 MiB, by line 13; line 19 makes the tensor of the
-- step with its last launch. The other launches work in the first segment.
DELETE FROM launch;
INSERT INTO string VALUES (60, '/home/me/train.py'), (61, 'walk');
INSERT INTO frame (id, address, function_id, file_id, line, runtime)
VALUES (60, 60, 61, 60, 13, 0), (61, 61, 61, 60, 19, 0), (62, 62, 61, 60, 23, 0);
INSERT INTO stack VALUES (2, 1), (3, 1), (4, 1);
INSERT INTO stack_frame VALUES (2, 0, 60), (3, 0, 61), (4, 0, 62);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499)
INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result, stack_id,
                    capturing, kind, seq, kernel_id, class_id, no_activity, arguments, argument_set_id,
                    device_start_ns, device_end_ns)
SELECT 900001 + i, 3, 1, 1, 1, 1000000 + i * 190000, 1005000 + i * 190000, 0,
       CASE WHEN i >= 400 THEN 4 WHEN i % 4 = 3 THEN 3 ELSE 2 END, 0, 'kernel', i + 1, 1, 1, 0, 'complete',
       i + 1, 1008000 + i * 190000, 1060000 + i * 190000
FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49)
INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, stack_id, begin_ns, end_ns)
SELECT i + 1, 'device', 1099511627776 + i * 20971520, 20971520, 1, 1, 4, 2, 930000 + 8 * i * 190000,
       950000 + 8 * i * 190000
FROM n;
-- The first is seen to be a segment by its parts, the others by their place.
INSERT INTO launch_argument
SELECT argument_set_id, 0, 0, 1, 16777728 + 1049088 * (id % 2) FROM launch WHERE stack_id = 2;
INSERT INTO launch_argument
SELECT argument_set_id, 0, 0, 1 + (seq - 1) / 8, 8388608 * ((seq - 1) / 4 % 2) FROM launch WHERE stack_id = 3;
INSERT INTO launch_argument
SELECT argument_set_id, 0, 0, 1 + (seq - 401) / 2, 8388608 * ((seq - 1) % 2) FROM launch WHERE stack_id = 4;
