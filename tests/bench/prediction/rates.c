/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates the rates that rules use in recorded calibrations, as rules evaluate them. */
#include "rates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/device_model.h"
#include "kernels/fit/fit.h"

#define POINTS_MOST 64
#define LARGEST_DECADE 1e10

/* Which rules read a member of the model, by its place in there: there is such a member. */
enum {
#define GMT_FIELD(field, rules) FIELD_##field = offsetof(struct gmt_model, field),
#define GMT_USED(part, curve, value, how, field)
#include "used.def"
#undef GMT_FIELD
#undef GMT_USED
};

static const struct field {
    size_t offset;
    const char *rules;
} fields[] = {
#define GMT_FIELD(field, rules) {FIELD_##field, rules},
#define GMT_USED(part, curve, value, how, field)
#include "used.def"
#undef GMT_FIELD
#undef GMT_USED
};

static const struct row {
    struct gmt_used_rate rate;
    size_t offset;
} rows[] = {
#define GMT_FIELD(field, rules)
#define GMT_USED(part, curve, value, how, field) \
    {{part, curve, value, GMT_EVALUATE_##how, NULL}, FIELD_##field},
#include "used.def"
#undef GMT_FIELD
#undef GMT_USED
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

bool gmt_used_rate(size_t i, struct gmt_used_rate *rate)
{
    if (i >= COUNT_OF(rows)) {
        return false;
    }
    *rate = rows[i].rate;
    for (size_t j = 0; j < COUNT_OF(fields); j++) {
        if (fields[j].offset == rows[i].offset) {
            rate->rules = fields[j].rules;
        }
    }
    return true;
}

size_t gmt_values_of(const json_t *array, double *values)
{
    size_t n = 0, i;
    json_t *value;

    json_array_foreach((json_t *)array, i, value)
    {
        if (json_is_number(value) && n < GMT_CALIBRATIONS_MOST) {
            values[n++] = json_number_value(value);
        }
    }
    return n;
}

double gmt_share_moved(const double *values, size_t n, double *middle)
{
    double sorted[GMT_CALIBRATIONS_MOST];
    struct gmt_stat stat = {.median = NAN};

    if (n < 2 || n > GMT_CALIBRATIONS_MOST) {
        return NAN;
    }
    memcpy(sorted, values, n * sizeof(*sorted));
    if (gmt_stat_of(sorted, n, &stat) != 0 || !(stat.median > 0)) {
        return NAN;
    }
    *middle = stat.median;
    return (sorted[n - 1] - sorted[0]) / stat.median;
}

/* The name without the row's curve and value, into `where`; false where it is another's. */
static bool place_of(const struct gmt_used_rate *rate, const char *name, char *where, size_t bytes)
{
    size_t curve = strlen(rate->curve), value = strlen(rate->value), length = strlen(name);
    bool is_whole = length == curve;

    if (strncmp(name, rate->curve, curve) != 0 || (curve > 0 && !is_whole && name[curve] != ' ')) {
        return false;
    }
    name += curve + (curve > 0 && !is_whole);
    length = strlen(name);
    if (value > 0) {
        if (length <= value + 1 || strcmp(name + length - value, rate->value) != 0) {
            return false;
        }
        length -= value + 1; /* and the space before it */
    }
    snprintf(where, bytes, "%.*s", (int)length, name);
    /* What is left is one word: not another value of the point, and not what is fitted to all. */
    return strchr(where, ' ') == NULL &&
           (rate->how == GMT_EVALUATE_EACH || strspn(where, "0123456789") == strlen(where));
}

static void add(struct gmt_moved *moves, size_t *n, size_t most, const char *where,
                const double *values, size_t count)
{
    double middle = NAN, share = gmt_share_moved(values, count, &middle);

    if (!isfinite(share) || *n == most) {
        return;
    }
    snprintf(moves[*n].where, sizeof(moves[*n].where), "%s", where);
    moves[*n].middle = middle;
    moves[(*n)++].share = share;
}

/* One curve for each calibration, of the points that all of them have. */
struct curves {
    struct gmt_model_point points[GMT_CALIBRATIONS_MOST][POINTS_MOST];
    size_t n, calibrations;
};

static void add_point(struct curves *curves, double bytes, const double *values, size_t count)
{
    if (count < 2 || curves->n == POINTS_MOST ||
        (curves->n > 0 &&
         (count != curves->calibrations || bytes <= curves->points[0][curves->n - 1].x))) {
        return;
    }
    curves->calibrations = count;
    for (size_t i = 0; i < count; i++) {
        curves->points[i][curves->n] = (struct gmt_model_point){bytes, values[i], 0};
    }
    curves->n++;
}

static size_t over_bytes(struct curves *curves, struct gmt_moved *moves, size_t most)
{
    size_t n = 0;

    for (double decade = 1; curves->n > 0 && decade <= LARGEST_DECADE; decade *= 10) {
        for (int digit = 1; digit <= 3; digit += 2) {
            double bytes = digit * decade, values[GMT_CALIBRATIONS_MOST];
            char where[32];

            if (bytes < curves->points[0][0].x || bytes > curves->points[0][curves->n - 1].x) {
                continue;
            }
            for (size_t i = 0; i < curves->calibrations; i++) {
                const struct gmt_model_curve curve = {.points = curves->points[i], .n = curves->n};

                values[i] = gmt_curve_at(&curve, bytes);
            }
            snprintf(where, sizeof(where), "%.0f", bytes);
            add(moves, &n, most, where, values, curves->calibrations);
        }
    }
    return n;
}

size_t gmt_rate_moves(const struct gmt_used_rate *rate, const json_t *quantities,
                      struct gmt_moved *moves, size_t most)
{
    struct curves *curves = calloc(1, sizeof(*curves));
    const char *name;
    json_t *array;
    size_t n = 0;

    if (curves == NULL) {
        return 0;
    }
    json_object_foreach((json_t *)quantities, name, array)
    {
        double values[GMT_CALIBRATIONS_MOST];
        size_t count = gmt_values_of(array, values);
        char where[sizeof(moves->where)];

        if (!place_of(rate, name, where, sizeof(where))) {
            continue;
        }
        if (rate->how == GMT_EVALUATE_EACH) {
            add(moves, &n, most, where, values, count);
        } else {
            add_point(curves, strtod(where, NULL), values, count);
        }
    }
    if (rate->how == GMT_EVALUATE_OVER) {
        n = over_bytes(curves, moves, most);
    }
    free(curves);
    return n;
}
