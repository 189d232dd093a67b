/* SPDX-License-Identifier: Apache-2.0 */
/* Takes CUPTI's activity buffers and writes one GMT_REC_DEVICE_OP per record. */
#define _GNU_SOURCE
#include "libtrace/cupti/base/activity.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/cupti/base/buffers.h"
#include "libtrace/cupti/base/device_time.h"
#include "libtrace/cupti/base/fetch_thread.h"
#include "libtrace/cupti/base/managed.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "libtrace/sections/section.h"

#define MAX_CONTEXTS 256u
#define FINISH_WAIT_NS UINT64_C(50000000) /* for work that is under way when another client comes */
#define RETURN_WAIT_NS UINT64_C(200000000) /* for buffers, after a forced flush */
#define POLL_US 500u
/* Memcpy records have a copy count since CUPTI 13.0. */
#define COPY_COUNT_SINCE 130000u

/* An older CUPTI writes older structures, whose fields lie in the same places: of CUDA 11.8 (kernels 8), 12 (9), both (copies 5). */
#define SAME(older, newer, field) \
    static_assert(offsetof(older, field) == offsetof(newer, field), "record of an older CUPTI");
#define SAME_IN_ALL(older, newer) \
    SAME(older, newer, start) \
    SAME(older, newer, end) \
    SAME(older, newer, correlationId) \
    SAME(older, newer, deviceId) \
    SAME(older, newer, contextId) SAME(older, newer, streamId) SAME(older, newer, graphId)
#define SAME_KERNEL(older) \
    SAME_IN_ALL(older, CUpti_ActivityKernel10) \
    SAME(older, CUpti_ActivityKernel10, gridX) \
    SAME(older, CUpti_ActivityKernel10, gridZ) \
    SAME(older, CUpti_ActivityKernel10, blockX) \
    SAME(older, CUpti_ActivityKernel10, blockZ) SAME(older, CUpti_ActivityKernel10, name)
SAME_KERNEL(CUpti_ActivityKernel8)
SAME_KERNEL(CUpti_ActivityKernel9)
SAME_IN_ALL(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6)
SAME(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, bytes)
SAME(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, copyKind)
SAME(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, srcKind)
SAME(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, dstKind)

static const struct gmt_cupti_api *cupti;
static _Atomic bool enabled;
static _Atomic bool kernels_on;
static _Atomic bool own_work; /* kernels stay off */
static _Atomic bool at_rest;  /* all do */
static struct {
    _Atomic uint32_t cupti;
    _Atomic uint32_t id;
} contexts[MAX_CONTEXTS];
static _Atomic uint32_t context_count;

static uint64_t CUPTIAPI now_ns(void)
{
    return gmt_clock_monotonic_ns();
}

static uint32_t context_id(uint32_t cupti_context)
{
    uint32_t count = atomic_load_explicit(&context_count, memory_order_acquire);
    for (uint32_t i = count < MAX_CONTEXTS ? count : MAX_CONTEXTS; i-- > 0;) {
        if (atomic_load_explicit(&contexts[i].cupti, memory_order_relaxed) == cupti_context) {
            return atomic_load_explicit(&contexts[i].id, memory_order_relaxed);
        }
    }
    return 0;
}

static void write_kernel(const CUpti_ActivityKernel10 *kernel)
{
    struct gmt_device_op op = {
        .start_ns = kernel->start,
        .end_ns = kernel->end,
        .correlation = kernel->correlationId,
        .device = kernel->deviceId,
        .cupti_context = kernel->contextId,
        .cupti_stream = kernel->streamId,
        .graph = kernel->graphId,
        .kind = GMT_OP_KERNEL,
        .grid = {(uint32_t)kernel->gridX, (uint32_t)kernel->gridY, (uint32_t)kernel->gridZ},
        .block = {(uint32_t)kernel->blockX, (uint32_t)kernel->blockY, (uint32_t)kernel->blockZ},
        .context = context_id(kernel->contextId),
        .copy_count = 1,
    };
    (void)gmt_spool_side(GMT_REC_DEVICE_OP, &op, sizeof(op), &kernel->name, 1);
    if (kernel->end > kernel->start) {
        gmt_device_time_note(kernel->name, op.grid, op.block, kernel->end - kernel->start);
    }
}

