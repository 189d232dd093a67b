/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch asks of each resource, from its counters. */
#include "analyzer/price/work.h"

#include <math.h>

#include "analyzer/base/thresholds.h"

/* Warp schedulers of a multiprocessor, each of which issues one instruction per cycle: Volta on. */
enum { SCHEDULERS = 4 };

static double sum_known(double a, double b)
{
    if (isnan(a)) {
        return b;
    }
    return isnan(b) ? a : a + b;
}

/* Time in which the schedulers could have issued the executed instructions; NAN: not measured. */
static double issue_time(const struct gmt_timeline *timeline, const struct gmt_tl_class *class)
{
    const double *c = class->counter;
    double slots = SCHEDULERS * (double)timeline->device.sm_count * c[GMT_M_sm_cycles_active];

    /* fmin would take the other one for what was not measured. */
    if (!(slots > 0) || isnan(c[GMT_M_instructions])) {
        return NAN;
    }
    return class->median_ns * fmin(1.0, c[GMT_M_instructions] / slots);
}

struct gmt_work gmt_work_of_class(const struct gmt_timeline *timeline,
                                  const struct gmt_tl_class *class)
{
    const double *c = class->counter;
    double local = sum_known(c[GMT_M_local_load_sectors], c[GMT_M_local_store_sectors]);
    double locals = sum_known(c[GMT_M_local_load_requests], c[GMT_M_local_store_requests]);

    return (struct gmt_work){
        .dram_bytes = sum_known(c[GMT_M_dram_read_bytes], c[GMT_M_dram_write_bytes]),
        .l2_sectors = sum_known(c[GMT_M_l2_read_sectors], c[GMT_M_l2_write_sectors]),
        .l1_sectors = sum_known(
            sum_known(c[GMT_M_global_load_sectors], c[GMT_M_global_store_sectors]), local),
        .shared_wavefronts = sum_known(c[GMT_M_shared_load_wavefronts],
                                       c[GMT_M_shared_store_wavefronts]),
        .issue_ns = issue_time(timeline, class),
        .l1_requests = sum_known(
            sum_known(c[GMT_M_global_load_requests], c[GMT_M_global_store_requests]), locals)};
}

/* ideal: as counted, NAN: not counted. */
static struct gmt_access access_of(double bytes, double sectors, double requests, double ideal)
{
    struct gmt_access access = {bytes, sectors, requests, bytes / GMT_SECTOR_BYTES};

    if (isfinite(ideal)) {
        access.ideal = ideal;
        return access;
    }

    /* A request of one word still needs a sector. */
    if (requests > access.ideal) {
        access.ideal = requests;
    }
    return access;
}

struct gmt_access gmt_access_of_loads(const struct gmt_tl_class *class)
{
    const double *c = class->counter;

    return access_of(c[GMT_M_global_load_bytes], c[GMT_M_global_load_sectors],
                     c[GMT_M_global_load_requests], c[GMT_M_global_load_ideal_sectors]);
}

struct gmt_access gmt_access_of_stores(const struct gmt_tl_class *class)
{
    const double *c = class->counter;

    return access_of(c[GMT_M_global_store_bytes], c[GMT_M_global_store_sectors],
                     c[GMT_M_global_store_requests], c[GMT_M_global_store_ideal_sectors]);
}

double gmt_access_ratio(const struct gmt_access *access)
{
    return access->ideal > 0 && isfinite(access->sectors) ? access->sectors / access->ideal : NAN;
}
