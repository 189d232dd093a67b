/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for addresses of memory that is not restored (scan.h). */
#include "preload/repeat/scan.h"

#include <stddef.h>
#include <string.h>

#include "libtrace/threads/mutex.h"
#include "preload/driver/resolve.h"
#include "preload/repeat/windows.h"
#include "preload/session/session.h"
#include "preload/session/table.h"
#include "preload/state/allocmap.h"
#include "preload/state/hazards.h"
#include "preload/state/tensor_maps.h"

enum {
    CONTEXTS = 8,
    THREADS = 256,
    MOST_BLOCKS = 1024,
    FIRST_WORDS = 4096,
    MOST_ASKED = 4096,
    HARMLESS = 8192 /* 2^13 slots: half full at most */
};

#define TABLE_BYTES (GMT_WINDOWS * sizeof(struct gmt_window))

struct found_words { /* as on the device */
    uint64_t count;
    uint64_t words[GMT_SCAN_WORDS];
};

struct scan_result {
    struct found_words all;
    uint64_t harmless[HARMLESS]; /* words that the driver was asked about; 0: none */
};

static gmt_table_pointer windows_table, found_table; /* used by the holder alone (guard/hold.h) */
static struct loaded {
    CUcontext context;    /* NULL: free */
    CUfunction scan, put; /* NULL: the driver cannot translate them, which it does not learn */
} loaded[CONTEXTS];
static unsigned oldest;
static uint32_t scanned_windows;                   /* in the table on the device; the holder's */
static struct gmt_mutex loading = GMT_MUTEX(SCAN); /* for `loaded` */

size_t gmt_scan_bytes(void)
{
    return TABLE_BYTES + sizeof(struct found_words);
}

/* One scan. */
struct pointer_scan {
    const struct gmt_windows *windows;
    const struct gmt_extent *own;
    struct gmt_reach *reach;
    bool pageable; /* the device reads memory that the driver does not know */
    bool heap;     /* code may have allocated memory that it does not know either */
};

/* ---- what the driver says of a word ------------------------------------------------------------- */

static bool reads_pageable_memory(void)
{
    CUdevice device;
    int can = 0;
    return gmt_driver.cuCtxGetDevice == NULL || gmt_driver.cuDeviceGetAttribute == NULL ||
           gmt_driver.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
           gmt_driver.cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
                                           device) != CUDA_SUCCESS ||
           can != 0;
}

static bool is_on_device(uint64_t word)
{
    CUdevice device;
    int on = -1;
    return gmt_driver.cuCtxGetDevice != NULL &&
           gmt_driver.cuCtxGetDevice(&device) == CUDA_SUCCESS &&
           gmt_driver.cuPointerGetAttribute(&on, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, word) ==
               CUDA_SUCCESS &&
           on == device;
}

/* Memory that the hooks know, and left out of what is restored: reach.h. */
static bool is_left_out(uint64_t word)
{
    struct gmt_allocation found;
    return gmt_allocmap_find(word, &found) &&
           (found.kind == GMT_ALLOC_MAPPED || gmt_hazards_of_others(&found, 0));
}

/* Device memory of this context that no hook has seen: it is restored, too. */
static bool is_restored(const struct pointer_scan *look, uint64_t word)
{
    CUcontext current = NULL, context = NULL;
    CUdeviceptr base;
    size_t bytes;
    unsigned managed = 1;
    return gmt_driver.cuMemGetAddressRange_v2 != NULL &&
           gmt_driver.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, word) ==
               CUDA_SUCCESS &&
           managed == 0 && gmt_driver.cuCtxGetCurrent(&current) == CUDA_SUCCESS &&
           gmt_driver.cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, word) ==
               CUDA_SUCCESS &&
           context == current && is_on_device(word) && !is_left_out(word) &&
           gmt_driver.cuMemGetAddressRange_v2(&base, &bytes, word) == CUDA_SUCCESS &&
           gmt_reach_add(look->reach, base, bytes);
}

