/* SPDX-License-Identifier: Apache-2.0 */
/* Members of a device model by their types, and its curves. */
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/model/device_model_parse.h"

__attribute__((cold)) static void note_wrong(struct gmt_model *model, const char *key,
                                             const char *wanted)
{
    if (model->wrong[0] == '\0') {
        snprintf(model->wrong, sizeof(model->wrong), "\"%.64s\" is no %s", key, wanted);
    }
}

/* NULL for what is absent, null or of another type. */
static const json_t *member(struct gmt_model *model, const json_t *object, const char *key,
                            bool (*is)(const json_t *value), const char *wanted)
{
    const json_t *value = json_object_get(object, key);

    if (value == NULL || json_is_null(value)) {
        return NULL;
    }
    if (is(value)) {
        return value;
    }
    note_wrong(model, key, wanted);
    return NULL;
}

static bool is_number(const json_t *value)
{
    return json_is_number(value);
}

static bool is_text(const json_t *value)
{
    return json_is_string(value);
}

static bool is_truth(const json_t *value)
{
    return json_is_boolean(value);
}

static bool is_part(const json_t *value)
{
    return json_is_object(value);
}

static bool is_list_of_parts(const json_t *value)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(value, i, entry)
    {
        if (!json_is_object(entry)) {
            return false;
        }
    }
    return json_is_array(value);
}

double gmt_model_number(struct gmt_model *model, const json_t *object, const char *key)
{
    const json_t *value = member(model, object, key, is_number, "number");

    return value != NULL ? json_number_value(value) : NAN;
}

const char *gmt_model_text(struct gmt_model *model, const json_t *object, const char *key)
{
    return json_string_value(member(model, object, key, is_text, "text"));
}

bool gmt_model_truth(struct gmt_model *model, const json_t *object, const char *key)
{
    return json_is_true(member(model, object, key, is_truth, "true or false"));
}

json_t *gmt_model_part(struct gmt_model *model, const json_t *object, const char *key)
{
    return (json_t *)(uintptr_t)member(model, object, key, is_part, "object");
}

const json_t *gmt_model_list(struct gmt_model *model, const json_t *object, const char *key)
{
    return member(model, object, key, is_list_of_parts, "array of objects");
}

static int compare_points(const void *a, const void *b)
{
    const struct gmt_model_point *x = a, *y = b;

    return (x->x > y->x) - (x->x < y->x);
}

void gmt_model_read_curve(struct gmt_model *model, const json_t *array, const char *x_key,
                          const char *y_key, const char *spread_key, struct gmt_model_curve *curve)
{
    size_t i;
    json_t *entry;

    curve->n = 0;
    curve->points = gmt_arena_alloc(&model->arena,
                                    (json_array_size(array) + 1) * sizeof(*curve->points));
    if (curve->points == NULL) {
        return;
    }
    json_array_foreach(array, i, entry)
    {
        struct gmt_model_point point = {gmt_model_number(model, entry, x_key),
                                        gmt_model_number(model, entry, y_key),
                                        gmt_model_number(model, entry, spread_key)};

        /* Logarithms need positive values; a point that lacks one was not measured. */
        if (point.x > 0 && point.y > 0) {
            curve->points[curve->n++] = point;
        }
    }
    if (curve->n > 1) {
        qsort(curve->points, curve->n, sizeof(*curve->points), compare_points);
    }
}
