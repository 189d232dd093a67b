/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that were taken in passes: what stands for them, and how a model is made of them. */
#include <criterion/criterion.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "kernels/fit/fit.h"
#include "kernels/fit/model.h"
#include "kernels/fit/rawfile.h"

static void near(double value, double expected)
{
    cr_assert(fabs(value - expected) <= 1e-9 * fabs(expected), "%g, not %g", value, expected);
}

Test(passes, the_quickest_third_stands_for_all_and_the_spread_for_the_others)
{
    const double samples[] = {15, 14, 16, 10, 11, 90, 13, 12, 14};
    const double pass_of[] = {0, 0, 0, 1, 1, 1, 2, 2, 2};
    struct gmt_stat stat;

    cr_assert_eq(gmt_stat_passes(samples, pass_of, 9, &stat), 0);
    near(stat.median, 11); /* the medians are 15, 11 and 13 */
    cr_assert_eq(stat.n, 9);
    /* From below that to 9/10 of the way from the 8th sample to the 9th, which is far off. */
    cr_assert(stat.spread > 15 - 11 && stat.spread < 90 - 10, "%g", stat.spread);
}

Test(passes, that_a_neighbour_slowed_do_not_move_it)
{
    const double idle[] = {10, 10, 10, 10, 10, 10}, busy[] = {10, 17, 10, 19, 14, 11};
    const double pass_of[] = {0, 1, 2, 3, 4, 5};
    struct gmt_stat one, other;

    cr_assert_eq(gmt_stat_passes(idle, pass_of, 6, &one), 0);
    cr_assert_eq(gmt_stat_passes(busy, pass_of, 6, &other), 0);
    near(other.median, one.median);
    cr_assert(other.spread > one.spread);
}

Test(passes, count_once_each_however_many_samples_they_have)
{
    const double samples[] = {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 20};
    const double pass_of[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    struct gmt_stat stat;

    cr_assert_eq(gmt_stat_passes(samples, pass_of, 12, &stat), 0);
    near(stat.median, 10);
    near(stat.spread, 9);
}

Test(passes, without_samples_or_with_samples_that_are_no_times_are_refused)
{
    const double samples[] = {10, -1}, pass_of[] = {0, 1};
    struct gmt_stat stat;

    cr_assert_eq(gmt_stat_passes(samples, pass_of, 0, &stat), -EINVAL);
    cr_assert_eq(gmt_stat_passes(samples, pass_of, 2, &stat), -EINVAL);
}

/* A point, and a cost without a size, measured three times in each of two passes. */
static json_t *document(bool with_passes)
{
    json_t *raw = json_pack("{s:s, s:i}", "format", GMT_RAW_FORMAT, "version", GMT_MODEL_VERSION);
    json_t *points = gmt_raw_array(gmt_raw_object(raw, "transfers"), "h2d_pinned_sync");
    json_t *point = gmt_raw_point(points, 64);
    json_t *launch = gmt_raw_object(gmt_raw_object(raw, "costs"), "launch_ns");

    for (unsigned i = 0; i < 6; i++) {
        double time_ns = (i < 3 ? 9000 : 6000) + 10.0 * i;

        gmt_raw_sample(point, "samples_ns", time_ns);
        gmt_raw_sample(point, "call_ns", time_ns / 2);
        gmt_raw_sample(launch, "samples_ns", time_ns / 3);
        if (with_passes) {
            gmt_raw_pass(point, i / 3);
            gmt_raw_pass(launch, i / 3);
        }
    }
    return raw;
}

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

Test(passes, of_every_series_of_a_point_make_its_model)
{
    char message[256];
    json_t *raw = document(true);
    json_t *model = gmt_model_from_raw(raw, message, sizeof(message));
    cr_assert(model != NULL, "%s", message);
    const json_t *curve = json_object_get(json_object_get(model, "transfers"), "h2d_pinned_sync");
    const json_t *point = json_array_get(json_object_get(curve, "points"), 0);
    const json_t *launch = json_object_get(json_object_get(model, "costs"), "launch_ns");

    near(number_of(point, "median_ns"), 6040);
    near(number_of(point, "call_ns"), 3020);
    cr_assert(number_of(point, "spread_ns") >= 0.9 * (9010 - 6040));
    near(number_of(point, "n"), 6);
    cr_assert_null(json_object_get(point, GMT_RAW_PASS), "that is the raw file's");
    near(number_of(launch, "median"), 2013);
    json_decref(model);
    json_decref(raw);
}

Test(passes, that_a_file_does_not_mention_make_one)
{
    char message[256];
    json_t *raw = document(false);
    json_t *model = gmt_model_from_raw(raw, message, sizeof(message));
    cr_assert(model != NULL, "%s", message);
    const json_t *curve = json_object_get(json_object_get(model, "transfers"), "h2d_pinned_sync");

    near(number_of(json_array_get(json_object_get(curve, "points"), 0), "median_ns"),
         (9000 + 6050) / 2.0);
    json_decref(model);
    json_decref(raw);
}

/* launch_bound is bound by the host, and the graph is what it is measured against. */
Test(passes, of_a_family_that_the_host_bounds_make_its_model)
{
    static const char *const names[] = {"launches", "graph"};
    char message[256];
    json_t *raw = document(true);
    json_t *rows = gmt_raw_array(gmt_raw_object(raw, "families"), "launch_bound");

    for (unsigned i = 0; i < 2; i++) {
        json_t *row = json_pack("{s:s, s:{}}", "variant", names[i], "work");

        for (unsigned j = 0; j < 4; j++) {
            gmt_raw_sample(row, "samples_ns", (j < 2 ? 900000 : 1200000) / (i + 1.0));
            gmt_raw_pass(row, j / 2);
        }
        json_array_append_new(rows, row);
    }
    json_t *model = gmt_model_from_raw(raw, message, sizeof(message));
    cr_assert(model != NULL, "%s", message);
    const json_t *row = json_array_get(
        json_object_get(json_object_get(model, "families"), "launch_bound"), 0);

    near(number_of(row, "median_ns"), 900000);
    near(number_of(row, "relative_time"), 2);
    cr_assert(number_of(row, "spread_ns") >= 0.9 * 300000);
    cr_assert(json_is_false(json_object_get(model, "noisy")), "the host moved, not the device");
    json_decref(model);
    json_decref(raw);
}
