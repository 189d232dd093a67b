/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that use a level as badly as it can be used: single sectors, and parts of sectors. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price.h"

/*
 * Lines that the stores of a warp lie in, in sectors per line: 1 .. 4. Each line is a pass of the data
 * stage, beside one for the data of each store and one for each load; NAN: not known. Strided loads
 * take passes that cannot be distinguished from those of the stores.
 */
static double sectors_per_line(const struct gmt_tl_class *class, const struct gmt_access *load,
                               const struct gmt_access *store)
{
    const double *c = class->counter;
    double shared = gmt_known(c[GMT_M_shared_load_wavefronts]) +
                    gmt_known(c[GMT_M_shared_store_wavefronts]);
    double lines = c[GMT_M_global_store_lines];

    if (isnan(lines) && !(gmt_access_ratio(load) >= GMT_STRIDED_RATIO)) {
        lines = c[GMT_M_lsu_wavefronts] - shared - gmt_known(load->requests) - store->requests;
    }
    return lines > 0 ? fmin(GMT_LINE_SECTORS, fmax(1, store->sectors / lines)) : NAN;
}

/* Between the rates of one sector, two and four to a line: as a power of the sectors. */
static double partial_rate(const struct gmt_model *model, double per_line)
{
    double low = model->partial_lines_per_s, high = model->partial_pairs_per_s;

    if (isnan(per_line)) {
        return model->partial_sectors_per_s;
    }
    if (per_line > 2) {
        low = model->partial_pairs_per_s;
        high = model->partial_sectors_per_s;
        per_line /= 2;
    }
    return low * pow(high / low, log2(per_line));
}

/* fmin would take the time of the launch for a rate that was not measured. */
static double at_most(double t_ns, double work_ns)
{
    return isnan(work_ns) ? NAN : fmin(t_ns, work_ns);
}

double gmt_price_partial_ns(const struct gmt_model *model, const struct gmt_tl_class *class)
{
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);

    if (!(gmt_access_ratio(&store) >= GMT_STRIDED_RATIO)) {
        return NAN;
    }
    double rate = partial_rate(model, sectors_per_line(class, &load, &store));
    return at_most(class->median_ns, store.sectors * 1e9 / rate);
}

/* Whether each sector that L2 asked for brought another one that nobody wanted. */
static bool are_lone(const double *c)
{
    return c[GMT_M_dram_read_bytes] >=
           GMT_LONE_SECTOR_RATIO * c[GMT_M_l2_read_sectors] * GMT_SECTOR_BYTES;
}

void gmt_price_scattered_ns(const struct gmt_model *model, const struct gmt_tl_class *class,
                            double *dram_ns, double *l2_ns)
{
    const double *c = class->counter;
    struct gmt_access load = gmt_access_of_loads(class);
    double dram = model->dram_scattered_sectors_per_s, l2 = model->l2_scattered_sectors_per_s;

    *dram_ns = *l2_ns = NAN;
    if (!(gmt_access_ratio(&load) >= GMT_STRIDED_RATIO) || isnan(class->median_ns)) {
        return;
    }
    /* In places that follow each other, single sectors are faster: no more than was measured. */
    if (are_lone(c)) {
        *dram_ns = at_most(class->median_ns,
                           c[GMT_M_dram_read_bytes] / GMT_DRAM_BYTES * 1e9 / dram);
    }
    *l2_ns = at_most(class->median_ns, c[GMT_M_l2_read_sectors] * 1e9 / l2);
}

double gmt_price_fill_bytes(const struct gmt_tl_class *class)
{
    const double *c = class->counter;
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);
    bool strided = gmt_access_ratio(&load) >= GMT_STRIDED_RATIO;
    /* Lone sectors bring a second one each. */
    double loaded = c[GMT_M_l2_read_sectors] * (strided ? GMT_DRAM_BYTES : GMT_SECTOR_BYTES);
    double fill = fmin(c[GMT_M_dram_read_bytes] - loaded,
                       c[GMT_M_l2_write_sectors] * GMT_SECTOR_BYTES);

    return store.sectors > store.ideal && fill > 0 ? fill : 0;
}