static void write_copy(const CUpti_ActivityMemcpy6 *copy)
{
    struct gmt_device_op op = {
        .start_ns = copy->start,
        .end_ns = copy->end,
        .bytes = copy->bytes,
        .correlation = copy->correlationId,
        .device = copy->deviceId,
        .cupti_context = copy->contextId,
        .cupti_stream = copy->streamId,
        .graph = copy->graphId,
        .kind = GMT_OP_COPY,
        .copy_kind = copy->copyKind,
        .src_kind = copy->srcKind,
        .dst_kind = copy->dstKind,
        .context = context_id(copy->contextId),
        .copy_count = cupti->version >= COPY_COUNT_SINCE && copy->copyCount != 0
                          ? (uint32_t)copy->copyCount
                          : 1,
    };
    (void)gmt_spool_side(GMT_REC_DEVICE_OP, &op, sizeof(op), &(const char *){NULL}, 1);
}

static void write_peer_copy(const CUpti_ActivityMemcpyPtoP4 *copy)
{
    struct gmt_device_op op = {
        .start_ns = copy->start,
        .end_ns = copy->end,
        .bytes = copy->bytes,
        .correlation = copy->correlationId,
        .device = copy->deviceId,
        .cupti_context = copy->contextId,
        .cupti_stream = copy->streamId,
        .graph = copy->graphId,
        .kind = GMT_OP_COPY,
        .copy_kind = copy->copyKind,
        .src_kind = copy->srcKind,
        .dst_kind = copy->dstKind,
        .context = context_id(copy->contextId),
        .copy_count = 1,
    };
    (void)gmt_spool_side(GMT_REC_DEVICE_OP, &op, sizeof(op), &(const char *){NULL}, 1);
}

static void write_memset(const CUpti_ActivityMemset4 *set)
{
    struct gmt_device_op op = {
        .start_ns = set->start,
        .end_ns = set->end,
        .bytes = set->bytes,
        .correlation = set->correlationId,
        .device = set->deviceId,
        .cupti_context = set->contextId,
        .cupti_stream = set->streamId,
        .graph = set->graphId,
        .kind = GMT_OP_MEMSET,
        .dst_kind = (uint8_t)set->memoryKind,
        .context = context_id(set->contextId),
        .copy_count = 1,
    };
    (void)gmt_spool_side(GMT_REC_DEVICE_OP, &op, sizeof(op), &(const char *){NULL}, 1);
}

static void write_record(const CUpti_Activity *record)
{
    switch ((int)record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        write_kernel((const CUpti_ActivityKernel10 *)(const void *)record);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        write_copy((const CUpti_ActivityMemcpy6 *)(const void *)record);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        write_peer_copy((const CUpti_ActivityMemcpyPtoP4 *)(const void *)record);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        write_memset((const CUpti_ActivityMemset4 *)(const void *)record);
        break;
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER: gmt_managed_write(record); break;
    default: break;
    }
}

static void read_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t valid_bytes)
{
    CUpti_Activity *record = NULL;
    while (valid_bytes != 0 &&
           cupti->cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
        write_record(record);
    }
    size_t dropped = 0;
    if (cupti->cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS &&
        dropped != 0) {
        gmt_spool_loss("device timestamps", "CUPTI dropped activity records", dropped);
    }
}

static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                           CUPTI_ACTIVITY_KIND_MEMSET,
                                           CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

CUptiResult gmt_activity_start(const struct gmt_cupti_api *api, const char **failed)
{
    cupti = api;
    gmt_buffers_read_by(read_buffer);
    gmt_buffers_in_charge(true);
    *failed = "cuptiActivityRegisterTimestampCallback";
    CUptiResult result = api->cuptiActivityRegisterTimestampCallback(now_ns);
    if (result == CUPTI_SUCCESS) {
        *failed = "cuptiActivityRegisterCallbacks";
        result = api->cuptiActivityRegisterCallbacks(gmt_buffers_give, gmt_buffers_take);
    }
    atomic_store(&enabled, result == CUPTI_SUCCESS);
    atomic_store(&at_rest, false);
    for (size_t i = 0; result == CUPTI_SUCCESS && i < KINDS; i++) {
        *failed = "cuptiActivityEnable";
        result = api->cuptiActivityEnable(kinds[i]);
    }
    if (result == CUPTI_SUCCESS) {
        atomic_store(&kernels_on, true);
        (void)api->cuptiActivityFlushPeriod(GMT_FETCH_THREAD_PERIOD_MS);
    } else {
        gmt_buffers_in_charge(false);
    }
    return result;
}

