/* SPDX-License-Identifier: Apache-2.0 */
/* Reference kernels of the layout of data: structs, word sizes, rows, order. Columns: variants.h. */
#ifndef GMT_KERNELS_VARIANTS_VARIANTS_LAYOUT_H
#define GMT_KERNELS_VARIANTS_VARIANTS_LAYOUT_H

#define GMT_FAMILIES_OF_LAYOUT(X) \
    X(layout) \
    X(pitch) \
    X(order)

/* Device functions, one per body; gmt_kernel_<name> is what a profiler shows. */
#define GMT_KERNELS_OF_LAYOUT(X) \
    X(layout_field) \
    X(layout_field_apart) \
    X(layout_fields) \
    X(layout_fields_apart) \
    X(layout_pieces) \
    X(layout_whole) \
    X(layout_word) \
    X(pitch_packed) \
    X(pitch_padded) \
    X(order_add_rows) \
    X(order_add_columns) \
    X(order_scatter) \
    X(order_gather) \
    X(order_tile)

/* parameter = bytes of the struct; as many structs as fit the working set, in both layouts. */
#define GMT_VARIANTS_LAYOUT_FIELD(X) \
    X(layout, soa_field_12, layout_field_apart, 12, 4, good, soa_field_12, 4, 100, GMT_UNDEFINED, \
      NULL, "one field of each element, the field in an array of its own") \
    X(layout, aos_field_12, layout_field, 12, 4, bad, soa_field_12, 12, 100.0 / 3, GMT_UNDEFINED, \
      "GM304", "one field of each struct of 12 bytes") \
    X(layout, soa_field_16, layout_field_apart, 16, 4, good, soa_field_16, 4, 100, GMT_UNDEFINED, \
      NULL, "one field of each element, the field in an array of its own") \
    X(layout, aos_field_16, layout_field, 16, 4, bad, soa_field_16, 16, 25, GMT_UNDEFINED, \
      "GM304", "one field of each struct of 16 bytes") \
    X(layout, soa_field_32, layout_field_apart, 32, 4, good, soa_field_32, 4, 100, GMT_UNDEFINED, \
      NULL, "one field of each element, the field in an array of its own") \
    X(layout, aos_field_32, layout_field, 32, 4, bad, soa_field_32, 32, 12.5, GMT_UNDEFINED, \
      "GM304", "one field of each struct of 32 bytes")

/* The same, with all fields read, one by one, and their sum written. */
#define GMT_VARIANTS_LAYOUT_FIELDS(X) \
    X(layout, soa_fields_12, layout_fields_apart, 12, 4, good, soa_fields_12, 4, 100, \
      GMT_UNDEFINED, NULL, "all 3 fields of each element, each field in an array of its own") \
    X(layout, aos_fields_12, layout_fields, 12, 4, bad, soa_fields_12, 12, 100.0 / 3, \
      GMT_UNDEFINED, "GM304", "all 3 fields of each struct of 12 bytes, one load each") \
    X(layout, soa_fields_16, layout_fields_apart, 16, 4, good, soa_fields_16, 4, 100, \
      GMT_UNDEFINED, NULL, "all 4 fields of each element, each field in an array of its own") \
    X(layout, aos_fields_16, layout_fields, 16, 4, bad, soa_fields_16, 16, 25, GMT_UNDEFINED, \
      "GM305", "all 4 fields of each struct of 16 bytes, one load each where one would do") \
    X(layout, soa_fields_32, layout_fields_apart, 32, 4, good, soa_fields_32, 4, 100, \
      GMT_UNDEFINED, NULL, "all 8 fields of each element, each field in an array of its own") \
    X(layout, aos_fields_32, layout_fields, 32, 4, bad, soa_fields_32, 32, 12.5, GMT_UNDEFINED, \
      "GM304", "all 8 fields of each struct of 32 bytes, one load each")