static bool leads_out(const struct pointer_scan *look, uint64_t word)
{
    CUmemorytype type;
    if (word - look->own->base < look->own->bytes || gmt_reach_holds(look->reach, word)) {
        return false;
    }
    if (gmt_driver.cuPointerGetAttribute == NULL) {
        return true;
    }
    if (gmt_driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, word) !=
        CUDA_SUCCESS) {
        return look->heap || (look->pageable && gmt_windows_hold_data(look->windows, word));
    }
    return type != CU_MEMORYTYPE_DEVICE || !is_restored(look, word);
}

/* ---- arguments ---------------------------------------------------------------------------------- */

/* A structure that is passed by value may hold an address at any multiple of 8 bytes. */
static bool any_leads_out(const struct pointer_scan *look, const uint8_t *bytes, size_t first,
                          size_t count)
{
    for (size_t at = first; at + sizeof(uint64_t) <= count; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof(word));
        if (gmt_windows_hold(look->windows, word) && leads_out(look, word)) {
            return true;
        }
    }
    return false;
}

static enum gmt_unmeasured look_at_arguments(const struct pointer_scan *look,
                                             const struct gmt_kernel_info *kernel,
                                             const struct gmt_arguments *arguments)
{
    const uint8_t *buffer = NULL;
    size_t bytes = 0;
    if (!kernel->parameters_known) {
        return GMT_UNMEASURED_ARGUMENTS;
    }
    for (unsigned i = 0; arguments->parameters != NULL && i < kernel->parameter_count; i++) {
        const struct gmt_parameter *parameter = &kernel->parameters[i];
        size_t first = (8u - (parameter->offset & 7u)) & 7u;
        if (arguments->parameters[i] == NULL ||
            any_leads_out(look, arguments->parameters[i], first, parameter->bytes)) {
            return GMT_UNMEASURED_ONCE_REACH;
        }
    }
    for (size_t i = 0; arguments->parameters == NULL && arguments->extra != NULL &&
                       arguments->extra[i] != CU_LAUNCH_PARAM_END;
         i += 2) {
        if (arguments->extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            buffer = arguments->extra[i + 1];
        } else if (arguments->extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) {
            memcpy(&bytes, arguments->extra[i + 1], sizeof(bytes));
        }
    }
    if (arguments->parameters == NULL && kernel->parameter_count != 0 && buffer == NULL) {
        return GMT_UNMEASURED_ARGUMENTS;
    }
    return buffer != NULL && any_leads_out(look, buffer, 0, bytes) ? GMT_UNMEASURED_ONCE_REACH
                                                                   : GMT_MEASURABLE;
}

/* A kernel may store through any descriptor, which may be in memory; the address in it need not be a plain word. */
static enum gmt_unmeasured look_at_tensor_maps(const struct pointer_scan *look)
{
    uint32_t count = gmt_tensor_map_count;
    for (uint32_t i = 0; i < count; i++) {
        if (leads_out(look, gmt_tensor_map_address(i))) {
            return GMT_UNMEASURED_ONCE_REACH;
        }
    }
    return GMT_MEASURABLE;
}

/* ---- device memory ------------------------------------------------------------------------------ */

static bool load(struct loaded *code)
{
    CUmodule module;
    return gmt_driver.cuModuleLoadData(&module, gmt_scan_ptx) == CUDA_SUCCESS &&
           gmt_driver.cuModuleGetFunction(&code->put, module, "gmt_scan_put") == CUDA_SUCCESS &&
           gmt_driver.cuModuleGetFunction(&code->scan, module, "gmt_scan") == CUDA_SUCCESS;
}

/* Locked. False: it is not loaded here, or the driver cannot translate it. */
static bool find_code(struct loaded *code)
{
    CUcontext context = NULL;
    *code = (struct loaded){0};
    if (gmt_driver.cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == NULL) {
        return false;
    }
    for (unsigned i = 0; i < CONTEXTS && code->context == NULL; i++) {
        *code = loaded[i].context == context ? loaded[i] : *code;
    }
    return code->scan != NULL;
}

bool gmt_scan_prepare(void)
{
    struct loaded code;
    gmt_mutex_lock(&loading);
    if (!find_code(&code) && code.context == NULL &&
        gmt_driver.cuCtxGetCurrent(&code.context) == CUDA_SUCCESS && code.context != NULL) {
        if (!load(&code)) {
            code.scan = NULL;
        }
        loaded[oldest] = code;
        oldest = (oldest + 1) % CONTEXTS;
    }
    gmt_mutex_unlock(&loading);
    return code.scan != NULL;
}

