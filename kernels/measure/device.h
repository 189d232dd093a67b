/* SPDX-License-Identifier: Apache-2.0 */
/* Which device this is: finding it, or saying why not, and describing it in the results. */
#ifndef GMT_KERNELS_MEASURE_DEVICE_H
#define GMT_KERNELS_MEASURE_DEVICE_H

#include <jansson.h>
#include <stddef.h>

struct gmt_bench;

/*
 * The device that a text names: a number as CUDA counts, or a UUID ("GPU-..."). 0; -EINVAL: it is
 * neither; -ENODEV: there is no such one; with one line for people in message.
 */
int gmt_device_find(const char *name, int *device, char *message, size_t bytes);

/* The beginning of a raw document: format, versions, command, device. The caller owns it. */
json_t *gmt_device_raw(int device, const char *tool_version, const char *command);

/* Puts the settings of the run into its raw document. */
void gmt_device_settings(struct gmt_bench *bench);

#endif
