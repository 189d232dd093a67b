/* SPDX-License-Identifier: Apache-2.0 */
/* Building the document of raw timings: get-or-make of its parts, and appending of samples. */
#ifndef GMT_KERNELS_RAWFILE_H
#define GMT_KERNELS_RAWFILE_H

#include <jansson.h>

/* Beside series of samples that were taken in passes: the pass of each. */
#define GMT_RAW_PASS "pass"

/* The member of that name, made empty when missing. Borrowed references. */
json_t *gmt_raw_object(json_t *parent, const char *key);
json_t *gmt_raw_array(json_t *parent, const char *key);

/* The point of that size in an array of points, made when missing. Borrowed. */
json_t *gmt_raw_point(json_t *points, size_t bytes);

/* Appends the number of the pass that the next sample of each of the object's series is of. */
void gmt_raw_pass(json_t *object, unsigned pass);

/* Appends a time, rounded to whole ns, to the series of that name in the object. */
void gmt_raw_sample(json_t *object, const char *series, double time_ns);

#endif
