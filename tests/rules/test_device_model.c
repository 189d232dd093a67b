/* SPDX-License-Identifier: Apache-2.0 */
/* Reading values from the device model, and what the resource model predicts from them. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "analyzer/price/price.h"
#include "tests/rules/fixture.h"

static struct gmt_model_point points[] = {
    {100, 1000, 50}, {10000, 10000, 100}, {1000000, 1000000, 0}};
static const struct gmt_model_curve curve = {points, 3, NAN};

static void near(double value, double expected)
{
    cr_assert(fabs(value - expected) <= 1e-6 * fabs(expected), "%g, not %g", value, expected);
}

Test(curve, gives_its_points_back)
{
    for (size_t i = 0; i < 3; i++) {
        near(gmt_curve_at(&curve, points[i].x), points[i].y);
    }
}

Test(curve, is_a_line_between_its_points)
{
    near(gmt_curve_at(&curve, 1000), 1000 + 9000.0 * 900 / 9900);
    near(gmt_curve_at(&curve, 505000), 505000);
}

Test(curve, is_latency_below_and_bandwidth_above)
{
    near(gmt_curve_at(&curve, 1), 1000);
    near(gmt_curve_at(&curve, 10000000), 10000000);
}

/* Pinning, as recorded on an H200 up to 16 MiB: a power law would promise 79 ms for 1 GiB. */
Test(curve, goes_on_as_a_line_above_its_points)
{
    static struct gmt_model_point pin[] = {{1048576, 500937, 0}, {16777216, 3804009, 0}};
    static struct gmt_model_point falling[] = {{100, 50, 0}, {200, 40, 0}};
    const struct gmt_model_curve pinning = {pin, 2, NAN}, odd = {falling, 2, NAN};

    near(gmt_curve_at(&pinning, 1073741824), 3804009 + 63 * 16777216.0 * 3303072 / 15728640);
    near(gmt_curve_at(&odd, 1000), 40);
}

Test(curve, knows_where_latency_is_most_of_the_time)
{
    /* 10 us + n / 50 GB/s: four fifths are latency up to n / 50 = 2.5 us. */
    static struct gmt_model_point straight[] = {
        {4, 10000.08, 0}, {65536, 11310.72, 0}, {1048576, 30971.52, 0}, {1e9, 20010000, 0}};
    const struct gmt_model_curve line = {straight, 4, NAN};
    double bound = gmt_curve_latency_bound(&line, 0.8);

    cr_assert(fabs(bound / 125000 - 1) < 0.01, "%g", bound);
    cr_assert(fabs(gmt_curve_best_rate(&line) / 50 - 1) < 0.001);
}

Test(price, of_registered_memory_is_that_of_pinned_memory_where_only_that_is_known)
{
    static struct gmt_model_point some[] = {{1048576, 25000, 0}}, other[] = {{1048576, 26000, 0}};
    struct gmt_model model = {.provenance = GMT_MODEL_CALIBRATED};
    struct gmt_tl_copy copy = {.direction = GMT_DIR_D2H, .blocking = true};

    model.copy[1][GMT_HOST_PINNED][GMT_MODE_SYNC] = (struct gmt_model_curve){some, 1, NAN};
    near(gmt_curve_at(gmt_price_registered_curve(&model, &copy), 1048576), 25000);
    model.copy[1][GMT_HOST_REGISTERED][GMT_MODE_SYNC] = (struct gmt_model_curve){other, 1, NAN};
    near(gmt_curve_at(gmt_price_registered_curve(&model, &copy), 1048576), 26000);
}