/* What CUPTI takes where nobody has registered a clock; there is no way to take ours away again. */
static uint64_t CUPTIAPI default_clock_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static bool flush_until(uint32_t flag, uint64_t wait_ns)
{
    uint64_t until_ns = gmt_clock_monotonic_ns() + wait_ns;
    for (;;) {
        (void)cupti->cuptiActivityFlushAll(flag);
        if (gmt_buffers_of_ours() == 0) {
            return true;
        }
        if (gmt_clock_monotonic_ns() >= until_ns) {
            return false;
        }
        (void)usleep(POLL_US);
    }
}

void gmt_activity_disable(void)
{
    atomic_store(&enabled, false); /* a measured launch that ends now leaves kernel records off */
    atomic_store(&kernels_on, false);
    for (size_t i = 0; i < KINDS; i++) {
        (void)cupti->cuptiActivityDisable(kinds[i]);
    }
    gmt_managed_stand_back();
}

bool gmt_activity_hand_over(uint32_t flush_period_ms, CUpti_TimestampCallbackFunc clock)
{
    bool all = flush_until(0, FINISH_WAIT_NS) ||
               flush_until(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED, RETURN_WAIT_NS);
    gmt_buffers_in_charge(false);
    (void)cupti->cuptiActivityFlushPeriod(flush_period_ms);
    (void)cupti->cuptiActivityRegisterTimestampCallback(clock != NULL ? clock : default_clock_ns);
    return all;
}

uint64_t gmt_activity_default_clock_ns(void)
{
    return default_clock_ns();
}

void gmt_activity_add_context(uint32_t cupti_context, uint32_t id)
{
    uint32_t at = atomic_fetch_add(&context_count, 1);
    if (at < MAX_CONTEXTS) {
        atomic_store(&contexts[at].id, id);
        atomic_store(&contexts[at].cupti, cupti_context);
    }
}

/* Kinds but that of kernels. */
static void set_others(bool on)
{
    uint64_t section = gmt_section_begin(GMT_SECTION_SWITCH);
    for (size_t i = 0; atomic_load(&enabled) && i < KINDS; i++) {
        if (kinds[i] != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
            (void)(on ? cupti->cuptiActivityEnable(kinds[i])
                      : cupti->cuptiActivityDisable(kinds[i]));
        }
    }
    gmt_section_end(section);
}

void gmt_activity_own_work(bool begins)
{
    if (begins) {
        gmt_activity_set_kernels(false);
    }
    atomic_store(&own_work, begins);
    set_others(!begins && !atomic_load(&at_rest));
    if (!begins) {
        gmt_activity_set_kernels(true);
    }
}

void gmt_activity_rest(bool rests)
{
    if (rests) {
        gmt_activity_set_kernels(false);
    }
    atomic_store(&at_rest, rests);
    set_others(!rests && !atomic_load(&own_work));
    if (!rests) {
        gmt_activity_set_kernels(true);
    }
}

void gmt_activity_set_kernels(bool on)
{
    on = on && !atomic_load(&own_work) && !atomic_load(&at_rest);
    if (!atomic_load(&enabled) || atomic_load(&kernels_on) == on) {
        return;
    }
    uint64_t section = gmt_section_begin(GMT_SECTION_SWITCH);
    CUptiResult result = on ? cupti->cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
                            : cupti->cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    gmt_section_end(section);
    if (result == CUPTI_SUCCESS) {
        atomic_store(&kernels_on, on);
    }
}

bool gmt_activity_kernels_on(void)
{
    return atomic_load_explicit(&kernels_on, memory_order_relaxed);
}

void gmt_activity_flush(bool forced)
{
    if (atomic_load(&enabled)) {
        (void)cupti->cuptiActivityFlushAll(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
    }
}

void gmt_activity_find_fetching(void)
{
    if (atomic_load(&enabled)) {
        gmt_fetch_thread_find(cupti);
    }
}

bool gmt_activity_may_pause_fetching(void)
{
    return !atomic_load(&enabled) || gmt_fetch_thread_may_pause();
}

enum gmt_fetch_thread gmt_activity_pause_fetching(void)
{
    return atomic_load(&enabled) ? gmt_fetch_thread_pause(cupti) : GMT_FETCH_THREAD_SLEEPS;
}

void gmt_activity_resume_fetching(void)
{
    if (atomic_load(&enabled)) {
        gmt_fetch_thread_resume(cupti);
    }
}

void gmt_activity_abandon(void)
{
    atomic_store(&enabled, false);
    atomic_store(&kernels_on, false);
    gmt_buffers_abandon();
}
