/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of reading a device model, shared between the files that do so. */
#ifndef GMT_ANALYZER_DEVICE_MODEL_PARSE_H
#define GMT_ANALYZER_DEVICE_MODEL_PARSE_H

#include <jansson.h>
#include <math.h>

#include "analyzer/device_model.h"

/* NAN for what is no number. */
static inline double gmt_model_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* The points of an array that have both values, ascending. */
void gmt_model_read_curve(struct gmt_model *model, const json_t *array, const char *x_key,
                          const char *y_key, const char *spread_key, struct gmt_model_curve *curve);

/* Copies, runs of them, 2-D copies, mapped memory and costs of calls. */
void gmt_model_read_copies(struct gmt_model *model, const json_t *root);

#endif
