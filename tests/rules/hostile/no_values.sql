-- SPDX-License-Identifier: Apache-2.0
-- NULL wherever the schema allows it.
UPDATE process SET exe = NULL, command = NULL, end_ns = NULL, end_reason = NULL;
UPDATE thread SET name = NULL;
UPDATE stream SET context_id = NULL;
UPDATE device SET uuid = NULL, compute_major = NULL, sm_count = NULL, memory_bytes = NULL;
UPDATE transfer SET thread_id = NULL, context_id = NULL, stream_id = NULL, stack_id = NULL, dst =
    NULL, src = NULL, device_start_ns = NULL, device_end_ns = NULL, api_id = NULL;
UPDATE launch SET thread_id = NULL, stream_id = NULL, class_id = NULL, kernel_id = NULL,
    device_start_ns = NULL, device_end_ns = NULL;
UPDATE kernel SET registers = NULL, local_bytes = NULL;
UPDATE allocation SET kind = NULL, bytes = NULL, begin_ns = NULL, end_ns = NULL, context_id = NULL,
    thread_id = NULL, stack_id = NULL;
UPDATE frame SET module_id = NULL, offset = NULL, function_id = NULL, file_id = NULL;
