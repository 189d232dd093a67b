/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the device model, shared between the files that fit them. */
#ifndef GMT_KERNELS_FIT_MODEL_PARTS_H
#define GMT_KERNELS_FIT_MODEL_PARTS_H

#include <jansson.h>
#include <stdbool.h>

#include "kernels/fit/fit.h"
#include "kernels/variants/variants.h"

#define GMT_NOISE_SERIES_MAX 1024

/* Relative spreads of the kernels seen so far. */
struct gmt_noise {
    double relative[GMT_NOISE_SERIES_MAX];
    size_t n;
    double worst;
    char worst_variant[64];
};

/* Takes over the reference to value; a NULL value is left out. */
void gmt_json_put(json_t *object, const char *key, json_t *value);
json_t *gmt_json_rounded(double value);

/* gmt_stat_of and gmt_stat_rate over a JSON array of times in ns; same errors. */
int gmt_samples_stat(const json_t *array, struct gmt_stat *stat);

/* The same of a series of the object, which may say in which passes and processes they were taken. */
int gmt_series_stat(const json_t *object, const json_t *series, struct gmt_stat *stat);

int gmt_samples_rate(const json_t *array, double work, struct gmt_stat *rate);
json_t *gmt_stat_json(const struct gmt_stat *stat);

/*
 * Each takes a part of the raw file and returns that part of the model, or NULL when it is
 * unusable.
 */
json_t *gmt_fit_point_sets(const json_t *raw, bool with_curve);
json_t *gmt_fit_batches(const json_t *raw);
json_t *gmt_fit_costs(const json_t *raw);
json_t *gmt_fit_families(const json_t *raw, struct gmt_noise *noise, char *message, size_t bytes);

/* Each takes the raw families; what was not measured is absent. */
json_t *gmt_fit_rates(const json_t *families);
json_t *gmt_fit_latencies(const json_t *families);
json_t *gmt_fit_access_costs(const json_t *families);
json_t *gmt_fit_occupancy(const json_t *families, enum gmt_variant_kernel kernel);

/* Adds noisy and noise to the model. */
void gmt_fit_noise(json_t *model, struct gmt_noise *noise);
/* The same for the bus, from the model's own transfers; after gmt_fit_noise. */
void gmt_fit_copy_noise(json_t *model);
/* The same for other processes' turns on the device, from the model's own costs. */
void gmt_fit_wait_noise(json_t *model);

#endif
