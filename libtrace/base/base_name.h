/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a file without its folders. */
#ifndef GMT_BASE_BASE_NAME_H
#define GMT_BASE_BASE_NAME_H

#include <stddef.h>
#include <string.h>

/* A part of `path`, which is the caller's; NULL stays NULL. */
static inline const char *gmt_base_name(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;

    return slash != NULL ? slash + 1 : path;
}

#endif
