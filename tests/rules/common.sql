-- SPDX-License-Identifier: Apache-2.0
-- What every fixture starts from: a process of 100 ms on one GPU, its calls by name, its metrics.
-- The device is that of model.json, so prices count as calibrated.
INSERT INTO meta VALUES ('format', '1'), ('tool_version', '0.1.0'), ('created', '2026-01-01'),
                        ('clock', 'CLOCK_MONOTONIC'), ('complete', '1');
INSERT INTO process (id, pid, exe, command, start_ns, end_ns, end_reason)
VALUES (1, 100, '/opt/app', './app', 0, 100000000, 'exit');
INSERT INTO device (id, name, uuid, compute_major, compute_minor, sm_count, memory_bytes, l2_bytes,
                    driver_version, max_threads_per_sm, registers_per_sm, shared_bytes_per_sm,
                    max_blocks_per_sm, warp_size, reserved_shared_bytes_per_block)
VALUES (0, 'Test GPU', 'GPU-00000000-0000-0000-0000-000000000001', 9, 0, 132, 150000000000,
        62914560, '580.0', 2048, 65536, 233472, 32, 32, 1024);
INSERT INTO context VALUES (1, 0, 1);
INSERT INTO stream (id, context_id, handle) VALUES (1, 1, 0);
INSERT INTO thread VALUES (1, 100, 'app');
INSERT INTO api(id, name, runtime_name, family) VALUES (1, 'cuMemcpyHtoD_v2', 'cudaMemcpy', 'transfer'),
                       (2, 'cuMemcpyDtoH_v2', 'cudaMemcpy', 'transfer'),
                       (3, 'cuLaunchKernel', 'cudaLaunchKernel', 'launch'),
                       (4, 'cuMemAlloc_v2', 'cudaMalloc', 'alloc'),
                       (5, 'cuMemFree_v2', 'cudaFree', 'alloc'),
                       (6, 'cuMemAllocAsync', 'cudaMallocAsync', 'alloc'),
                       (7, 'cuMemFreeAsync', 'cudaFreeAsync', 'alloc');
INSERT INTO module (id, path, build_id, load_bias, start_address, end_address)
VALUES (1, '/opt/app', NULL, 0, 4096, 1048576),
                          (2, '/usr/lib/libcudart.so.13', NULL, 0, 2097152, 4194304);
INSERT INTO string VALUES (1, 'main'), (2, '/src/app.cu'), (3, 'upload()'), (4, 'cudaMemcpy');
INSERT INTO frame(id,address,module_id,offset,function_id,file_id,line,runtime)
VALUES (1, 2098000, 2, 848, 4, NULL, NULL, 1), (2, 8192, 1, 8192, 3, 2, 42, 0),
                         (3, 12288, 1, 12288, 1, 2, 77, 0);
INSERT INTO stack VALUES (1, 3);
INSERT INTO stack_frame VALUES (1, 0, 1), (1, 1, 2), (1, 2, 3);
INSERT INTO capability VALUES ('device_times', 'ok', 0, NULL, NULL);

-- Ten launches of one class, each of 1 ms, the first of them measured; fixtures set its counters.
INSERT INTO kernel (id, name, mangled, registers, static_shared_bytes, local_bytes,
                    max_threads_per_block)
VALUES (1, 'work(float*, float const*, int)', '_Z4workPfPKfi', 32, 0, 0, 1024);
INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                          dynamic_shared_bytes, max_blocks_per_sm, theoretical_occupancy)
VALUES (1, 1, 100000, 1, 1, 256, 1, 1, 0, 8, 1.0);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result, stack_id,
                    capturing, kind, seq, kernel_id, class_id, grid_x, grid_y, grid_z, block_x,
                    block_y, block_z, dynamic_shared_bytes, measured, no_activity, arguments,
                    argument_set_id,
                    device_start_ns, device_end_ns)
SELECT 900001 + i, 3, 1, 1, 1, 60000000 + i * 2000000, 60005000 + i * 2000000, 0, 1, 0, 'kernel',
       i + 1, 1, 1, 100000, 1, 1, 256, 1, 1, 0, CASE WHEN i = 0 THEN 'patched' END, i = 0, 'complete', 1,
       CASE WHEN i > 0 THEN 60010000 + i * 2000000 END, CASE WHEN i > 0 THEN 61010000 + i * 2000000 END
FROM n;

INSERT INTO metric VALUES
    (1, 'global_load_bytes', '-', 'patched', 'bytes', '-'),
    (2, 'global_store_bytes', '-', 'patched', 'bytes', '-'),
    (3, 'global_load_sectors', '-', 'patched', 'sectors', '-'),
    (4, 'global_store_sectors', '-', 'patched', 'sectors', '-'),
    (5, 'global_load_requests', '-', 'patched', 'instructions', '-'),
    (6, 'global_store_requests', '-', 'patched', 'instructions', '-'),
    (7, 'shared_load_bytes', '-', 'patched', 'bytes', '-'),
    (9, 'shared_load_wavefronts', '-', 'patched', 'wavefronts', '-'),
    (11, 'shared_load_requests', '-', 'patched', 'instructions', '-'),
    (13, 'local_load_requests', '-', 'patched', 'instructions', '-'),
    (14, 'local_store_requests', '-', 'patched', 'instructions', '-'),
    (32, 'achieved_occupancy_percent', '-', 'hardware', 'percent', '-'),
    (33, 'dram_read_bytes', '-', 'hardware', 'bytes', '-'),
    (34, 'dram_write_bytes', '-', 'hardware', 'bytes', '-'),
    (35, 'l2_read_sectors', '-', 'hardware', 'sectors', '-'),
    (36, 'l2_write_sectors', '-', 'hardware', 'sectors', '-'),
    (64, 'local_load_sectors', '-', 'patched', 'sectors', '-'),
    (65, 'local_store_sectors', '-', 'patched', 'sectors', '-');
CREATE VIEW fixture_counter AS SELECT metric_id, value, grp FROM kernel_counters;
CREATE TRIGGER fixture_counter_insert INSTEAD OF INSERT ON fixture_counter BEGIN
    INSERT INTO kernel_counters (launch_seq, class_id, metric_id, value, source, grp, samples)
    SELECT 1, 1, NEW.metric_id, NEW.value,
           CASE m.grp WHEN 'patched' THEN 'patched' ELSE 'hardware' END, m.grp, 1
    FROM metric m WHERE m.id = NEW.metric_id;
END;
