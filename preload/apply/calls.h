/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that are put in place of the driver's. */
#ifndef GMT_PRELOAD_APPLY_CALLS_H
#define GMT_PRELOAD_APPLY_CALLS_H

/* Hooks pass on to them from now on: calls.c. */
void gmt_apply_install(void);
/* ... and to those that only look, for digests: watch.c. */
void gmt_apply_install_watch(void);

/* ... and to launches, for carve-out: carve_out.c. */
void gmt_apply_install_launches(void);

#endif
