/* SPDX-License-Identifier: Apache-2.0 */
/* Describes kernels and launch classes once and finds them again without a lock. */
#include "preload/state/kernels.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/communication.h"
#include "libtrace/record/spool.h"
#include "libtrace/sections/section.h"
#include "libtrace/threads/mutex.h"
#include "preload/driver/resolve.h"
#include "preload/session/table.h"

#define KERNEL_SLOTS 65536u
#define CLASS_SLOTS 131072u
#define LIBRARY_SLOTS 65536u
#define MAX_PARAMETERS 256u
#define DESCRIBING_NS UINT64_C(1000000000) /* that another thread may take for it */
#define SLICE_NS 1000000

struct tables {
    struct gmt_kernel_info *_Atomic kernels[KERNEL_SLOTS];
    struct gmt_class_info *_Atomic classes[CLASS_SLOTS];
    _Atomic uint64_t class_keys[CLASS_SLOTS];
    _Atomic uintptr_t library_kernels[LIBRARY_SLOTS];
};
static gmt_table_pointer tables;
static unsigned kernel_count, slots_used, class_count;
static _Atomic unsigned library_count;
static _Atomic uint32_t generation = 1;
static _Atomic uint32_t unloads; /* calls under way: no handle is taken for what it was */
static struct gmt_mutex mutex = GMT_MUTEX(KERNELS);

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

/* A kernel's code may be loaded when the driver is asked about it, which waits while another kernel runs. That one may wait for what
 * the calling thread launches next: so who describes a kernel is not waited for without end, and, where that was in vain, for SLICE_NS
 * until it has gone on. False: the launch is not described. */
static bool lock_soon(void)
{
    static _Atomic bool in_vain;
    uint64_t began_ns = gmt_clock_monotonic_ns();
    bool locked = gmt_mutex_try(&mutex);
    uint64_t within_ns = atomic_load(&in_vain) ? SLICE_NS : DESCRIBING_NS;
    while (!locked && gmt_clock_monotonic_ns() - began_ns < within_ns) {
        struct timespec until = {0};
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += SLICE_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        locked = gmt_mutex_lock_until(&mutex, &until);
    }
    atomic_store(&in_vain, !locked);
    return locked;
}

static const char held_up[] = "another thread was describing one";

/* ---- CUkernel handles ----------------------------------------------------------------------- */

static struct tables *tables_needed(void)
{
    return gmt_table_need(&tables, sizeof(struct tables));
}

static unsigned library_slot(const struct tables *all, uintptr_t handle)
{
    unsigned at = (unsigned)(mix(0, handle) % LIBRARY_SLOTS);
    for (uintptr_t seen; (seen = all->library_kernels[at]) != 0 && seen != handle;) {
        at = (at + 1) % LIBRARY_SLOTS;
    }
    return at;
}

void gmt_kernel_note_library_kernel(CUkernel kernel)
{
    struct tables *all = tables_needed();
    while (all != NULL && atomic_load(&library_count) < LIBRARY_SLOTS / 2) {
        uintptr_t seen = 0;
        unsigned at = library_slot(all, (uintptr_t)kernel);
        if (atomic_compare_exchange_strong(&all->library_kernels[at], &seen, (uintptr_t)kernel)) {
            atomic_fetch_add(&library_count, 1);
            return;
        }
        if (seen == (uintptr_t)kernel) {
            return;
        }
    }
}

/* The CUfunction to query for a launch handle, in the current context: launches may pass a CUkernel. A handle that was
 * one may have come back as a CUfunction. */
static CUfunction function_of(CUfunction handle)
{
    CUfunction function = handle;
    const struct tables *all = gmt_table(&tables);
    if (all != NULL && all->library_kernels[library_slot(all, (uintptr_t)handle)] != 0 &&
        gmt_driver.cuKernelGetFunction != NULL) {
        CUfunction inside = NULL;
        if (gmt_driver.cuKernelGetFunction(&inside, (CUkernel)handle) == CUDA_SUCCESS) {
            function = inside;
        }
    }
    return function;
}

CUfunction gmt_kernel_function_here(const struct gmt_kernel_info *kernel)
{
    return function_of(kernel->handle);
}

/* ---- kernels -------------------------------------------------------------------------------- */