/* A thread that is at it waits for the hold to end: it is not waited for. */
static bool prepared_code(struct loaded *code)
{
    bool found = false;
    if (gmt_mutex_try(&loading)) {
        found = find_code(code);
        gmt_mutex_unlock(&loading);
    }
    return found;
}

static CUresult launch(CUfunction function, const struct gmt_extent *extent, CUdeviceptr table,
                       uint32_t entries, CUdeviceptr found)
{
    CUdeviceptr base = (extent->base + 7) & ~UINT64_C(7);
    uint64_t skipped = base - extent->base;
    uint64_t words = extent->bytes > skipped ? (extent->bytes - skipped) / 8 : 0;
    uint64_t blocks = (words + THREADS - 1) / THREADS;
    void *parameters[] = {&base, &words, &table, &entries, &found};
    if (words == 0) {
        return CUDA_SUCCESS;
    }
    return gmt_driver.cuLaunchKernel(function,
                                     blocks < MOST_BLOCKS ? (unsigned)blocks : MOST_BLOCKS, 1, 1,
                                     THREADS, 1, 1, 0, NULL, parameters, NULL);
}

/* The windows into the table at `own`, and 0 into the counter behind it. */
static CUresult put_windows(CUfunction function, struct gmt_windows *windows,
                            const struct gmt_extent *own)
{
    CUdeviceptr counter = own->base + TABLE_BYTES;
    CUresult result = CUDA_SUCCESS;
    for (size_t done = 0; done < windows->count && result == CUDA_SUCCESS; done += GMT_SCAN_PUT) {
        CUdeviceptr to = own->base + done * sizeof(windows->windows[0]);
        size_t left = windows->count - done;
        uint32_t entries = (uint32_t)(left < GMT_SCAN_PUT ? left : GMT_SCAN_PUT);
        void *parameters[] = {&to, &entries, &counter, &windows->windows[done]};
        result = gmt_driver.cuLaunchKernel(function, 1, 1, 1, GMT_SCAN_PUT, 1, 1, 0, NULL,
                                           parameters, NULL);
    }
    return result;
}

/* One window into the table at `own` in which no word is: what is read from now on is only read. */
static CUresult put_none(CUfunction function, struct gmt_windows *windows,
                         const struct gmt_extent *own)
{
    CUdeviceptr to = own->base, counter = own->base + TABLE_BYTES;
    uint32_t entries = scanned_windows = 1;
    void *parameters[] = {&to, &entries, &counter, windows->scratch};
    windows->scratch[0] = (struct gmt_window){UINT64_MAX, UINT64_MAX};
    return gmt_driver.cuLaunchKernel(function, 1, 1, 1, GMT_SCAN_PUT, 1, 1, 0, NULL, parameters,
                                     NULL);
}

/* The count and the first words come in one copy: mostly there are no more. */
static bool fetch(struct found_words *found, CUdeviceptr counter)
{
    size_t first = offsetof(struct found_words, words[FIRST_WORDS]);
    if (gmt_driver.cuMemcpyDtoH_v2(found, counter, first) != CUDA_SUCCESS) {
        return false;
    }
    if (found->count <= FIRST_WORDS || found->count > GMT_SCAN_WORDS) {
        return true;
    }
    return gmt_driver.cuMemcpyDtoH_v2(&found->words[FIRST_WORDS], counter + first,
                                      (found->count - FIRST_WORDS) * sizeof(found->words[0])) ==
           CUDA_SUCCESS;
}

static bool scan_extents(const struct gmt_reach *reach, struct gmt_windows *windows,
                         const struct gmt_extent *own, struct found_words *found)
{
    struct loaded code;
    CUdeviceptr counter = own->base + TABLE_BYTES;
    found->count = 0;
    scanned_windows = (uint32_t)windows->count;
    if (windows->count == 0) {
        return true;
    }
    if (!prepared_code(&code) || put_windows(code.put, windows, own) != CUDA_SUCCESS) {
        return false;
    }
    for (size_t i = 0; i < reach->count; i++) {
        if (launch(code.scan, &reach->extents[i], own->base, scanned_windows, counter) !=
            CUDA_SUCCESS) {
            return false;
        }
    }
    return fetch(found, counter) && put_none(code.put, windows, own) == CUDA_SUCCESS;
}

