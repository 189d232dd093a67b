/* SPDX-License-Identifier: Apache-2.0 */
/* The words that titles of kernels are made of: types, functors, matrix products. */
#ifndef GMT_ANALYZER_BASE_TITLE_WORDS_H
#define GMT_ANALYZER_BASE_TITLE_WORDS_H

#include "analyzer/base/demangled.h"

enum { GMT_TITLE_TYPES = 3 };

/* Types of elements, each once, in the order of the name. */
struct gmt_title_types {
    const char *words[GMT_TITLE_TYPES];
    size_t count;
    bool index_only; /* all are integers that count or index as well */
};

/* "f32" of float; NULL: not a type of numbers. */
const char *gmt_title_type(const struct gmt_name_type *type);

/* Adds those among the types. An integer that may be an index stands only where nothing else does. */
void gmt_title_types_add(struct gmt_title_types *types, const struct gmt_name_type *list, size_t n);

/* The first that are found inside of a type, however deep. */
void gmt_title_types_within(struct gmt_title_types *types, const struct gmt_name_type *type,
                            int depth);

/* "mul" of MulFunctor, "direct_copy" of direct_copy_kernel_cuda. */
const char *gmt_title_operation(struct gmt_arena *arena, const char *text, size_t length);

/* The function that a lambda stands in; NULL: it is none, or that is not known. */
const struct gmt_name_part *gmt_title_lambda_owner(const struct gmt_name_type *type);

/*
 * "gemm 128x128x32 bf16", "attention fwd 64x64x64 f16"; NULL: it is no product of matrices, or its tile is not known.
 * `whole`: with what stands behind the tile in a name of one word, "gemm 64x8x64 f16 4x1_v_bz_splitK_bias_NNT".
 */
const char *gmt_title_product(struct gmt_arena *arena, const struct gmt_name_type *subject,
                              bool whole);

#endif
