/* SPDX-License-Identifier: Apache-2.0 */
/* Reads recordings of tests/data, which lie there packed. */
#ifndef GMT_TESTS_RECORDINGS_H
#define GMT_TESTS_RECORDINGS_H

#include <jansson.h>

/*
 * The JSON document in a gzipped file, or in one that is not packed. The caller releases it. NULL if the file
 * cannot be read or is no JSON: error->text says which.
 */
json_t *gmt_recording_load(const char *path, json_error_t *error);

#endif
