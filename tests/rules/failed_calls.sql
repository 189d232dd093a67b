-- SPDX-License-Identifier: Apache-2.0
-- A kernel that stores out of bounds: the wait behind it fails, and two copies after that; before that, errors that programs handle.
INSERT INTO api(id, name, runtime_name, family) VALUES (30, 'cuCtxSynchronize', 'cudaDeviceSynchronize', 'sync'),
                       (31, 'cuCtxEnablePeerAccess', 'cudaDeviceEnablePeerAccess', 'other');
INSERT INTO sync (id, api_id, thread_id, context_id, begin_ns, end_ns, result, stack_id, capturing, kind)
VALUES (990001, 30, 1, 1, 97000000, 97500000, 700, 1, 0, 'device');
INSERT INTO transfer (id, api_id, thread_id, context_id, begin_ns, end_ns, result, stack_id, capturing, direction, blocking,
                      bytes, dst, src, dst_class, src_class)
VALUES (990002, 1, 1, 1, 98000000, 98001000, 700, 1, 0, 'h2d', 1, 4096, 1099511627776, 4096, 'device', 'pageable'),
       (990003, 1, 1, 1, 98500000, 98501000, 700, 1, 0, 'h2d', 1, 4096, 1099511627776, 4096, 'device', 'pageable');
INSERT INTO api_call (id, api_id, thread_id, context_id, begin_ns, end_ns, result, stack_id, capturing)
VALUES (990004, 31, 1, 1, 1000000, 1001000, 704, 1, 0), (990005, 4, 1, 1, 2000000, 2001000, 2, 1, 0);
