/* SPDX-License-Identifier: Apache-2.0 */
/* Building the document of raw timings: get-or-make of its parts, and appending of samples. */
#ifndef GMT_KERNELS_FIT_RAWFILE_H
#define GMT_KERNELS_FIT_RAWFILE_H

#include <jansson.h>

/* Beside series of samples that were taken in passes: the pass of each. */
#define GMT_RAW_PASS "pass"
/* Beside that: the process that took each. Only where several processes measured. */
#define GMT_RAW_PROCESS "process"

/* The member of that name, made empty when missing. Borrowed references. */
json_t *gmt_raw_object(json_t *parent, const char *key);
json_t *gmt_raw_array(json_t *parent, const char *key);

/* The point of that size in an array of points, made when missing. Borrowed. */
json_t *gmt_raw_point(json_t *points, size_t bytes);

/* Appends the number of the pass that the next sample of each of the object's series is of. */
void gmt_raw_pass(json_t *object, unsigned pass);

/* Appends a time, rounded to whole ns, to the series of that name in the object. */
void gmt_raw_sample(json_t *object, const char *series, double time_ns);

/* Adds a sentence to the notes of the document, once. */
void gmt_raw_note(json_t *raw, const char *text);

/*
 * Appends what a process measured, a document of costs, batches, transfers, families, passes and notes
 * with passes from 0 on, to that of all of them: points are identified by what they measure, passes go
 * on counting, and each sample gets the number of the process beside that of its pass. Neither reference is
 * taken. 0, or -EINVAL for a document that is not like that; then nothing was appended.
 */
int gmt_raw_merge(json_t *all, const json_t *one, unsigned process);

#endif
