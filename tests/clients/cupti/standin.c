/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-in CUPTI: subscribers, the clock, activity records in the clients' buffers. */
#define _GNU_SOURCE
#include "standin.h"

#include <cupti_callbacks.h>
#include <cupti_target.h>
#include <cupti_version.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The records of that version: those of CUDA 11.8 (18) and 12.4 (22) are shorter than those of 13. */
#ifndef STANDIN_VERSION
#define STANDIN_VERSION CUPTI_API_VERSION
#endif
#if STANDIN_VERSION >= 130000
typedef CUpti_ActivityKernel10 kernel_record;
typedef CUpti_ActivityMemcpy6 copy_record;
typedef CUpti_ActivityUnifiedMemoryCounter3 managed_record;
#elif STANDIN_VERSION >= 22
typedef CUpti_ActivityKernel9 kernel_record;
typedef CUpti_ActivityMemcpy5 copy_record;
typedef CUpti_ActivityUnifiedMemoryCounter2 managed_record;
#else
typedef CUpti_ActivityKernel8 kernel_record;
typedef CUpti_ActivityMemcpy5 copy_record;
typedef CUpti_ActivityUnifiedMemoryCounter2 managed_record;
#endif

#define KINDS 256u
#define STREAM_ID 7u

/* Callbacks may call back. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static bool kinds[KINDS];
static CUpti_BuffersCallbackRequestFunc request_buffer;
static CUpti_BuffersCallbackCompleteFunc complete_buffer;
static CUpti_TimestampCallbackFunc clock_function;
static bool subscribed;
static uint32_t correlation;
static struct {
    uint8_t *bytes;
    size_t size, used;
} buffer;

/* STANDIN_CUPTI_CALLS: a file that gets a line per call. */
void standin_note(const char *function)
{
    const char *path = getenv("STANDIN_CUPTI_CALLS");
    int file = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (file >= 0) {
        char line[128] = "";
        (void)strncat(line, function, sizeof line - 2);
        (void)strcat(line, "\n");
        (void)!write(file, line, strlen(line));
        (void)close(file);
    }
}
#define ENTER() standin_note(__func__)

static void work(CUpti_ActivityKind kind, const char *kernel, uint64_t bytes_or_blocks);
static void begun(CUpti_ActivityKind kind, const char *kernel, uint64_t bytes_or_blocks,
                  bool enabled);
static bool is_enabled(CUpti_ActivityKind kind);
static void page(const CUpti_ActivityUnifiedMemoryCounter3 *counter, uint64_t ns);

bool standin_is_served(void)
{
    static const struct standin_copy copy = {
        work, begun, is_enabled, standin_ranges, standin_call_in_range, page};
    return standin_attach(&copy);
}
/* For what asks the driver. */
#define ENTER_SERVED() \
    ENTER(); \
    if (!standin_is_served()) { \
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED; \
    }