/* parameter = words of an element (pieces, whole) or bytes of a word. */
#define GMT_VARIANTS_LAYOUT_TYPE(X) \
    X(layout, whole, layout_whole, 4, 16, good, whole, 16, 100, GMT_UNDEFINED, NULL, \
      "copy of elements of 16 bytes, aligned, in one access each") \
    X(layout, pieces_3, layout_pieces, 3, 4, neutral, whole, 12, 100.0 / 3, GMT_UNDEFINED, NULL, \
      "copy of as many structs of 3 floats, in three accesses each: no padding to move") \
    X(layout, pieces_4, layout_pieces, 4, 4, bad, whole, 16, 25, GMT_UNDEFINED, "GM305", \
      "copy of as many structs of 4 floats, in four accesses each") \
    X(layout, words_4, layout_word, 4, 4, good, words_4, 4, 100, GMT_UNDEFINED, NULL, \
      "copy in words of 4 bytes") \
    X(layout, words_2, layout_word, 2, 2, bad, words_4, 2, 100, GMT_UNDEFINED, "GM305", \
      "copy of as many bytes in words of 2") \
    X(layout, words_1, layout_word, 1, 1, bad, words_4, 1, 100, GMT_UNDEFINED, "GM305", \
      "copy of as many bytes in words of 1")

#define GMT_VARIANTS_LAYOUT_STRUCTS(X) \
    GMT_VARIANTS_LAYOUT_FIELD(X) \
    GMT_VARIANTS_LAYOUT_FIELDS(X) \
    GMT_VARIANTS_LAYOUT_TYPE(X)

/* parameter = floats of a row; both layouts have as many rows. Last warps of rows are partial. */
#define GMT_VARIANTS_PITCH(X) \
    X(pitch, padded_1001, pitch_padded, 1001, 4, good, padded_1001, 3.9375, GMT_UNDEFINED, \
      GMT_UNDEFINED, NULL, "copy of a matrix of 1001 columns, rows at multiples of 512 bytes") \
    X(pitch, packed_1001, pitch_packed, 1001, 4, bad, padded_1001, 4.78515625, GMT_UNDEFINED, \
      GMT_UNDEFINED, "GM203", "the same without a pitch: 7 of 8 rows start inside a sector") \
    X(pitch, padded_100, pitch_padded, 100, 4, good, padded_100, 3.25, GMT_UNDEFINED, \
      GMT_UNDEFINED, NULL, "copy of a matrix of 100 columns, rows at multiples of 512 bytes") \
    X(pitch, packed_100, pitch_packed, 100, 4, bad, padded_100, 3.625, GMT_UNDEFINED, \
      GMT_UNDEFINED, "GM203", "the same without a pitch: every other row starts inside a sector") \
    X(pitch, padded_1000, pitch_padded, 1000, 4, good, padded_1000, 3.90625, GMT_UNDEFINED, \
      GMT_UNDEFINED, NULL, "copy of a matrix of 1000 columns, rows at multiples of 512 bytes") \
    X(pitch, packed_1000, pitch_packed, 1000, 4, neutral, padded_1000, 3.90625, GMT_UNDEFINED, \
      GMT_UNDEFINED, NULL, "the same without a pitch: rows happen to start at sectors")

/*
 * Square matrices whose rows start at sectors. parameter = threads of a block along x, or words that
 * the rows of a tile are apart.
 */
#define GMT_VARIANTS_ORDER(X) \
    X(order, add_rows, order_add_rows, 32, 4, good, add_rows, 4, 100, GMT_UNDEFINED, NULL, \
      "sum of two matrices, threadIdx.x along rows") \
    X(order, add_columns, order_add_columns, 32, 4, bad, add_rows, 32, 12.5, GMT_UNDEFINED, \
      "GM302", "sum of two matrices, threadIdx.x along columns") \
    X(order, transpose_padded, order_tile, 33, 4, good, transpose_padded, 4, 100, 1, NULL, \
      "transpose through a tile whose rows are padded to 33 words") \
    X(order, transpose_tiled, order_tile, 32, 4, bad, transpose_padded, 4, 100, 32, "GM401", \
      "transpose through a tile of 32 x 32 words, read by columns") \
    X(order, transpose_scatter, order_scatter, 32, 4, bad, transpose_padded, 4, 100, \
      GMT_UNDEFINED, "GM302", "naive transpose: rows are read and columns written") \
    X(order, transpose_gather, order_gather, 32, 4, bad, transpose_padded, 32, 12.5, \
      GMT_UNDEFINED, "GM302", "naive transpose: columns are read and rows written")

#define GMT_VARIANTS_OF_LAYOUT(X) \
    GMT_VARIANTS_LAYOUT_STRUCTS(X) \
    GMT_VARIANTS_PITCH(X) \
    GMT_VARIANTS_ORDER(X)

#endif
