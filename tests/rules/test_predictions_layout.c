/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicted gains of other layouts against measured ones: counters and times of reference kernels on an
 * H200, driver 580.159.04, by gmcalibrate and a trace of its --once; priced with the shipped model,
 * which has none of these families. "Points" are points of the bad kernel's run time.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "analyzer/price/price_layout.h"
#include "tests/rules/fixture.h"

enum price { FIELD, WHOLE, NARROW, COLUMNS };

/*
 * X(what, price, loads, stores, bad_us, good_us, load and store requests per warp, bytes of a word,
 *   sectors per request of loads, of stores, L2 sectors read and written in millions, DRAM bytes read
 *   and written in millions, warps in thousands, occupancy in per cent, points)
 */
#define KERNELS(X) \
    X("field of 12", FIELD, 1, 0, 94.5, 67.1, 1, 1, 4, 12, 4, 8.389, 2.796, 268.4, 100.0, 699.048, \
      73, 5) \
    X("field of 16", FIELD, 1, 0, 84.5, 49.8, 1, 1, 4, 16, 4, 8.389, 2.097, 268.4, 80.7, 524.288, \
      75, 5) \
    X("field of 32", FIELD, 1, 0, 74.3, 25.9, 1, 1, 4, 32, 4, 8.389, 1.049, 266.3, 49.9, 262.144, \
      78, 5) \
    X("words of 12", WHOLE, 1, 0, 92.1, 91.9, 3, 1, 4, 12, 4, 8.389, 2.796, 268.5, 89.9, 699.048, \
      73, 5) \
    X("words of 16", WHOLE, 1, 0, 82.3, 81.9, 4, 1, 4, 16, 4, 8.389, 2.097, 268.4, 67.7, 524.288, \
      74, 5) \
    X("words of 32", WHOLE, 1, 0, 73.8, 72.2, 8, 1, 4, 32, 4, 8.389, 1.049, 267.8, 33.6, 262.144, \
      88, 5) \
    X("16 bytes moved", WHOLE, 1, 1, 129.0, 125.1, 4, 4, 4, 16, 16, 8.389, 9.668, 268.5, 267.9, \
      524.288, 78, 5) \
    X("words of 2", NARROW, 1, 1, 86.7, 51.3, 1, 1, 2, 2, 2, 2.097, 2.097, 67.1, 67.8, 1048.576, \
      73, 6) \
    X("words of 1", NARROW, 1, 1, 162.5, 51.3, 1, 1, 1, 1, 1, 2.097, 2.097, 67.1, 67.5, 2097.152, \
      70, 5) \
    X("sum down columns", COLUMNS, 1, 1, 552.9, 123.5, 2, 1, 4, 32, 32, 8.443, 33.543, 269.6, \
      137.9, 1048.352, 87, 5) \
    X("transpose, stores", COLUMNS, 0, 1, 511.9, 72.2, 1, 1, 4, 4, 32, 4.193, 33.543, 143.8, \
      143.9, 1048.352, 75, 5) \
    X("transpose, loads", COLUMNS, 1, 0, 162.6, 72.2, 1, 1, 4, 32, 4, 4.193, 4.193, 132.6, 136.1, \
      1048.352, 83, 8)

static const struct kernel {
    const char *what;
    enum price price;
    int loads, stores;
    double bad_us, good_us, load_requests, store_requests, width, load_sectors, store_sectors;
    double l2_read, l2_written, dram_read, dram_written, warps, occupancy, points;
} kernels[] = {
#define ROW(what, ...) {what, __VA_ARGS__},
    KERNELS(ROW)
#undef ROW
};

static struct gmt_tl_class class_of(const struct kernel *k)
{
    double loads = k->load_requests * k->warps * 1e3, stores = k->store_requests * k->warps * 1e3;
    struct gmt_tl_class class = {.grid = {(int64_t)(k->warps * 1e3 / 8), 1, 1},
                                 .block = {256, 1, 1},
                                 .theoretical_occupancy = 1,
                                 .median_ns = k->bad_us * 1e3,
                                 .footprint_bytes = NAN};
    const struct {
        enum gmt_metric_index metric;
        double value;
    } counters[] = {{GMT_M_global_load_bytes, loads * 32 * k->width},
                    {GMT_M_global_load_requests, loads},
                    {GMT_M_global_load_sectors, loads * k->load_sectors},
                    {GMT_M_global_store_bytes, stores * 32 * k->width},
                    {GMT_M_global_store_requests, stores},
                    {GMT_M_global_store_sectors, stores * k->store_sectors},
                    {GMT_M_l2_read_sectors, k->l2_read * 1e6},
                    {GMT_M_l2_write_sectors, k->l2_written * 1e6},
                    {GMT_M_dram_read_bytes, k->dram_read * 1e6},
                    {GMT_M_dram_write_bytes, k->dram_written * 1e6},
                    {GMT_M_achieved_occupancy_percent, k->occupancy}};

    for (size_t i = 0; i < GMT_METRICS; i++) {
        class.counter[i] = NAN;
    }
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        class.counter[counters[i].metric] = counters[i].value;
    }
    return class;
}

static struct gmt_gain price(const struct gmt_model *model, const struct kernel *k)
{
    struct gmt_timeline timeline = {.device = {.sm_count = 132, .max_threads_per_sm = 2048}};
    struct gmt_tl_class class = class_of(k);
    struct gmt_pattern pattern = {.kind = GMT_PATTERN_FIELDS,
                                  .loads = k->loads != 0,
                                  .stores = k->stores != 0,
                                  .struct_bytes = NAN};

    switch (k->price) {
    case FIELD: return gmt_price_access(model, &timeline, &class, true, false);
    case WHOLE: return gmt_price_whole_structs(model, &timeline, &class, &pattern);
    case NARROW: return gmt_price_narrow(model, &class, k->width);
    case COLUMNS: break;
    }
    return gmt_price_columns(model, &timeline, &class, &pattern);
}

Test(predictions, of_layouts_without_their_families)
{
    struct gmt_model model;
    char message[256] = "";
    double sum = 0;
    size_t n = sizeof(kernels) / sizeof(kernels[0]), inside = 0;
    int rc = gmt_model_read(&model, GMT_SOURCE_DIR "/kernels/models/nvidia-h200.json", message,
                            sizeof(message));

    cr_assert_eq(rc, 0, "%s", message);
    model.provenance = GMT_MODEL_CALIBRATED;
    for (size_t i = 0; i < n; i++) {
        const struct kernel *k = &kernels[i];
        struct gmt_gain gain = price(&model, k);
        double truth = 100 * (1 - k->good_us / k->bad_us), whole = k->bad_us * 10;
        double points = fabs(gain.best_ns / whole - truth);

        cr_log_info("%-18s truth %5.1f %%, predicted %5.1f %% (%.1f to %.1f): %.1f points", k->what,
                    truth, gain.best_ns / whole, gain.low_ns / whole, gain.high_ns / whole, points);
        cr_expect_leq(points, k->points, "%s: %.1f points", k->what, points);
        inside += gain.low_ns / whole <= truth && gain.high_ns / whole >= truth;
        sum += points;
    }
    cr_expect_leq(sum / (double)n, 3.5, "mean %.1f", sum / (double)n);
    cr_expect_geq(inside * 10, n * 8, "only %zu of %zu inside the interval", inside, n);
    gmt_model_free(&model);
}
