/* SPDX-License-Identifier: Apache-2.0 */
/* The contexts of the process that the collector knows. Any thread may ask and add. */
#ifndef GMT_CUPTI_BASE_CONTEXTS_H
#define GMT_CUPTI_BASE_CONTEXTS_H

#include <stdint.h>

#define GMT_CONTEXTS 64u /* as many are tracked; also: "none" */

/* `id` is gmt_context.id, `device` the ordinal. */
void gmt_contexts_add(void *context, uint32_t id, uint32_t device);

/* The latest entry of that handle; GMT_CONTEXTS = none. */
uint32_t gmt_contexts_find(const void *context);

void *gmt_contexts_handle(uint32_t at);
uint32_t gmt_contexts_device(uint32_t at);
/* Call `visit` for each, oldest first. */
void gmt_contexts_each(void (*visit)(void *context, uint32_t id));

#endif
