/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels are launched, and take the time of the device: a table of fixed size with the busiest. */
#ifndef GMT_STORE_LIVE_LIVE_KERNELS_H
#define GMT_STORE_LIVE_LIVE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "libtrace/store/db/intern.h"
#include "libtrace/store/live/live_page.h"

enum { GMT_LIVE_KERNEL_PLACES = 1024 };

struct gmt_live_kernels {
    struct gmt_intern ids; /* name of a kernel -> the first gmt_kernel.id that has it   */
    struct gmt_live_kernel_name {
        char *text;
        uint32_t first; /* of the kernels of that name */
    } * names;          /* by gmt_kernel.id                                             */
    size_t name_count;
    struct gmt_live_kernel row[GMT_LIVE_KERNELS];
    uint64_t weight[GMT_LIVE_KERNELS];     /* of late: the least goes where there is no row left */
    uint8_t place[GMT_LIVE_KERNEL_PLACES]; /* by hash: where it was last                         */
};

/* Zero-initialization is an empty table. */
void gmt_live_kernels_free(struct gmt_live_kernels *kernels);

/* A kernel of that number and name is known from now on. 0 or -ENOMEM. */
int gmt_live_kernels_name(struct gmt_live_kernels *kernels, uint32_t kernel, const char *name,
                          size_t room);

/* It was launched. */
void gmt_live_kernels_launch(struct gmt_live_kernels *kernels, uint32_t kernel,
                             const uint32_t grid[static 3], const uint32_t block[static 3]);

/* A device has executed a kernel of that name; nothing where no kernel of that name is known. */
void gmt_live_kernels_device(struct gmt_live_kernels *kernels, const char *name, size_t room,
                             const uint32_t grid[static 3], const uint32_t block[static 3],
                             uint64_t ns);

/* What was busy long ago counts less from now on. */
void gmt_live_kernels_age(struct gmt_live_kernels *kernels);

/* Copy the rows, with their names. */
void gmt_live_kernels_put(const struct gmt_live_kernels *kernels, struct gmt_live_page *page);

#endif
