/* SPDX-License-Identifier: Apache-2.0 */
/* The device model file: made from raw timings, compared with another; plain C, no CUDA. */
#ifndef GMT_KERNELS_FIT_MODEL_H
#define GMT_KERNELS_FIT_MODEL_H

#include <jansson.h>
#include <stdio.h>

#define GMT_MODEL_FORMAT "gmtrace-device-model"
#define GMT_RAW_FORMAT "gmtrace-calibration-raw"
#define GMT_MODEL_VERSION 1

/*
 * Fits a device model to raw timings (both are described in docs/device-model.md). Every part of
 * the raw file is optional: what was not measured is absent from the model.
 * A new reference that the caller owns, or NULL with one line in message.
 */
json_t *gmt_model_from_raw(const json_t *raw, char *message, size_t message_bytes);

/*
 * Compares two models number by number; created, command and tool_version may differ. Prints one
 * line per difference above the relative tolerance to out (which may be NULL). The number of
 * differences.
 */
size_t gmt_model_compare(const json_t *refitted, const json_t *model, double tolerance, FILE *out);

/* One screen for people: device, copies, rates, noise. */
void gmt_model_summary(const json_t *model, FILE *out);

#endif
