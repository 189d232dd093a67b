/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of an allocation whose content is known from a copy. */
#ifndef GMT_ANALYZER_MEMORY_CONTENT_RANGES_H
#define GMT_ANALYZER_MEMORY_CONTENT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A range, known from one copy. */
struct gmt_content_range {
    int64_t offset, bytes;
    int32_t copy; /* that filled or read it */
    int32_t
        doubt; /* 0: none; a class of kernels + 1, or one of enum gmt_doubt, may have written it */
    int64_t serial; /* of that copy's event */
};

struct gmt_content_ranges {
    struct gmt_content_range *rows; /* disjoint, by offset */
    size_t count, capacity;
};

/* Index of the first place that ends behind `offset`. */
size_t gmt_content_ranges_behind(const struct gmt_content_ranges *places, int64_t offset);
/* The place of exactly this extent, or NULL. */
struct gmt_content_range *gmt_content_ranges_find(const struct gmt_content_ranges *places,
                                                  int64_t offset, int64_t bytes);
/* Nothing is known of [offset, offset + bytes) any more. */
void gmt_content_ranges_forget(struct gmt_content_ranges *places, int64_t offset, int64_t bytes);
/* Put it in, and forget what it overlaps. False: no memory. */
bool gmt_content_ranges_remember(struct gmt_content_ranges *places,
                                 const struct gmt_content_range *place);

#endif
