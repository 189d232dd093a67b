/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own calls of CUPTI (table: cupti.def). */
#ifndef GMT_PRELOAD_HOOKS_CUPTI_H
#define GMT_PRELOAD_HOOKS_CUPTI_H

/* What dlsym answers for `name`, which it found at `real`, in a CUPTI: our hook, the same function of another
 * copy of CUPTI, or NULL: `real` itself. */
void *gmt_cupti_route(const char *name, void *real);

#endif