static uint64_t cache_bytes(void)
{
    CUdevice device;
    int bytes = 0;
    bool known = gmt_driver.cuCtxGetDevice(&device) == CUDA_SUCCESS &&
                 gmt_driver.cuDeviceGetAttribute(&bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
                                                 device) == CUDA_SUCCESS;
    return known && bytes > 0 ? (uint64_t)bytes : 0;
}

/* It finds nothing, and writes nothing (put_none). */
void gmt_scan_clean_l2(const struct gmt_reach *reach, const struct gmt_extent *own)
{
    struct loaded code;
    uint64_t left = 2 * cache_bytes();
    if (scanned_windows == 0 || !prepared_code(&code)) {
        return;
    }
    for (size_t i = 0; i < reach->count && left != 0; i++) {
        struct gmt_extent part = reach->extents[i];
        part.bytes = part.bytes < left ? part.bytes : left;
        left -= part.bytes;
        (void)launch(code.scan, &part, own->base, scanned_windows, own->base + TABLE_BYTES);
    }
}

/* Where the word is, or where there is room for it. */
static uint64_t *slot_of(uint64_t *slots, uint64_t word)
{
    uint64_t at = word * UINT64_C(0x9e3779b97f4a7c15) >> 51;
    while (slots[at] != 0 && slots[at] != word) {
        at = (at + 1) % HARMLESS;
    }
    return &slots[at];
}

/* Pairs of small integers, or bytes that are 0 and 1, look like addresses where the driver has reserved low ones: thousands of
 * words, but few different ones. Asking the driver about one takes 0.7 us; after MOST_ASKED of them the launch is refused. */
static bool any_found_leads_out(const struct pointer_scan *look, struct scan_result *found)
{
    unsigned asked = 0;
    memset(found->harmless, 0, sizeof(found->harmless));
    for (uint64_t i = 0; i < found->all.count; i++) {
        uint64_t word = found->all.words[i];
        uint64_t *harmless = slot_of(found->harmless, word);
        if (*harmless != word && (asked++ == MOST_ASKED || leads_out(look, word))) {
            return true;
        }
        *harmless = word;
    }
    return false;
}

enum gmt_unmeasured gmt_scan(struct gmt_reach *reach, const struct gmt_kernel_info *kernel,
                             const struct gmt_arguments *arguments, const struct gmt_extent *own)
{
    struct gmt_windows *windows = gmt_table_need(&windows_table, sizeof(*windows));
    struct scan_result *found = gmt_table_need(&found_table, sizeof(*found));
    bool heap = gmt_collector->code_allocates == NULL || gmt_collector->code_allocates();
    struct pointer_scan look = {windows, own, reach, reads_pageable_memory(), heap};
    if (windows == NULL || found == NULL || !gmt_windows_find(windows, reach)) {
        return GMT_UNMEASURED_ONCE_ROOM;
    }
    if (windows->shared_with_devices) {
        return GMT_UNMEASURED_ONCE_KINDS;
    }
    enum gmt_unmeasured why = look_at_arguments(&look, kernel, arguments);
    if (why == GMT_MEASURABLE) {
        why = look_at_tensor_maps(&look);
    }
    if (why != GMT_MEASURABLE) {
        return why;
    }
    if (!scan_extents(reach, windows, own, &found->all)) {
        return GMT_UNMEASURED_ONCE_FAILED;
    }
    return found->all.count > GMT_SCAN_WORDS || any_found_leads_out(&look, found)
               ? GMT_UNMEASURED_ONCE_REACH
               : GMT_MEASURABLE;
}

void gmt_scan_forget(CUcontext context)
{
    if (context == NULL) {
        gmt_mutex_renew(&loading); /* a thread that the fork left behind may have had it */
    }
    gmt_mutex_lock(&loading);
    for (unsigned i = 0; i < CONTEXTS; i++) {
        if (context == NULL || loaded[i].context == context) {
            loaded[i] = (struct loaded){0};
        }
    }
    gmt_mutex_unlock(&loading);
}
