/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of reading a device model, shared between the files that do so. */
#ifndef GMT_ANALYZER_MODEL_DEVICE_MODEL_PARSE_H
#define GMT_ANALYZER_MODEL_DEVICE_MODEL_PARSE_H

#include <jansson.h>
#include <math.h>
#include <stdint.h>

#include "analyzer/model/device_model.h"

/*
 * Members by their type. What is absent or null was not measured: NAN, NULL, false. What is of another type
 * makes the model unusable: model->wrong names its key.
 */
double gmt_model_number(struct gmt_model *model, const json_t *object, const char *key);
const char *gmt_model_text(struct gmt_model *model, const json_t *object, const char *key);
bool gmt_model_truth(struct gmt_model *model, const json_t *object, const char *key);
json_t *gmt_model_part(struct gmt_model *model, const json_t *object, const char *key);
/* An array of objects. */
const json_t *gmt_model_list(struct gmt_model *model, const json_t *object, const char *key);

/* The points of an array that have both values, ascending. */
void gmt_model_read_curve(struct gmt_model *model, const json_t *array, const char *x_key,
                          const char *y_key, const char *spread_key, struct gmt_model_curve *curve);

/* Copies, runs of them, 2-D copies, mapped memory and costs of calls. */
void gmt_model_read_copies(struct gmt_model *model, const json_t *root);

#endif
