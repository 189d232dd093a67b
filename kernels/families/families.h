/* SPDX-License-Identifier: Apache-2.0 */
/* Families of reference kernels: what each can do, and the table of them. */
#ifndef GMT_KERNELS_FAMILIES_FAMILIES_H
#define GMT_KERNELS_FAMILIES_FAMILIES_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernels/bench/bench.h"
#include "kernels/families/variant_work.h"
#include "kernels/variants/variants.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A family of variants. prepare (may be NULL) writes what the kernels read into the arena; launch
 * enqueues the variant once on the stream; work says what a launch does. Each returns 0 or a
 * negative errno with bench->error set; -ENOTSUP without a message from work: this device cannot
 * run the variant.
 */
struct gmt_family {
    const char *name;
    int (*prepare)(struct gmt_bench *bench);
    int (*launch)(struct gmt_bench *bench, const struct gmt_variant *variant);
    int (*work)(struct gmt_bench *bench, const struct gmt_variant *variant,
                struct gmt_variant_work *work);
    unsigned launches_timed; /* in each sample, which is their mean; 0: one */
    bool host_bound;         /* how fast the host launches counts: measured in the passes */
};

#define GMT_ROW(name) extern const struct gmt_family gmt_family_##name;
GMT_FAMILIES(GMT_ROW)
#undef GMT_ROW

/* All of them, in the order of GMT_FAMILIES. */
extern const struct gmt_family *const gmt_families[];
extern const size_t gmt_family_count;

/* Enqueues a kernel that reads (or writes) the memory once, 16 bytes per lane, coalesced. */
cudaError_t gmt_launch_sweep(struct gmt_bench *bench, void *memory, size_t bytes, bool write);

#ifdef __cplusplus
}
#endif

#endif
