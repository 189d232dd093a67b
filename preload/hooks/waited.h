/* SPDX-License-Identifier: Apache-2.0 */
/* What is done once a call of the program has waited for the device. */
#ifndef GMT_PRELOAD_HOOKS_WAITED_H
#define GMT_PRELOAD_HOOKS_WAITED_H

struct gmt_hook_call;

/* Launches that are measured late are ended, and memory of ours is freed, if nothing is under way any more. A few ns when
 * there is nothing to do. */
void gmt_waited(const struct gmt_hook_call *call);

#endif
