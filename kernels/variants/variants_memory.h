/* SPDX-License-Identifier: Apache-2.0 */
/* Reference kernels of stores, wide words, caches, constants and spills, and healthy ones. Columns:
 * variants.h. */
#ifndef GMT_KERNELS_VARIANTS_VARIANTS_MEMORY_H
#define GMT_KERNELS_VARIANTS_VARIANTS_MEMORY_H

#define GMT_FAMILIES_OF_MEMORY(X) \
    X(store) \
    X(stride_wide) \
    X(gather) \
    X(constant) \
    X(spill) \
    X(reuse) \
    X(quiet)

/* Device functions, one per body; gmt_kernel_<name> is what a profiler shows. */
#define GMT_KERNELS_OF_MEMORY(X) \
    X(store) \
    X(store_offset) \
    X(stride_wide8) \
    X(stride_wide16) \
    X(gather) \
    X(constant) \
    X(constant_shared) \
    X(spill_none) \
    X(spill_64) \
    X(spill_48) \
    X(spill_32) \
    X(local_array) \
    X(shared_array) \
    X(matmul_naive) \
    X(matmul_tiled) \
    X(stencil_naive) \
    X(stencil_tiled) \
    X(quiet_triad) \
    X(quiet_permuted) \
    X(quiet_row_scale) \
    X(quiet_reduce) \
    X(quiet_copy16) \
    X(quiet_fill16) \
    X(quiet_update8) \
    X(quiet_transpose)

/* sectors and efficiency are those of the loads, which are in order. */
#define GMT_VARIANTS_STORE_STRIDE(X) \
    X(store, store_1, store, 1, 4, good, store_1, 4, 100, GMT_UNDEFINED, NULL, \
      "float copy, consecutive lanes write consecutive words") \
    X(store, store_2, store, 2, 4, bad, store_1, 4, 100, GMT_UNDEFINED, "GM310", \
      "float scatter, lanes 2 words apart") \
    X(store, store_4, store, 4, 4, bad, store_1, 4, 100, GMT_UNDEFINED, "GM310", \
      "float scatter, lanes 4 words apart") \
    X(store, store_8, store, 8, 4, bad, store_1, 4, 100, GMT_UNDEFINED, "GM310", \
      "float scatter, lanes 8 words (one sector) apart") \
    X(store, store_16, store, 16, 4, bad, store_1, 4, 100, GMT_UNDEFINED, "GM310", \
      "float scatter, lanes 16 words apart") \
    X(store, store_32, store, 32, 4, bad, store_1, 4, 100, GMT_UNDEFINED, "GM310", \
      "float scatter, lanes 32 words (one line) apart")
#define GMT_VARIANTS_STORE_OFFSET(X) \
    X(store, store_offset_0, store_offset, 0, 4, good, store_offset_0, 4, 100, GMT_UNDEFINED, \
      NULL, "float copy, target aligned") \
    X(store, store_offset_1, store_offset, 1, 4, bad, store_offset_0, 4, 100, GMT_UNDEFINED, \
      "GM303", "float copy, target one element off") \
    X(store, store_offset_4, store_offset, 4, 4, bad, store_offset_0, 4, 100, GMT_UNDEFINED, \
      "GM303", "float copy, target four elements off") \
    X(store, store_offset_7, store_offset, 7, 4, bad, store_offset_0, 4, 100, GMT_UNDEFINED, \
      "GM303", "float copy, target seven elements off") \
    X(store, store_offset_8, store_offset, 8, 4, good, store_offset_0, 4, 100, GMT_UNDEFINED, \
      NULL, "float copy, target one whole sector off")
#define GMT_VARIANTS_STORE(X) \
    GMT_VARIANTS_STORE_STRIDE(X) \
    GMT_VARIANTS_STORE_OFFSET(X)

#define GMT_VARIANTS_STRIDE_WIDE8(X) \
    X(stride_wide, wide8_1, stride_wide8, 1, 8, good, wide8_1, 8, 100, GMT_UNDEFINED, NULL, \
      "copy of 8-byte words") \
    X(stride_wide, wide8_2, stride_wide8, 2, 8, bad, wide8_1, 16, 50, GMT_UNDEFINED, "GM301", \
      "8-byte words, lanes 2 words apart") \
    X(stride_wide, wide8_4, stride_wide8, 4, 8, bad, wide8_1, 32, 25, GMT_UNDEFINED, "GM301", \
      "8-byte words, lanes 4 words (one sector) apart") \
    X(stride_wide, wide8_8, stride_wide8, 8, 8, bad, wide8_1, 32, 25, GMT_UNDEFINED, "GM301", \
      "8-byte words, lanes 8 words (two sectors) apart") \
    X(stride_wide, wide8_16, stride_wide8, 16, 8, bad, wide8_1, 32, 25, GMT_UNDEFINED, "GM301", \
      "8-byte words, lanes 16 words (one line) apart") \
    X(stride_wide, wide8_32, stride_wide8, 32, 8, bad, wide8_1, 32, 25, GMT_UNDEFINED, "GM301", \
      "8-byte words, lanes 32 words (two lines) apart")
