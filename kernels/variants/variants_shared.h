/* SPDX-License-Identifier: Apache-2.0 */
/* Reference kernels of shared memory. Columns: variants.h. */
#ifndef GMT_KERNELS_VARIANTS_VARIANTS_SHARED_H
#define GMT_KERNELS_VARIANTS_VARIANTS_SHARED_H

#define GMT_FAMILIES_OF_SHARED(X) \
    X(bank) \
    X(bank_wide) \
    X(tile) \
    X(fill) \
    X(staged) \
    X(carve) \
    X(barrier)

/* Device functions, one per body; gmt_kernel_<name> is what a profiler shows. */
#define GMT_KERNELS_OF_SHARED(X) \
    X(bank) \
    X(bank_vector) \
    X(bank_wide) \
    X(bank_together) \
    X(tile_column) \
    X(tile_padded) \
    X(tile_swizzled) \
    X(tile_column_pair) \
    X(tile_padded_pair) \
    X(tile_column_quad) \
    X(tile_padded_quad) \
    X(fill) \
    X(staged_read) \
    X(staged_unread) \
    X(carve) \
    X(carve_small) \
    X(barrier)

#define GMT_VARIANTS_BANK_WORD(X) \
    X(bank, bank_1, bank, 1, 4, good, bank_1, GMT_UNDEFINED, GMT_UNDEFINED, 1, NULL, \
      "shared words, lanes 1 word apart") \
    X(bank, bank_2, bank, 2, 4, bad, bank_1, GMT_UNDEFINED, GMT_UNDEFINED, 2, "GM401", \
      "shared words, lanes 2 words apart") \
    X(bank, bank_4, bank, 4, 4, bad, bank_1, GMT_UNDEFINED, GMT_UNDEFINED, 4, "GM401", \
      "shared words, lanes 4 words apart") \
    X(bank, bank_8, bank, 8, 4, bad, bank_1, GMT_UNDEFINED, GMT_UNDEFINED, 8, "GM401", \
      "shared words, lanes 8 words apart") \
    X(bank, bank_16, bank, 16, 4, bad, bank_1, GMT_UNDEFINED, GMT_UNDEFINED, 16, "GM401", \
      "shared words, lanes 16 words apart") \
    X(bank, bank_32, bank, 32, 4, bad, bank_1, GMT_UNDEFINED, GMT_UNDEFINED, 32, "GM401", \
      "shared words, a column of a 32 x 32 tile") \
    X(bank, bank_33, bank, 33, 4, good, bank_1, GMT_UNDEFINED, GMT_UNDEFINED, 1, NULL, \
      "shared words, the same column with rows padded to 33")
#define GMT_VARIANTS_BANK(X) \
    GMT_VARIANTS_BANK_WORD(X) \
    X(bank, bank_1_float4, bank_vector, 1, 16, good, bank_1, GMT_UNDEFINED, GMT_UNDEFINED, 1, \
      NULL, "shared float4, unit stride: 4 wavefronts per request and no conflict")

/* An 8-byte load of a warp goes in two halves, a 16-byte load in four quarters: 2 and 4 passes. */
#define GMT_VARIANTS_BANK_WIDE_STRIDES(X) \
    X(bank_wide, pair_1, bank_wide, 1, 8, good, pair_1, GMT_UNDEFINED, GMT_UNDEFINED, 1, NULL, \
      "shared float2, lanes 1 such word apart") \
    X(bank_wide, pair_2, bank_wide, 2, 8, bad, pair_1, GMT_UNDEFINED, GMT_UNDEFINED, 2, "GM401", \
      "shared float2, lanes 2 such words apart") \
    X(bank_wide, pair_4, bank_wide, 4, 8, bad, pair_1, GMT_UNDEFINED, GMT_UNDEFINED, 4, "GM401", \
      "shared float2, lanes 4 such words apart") \
    X(bank_wide, pair_8, bank_wide, 8, 8, bad, pair_1, GMT_UNDEFINED, GMT_UNDEFINED, 8, "GM401", \
      "shared float2, lanes 8 such words apart") \
    X(bank_wide, pair_16, bank_wide, 16, 8, bad, pair_1, GMT_UNDEFINED, GMT_UNDEFINED, 16, \
      "GM401", "shared float2, lanes 16 such words apart") \
    X(bank_wide, pair_32, bank_wide, 32, 8, bad, pair_1, GMT_UNDEFINED, GMT_UNDEFINED, 16, \
      "GM401", "shared float2, lanes 32 such words apart") \
    X(bank_wide, quad_1, bank_wide, 1, 16, good, quad_1, GMT_UNDEFINED, GMT_UNDEFINED, 1, NULL, \
      "shared float4, lanes 1 such word apart") \
    X(bank_wide, quad_2, bank_wide, 2, 16, bad, quad_1, GMT_UNDEFINED, GMT_UNDEFINED, 2, "GM401", \
      "shared float4, lanes 2 such words apart") \
    X(bank_wide, quad_4, bank_wide, 4, 16, bad, quad_1, GMT_UNDEFINED, GMT_UNDEFINED, 4, "GM401", \
      "shared float4, lanes 4 such words apart") \
    X(bank_wide, quad_8, bank_wide, 8, 16, bad, quad_1, GMT_UNDEFINED, GMT_UNDEFINED, 8, "GM401", \
      "shared float4, lanes 8 such words apart") \
    X(bank_wide, quad_16, bank_wide, 16, 16, bad, quad_1, GMT_UNDEFINED, GMT_UNDEFINED, 8, \
      "GM401", "shared float4, lanes 16 such words apart")