static CUptiResult leave(CUptiResult result)
{
    (void)pthread_mutex_unlock(&lock);
    return result;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    if (clock_function != NULL) {
        return clock_function();
    }
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* STANDIN_CUPTI_VERSION: another one. */
CUptiResult cuptiGetVersion(uint32_t *version)
{
    const char *given = getenv("STANDIN_CUPTI_VERSION");
    *version = given != NULL ? (uint32_t)strtoul(given, NULL, 10) : STANDIN_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    *text = result == CUPTI_SUCCESS ? "CUPTI_SUCCESS" : "CUPTI_ERROR";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
    *id = context != NULL ? 1 : 0;
    return context != NULL ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id)
{
    (void)context;
    (void)stream;
    (void)per_thread;
    *id = STREAM_ID;
    return CUPTI_SUCCESS;
}

/* ---- subscribers -------------------------------------------------------------------------------- */

/* STANDIN_CUPTI_OTHER_TOOL: as under Nsight Systems. */
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                           void *data)
{
    ENTER();
    (void)callback;
    (void)data;
    pthread_mutex_lock(&lock);
    if (subscriber == NULL) {
        return leave(CUPTI_ERROR_INVALID_PARAMETER);
    }
    if (subscribed || getenv("STANDIN_CUPTI_OTHER_TOOL") != NULL) {
        return leave(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    }
    if (!standin_is_served()) {
        return leave(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    }
    /* STANDIN_CUPTI_EXCLUSIVE: an activity client counts as a subscriber, too. */
    for (unsigned i = 0; getenv("STANDIN_CUPTI_EXCLUSIVE") != NULL && i < KINDS; i++) {
        if (kinds[i]) {
            return leave(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
        }
    }
    subscribed = true;
    *subscriber = (CUpti_SubscriberHandle)(void *)&subscribed;
    return leave(CUPTI_SUCCESS);
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                              void *data, CUpti_SubscriberParams *params)
{
    return params != NULL && params->structSize == 0 ? CUPTI_ERROR_INVALID_PARAMETER
                                                     : cuptiSubscribe(subscriber, callback, data);
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
    ENTER();
    pthread_mutex_lock(&lock);
    if (subscriber == NULL || !subscribed) {
        return leave(CUPTI_ERROR_INVALID_PARAMETER);
    }
    subscribed = false;
    return leave(CUPTI_SUCCESS);
}

CUptiResult cuptiFinalize(void)
{
    ENTER();
    pthread_mutex_lock(&lock);
    memset(kinds, 0, sizeof kinds);
    memset(&buffer, 0, sizeof buffer);
    request_buffer = NULL;
    complete_buffer = NULL;
    clock_function = NULL;
    subscribed = false;
    correlation = 0;
    standin_reset_profiler();
    return leave(CUPTI_SUCCESS);
}

/* ---- the clock ---------------------------------------------------------------------------------- */

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function)
{
    ENTER_SERVED()
    pthread_mutex_lock(&lock);
    clock_function = function != NULL ? function : clock_function;
    return leave(function != NULL ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
    pthread_mutex_lock(&lock);
    if (timestamp != NULL) {
        *timestamp = now_ns();
    }
    return leave(timestamp != NULL ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER);
}

/* ---- activity kinds ----------------------------------------------------------------------------- */

static CUptiResult set_kind(CUpti_ActivityKind kind, bool on)
{
    pthread_mutex_lock(&lock);
    if ((unsigned)kind >= KINDS || kind == CUPTI_ACTIVITY_KIND_INVALID) {
        return leave(CUPTI_ERROR_INVALID_KIND);
    }
    kinds[kind] = on;
    return leave(CUPTI_SUCCESS);
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    ENTER_SERVED()
    return set_kind(kind, true);
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    ENTER_SERVED()
    return set_kind(kind, false);
}

CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind)
{
    ENTER_SERVED()
    return context != NULL ? set_kind(kind, true) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind)
{
    ENTER_SERVED()
    return context != NULL ? set_kind(kind, false) : CUPTI_ERROR_INVALID_PARAMETER;
}

/* Some attributes may be set only while nothing is recorded; here, all. */
CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t *bytes, void *value)
{
    ENTER_SERVED()
    (void)attribute;
    pthread_mutex_lock(&lock);
    CUptiResult result = bytes != NULL && value != NULL ? CUPTI_SUCCESS
                                                        : CUPTI_ERROR_INVALID_PARAMETER;
    for (unsigned i = 0; i < KINDS; i++) {
        result = kinds[i] ? CUPTI_ERROR_INVALID_OPERATION : result;
    }
    return leave(result);
}

/* STANDIN_CUPTI_NO_MANAGED: the platform has no such counters. */
static bool counts[32];
CUptiResult
cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig *config,
                                           uint32_t count)
{
    ENTER_SERVED()
    if (getenv("STANDIN_CUPTI_NO_MANAGED") != NULL) {
        return CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED;
    }
    pthread_mutex_lock(&lock);
    CUptiResult result = config != NULL && count != 0 ? CUPTI_SUCCESS
                                                      : CUPTI_ERROR_INVALID_PARAMETER;
    for (uint32_t i = 0; result == CUPTI_SUCCESS && i < count; i++) {
        /* Of a CUPTI of CUDA 11, in which copies between devices were not counted. */
        bool known = (unsigned)config[i].kind < (STANDIN_VERSION >= 22 ? 9u : 5u);
        result = known && config[i].kind != 0 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
        counts[(unsigned)config[i].kind % 32] = known && config[i].enable != 0;
    }
    return leave(result);
}

static bool is_enabled(CUpti_ActivityKind kind)
{
    pthread_mutex_lock(&lock);
    bool on = kinds[kind];
    (void)pthread_mutex_unlock(&lock);
    return on;
}

/* ---- buffers ------------------------------------------------------------------------------------ */

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete)
{
    ENTER_SERVED()
    pthread_mutex_lock(&lock);
    if (request == NULL || complete == NULL) {
        return leave(CUPTI_ERROR_INVALID_PARAMETER);
    }
    request_buffer = request;
    complete_buffer = complete;
    return leave(CUPTI_SUCCESS);
}

static void deliver(void)
{
    if (buffer.bytes != NULL) {
        uint8_t *bytes = buffer.bytes;
        buffer.bytes = NULL;
        complete_buffer(NULL, 0, bytes, buffer.size, buffer.used);
    }
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    ENTER_SERVED()
    (void)flag;
    pthread_mutex_lock(&lock);
    if (complete_buffer == NULL) {
        return leave(CUPTI_ERROR_INVALID_OPERATION);
    }
    deliver();
    return leave(CUPTI_SUCCESS);
}

