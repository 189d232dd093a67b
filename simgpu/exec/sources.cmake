# SPDX-License-Identifier: Apache-2.0
set(sim_exec_sources )
# Memory: checks, counts, loads, stores, atomics.
list(APPEND sim_exec_sources
    access.c access_count.c async_copy.c atomic.c atomic_apply.c count.c count_banks.c decode_memory.c
    footprint.c load_store.c memory.c memory_family.c race.c touch.c transfer.c)
# Core: modules, decoding, paths, blocks, workers, control flow, printing.
list(APPEND sim_exec_sources
    barrier.c block.c call.c call_values.c constant.c control.c decode.c decoder.c effects.c fault.c frame.c half_bits.c layout.c lookup.c
    module.c operand.c path.c peek.c pool.c print.c printed.c refused.c run.c runner.c inst_info.c special.c turn.c wait.c worker.c)

# Arithmetic: handlers are compiled twice, the second time for processors with AVX2.
list(APPEND sim_exec_sources
    compare.c convert.c convert_avx2.c convert_number.c floating.c floating_avx2.c form.c half.c integer.c
    integer_avx2.c move.c move_avx2.c shuffle.c warp.c)