#define GMT_VARIANTS_STRIDE_WIDE16(X) \
    X(stride_wide, wide16_1, stride_wide16, 1, 16, good, wide16_1, 16, 100, GMT_UNDEFINED, NULL, \
      "copy of 16-byte words") \
    X(stride_wide, wide16_2, stride_wide16, 2, 16, bad, wide16_1, 32, 50, GMT_UNDEFINED, "GM301", \
      "16-byte words, lanes 2 words (one sector) apart") \
    X(stride_wide, wide16_4, stride_wide16, 4, 16, bad, wide16_1, 32, 50, GMT_UNDEFINED, "GM301", \
      "16-byte words, lanes 4 words (two sectors) apart") \
    X(stride_wide, wide16_8, stride_wide16, 8, 16, bad, wide16_1, 32, 50, GMT_UNDEFINED, "GM301", \
      "16-byte words, lanes 8 words (one line) apart") \
    X(stride_wide, wide16_16, stride_wide16, 16, 16, bad, wide16_1, 32, 50, GMT_UNDEFINED, \
      "GM301", "16-byte words, lanes 16 words (two lines) apart") \
    X(stride_wide, wide16_32, stride_wide16, 32, 16, bad, wide16_1, 32, 50, GMT_UNDEFINED, \
      "GM301", "16-byte words, lanes 32 words (four lines) apart")
#define GMT_VARIANTS_STRIDE_WIDE(X) \
    GMT_VARIANTS_STRIDE_WIDE8(X) \
    GMT_VARIANTS_STRIDE_WIDE16(X)

/*
 * parameter = KiB of the table that is gathered from (0: all of the source). Nine loads, one of them of
 * the index: sectors = (4 + 8 * 32) / 9. Each has a twin that takes the words of the same table in order.
 */
#define GMT_GATHER_SECTORS (260 / 9.0)
#define GMT_VARIANTS_GATHER_RANDOM(X, size, kib, sorted, rule, doc) \
    X(gather, gather_##size, gather, kib, 4, bad, sorted, GMT_GATHER_SECTORS, \
      400 / GMT_GATHER_SECTORS, GMT_UNDEFINED, rule, doc)
#define GMT_VARIANTS_GATHER_SORTED(X, name, kib, doc) \
    X(gather, name, gather, kib, 4, good, name, 4, 100, GMT_UNDEFINED, NULL, doc)
#define GMT_VARIANTS_GATHER(X) \
    GMT_VARIANTS_GATHER_SORTED(X, gather_sorted, 0, "gather whose indices run in order") \
    GMT_VARIANTS_GATHER_RANDOM(X, 32k, 32, gather_sorted_32k, "GM309", \
                               "random gather from a table of 32 KiB, which L1 holds") \
    GMT_VARIANTS_GATHER_RANDOM(X, 1m, 1024, gather_sorted_1m, "GM309", \
                               "random gather from a table of 1 MiB, which L2 holds") \
    GMT_VARIANTS_GATHER_RANDOM(X, 32m, 32768, gather_sorted_32m, "GM301", \
                               "random gather from a table of 32 MiB, about what L2 holds") \
    GMT_VARIANTS_GATHER_RANDOM(X, all, 0, gather_sorted, "GM301", \
                               "random gather from far more than L2 holds") \
    GMT_VARIANTS_GATHER_SORTED(X, gather_sorted_32k, 32, \
                               "the words of a table of 32 KiB, again and again in order") \
    GMT_VARIANTS_GATHER_SORTED(X, gather_sorted_1m, 1024, \
                               "the words of a table of 1 MiB, again and again in order") \
    GMT_VARIANTS_GATHER_SORTED(X, gather_sorted_32m, 32768, \
                               "the words of a table of 32 MiB, again and again in order")

/* parameter = different words that the lanes of a warp read at once. */
#define GMT_VARIANTS_CONSTANT_WORDS(X, n, quality, rule, doc) \
    X(constant, constant_##n, constant, n, 4, quality, constant_1, GMT_UNDEFINED, GMT_UNDEFINED, \
      GMT_UNDEFINED, rule, doc)
#define GMT_VARIANTS_CONSTANT(X) \
    GMT_VARIANTS_CONSTANT_WORDS(X, 1, good, NULL, "constant reads, all lanes the same word") \
    GMT_VARIANTS_CONSTANT_WORDS(X, 2, bad, "GM307", "constant reads of 2 different words") \
    GMT_VARIANTS_CONSTANT_WORDS(X, 4, bad, "GM307", "constant reads of 4 different words") \
    GMT_VARIANTS_CONSTANT_WORDS(X, 8, bad, "GM307", "constant reads of 8 different words") \
    GMT_VARIANTS_CONSTANT_WORDS(X, 16, bad, "GM307", "constant reads of 16 different words") \
    GMT_VARIANTS_CONSTANT_WORDS(X, 32, bad, "GM307", "constant reads of 32 different words") \
    X(constant, constant_shared, constant_shared, 32, 4, good, constant_shared, GMT_UNDEFINED, \
      GMT_UNDEFINED, 1, NULL, "the same table in shared memory, 32 different words at once")

