/* SPDX-License-Identifier: Apache-2.0 */
/* What a single bad access costs: differences of the times of a bad and a good reference kernel. */
#include "kernels/fit/model_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * cost = (time of bad - time of good) / (work of bad - work of good), in ns of the whole device for
 * one access of one warp. Where the good one does none of that work, its work is 0.
 */
static const struct access_cost {
    const char *key, *family, *bad, *good, *work;
} access_costs[] = {
    /* a further different word in a read of constants */
    {"constant_word_ns", "constant", "constant_32", "constant_1", "constant_addresses"},
    /* a word that does not fit the registers: a store and a load. Of the three, spill_48 executes most
     * nearly as many as its frame has words: 95 % on an H200. */
    {"spilled_word_ns", "spill", "spill_48", "spill_none", "spilled_words"},
    /* a local load and store, beside the same in shared memory; lanes alike, lanes different */
    {"local_pair_ns", "spill", "array_uniform", "array_shared", "local_load_requests"},
    {"local_divergent_pair_ns", "spill", "array_divergent", "array_shared", "local_load_requests"},
};

static const json_t *row_of(const json_t *rows, const char *variant)
{
    size_t i;
    json_t *row;

    json_array_foreach(rows, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "variant"));

        if (name != NULL && strcmp(name, variant) == 0) {
            return row;
        }
    }
    return NULL;
}

static double work_of(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(json_object_get(row, "work"), key));
}

/*
 * Samples are taken in turns, so that the nth ones of both saw the same clocks: the statistic is that
 * of their differences. Below 0 there is only noise. 0, or a negative errno: -ENODATA where something was not measured.
 */
static int difference(const json_t *bad, const json_t *good, double work, struct gmt_stat *stat)
{
    const json_t *a = json_object_get(bad, "samples_ns"), *b = json_object_get(good, "samples_ns");
    size_t n = json_array_size(a);

    if (n == 0 || json_array_size(b) != n || !(work > 0)) {
        return -ENODATA;
    }
    double *samples = calloc(n, sizeof(*samples));
    if (samples == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(a, i), *y = json_array_get(b, i);

        samples[i] = json_is_number(x) && json_is_number(y)
                         ? fmax(0, json_number_value(x) - json_number_value(y)) / work
                         : NAN;
    }
    int rc = gmt_stat_of(samples, n, stat);
    free(samples);
    return rc;
}

/* Fractions of a nanosecond: gmt_stat_json would round them away. */
static json_t *cost_json(const struct gmt_stat *stat)
{
    json_t *object = json_object();

    gmt_json_put(object, "median", json_real(stat->median));
    gmt_json_put(object, "spread", json_real(stat->spread));
    gmt_json_put(object, "n", json_integer((json_int_t)stat->n));
    return object;
}

json_t *gmt_fit_access_costs(const json_t *families)
{
    json_t *costs = json_object();

    for (size_t i = 0; i < sizeof(access_costs) / sizeof(access_costs[0]); i++) {
        const struct access_cost *cost = &access_costs[i];
        const json_t *rows = json_object_get(families, cost->family);
        const json_t *bad = row_of(rows, cost->bad), *good = row_of(rows, cost->good);
        struct gmt_stat stat;

        if (difference(bad, good, work_of(bad, cost->work) - work_of(good, cost->work), &stat) ==
            0) {
            gmt_json_put(costs, cost->key, cost_json(&stat));
        }
    }
    return costs;
}