CUptiResult cuptiActivityFlushPeriod(uint32_t milliseconds)
{
    ENTER_SERVED()
    (void)milliseconds;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
    (void)context;
    (void)stream;
    *dropped = 0;
    return CUPTI_SUCCESS;
}

static size_t size_of(CUpti_ActivityKind kind)
{
    switch ((int)kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(kernel_record);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(copy_record);
    case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER: return sizeof(managed_record);
    default: return 0;
    }
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *bytes, size_t valid, CUpti_Activity **record)
{
    uint8_t *next = bytes;
    if (*record != NULL) {
        next = (uint8_t *)*record + size_of((*record)->kind);
    }
    if (next >= bytes + valid) {
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    }
    *record = (CUpti_Activity *)(void *)next;
    return CUPTI_SUCCESS;
}

static void *room_for(size_t bytes)
{
    size_t max_records = 0;
    if (buffer.bytes != NULL && buffer.used + bytes > buffer.size) {
        deliver();
    }
    if (buffer.bytes == NULL && request_buffer != NULL) {
        request_buffer(&buffer.bytes, &buffer.size, &max_records);
        buffer.used = 0;
    }
    if (buffer.bytes == NULL) {
        return NULL;
    }
    void *room = buffer.bytes + buffer.used;
    buffer.used += bytes;
    memset(room, 0, bytes);
    return room;
}

static void fill_kernel(kernel_record *record, const char *name, uint32_t blocks)
{
    record->kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record->start = now_ns();
    record->end = now_ns();
    record->correlationId = correlation;
    record->contextId = 1;
    record->streamId = STREAM_ID;
    record->gridX = (int32_t)blocks;
    record->gridY = record->gridZ = record->blockY = record->blockZ = 1;
    record->blockX = 256;
    record->name = name;
}

static void fill_copy(copy_record *record, uint64_t bytes)
{
    record->kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    record->copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    record->start = now_ns();
    record->end = now_ns();
    record->bytes = bytes;
    record->correlationId = correlation;
    record->contextId = 1;
    record->streamId = STREAM_ID;
#if STANDIN_VERSION >= 130000
    record->copyCount = 1;
#endif
}

static void fill_memset(CUpti_ActivityMemset4 *record, uint64_t bytes)
{
    record->kind = CUPTI_ACTIVITY_KIND_MEMSET;
    record->start = now_ns();
    record->end = now_ns();
    record->bytes = bytes;
    record->correlationId = correlation;
    record->contextId = 1;
    record->streamId = STREAM_ID;
}

/* The program reports a launch when it has returned: what was switched off for it is on again. */
static bool unseen_kernel;

void standin_range_begins(void)
{
    pthread_mutex_lock(&lock);
    unseen_kernel = !kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL];
    (void)pthread_mutex_unlock(&lock);
}

static void write_down(void *record, CUpti_ActivityKind kind, const char *kernel,
                       uint64_t bytes_or_blocks)
{
    if (record != NULL && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        fill_kernel(record, kernel, (uint32_t)bytes_or_blocks);
    } else if (record != NULL && kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        fill_copy(record, bytes_or_blocks);
    } else if (record != NULL) {
        fill_memset(record, bytes_or_blocks);
    }
}

static void work(CUpti_ActivityKind kind, const char *kernel, uint64_t bytes_or_blocks)
{
    pthread_mutex_lock(&lock);
    correlation++;
    bool unseen = unseen_kernel && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    unseen_kernel &= !unseen;
    write_down(kinds[kind] && !unseen ? room_for(size_of(kind)) : NULL, kind, kernel,
               bytes_or_blocks);
    (void)pthread_mutex_unlock(&lock);
}

static void begun(CUpti_ActivityKind kind, const char *kernel, uint64_t bytes_or_blocks,
                  bool enabled)
{
    pthread_mutex_lock(&lock);
    correlation++;
    write_down(enabled ? room_for(size_of(kind)) : NULL, kind, kernel, bytes_or_blocks);
    (void)pthread_mutex_unlock(&lock);
}

static void page(const CUpti_ActivityUnifiedMemoryCounter3 *counter, uint64_t ns)
{
    pthread_mutex_lock(&lock);
    bool on = kinds[CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER] &&
              counts[(unsigned)counter->counterKind % 32];
    managed_record *record = on ? room_for(sizeof *record) : NULL;
    if (record != NULL) {
        memcpy(record, counter, sizeof *record);
        record->kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;
        record->end = now_ns();
        record->start = record->end - ns;
    }
    (void)pthread_mutex_unlock(&lock);
}
