/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the calibration needs of the host: where models lie, how they are written, which driver
 * runs.
 */
#ifndef GMT_KERNELS_FIT_MODEL_FILES_H
#define GMT_KERNELS_FIT_MODEL_FILES_H

#include <jansson.h>
#include <stddef.h>

/*
 * Version out of the text of /proc/driver/nvidia/version, such as "580.159.04". 0, or -ENOENT when
 * the text holds none, or -ENOSPC.
 */
int gmt_driver_version_parse(const char *text, char *version, size_t bytes);

/* The same from the running kernel; -ENOENT when no driver is loaded. */
int gmt_driver_version(char *version, size_t bytes);

/* Now, in UTC, ISO 8601 to the second. */
void gmt_time_iso(char *text, size_t bytes);

/*
 * ${XDG_CACHE_HOME:-$HOME/.cache}/gmtrace/models/<uuid>-<driver>-<tool>.json. As the XDG
 * specification wants, a relative XDG_CACHE_HOME is ignored. 0, -ENOENT without a usable variable,
 * -ENAMETOOLONG.
 */
int gmt_model_cache_path(const char *uuid, const char *driver, const char *tool, char *path,
                         size_t bytes);

/*
 * Makes the folders that lead to the file and checks that a file can be written there. 0 or -errno.
 */
int gmt_path_prepare(const char *path);

/*
 * Writes to a temporary file beside path, then renames: readers see the old file or all of
 * the new. "-" is standard output; devices and pipes are written in place. 0 or -errno.
 */
int gmt_json_write(const json_t *document, const char *path);

#endif
