-- SPDX-License-Identifier: Apache-2.0
-- An allocator's 64 MiB with regions of two places, one in the other and one resized, and a layout.
INSERT INTO string VALUES (90001, 'pool'), (90002, 'allocator'), (90003, 'weight');
INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, stack_id, begin_ns, end_ns)
VALUES (90001, 'device', 3298534883328, 67108864, 1, 1, 4, 1, 1000000, 1300000),
       (90002, 'device', 3298601992192, 1048576, 1, 1, 4, 1, 1400000, 1500000);
INSERT INTO heap (id, usage, address, bytes, domain_id, name_id, stack_id, begin_ns, end_ns)
VALUES (1, 'sub_allocator', 3298534883328, 67108864, 90002, 90001, 1, 1350000, NULL),
       (2, 'layout', 3298601992192, 1048576, NULL, NULL, NULL, 1550000, 1560000);
INSERT INTO region (id, heap_id, made_id, address, bytes, name_id, stack_id, begin_ns, end_ns)
VALUES (3, 1, 3, 3298534883328, 4194304, 90003, 1, 1600000, 1700000),
       (4, 1, 3, 3298534883328, 8388608, NULL, 1, 1700000, NULL),
       (5, 1, 5, 3298536980480, 65536, NULL, NULL, 1800000, NULL),
       (6, NULL, 6, 3298601992192, 4096, 90003, 1, 1900000, 2000000),
       (7, 2, 7, 3298602000384, 4096, NULL, 1, NULL, NULL);
