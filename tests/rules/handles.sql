-- SPDX-License-Identifier: Apache-2.0
-- Memory that other processes open, by two handles; memory of another process; a handle of memory that is not known.
INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, stack_id, begin_ns, end_ns)
VALUES (90001, 'device', 3298534883328, 67108864, 1, 1, 4, 1, 1000000, 1300000),
       (90002, 'ipc', 3298601992192, 1048576, 1, 1, 4, 1, 1400000, 1500000);
INSERT INTO memory_handle (id, kind, hash, allocation_id, address, bytes, since_ns)
VALUES (1, 'exported', 81985529216486895, 90001, 3298534883328, 67108864, 1310000),
       (2, 'exported', -1, 90001, 3298534883328, 67108864, 1320000),
       (3, 'imported', 17, 90002, 3298601992192, 1048576, 1500000),
       (4, 'exported', 5, NULL, 4096, NULL, 1600000);
