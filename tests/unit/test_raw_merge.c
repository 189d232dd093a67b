/* SPDX-License-Identifier: Apache-2.0 */
/* Documents of several processes: how they are joined, and the model that comes of it. */
#include <criterion/criterion.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "kernels/fit/model.h"
#include "kernels/fit/rawfile.h"

static void near(double value, double expected)
{
    cr_assert(fabs(value - expected) <= 1e-9 * fabs(expected), "%g, not %g", value, expected);
}

/* A process of two passes, each of one sample per series, all of which take that long. */
static json_t *measured(double time_ns, const char *note)
{
    json_t *raw = json_pack("{s:[{s:i},{s:i}]}", "passes", "cpu", 1, "cpu", 2);
    json_t *points = gmt_raw_array(gmt_raw_object(raw, "transfers"), "d2h_pageable_sync");
    json_t *rows = gmt_raw_array(gmt_raw_object(raw, "families"), "small_kernels");
    json_t *batch = gmt_raw_object(gmt_raw_object(raw, "batches"), "rows_512");
    json_t *row = json_pack("{s:s, s:{s:i}}", "variant", "one_stream", "work", "bytes_asked", 64);

    json_array_append_new(rows, row);
    json_object_set_new(batch, "rows", json_integer(512));
    for (unsigned pass = 0; pass < 2; pass++) {
        json_t *const series[] = {gmt_raw_point(points, 64), gmt_raw_point(points, 128), row, batch,
                                  gmt_raw_object(gmt_raw_object(raw, "costs"), "sync_ns")};

        for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++) {
            gmt_raw_sample(series[i], i == 3 ? "copy_2d_ns" : "samples_ns", time_ns + pass);
            gmt_raw_pass(series[i], pass);
        }
    }
    if (note != NULL) {
        gmt_raw_note(raw, note);
    }
    return raw;
}

static json_t *merged(void)
{
    json_t *all = json_pack("{s:s, s:i}", "format", GMT_RAW_FORMAT, "version", GMT_MODEL_VERSION);
    const double times[] = {7000, 5000, 6000};

    for (unsigned i = 0; i < 3; i++) {
        json_t *one = measured(times[i], "a note that all of them have");

        /* The second one is missing. */
        cr_assert_eq(gmt_raw_merge(all, one, i < 1 ? i : i + 1), 0);
        json_decref(one);
    }
    return all;
}

static void is_numbers(const json_t *array, const int *expected, size_t n)
{
    cr_assert_eq(json_array_size(array), n);
    for (size_t i = 0; i < n; i++) {
        cr_assert_eq(json_integer_value(json_array_get(array, i)), expected[i], "at %zu", i);
    }
}

Test(raw_merge, passes_go_on_counting_and_samples_keep_their_process)
{
    json_t *all = merged();
    const json_t *points = json_object_get(json_object_get(all, "transfers"), "d2h_pageable_sync");
    const json_t *point = json_array_get(points, 1);

    cr_assert_eq(json_array_size(points), 2, "a point was not found again");
    cr_assert_eq(json_integer_value(json_object_get(point, "bytes")), 128);
    is_numbers(json_object_get(point, "pass"), (int[]){0, 1, 2, 3, 4, 5}, 6);
    is_numbers(json_object_get(point, "process"), (int[]){0, 0, 2, 2, 3, 3}, 6);
    is_numbers(json_object_get(point, "samples_ns"), (int[]){7000, 7001, 5000, 5001, 6000, 6001},
               6);
    cr_assert_eq(json_array_size(json_object_get(all, "passes")), 6);
    cr_assert_eq(json_integer_value(
                     json_object_get(json_array_get(json_object_get(all, "passes"), 5), "process")),
                 3);
    cr_assert_eq(json_array_size(json_object_get(all, "notes")), 1);
    json_decref(all);
}

Test(raw_merge, every_part_of_the_model_goes_by_all_passes)
{
    char message[256];
    json_t *all = merged();
    json_t *model = gmt_model_from_raw(all, message, sizeof(message));
    cr_assert(model != NULL, "%s", message);
    const json_t *point = json_array_get(
        json_object_get(json_object_get(json_object_get(model, "transfers"), "d2h_pageable_sync"),
                        "points"),
        0);
    const json_t *batch = json_object_get(json_object_get(model, "batches"), "rows_512");
    const json_t *row = json_array_get(
        json_object_get(json_object_get(model, "families"), "small_kernels"), 0);

    near(json_number_value(json_object_get(point, "median_ns")), 5001);
    near(json_number_value(json_object_get(point, "spread_ns")), 2000);
    near(json_number_value(json_object_get(batch, "copy_2d_ns")), 5001);
    near(json_number_value(json_object_get(row, "median_ns")), 5001);
    near(json_number_value(json_object_get(
             json_object_get(json_object_get(model, "costs"), "sync_ns"), "median")),
         5001);
    cr_assert_null(json_object_get(point, GMT_RAW_PROCESS), "that is the raw file's");
    json_decref(model);
    json_decref(all);
}

Test(raw_merge, a_document_that_is_no_measurement_changes_nothing)
{
    static const char *const broken[] = {
        "[]",
        "{}",
        "{\"passes\": []}",
        "{\"passes\": [3], \"costs\": {}}",
        "{\"passes\": [{}], \"costs\": []}",
        "{\"passes\": [{}], \"costs\": {\"a\": {\"pass\": [0], \"samples_ns\": [1, 2]}}}",
        "{\"passes\": [{}], \"costs\": {\"a\": {\"pass\": [\"0\"], \"samples_ns\": [1]}}}",
        "{\"passes\": [{}], \"batches\": {\"a\": {\"points\": [7]}}}",
        "{\"passes\": [{}], \"transfers\": {\"a\": [{\"pass\": [0], \"samples_ns\": [null]}]}}",
    };
    json_t *all = merged(), *before = json_deep_copy(all);

    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        json_t *one = json_loads(broken[i], 0, NULL);

        cr_assert_not_null(one);
        cr_assert_eq(gmt_raw_merge(all, one, 4), -EINVAL, "%s", broken[i]);
        json_decref(one);
    }
    cr_assert(json_equal(all, before));
    json_decref(before);
    json_decref(all);
}