static int32_t attribute(CUfunction function, CUfunction_attribute name)
{
    int value;
    return gmt_driver.cuFuncGetAttribute != NULL &&
                   gmt_driver.cuFuncGetAttribute(&value, name, function) == CUDA_SUCCESS
               ? value
               : -1;
}

static void describe_parameters(struct gmt_kernel_info *info)
{
    struct gmt_parameter list[MAX_PARAMETERS];
    unsigned count = 0;
    if (gmt_driver.cuFuncGetParamInfo == NULL) {
        return;
    }
    for (; count < MAX_PARAMETERS; count++) {
        size_t offset, bytes;
        CUresult result = gmt_driver.cuFuncGetParamInfo(info->function, count, &offset, &bytes);
        if (result != CUDA_SUCCESS) {
            info->parameters_known = result == CUDA_ERROR_INVALID_VALUE;
            break;
        }
        list[count].offset = (uint32_t)offset;
        list[count].bytes = (uint32_t)bytes;
    }
    struct gmt_parameter *kept = count != 0 ? malloc(count * sizeof(list[0])) : NULL;
    if (count != 0 && kept == NULL) {
        info->parameters_known = false;
        return;
    }
    if (count != 0) {
        memcpy(kept, list, count * sizeof(list[0]));
    }
    info->parameters = kept;
    info->parameter_count = (uint16_t)count;
}

static const char *name_of(CUfunction function)
{
    const char *name = NULL;
    if (gmt_driver.cuFuncGetName == NULL ||
        gmt_driver.cuFuncGetName(&name, function) != CUDA_SUCCESS || name == NULL) {
        name = "(unknown kernel)";
    }
    return name;
}

/* After modules were unloaded: is `info` still what its handle stands for? */
static bool is_still(const struct gmt_kernel_info *info)
{
    CUfunction function = function_of(info->handle);
    if (strcmp(name_of(function), info->name) != 0 ||
        attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS) != info->registers) {
        return false;
    }
    /* Recompiled under the same name: reading more parameters than there are would be fatal. */
    size_t offset, bytes;
    for (unsigned i = 0; info->parameters_known && i < info->parameter_count; i++) {
        if (gmt_driver.cuFuncGetParamInfo(function, i, &offset, &bytes) != CUDA_SUCCESS ||
            offset != info->parameters[i].offset || bytes != info->parameters[i].bytes) {
            return false;
        }
    }
    return !info->parameters_known ||
           gmt_driver.cuFuncGetParamInfo(function, info->parameter_count, &offset, &bytes) !=
               CUDA_SUCCESS;
}

