/* SPDX-License-Identifier: Apache-2.0 */
/* What allocators say by NVTX's memory extension: read with care, and handed on. */
#include "preload/state/nvtx_memory.h"

#include <stdbool.h>

#include "preload/driver/coverage.h"
#include "preload/hooks/nvtx_extension.h"
#include "preload/recording/enter.h"
#include "preload/session/session.h"
#include "preload/state/regions.h"
#include "preload/state/user_ranges.h"
#include "preload/unwind/stack.h"

/* A call that says more of them at once means something else. */
#define ELEMENTS_MOST ((size_t)1 << 24)

/* A signal handler that interrupts a hook or one of these must not record. */
#define enter() GMT_GUARD_ENTER_ALONE()
#define leave() gmt_guard_leave()
/* Of the function that the program has called. */
#define STACK_HERE() \
    (atomic_load_explicit(&gmt_started, memory_order_acquire) \
         ? gmt_stack_here(__builtin_frame_address(0), 0) \
         : 0)

/* Every structure begins with these two. */
static bool is_known(const void *structure, size_t bytes)
{
    const uint16_t *head = structure;
    if (head == NULL || head[0] != GMT_NVTX_MEMORY_COMPATIBILITY || head[1] < bytes) {
        gmt_coverage_count_fault(GMT_REGION_VERSION);
        return false;
    }
    return true;
}

static bool is_virtual(uint32_t type)
{
    if (type != GMT_NVTX_VIRTUAL_ADDRESS) {
        gmt_coverage_count_fault(GMT_REGION_TYPE);
    }
    return type == GMT_NVTX_VIRTUAL_ADDRESS;
}

/* An array of elements that have at least so many bytes. */
static bool is_array(const void *elements, size_t count, size_t element_size, size_t bytes)
{
    if (count > 0 && (elements == NULL || element_size < bytes || count > ELEMENTS_MOST)) {
        gmt_coverage_count_fault(GMT_REGION_VERSION);
        return false;
    }
    return true;
}

static const void *element(const void *elements, size_t element_size, size_t i)
{
    return (const uint8_t *)elements + i * element_size;
}

static bool is_reference(uint32_t type)
{
    if (type != GMT_NVTX_REF_POINTER && type != GMT_NVTX_REF_HANDLE) {
        gmt_coverage_count_fault(GMT_REGION_VERSION);
        return false;
    }
    return true;
}

static uint64_t number(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

/* ---- heaps -------------------------------------------------------------------------------------- */

static bool register_heap(const char *domain, const struct gmt_nvtx_heap *heap, uint32_t stack)
{
    char text[GMT_RANGE_NAME_BYTES];
    if (!is_known(heap, sizeof(*heap)) || !is_virtual(heap->type)) {
        return false;
    }
    if (heap->extent == NULL || heap->extent_size < sizeof(struct gmt_nvtx_extent)) {
        gmt_coverage_count_fault(GMT_REGION_VERSION);
        return false;
    }
    const struct gmt_nvtx_extent *extent = heap->extent;
    return gmt_heap_begin(number(extent->address), extent->bytes, heap->usage, domain,
                          gmt_nvtx_message(heap->message_type, heap->message, text), stack);
}

/* NULL, as without a tool, where it is not understood: that stands for the whole process. */
static const void *heap_register(const char *domain, const struct gmt_nvtx_heap *heap)
{
    const void *handle = NULL;
    if (enter()) {
        if (register_heap(domain, heap, STACK_HERE())) {
            handle = ((const struct gmt_nvtx_extent *)heap->extent)->address;
        }
        leave();
    }
    return handle;
}

static void heap_unregister(const char *domain, const void *heap)
{
    (void)domain;
    if (enter()) {
        gmt_heap_end(number(heap));
        leave();
    }
}

static void heap_reset(const char *domain, const void *heap)
{
    (void)domain;
    if (enter()) {
        gmt_heap_empty(number(heap), STACK_HERE());
        leave();
    }
}

/* ---- regions ------------------------------------------------------------------------------------ */

static void register_regions(const struct gmt_nvtx_regions *batch, uint32_t stack)
{
    if (!is_known(batch, sizeof(*batch)) || !is_virtual(batch->type) ||
        !is_array(batch->extents, batch->count, batch->element_size,
                  sizeof(struct gmt_nvtx_extent))) {
        return;
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct gmt_nvtx_extent *extent = element(batch->extents, batch->element_size, i);
        gmt_region_begin(number(batch->heap), number(extent->address), extent->bytes, stack);
        if (batch->handles != NULL) {
            batch->handles[i] = extent->address;
        }
    }
}

static void regions_register(const char *domain, const struct gmt_nvtx_regions *batch)
{
    (void)domain;
    if (enter()) {
        register_regions(batch, STACK_HERE());
        leave();
    }
}

static void regions_resize(const char *domain, const struct gmt_nvtx_resizes *batch)
{
    (void)domain;
    if (!enter()) {
        return;
    }
    if (is_known(batch, sizeof(*batch)) && is_virtual(batch->type) &&
        is_array(batch->extents, batch->count, batch->element_size,
                 sizeof(struct gmt_nvtx_extent))) {
        for (size_t i = 0; i < batch->count; i++) {
            const struct gmt_nvtx_extent *extent = element(batch->extents, batch->element_size, i);
            gmt_region_resize(number(extent->address), extent->bytes);
        }
    }
    leave();
}

static void regions_unregister(const char *domain, const struct gmt_nvtx_endings *batch)
{
    (void)domain;
    if (!enter()) {
        return;
    }
    if (is_known(batch, sizeof(*batch)) && is_reference(batch->reference_type) &&
        is_array(batch->references, batch->count, batch->element_size, sizeof(void *))) {
        for (size_t i = 0; i < batch->count; i++) {
            const void *const *region = element(batch->references, batch->element_size, i);
            gmt_region_end(number(*region));
        }
    }
    leave();
}

static void name_region(const struct gmt_nvtx_region_name *named)
{
    char text[GMT_RANGE_NAME_BYTES];
    if (is_reference(named->reference_type)) {
        const char *name = gmt_nvtx_message(named->message_type, named->message, text);
        gmt_region_name(number(named->region), name);
    }
}

static void regions_name(const char *domain, const struct gmt_nvtx_region_names *batch)
{
    (void)domain;
    if (!enter()) {
        return;
    }
    if (is_known(batch, offsetof(struct gmt_nvtx_region_names, reserved_too)) &&
        is_array(batch->elements, batch->count, batch->element_size,
                 offsetof(struct gmt_nvtx_region_name, category))) {
        for (size_t i = 0; i < batch->count; i++) {
            name_region(element(batch->elements, batch->element_size, i));
        }
    }
    leave();
}

/* Permissions and initialized memory stay as they are: nothing is checked. */
void gmt_nvtx_memory_install(struct gmt_nvtx_segment *segment)
{
#define SET(SLOT, FUNCTION) \
    gmt_nvtx_set_slot(segment, GMT_NVTX_##SLOT, (gmt_nvtx_function)(FUNCTION))
    SET(HEAP_REGISTER, heap_register);
    SET(HEAP_UNREGISTER, heap_unregister);
    SET(HEAP_RESET, heap_reset);
    SET(REGIONS_REGISTER, regions_register);
    SET(REGIONS_RESIZE, regions_resize);
    SET(REGIONS_UNREGISTER, regions_unregister);
    SET(REGIONS_NAME, regions_name);
}
