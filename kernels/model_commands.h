/* SPDX-License-Identifier: Apache-2.0 */
/* What gmcalibrate does with files and without a device: fit again, compare, show, look up. */
#ifndef GMT_KERNELS_MODEL_COMMANDS_H
#define GMT_KERNELS_MODEL_COMMANDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Prints "gmcalibrate: text: detail" (detail may be NULL) and returns status. */
int gmt_fail(int status, const char *text, const char *detail);

/*
 * All of these return an exit status: 0, or 1 after one line on stderr.
 *
 * check: refits from raw and compares with model (NULL: the cached one of that device); differences
 * are failures. fit: refits from raw and writes the model to output. show: one screen of a model.
 */
int gmt_model_check(const char *raw, const char *model);
int gmt_model_fit(const char *raw, const char *output);
int gmt_model_show(const char *model);

/*
 * Where the model of the device and tool that a model or raw document names is cached. 0; -EINVAL
 * when it does not name them; else as gmt_model_cache_path.
 */
int gmt_cached_path(const json_t *document, char *path, size_t bytes);

/*
 * Is there a model at path that may stand for the one that would be measured now? Its name holds
 * device, driver and tool version; it must be readable, of this format and version, and no quick one
 * where a full one is wanted.
 */
bool gmt_cached_is_current(const char *path, bool quick_will_do);

#endif
