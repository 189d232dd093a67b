/* SPDX-License-Identifier: Apache-2.0 */
/* What copies of the stand-in CUPTI share: the driver, which serves the first of them for good. */
#include "standin.h"

#include <stdatomic.h>
#include <stddef.h>

static const struct standin_copy *_Atomic served;

bool standin_attach(const struct standin_copy *copy)
{
    const struct standin_copy *none = NULL;
    return atomic_compare_exchange_strong(&served, &none, copy) || none == copy;
}

void standin_cupti_work(CUpti_ActivityKind kind, const char *kernel, uint64_t bytes_or_blocks)
{
    const struct standin_copy *copy = atomic_load(&served);
    if (copy != NULL) {
        copy->work(kind, kernel, bytes_or_blocks);
    }
}

void standin_cupti_begun(CUpti_ActivityKind kind, const char *kernel, uint64_t bytes_or_blocks,
                         bool enabled)
{
    const struct standin_copy *copy = atomic_load(&served);
    if (copy != NULL) {
        copy->begun(kind, kernel, bytes_or_blocks, enabled);
    }
}

void standin_cupti_page(const CUpti_ActivityUnifiedMemoryCounter3 *counter, uint64_t ns)
{
    const struct standin_copy *copy = atomic_load(&served);
    if (copy != NULL) {
        copy->page(counter, ns);
    }
}

bool standin_cupti_enabled(CUpti_ActivityKind kind)
{
    const struct standin_copy *copy = atomic_load(&served);
    return copy != NULL && copy->enabled(kind);
}

unsigned standin_cupti_ranges(void)
{
    const struct standin_copy *copy = atomic_load(&served);
    return copy != NULL ? copy->ranges() : 0;
}

void standin_cupti_call_in_range(void (*function)(void))
{
    const struct standin_copy *copy = atomic_load(&served);
    if (copy != NULL) {
        copy->call_in_range(function);
    }
}