/* parameter = lanes that read the same word. */
#define GMT_VARIANTS_BANK_WIDE_BROADCASTS(X) \
    X(bank_wide, word_broadcast, bank_together, 32, 4, neutral, word_broadcast, GMT_UNDEFINED, \
      GMT_UNDEFINED, 1, NULL, "shared words, all lanes read the same one") \
    X(bank_wide, word_pairs, bank_together, 2, 4, neutral, word_broadcast, GMT_UNDEFINED, \
      GMT_UNDEFINED, 1, NULL, "shared words, two neighbouring lanes read the same one") \
    X(bank_wide, pair_broadcast, bank_together, 32, 8, neutral, pair_1, GMT_UNDEFINED, \
      GMT_UNDEFINED, 1, NULL, "shared float2, all lanes read the same one") \
    X(bank_wide, quad_broadcast, bank_together, 32, 16, neutral, quad_1, GMT_UNDEFINED, \
      GMT_UNDEFINED, 1, NULL, "shared float4, all lanes read the same one")
#define GMT_VARIANTS_BANK_WIDE(X) \
    GMT_VARIANTS_BANK_WIDE_STRIDES(X) \
    GMT_VARIANTS_BANK_WIDE_BROADCASTS(X)

#define GMT_VARIANTS_TILE(X) \
    X(tile, tile_column, tile_column, 32, 4, bad, tile_padded, 4, 100, 32, "GM401", \
      "tiles transposed: columns of 32 x 32 words") \
    X(tile, tile_padded, tile_padded, 33, 4, good, tile_padded, 4, 100, 1, NULL, \
      "tiles transposed: columns of rows padded to 33 words") \
    X(tile, tile_swizzled, tile_swizzled, 32, 4, good, tile_padded, 4, 100, 1, NULL, \
      "tiles transposed: columns of 32 x 32 words, each row permuted") \
    X(tile, tile_column_pair, tile_column_pair, 32, 8, bad, tile_padded_pair, 8, 100, 16, "GM401", \
      "tiles transposed: columns of 32 x 32 words of 8 bytes") \
    X(tile, tile_padded_pair, tile_padded_pair, 33, 8, good, tile_padded_pair, 8, 100, 1, NULL, \
      "tiles transposed: columns of rows padded to 33 words of 8 bytes") \
    X(tile, tile_column_quad, tile_column_quad, 32, 16, bad, tile_padded_quad, 16, 100, 8, \
      "GM401", "tiles transposed: columns of 32 x 32 words of 16 bytes") \
    X(tile, tile_padded_quad, tile_padded_quad, 33, 16, good, tile_padded_quad, 16, 100, 1, NULL, \
      "tiles transposed: columns of rows padded to 33 words of 16 bytes")

/* parameter = threads that fill. */
#define GMT_VARIANTS_FILL(X) \
    X(fill, fill_thread, fill, 1, 4, bad, fill_block, 1, GMT_UNDEFINED, 1, "GM402", \
      "tile of 1024 words, filled by one thread") \
    X(fill, fill_warp, fill, 32, 4, bad, fill_block, 4, 100, 1, "GM402", \
      "tile of 1024 words, filled by one warp of eight") \
    X(fill, fill_block, fill, 256, 4, good, fill_block, 4, 100, 1, NULL, \
      "tile of 1024 words, filled by all threads")

/* parameter = words that are added up. */
#define GMT_VARIANTS_STAGED(X) \
    X(staged, staged_unread, staged_unread, 16, 4, bad, staged_read, 4, 100, GMT_UNDEFINED, \
      "GM403", "sums over 16 neighbours: tile filled, neighbours read from global memory") \
    X(staged, staged_read, staged_read, 16, 4, good, staged_read, 4, 100, 1, NULL, \
      "sums over 16 neighbours, read from the tile")

/* parameter = KiB of shared memory per block. */
#define GMT_VARIANTS_CARVE(X) \
    X(carve, carve_48, carve, 48, 4, bad, carve_12, 4, 100, 1, "GM404", \
      "copy through 48 KiB a block") \
    X(carve, carve_24, carve, 24, 4, bad, carve_12, 4, 100, 1, "GM404", \
      "copy through 24 KiB a block") \
    X(carve, carve_12, carve, 12, 4, good, carve_12, 4, 100, 1, NULL, \
      "copy through 12 KiB a block") \
    X(carve, carve_12_small, carve_small, 12, 4, bad, carve_12, 4, 100, 1, "GM404", \
      "copy through 12 KiB a block, a carve-out of 64 KiB asked for")

/* parameter = threads per block; 1024 are resident, held to half by shared memory in all variants. */
#define GMT_VARIANTS_BARRIER(X) \
    X(barrier, barrier_1024, barrier, 1024, 16, bad, barrier_256, 16, 100, 1, "GM505", \
      "float4 swapped between barriers, one block per multiprocessor") \
    X(barrier, barrier_512, barrier, 512, 16, neutral, barrier_256, 16, 100, 1, "GM404", \
      "the same warps in two blocks") \
    X(barrier, barrier_256, barrier, 256, 16, good, barrier_256, 16, 100, 1, "GM404", \
      "the same warps in four blocks")

#define GMT_VARIANTS_OF_SHARED(X) \
    GMT_VARIANTS_BANK(X) \
    GMT_VARIANTS_BANK_WIDE(X) \
    GMT_VARIANTS_TILE(X) \
    GMT_VARIANTS_FILL(X) \
    GMT_VARIANTS_STAGED(X) \
    GMT_VARIANTS_CARVE(X) \
    GMT_VARIANTS_BARRIER(X)

#endif