static struct gmt_kernel_info *describe(CUfunction handle, uint32_t id)
{
    struct gmt_kernel_info *info = calloc(1, sizeof(*info));
    if (info == NULL) {
        return NULL;
    }
    info->handle = handle;
    info->id = id;
    info->function = function_of(handle);
    info->name = strdup(name_of(info->function));
    if (info->name == NULL) {
        free(info);
        return NULL;
    }
    info->never_measure = gmt_kernel_communicates(info->name);
    describe_parameters(info);
    info->registers = attribute(info->function, CU_FUNC_ATTRIBUTE_NUM_REGS);
    CUfunction f = info->function;
    struct gmt_kernel record = {
        .handle = (uint64_t)(uintptr_t)handle,
        .id = id,
        /* The software device answers with an assumption (PTX has no registers of a GPU). */
        .registers = gmt_driver_is_software ? -1 : info->registers,
        .static_shared_bytes = attribute(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        .local_bytes = attribute(f, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
        .constant_bytes = attribute(f, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
        .max_threads_per_block = attribute(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .binary_version = attribute(f, CU_FUNC_ATTRIBUTE_BINARY_VERSION),
        .ptx_version = attribute(f, CU_FUNC_ATTRIBUTE_PTX_VERSION),
        .max_dynamic_shared_bytes = attribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
        .parameter_count = info->parameters_known ? info->parameter_count : -1,
    };
    (void)gmt_spool_side(GMT_REC_KERNEL, &record, sizeof(record), &info->name, 1);
    return info;
}

/* Where `handle` is, or belongs. */
static unsigned kernel_slot(const struct tables *all, CUfunction handle)
{
    unsigned at = (unsigned)(mix(1, (uintptr_t)handle) % KERNEL_SLOTS);
    while (all->kernels[at] != NULL && all->kernels[at]->handle != handle) {
        at = (at + 1) % KERNEL_SLOTS;
    }
    return at;
}

static void put_kernel(struct tables *all, CUfunction handle, struct gmt_kernel_info *info)
{
    unsigned at = kernel_slot(all, handle);
    slots_used += all->kernels[at] == NULL;
    all->kernels[at] = info;
}

/* The same kernel by another handle. NULL: no memory. */
static struct gmt_kernel_info *same_kernel(const struct gmt_kernel_info *info, CUfunction handle)
{
    struct gmt_kernel_info *same = malloc(sizeof(*same));
    if (same != NULL) {
        memcpy(same, info, sizeof(*same));
        same->handle = handle;
    }
    return same;
}

/* A handle that is not known. A CUkernel and its CUfunction are one kernel: programs launch the one, and nodes of graphs
 * may have the other. NULL: no memory. */
static struct gmt_kernel_info *new_kernel(struct tables *all, CUfunction handle, uint32_t now)
{
    CUfunction function = function_of(handle);
    struct gmt_kernel_info *info = all->kernels[kernel_slot(all, function)];
    if (function != handle && info != NULL && info->generation == now && is_still(info)) {
        info = same_kernel(info, handle);
    } else {
        info = describe(handle, kernel_count + 1);
        kernel_count += info != NULL;
    }
    if (info == NULL) {
        return NULL;
    }
    info->generation = now;
    put_kernel(all, handle, info);
    struct gmt_kernel_info *by_function = all->kernels[kernel_slot(all, function)];
    if (function != handle && (by_function == NULL || by_function->generation != now)) {
        by_function = same_kernel(info, function);
        if (by_function != NULL) {
            put_kernel(all, function, by_function);
        }
    }
    return info;
}

/* Caller holds `mutex`. NULL: the table is full, or there is no memory. */
static struct gmt_kernel_info *kernel_in(struct tables *all, CUfunction handle)
{
    struct gmt_kernel_info *info = all->kernels[kernel_slot(all, handle)];
    uint32_t now = generation;
    bool known = info != NULL && ((info->generation == now && unloads == 0) || is_still(info));
    if (known) {
        info->generation = now;
    }
    /* An entry of another kernel is replaced, never freed: another thread may be reading it. */
    if (!known) {
        info = slots_used < KERNEL_SLOTS / 2 ? new_kernel(all, handle, now) : NULL;
    }
    return info;
}

static const struct gmt_kernel_info *kernel_add(CUfunction handle)
{
    struct tables *all = tables_needed();
    const struct gmt_kernel_info *info = NULL;
    bool locked = lock_soon();
    if (locked) {
        uint64_t section = gmt_section_begin(GMT_SECTION_DESCRIBE);
        info = all != NULL ? kernel_in(all, handle) : NULL;
        gmt_section_end(section);
        gmt_mutex_unlock(&mutex);
    }
    if (info == NULL) {
        gmt_spool_loss("kernel not described", locked ? "kernel table full or no memory" : held_up,
                       1);
    }
    return info;
}

const struct gmt_kernel_info *gmt_kernel_find(CUfunction handle)
{
    uint32_t now = generation;
    const struct tables *all = gmt_table(&tables);
    if (all == NULL) {
        return kernel_add(handle);
    }
    for (unsigned at = (unsigned)(mix(1, (uintptr_t)handle) % KERNEL_SLOTS);;
         at = (at + 1) % KERNEL_SLOTS) {
        const struct gmt_kernel_info *info = all->kernels[at];
        if (info == NULL) {
            return kernel_add(handle);
        }
        if (info->handle == handle) {
            return info->generation == now && unloads == 0 ? info : kernel_add(handle);
        }
    }
}

/* ---- classes -------------------------------------------------------------------------------- */

static bool is_same(const struct gmt_class_info *info, uint32_t kernel, const uint32_t grid[3],
                    const uint32_t block[3], uint32_t dynamic_shared_bytes)
{
    const struct gmt_collector_class *cls = &info->collector;
    return info->kernel == kernel && memcmp(cls->grid, grid, sizeof(cls->grid)) == 0 &&
           memcmp(cls->block, block, sizeof(cls->block)) == 0 &&
           info->dynamic_shared_bytes == dynamic_shared_bytes;
}

static struct gmt_class_info *class_add(const struct gmt_kernel_info *kernel,
                                        const uint32_t grid[3], const uint32_t block[3],
                                        uint32_t dynamic_shared_bytes, const uint32_t cluster[3],
                                        uint64_t key)
{
    struct gmt_class_info *info = NULL;
    bool is_new = false;
    struct tables *all = tables_needed();
    if (!lock_soon()) {
        gmt_spool_loss("launch without class", held_up, 1);
        return NULL;
    }
    unsigned at = (unsigned)(key % CLASS_SLOTS);
    while (all != NULL && (info = all->classes[at]) != NULL &&
           !is_same(info, kernel->id, grid, block, dynamic_shared_bytes)) {
        at = (at + 1) % CLASS_SLOTS;
    }
    if (all != NULL && info == NULL && class_count < CLASS_SLOTS / 2 &&
        (info = calloc(1, sizeof(*info))) != NULL) {
        info->kernel = kernel->id;
        memcpy(info->collector.grid, grid, sizeof(info->collector.grid));
        memcpy(info->collector.block, block, sizeof(info->collector.block));
        info->dynamic_shared_bytes = dynamic_shared_bytes;
        info->collector.id = ++class_count;
        info->collector.kernel = kernel->id;
        info->collector.kernel_name = kernel->name;
        info->collector.never = kernel->never_measure;
        is_new = true;
        all->class_keys[at] = key;
        all->classes[at] = info;
    }
    gmt_mutex_unlock(&mutex);
    if (info == NULL) {
        gmt_spool_loss("launch without class", "class table full or no memory", 1);
    }
    if (is_new) {
        int blocks = -1;
        uint64_t section = gmt_section_begin(GMT_SECTION_DESCRIBE);
        /* The software device's answer rests on a number of registers that it does not know. */
        if (gmt_driver_is_software ||
            gmt_driver.cuOccupancyMaxActiveBlocksPerMultiprocessor == NULL ||
            gmt_driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &blocks, kernel->function, (int)(block[0] * block[1] * block[2]),
                dynamic_shared_bytes) != CUDA_SUCCESS) {
            blocks = -1;
        }
        gmt_section_end(section);
        struct gmt_kernel_class record = {
            .id = info->collector.id,
            .kernel = kernel->id,
            .grid = {grid[0], grid[1], grid[2]},
            .block = {block[0], block[1], block[2]},
            .dynamic_shared_bytes = dynamic_shared_bytes,
            .max_blocks_per_sm = blocks,
            .cluster = {(uint16_t)cluster[0], (uint16_t)cluster[1], (uint16_t)cluster[2]},
        };
        (void)gmt_spool_side(GMT_REC_KERNEL_CLASS, &record, sizeof(record), NULL, 0);
    }
    return info;
}

struct gmt_class_info *gmt_class_find(const struct gmt_kernel_info *kernel, const uint32_t grid[3],
                                      const uint32_t block[3], uint32_t dynamic_shared_bytes,
                                      const uint32_t cluster[3])
{
    uint64_t key = mix(kernel->id, (uint64_t)grid[0] << 32 | grid[1]);
    key = mix(key, (uint64_t)grid[2] << 32 | dynamic_shared_bytes);
    key = mix(key, (uint64_t)block[0] << 42 | (uint64_t)block[1] << 21 | block[2]);
    const struct tables *all = gmt_table(&tables);
    if (all == NULL) {
        return class_add(kernel, grid, block, dynamic_shared_bytes, cluster, key);
    }
    for (unsigned at = (unsigned)(key % CLASS_SLOTS);; at = (at + 1) % CLASS_SLOTS) {
        struct gmt_class_info *info = all->classes[at];
        if (info == NULL) {
            return class_add(kernel, grid, block, dynamic_shared_bytes, cluster, key);
        }
        if (all->class_keys[at] == key &&
            is_same(info, kernel->id, grid, block, dynamic_shared_bytes)) {
            return info;
        }
    }
}

void gmt_kernel_modules_changed(void)
{
    generation++;
}

void gmt_kernel_modules_going(void)
{
    unloads++;
}

void gmt_kernel_modules_gone(void)
{
    generation++;
    unloads--;
}

void gmt_kernel_reset(void)
{
    gmt_mutex_renew(&mutex);
    if (gmt_table(&tables) != NULL) {
        memset(gmt_table(&tables), 0, sizeof(struct tables));
    }
    kernel_count = slots_used = class_count = 0;
    atomic_store(&library_count, 0);
    unloads = 0;
}
