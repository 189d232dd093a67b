/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels and ranges as numbers, in bounded memory. */
#ifndef GMT_STORE_STEPS_STEP_NAMES_H
#define GMT_STORE_STEPS_STEP_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/store/db/intern.h"

enum { GMT_STEP_NAMES = 16384 }; /* further ones have none */

struct gmt_step_names {
    struct gmt_intern ids;
    struct gmt_step_name {
        char *text;
        int64_t row;        /* string.id; 0: not stored yet */
        bool is_collective; /* a kernel of NCCL             */
    } * name;               /* by number - 1                */
    size_t count, capacity;
};

/* Zero-initialization is a table without names. */
void gmt_step_names_free(struct gmt_step_names *names);

/* Its number, from 1; 0: it is empty, there are too many, or there is no memory. */
uint32_t gmt_step_names_put(struct gmt_step_names *names, const char *text, size_t bytes);

/* NULL for 0. */
struct gmt_step_name *gmt_step_names_get(const struct gmt_step_names *names, uint32_t number);

#endif
