/* SPDX-License-Identifier: Apache-2.0 */
/* What one launch of a variant does: the counters that it must show. */
#ifndef GMT_KERNELS_FAMILIES_VARIANT_WORK_H
#define GMT_KERNELS_FAMILIES_VARIANT_WORK_H

#ifdef __cplusplus
extern "C" {
#endif

struct json_t;

/* What one launch of a variant does, computed from the launch shape. Zero = none of it. */
struct gmt_variant_work {
    double bytes_asked; /* global bytes that requests ask for; what lanes share counts once */
    double load_requests;
    double load_sectors;
    double store_requests;
    double store_sectors;
    double shared_load_requests;
    double shared_load_bytes;
    double wavefronts; /* of the shared loads */
    double ideal_wavefronts;
    double local_load_requests;
    double constant_requests;
    double constant_addresses; /* different ones of each request, summed */
    double spilled_words;      /* words of the frame, once for each round and warp */
    double blocks_per_sm;      /* of the occupancy family, 0 elsewhere */
    double warps_per_sm;
    double occupancy;
    double dependent_loads; /* length of the chain in each thread */
};

/* The counters of one launch as an object; what there is none of is left out. The caller owns it. */
struct json_t *gmt_variant_work_json(const struct gmt_variant_work *work);

#ifdef __cplusplus
}
#endif

#endif
