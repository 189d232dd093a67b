/* SPDX-License-Identifier: Apache-2.0 */
/* Building the document of raw timings: get-or-make of its parts, and appending of samples. */
#ifndef GMT_KERNELS_RAWFILE_H
#define GMT_KERNELS_RAWFILE_H

#include <jansson.h>

/* The member of that name, made empty when missing. Borrowed references. */
json_t *gmt_raw_object(json_t *parent, const char *key);
json_t *gmt_raw_array(json_t *parent, const char *key);

/* The point of that size in an array of points, made when missing. Borrowed. */
json_t *gmt_raw_point(json_t *points, size_t bytes);

/* Appends a time, rounded to whole ns, to the series of that name in the object. */
void gmt_raw_sample(json_t *object, const char *series, double time_ns);

#endif
