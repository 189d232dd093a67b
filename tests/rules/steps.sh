#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze steps: what it calls places and kernels.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3

# Places are the user's own frames, where libraries without names lie further in, and kernels have titles.
make_trace steps.db fixtures/GM301_positive
sqlite3 steps.db "INSERT INTO string VALUES (90, '/home/me/train.py'), (91, 'train');
    INSERT INTO module (id, path, load_bias, start_address, end_address) VALUES
        (90, '/venv/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so', 0, 7000000, 8000000);
    INSERT INTO frame (id, address, module_id, offset, function_id, file_id, line, runtime) VALUES
        (90, 7000100, 90, 100, NULL, NULL, NULL, 0), (91, -1, NULL, NULL, 91, 90, 31, 0), (92, -2, NULL, NULL, 91, 90, 32, 0);
    INSERT INTO stack VALUES (90, 2), (91, 2);
    INSERT INTO stack_frame VALUES (90, 0, 90), (90, 1, 91), (91, 0, 90), (91, 1, 91);
    UPDATE launch SET stack_id = 90 + id % 2;
    UPDATE kernel SET name = 'at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)',
        mangled = '_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEEEEvi';
    UPDATE string SET text = (SELECT max(mangled) FROM kernel) WHERE id IN (SELECT kernel_name_id FROM device_op)"
expect 0 steps steps.db
grep -qE '^kernel +[0-9]+ +[0-9.]+ +train\.py:31 +train *$' out || fail "no place of the user's"
[ "$(grep -c 'train.py:31' out)" = 1 ] || fail "stacks of one place are not one row"
grep -q 'stack 9' out && fail "a stack has no place"
grep -q '^vectorized_elementwise<add, f32> ' out || fail "no title of a kernel"
echo "steps: places and kernels have the names that reports give them"