Test(shapes, are_interpolated_by_width_and_rows)
{
    static struct gmt_model_shape grid[] = {
        {64, 32, 512, 4}, {64, 512, 512, 16}, {64, 512, 2048, 99}, {4000, 512, 4096, 1}};
    const struct gmt_model_shapes shapes = {grid, 4}, none = {NULL, 0};

    near(gmt_shapes_factor(&shapes, 64, 32), 4);
    near(gmt_shapes_factor(&shapes, 64, 128), 8);
    near(gmt_shapes_factor(&shapes, 64, 100000), 16);
    near(gmt_shapes_factor(&shapes, 1, 512), 16);
    near(gmt_shapes_factor(&shapes, sqrt(64 * 4000), 512), 4);
    near(gmt_shapes_factor(&shapes, 1e6, 8), 1);
    cr_assert(isnan(gmt_shapes_factor(&none, 64, 32)));
}

Test(curve, knows_nothing_when_empty)
{
    struct gmt_model_curve empty = {0};

    cr_assert(isnan(gmt_curve_at(&empty, 1)));
    cr_assert(isnan(gmt_curve_linear(&empty, 1)));
    cr_assert(isnan(gmt_curve_max(&empty)));
}

Test(curve, linear_is_clamped)
{
    near(gmt_curve_linear(&curve, 50), 1000);
    near(gmt_curve_linear(&curve, 5050), 5500);
    near(gmt_curve_linear(&curve, 2e6), 1000000);
}

/* Half of the bandwidth at a quarter of the bytes in flight, all of it from the whole on. */
Test(curve, more_bytes_in_flight_lift_a_rate_from_its_own_place)
{
    static struct gmt_model_point rows[] = {{0.25, 50, 0}, {0.5, 80, 0}, {1, 100, 0}};
    const struct gmt_model_curve rates = {.points = rows, .n = 3}, none = {0};

    near(gmt_curve_lifted(&rates, 50, 2), 80);
    near(gmt_curve_lifted(&rates, 90, 1), 90);
    /* Below the first point, as many times the bytes give as many times the rate. */
    near(gmt_curve_lifted(&rates, 10, 3), 30);
    near(gmt_curve_lifted(&rates, 25, 4), 80);
    near(gmt_curve_lifted(&rates, 80, 8), 100);
    /* What is faster than the calibration's best stays as it is. */
    near(gmt_curve_lifted(&rates, 110, 2), 110);
    cr_assert(isnan(gmt_curve_lifted(&none, 50, 2)));
    cr_assert(isnan(gmt_curve_lifted(&rates, NAN, 2)));
}

Test(model, is_judged_by_uuid_then_by_name)
{
    struct gmt_model model = {.device_name = "A", .device_uuid = "GPU-1"};

    cr_assert_eq(gmt_model_judge(&model, "A", "GPU-1"), GMT_MODEL_CALIBRATED);
    cr_assert_eq(gmt_model_judge(&model, "A", "GPU-2"), GMT_MODEL_SAME_NAME);
    cr_assert_eq(gmt_model_judge(&model, "B", "GPU-2"), GMT_MODEL_MODELLED);
    cr_assert_eq(gmt_model_judge(&model, NULL, NULL), GMT_MODEL_MODELLED);
}

#define GMT_MODEL_HEAD "{\"format\":\"gmtrace-device-model\",\"version\":1,"

Test(model, refuses_what_is_none)
{
    static const char *const wrong[] = {"",
                                        "[]",
                                        "{}",
                                        "{\"format\":\"gmtrace-device-model\"}",
                                        "{\"format\":\"gmtrace-device-model\",\"version\":99}",
                                        "{\"format\":\"x\",\"version\":1}",
                                        GMT_MODEL_HEAD "\"rates\":{\"a\":{\"median\":-1}}}",
                                        GMT_MODEL_HEAD "\"costs\":[{\"median_ns\":1e300}]}"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct gmt_model model;
        char message[256] = "";

        cr_assert_lt(
            gmt_model_parse(&model, wrong[i], strlen(wrong[i]), "x", message, sizeof(message)), 0);
        cr_assert_gt(strlen(message), 0);
        gmt_model_free(&model);
    }
}

