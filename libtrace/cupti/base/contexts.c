/* SPDX-License-Identifier: Apache-2.0 */
/* The contexts of the process that the collector knows (contexts.h). */
#include "libtrace/cupti/base/contexts.h"

#include <stdatomic.h>
#include <stddef.h>

static struct {
    void *_Atomic handle;
    uint32_t id, device;
} contexts[GMT_CONTEXTS];
static _Atomic uint32_t added;

static uint32_t known(void)
{
    uint32_t count = atomic_load(&added);
    return count < GMT_CONTEXTS ? count : GMT_CONTEXTS;
}

void gmt_contexts_add(void *context, uint32_t id, uint32_t device)
{
    uint32_t at = atomic_fetch_add(&added, 1);
    if (at < GMT_CONTEXTS) {
        contexts[at].id = id;
        contexts[at].device = device;
        atomic_store(&contexts[at].handle, context);
    }
}

uint32_t gmt_contexts_find(const void *context)
{
    for (uint32_t i = known(); i-- > 0;) {
        if (atomic_load(&contexts[i].handle) == context) {
            return i;
        }
    }
    return GMT_CONTEXTS;
}

void *gmt_contexts_handle(uint32_t at)
{
    return atomic_load(&contexts[at].handle);
}

uint32_t gmt_contexts_device(uint32_t at)
{
    return contexts[at].device;
}

void gmt_contexts_each(void (*visit)(void *context, uint32_t id))
{
    for (uint32_t i = 0, count = known(); i < count; i++) {
        void *handle = atomic_load(&contexts[i].handle);
        if (handle != NULL) {
            visit(handle, contexts[i].id);
        }
    }
}