/* parameter = registers per thread that the compiler may use (0: as many as it likes). */
#define GMT_VARIANTS_SPILL_LIMIT(X, limit, registers, quality, rule, doc) \
    X(spill, spill_##limit, spill_##limit, registers, 4, quality, spill_none, 4, 100, \
      GMT_UNDEFINED, rule, doc)
#define GMT_VARIANTS_SPILL(X) \
    GMT_VARIANTS_SPILL_LIMIT(X, none, 0, good, NULL, "64 live words, all in registers") \
    GMT_VARIANTS_SPILL_LIMIT(X, 64, 64, bad, "GM306", "64 live words, held to 64 registers") \
    GMT_VARIANTS_SPILL_LIMIT(X, 48, 48, bad, "GM306", "64 live words, held to 48 registers") \
    GMT_VARIANTS_SPILL_LIMIT(X, 32, 32, bad, "GM306", "64 live words, held to 32 registers") \
    X(spill, array_shared, shared_array, 1, 4, good, array_shared, 4, 100, 1, NULL, \
      "array indexed at run time, differently in each lane, in shared memory") \
    X(spill, array_uniform, local_array, 0, 4, bad, array_shared, 4, 100, GMT_UNDEFINED, "GM306", \
      "local array indexed at run time, all lanes alike") \
    X(spill, array_divergent, local_array, 1, 4, bad, array_shared, 4, 100, GMT_UNDEFINED, \
      "GM306", "local array indexed at run time, differently in each lane")

/* parameter = edge of the tile, 0: none. */
#define GMT_STENCIL_SECTORS (76 / 17.0) /* 9 words of the cross lie in a column, 8 to its sides */
#define GMT_VARIANTS_REUSE(X) \
    X(reuse, matmul_naive, matmul_naive, 0, 4, bad, matmul_tiled_32, 2.5, GMT_UNDEFINED, \
      GMT_UNDEFINED, "GM308", "matrix product, every operand from global memory") \
    X(reuse, matmul_tiled_16, matmul_tiled, 16, 4, good, matmul_tiled_16, 4, 100, 1, NULL, \
      "matrix product with tiles of 16 x 16") \
    X(reuse, matmul_tiled_32, matmul_tiled, 32, 4, good, matmul_tiled_32, 4, 100, 1, NULL, \
      "matrix product with tiles of 32 x 32") \
    X(reuse, stencil_naive, stencil_naive, 0, 4, neutral, stencil_tiled, GMT_STENCIL_SECTORS, \
      400 / GMT_STENCIL_SECTORS, GMT_UNDEFINED, NULL, \
      "17-point cross stencil, every neighbour from global memory") \
    X(reuse, stencil_tiled, stencil_tiled, 32, 4, good, stencil_tiled, 3.5, GMT_UNDEFINED, 1, \
      NULL, "17-point cross stencil on a tile of 32 x 8 and its rim")

#define GMT_VARIANTS_QUIET(X) \
    X(quiet, triad, quiet_triad, 1, 4, good, triad, 4, 100, GMT_UNDEFINED, NULL, \
      "a = b + s * c over far more than L2") \
    X(quiet, permuted, quiet_permuted, 5, 4, good, permuted, 4, 100, GMT_UNDEFINED, NULL, \
      "lanes permuted inside one line") \
    X(quiet, row_scale, quiet_row_scale, 1, 4, good, row_scale, 2.5, GMT_UNDEFINED, GMT_UNDEFINED, \
      NULL, "rows scaled by a factor that all lanes read") \
    X(quiet, reduce, quiet_reduce, 4, 16, good, reduce, 16, 100, GMT_UNDEFINED, NULL, \
      "sum of squares in one pass, a store per warp") \
    X(quiet, copy16, quiet_copy16, 1, 16, good, copy16, 16, 100, GMT_UNDEFINED, NULL, \
      "float4 copy, two loads in flight") \
    X(quiet, fill16, quiet_fill16, 1, 16, good, fill16, GMT_UNDEFINED, GMT_UNDEFINED, \
      GMT_UNDEFINED, NULL, "float4 stores and nothing else") \
    X(quiet, update8, quiet_update8, 1, 8, good, update8, 8, 100, GMT_UNDEFINED, NULL, \
      "8-byte words read, changed and written back") \
    X(quiet, transpose, quiet_transpose, 33, 4, good, transpose, 4, 100, 1, NULL, \
      "transpose through a tile with padded rows")

#define GMT_VARIANTS_OF_MEMORY(X) \
    GMT_VARIANTS_STORE(X) \
    GMT_VARIANTS_STRIDE_WIDE(X) \
    GMT_VARIANTS_GATHER(X) \
    GMT_VARIANTS_CONSTANT(X) \
    GMT_VARIANTS_SPILL(X) \
    GMT_VARIANTS_REUSE(X) \
    GMT_VARIANTS_QUIET(X)

#endif