static struct gmt_tl_class class_of(double t_ns)
{
    struct gmt_tl_class class = {.grid = {132000, 1, 1},
                                 .block = {256, 1, 1},
                                 .theoretical_occupancy = 1,
                                 .median_ns = t_ns,
                                 .footprint_bytes = NAN};

    for (size_t i = 0; i < GMT_METRICS; i++) {
        class.counter[i] = NAN;
    }
    return class;
}

Test(model, with_nothing_in_it_prices_nothing)
{
    static const char text[] = "{\"format\":\"gmtrace-device-model\",\"version\":1}";
    struct gmt_model model;
    char message[256];

    cr_assert_eq(gmt_model_parse(&model, text, strlen(text), "x", message, sizeof(message)), 0);
    struct gmt_tl_class class = class_of(1e6);
    struct gmt_timeline timeline = {.device = {.sm_count = 132, .max_threads_per_sm = 2048}};
    struct gmt_work work = {.dram_bytes = 1e9, .l2_sectors = 1e7, .l1_sectors = 1e7};
    struct gmt_repair repair = {work, work, work, 0.5, 1e6, false};
    cr_assert(isnan(gmt_price_repair(&model, &timeline, &class, &repair).best_ns));
    gmt_model_free(&model);
}

static struct gmt_model_point occupancy_points[] = {{0.5, 2.1e12, 0}, {1.0, 2.65e12, 0}};

/* A series on an H200: copies whose loads lie 8 words apart, one load in flight per thread. */
Test(price, keeps_the_term_that_the_fix_does_not_improve)
{
    struct gmt_model model = {.provenance = GMT_MODEL_CALIBRATED,
                              .dram_bytes_per_s = 4.4e12,
                              .dram_copy_bytes_per_s = NAN,
                              .l2_sectors_per_s = NAN,
                              .l1_sectors_per_s = NAN,
                              .shared_wavefronts_per_s = NAN,
                              .occupancy = {occupancy_points, 2, NAN}};
    struct gmt_timeline timeline = {.device = {.sm_count = 132, .max_threads_per_sm = 2048}};
    struct gmt_tl_class class = class_of(542e3);
    struct gmt_work bad = {.dram_bytes = 2.416e9}, good = {.dram_bytes = 0.537e9};
    struct gmt_repair repair = {bad, good, bad, 0.875, 4.2e6, false};

    class.counter[GMT_M_achieved_occupancy_percent] = 100;
    struct gmt_gain gain = gmt_price_repair(&model, &timeline, &class, &repair);
    /* Measured: 542 us became 203 us, 63 % less. Bytes alone would promise 78 %. */
    cr_assert(fabs(gain.best_ns / 542e3 - 0.625) < 0.02, "%g", gain.best_ns / 542e3);
    cr_assert_lt(gain.low_ns, gain.best_ns);
    cr_assert_gt(gain.high_ns, gain.best_ns);
}

/* Few memory instructions in a long kernel: whatever their pattern, they did not take its time. */
Test(price, does_not_blame_memory_for_what_it_cannot_have_taken)
{
    struct gmt_model model = {.provenance = GMT_MODEL_CALIBRATED,
                              .dram_bytes_per_s = 4.4e12,
                              .dram_copy_bytes_per_s = NAN,
                              .l2_sectors_per_s = 2.5e11,
                              .l1_sectors_per_s = 9e11,
                              .shared_wavefronts_per_s = NAN,
                              .dram_load_ns = 400};
    struct gmt_timeline timeline = {.device = {.sm_count = 132, .max_threads_per_sm = 2048}};
    struct gmt_tl_class class = class_of(1e6);
    struct gmt_work bad = {.l2_sectors = 1e6, .l1_sectors = 1e6};
    struct gmt_work good = {.l2_sectors = 1.25e5, .l1_sectors = 1.25e5};
    struct gmt_repair repair = {bad, good, bad, 0.875, 32e3, false};

    cr_assert_lt(gmt_price_repair(&model, &timeline, &class, &repair).best_ns, 0.05 * 1e6);
}
