/* SPDX-License-Identifier: Apache-2.0 */
/* What names and paths begin with. */
#ifndef GMT_BASE_PREFIX_H
#define GMT_BASE_PREFIX_H

#include <stdbool.h>
#include <string.h>

static inline bool gmt_starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

#endif
