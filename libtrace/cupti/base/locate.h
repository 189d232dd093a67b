/* SPDX-License-Identifier: Apache-2.0 */
/* Which CUPTI would be used? For programs that only report it (gmtrace doctor). */
#ifndef GMT_CUPTI_BASE_LOCATE_H
#define GMT_CUPTI_BASE_LOCATE_H

#include <stddef.h>
#include <stdint.h>

/* Load CUPTI as recording would (`given` = GMTRACE_CUPTI or NULL) and report its path and version
 * (cuptiGetVersion). Returns 0, or negative errno as gmt_cupti_load. */
int gmt_cupti_locate(const char *given, char *path, size_t bytes, uint32_t *version);

#endif
