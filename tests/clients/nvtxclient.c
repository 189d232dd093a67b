/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios that name ranges with NVIDIA's NVTX headers and call the driver inside of them. */
#define _GNU_SOURCE
#include "client.h"

#include <limits.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/state/nvtx.h"
#include "preload/state/nvtx_payload.h"

/* What the library believes of NVTX's binary interface is what NVIDIA's headers say. */
_Static_assert(sizeof(struct gmt_nvtx_attributes) == sizeof(nvtxEventAttributes_t), "attributes");
_Static_assert(offsetof(struct gmt_nvtx_attributes, message) ==
                   offsetof(nvtxEventAttributes_t, message),
               "message");
_Static_assert(offsetof(struct gmt_nvtx_attributes, message_type) ==
                   offsetof(nvtxEventAttributes_t, messageType),
               "message type");
_Static_assert(sizeof(struct gmt_nvtx_callbacks) == sizeof(NvtxExportTableCallbacks), "callbacks");
_Static_assert(sizeof(struct gmt_nvtx_version) == sizeof(NvtxExportTableVersionInfo), "version");
_Static_assert((int)GMT_NVTX_ASCII == (int)NVTX_MESSAGE_TYPE_ASCII &&
                   (int)GMT_NVTX_UNICODE == (int)NVTX_MESSAGE_TYPE_UNICODE &&
                   (int)GMT_NVTX_REGISTERED == (int)NVTX_MESSAGE_TYPE_REGISTERED,
               "message types");
_Static_assert((int)GMT_NVTX_CORE == (int)NVTX_CB_MODULE_CORE &&
                   (int)GMT_NVTX_CORE2 == (int)NVTX_CB_MODULE_CORE2,
               "modules");
#define SAME_PLACE(ours, member, theirs, their_member) \
    _Static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member), #member)
SAME_PLACE(gmt_nvtx_entry, type, nvtxPayloadSchemaEntry_t, type);
SAME_PLACE(gmt_nvtx_entry, name, nvtxPayloadSchemaEntry_t, name);
SAME_PLACE(gmt_nvtx_entry, offset, nvtxPayloadSchemaEntry_t, offset);
SAME_PLACE(gmt_nvtx_schema, mask, nvtxPayloadSchemaAttr_t, fieldMask);
SAME_PLACE(gmt_nvtx_schema, entries, nvtxPayloadSchemaAttr_t, entries);
SAME_PLACE(gmt_nvtx_schema, entry_count, nvtxPayloadSchemaAttr_t, numEntries);
SAME_PLACE(gmt_nvtx_schema, id, nvtxPayloadSchemaAttr_t, schemaId);
SAME_PLACE(gmt_nvtx_data, schema, nvtxPayloadData_t, schemaId);
SAME_PLACE(gmt_nvtx_data, bytes, nvtxPayloadData_t, size);
SAME_PLACE(gmt_nvtx_data, data, nvtxPayloadData_t, payload);
SAME_PLACE(gmt_nvtx_module, module, nvtxExtModuleInfo_t, moduleId);
SAME_PLACE(gmt_nvtx_module, segments, nvtxExtModuleInfo_t, segments);
SAME_PLACE(gmt_nvtx_segment, functions, nvtxExtModuleSegment_t, functionSlots);
SAME_PLACE(gmt_nvtx_attributes, reserved, nvtxEventAttributes_t, reserved0);
SAME_PLACE(gmt_nvtx_attributes, payload, nvtxEventAttributes_t, payload);
SAME_PLACE(gmt_nvtx_attributes, payload_type, nvtxEventAttributes_t, payloadType);
_Static_assert(sizeof(struct gmt_nvtx_entry) == sizeof(nvtxPayloadSchemaEntry_t) &&
                   sizeof(struct gmt_nvtx_schema) == sizeof(nvtxPayloadSchemaAttr_t) &&
                   sizeof(struct gmt_nvtx_data) == sizeof(nvtxPayloadData_t) &&
                   sizeof(struct gmt_nvtx_module) == sizeof(nvtxExtModuleInfo_t) &&
                   sizeof(struct gmt_nvtx_segment) == sizeof(nvtxExtModuleSegment_t),
               "payloads");
_Static_assert(GMT_NVTX_INT == NVTX_PAYLOAD_ENTRY_TYPE_INT &&
                   GMT_NVTX_UINT == NVTX_PAYLOAD_ENTRY_TYPE_UINT &&
                   GMT_NVTX_INT32 == NVTX_PAYLOAD_ENTRY_TYPE_INT32 &&
                   GMT_NVTX_UINT32 == NVTX_PAYLOAD_ENTRY_TYPE_UINT32 &&
                   GMT_NVTX_INT64 == NVTX_PAYLOAD_ENTRY_TYPE_INT64 &&
                   GMT_NVTX_UINT64 == NVTX_PAYLOAD_ENTRY_TYPE_UINT64 &&
                   GMT_NVTX_SIZE == NVTX_PAYLOAD_ENTRY_TYPE_SIZE,
               "types of values");
_Static_assert(GMT_NVTX_MASK_ENTRIES == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES &&
                   GMT_NVTX_MASK_COUNT == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES &&
                   GMT_NVTX_MASK_ID == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID,
               "mask");
_Static_assert(GMT_NVTX_PAYLOAD_EXTENSION == NVTX_PAYLOAD_TYPE_EXT &&
                   GMT_NVTX_SCHEMA_DYNAMIC == NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START &&
                   GMT_NVTX_MODULE_PAYLOAD == NVTX_EXT_PAYLOAD_MODULEID,
               "payload extension");
_Static_assert(GMT_NVTX_SCHEMA_REGISTER == NVTX3EXT_CBID_nvtxPayloadSchemaRegister &&
                   GMT_NVTX_PUSH_PAYLOAD == NVTX3EXT_CBID_nvtxRangePushPayload &&
                   GMT_NVTX_POP_PAYLOAD == NVTX3EXT_CBID_nvtxRangePopPayload,
               "slots");
_Static_assert(GMT_NVTX_NO_LEVELS == NVTX_NO_PUSH_POP_TRACKING, "no levels");

static CUdeviceptr memory;
static CUcontext context;

/* One copy of `bytes`, so that a test can distinguish calls. */
static void copy(size_t bytes)
{
    static char host[4096];
    CHECK(cu.cuMemcpyHtoD(memory, host, bytes));
}

static void begin(void)
{
    client_load(VIA_PROC);
    context = client_start();
    CHECK(cu.cuMemAlloc(&memory, 4096));
}

static nvtxEventAttributes_t event(nvtxMessageType_t type)
{
    nvtxEventAttributes_t attributes = {0};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = type;
    return attributes;
}

/* The outermost range begins before CUDA does. */
int scenario_nested(long n)
{
    (void)n;
    nvtxRangePushA("run");
    begin();
    nvtxDomainHandle_t domain = nvtxDomainCreateA("loader");
    nvtxEventAttributes_t registered = event(NVTX_MESSAGE_TYPE_REGISTERED);
    registered.message.registered = nvtxDomainRegisterStringA(domain, "fetch");
    for (int i = 0; i < 2; i++) {
        nvtxRangePushA("step");
        copy(100);
        nvtxDomainRangePushEx(domain, &registered);
        copy(200);
        nvtxRangePushW(L"gr\u00f6\u00dfer");
        copy(300);
        nvtxDomainRangePop(domain); /* each domain has its own stack */
        copy(400);
        nvtxRangePop();
        nvtxRangePop();
    }
    nvtxEventAttributes_t plain = event(NVTX_MESSAGE_TYPE_ASCII);
    plain.message.ascii = "whole";
    nvtxRangeId_t whole = nvtxDomainRangeStartEx(domain, &plain);
    copy(500);
    nvtxDomainRangeEnd(domain, whole);
    copy(600);
    nvtxRangePop();
    int pushed = nvtxRangePushA("level"), popped = nvtxRangePop();
    printf("%d %d\n", pushed, popped);
    return 0;
}

static void *worker(void *id)
{
    char name[32];
    (void)snprintf(name, sizeof name, "thread %ld", (long)(intptr_t)id);
    CHECK(cu.cuCtxSetCurrent(context));
    for (int i = 0; i < 100; i++) {
        nvtxRangePushA(name);
        copy((size_t)(intptr_t)id);
        nvtxRangePop();
    }
    return NULL;
}

int scenario_threads(long n)
{
    pthread_t ids[64];
    (void)n;
    begin();
    nvtxRangeId_t all = nvtxRangeStartA("all threads");
    for (intptr_t i = 0; i < 8; i++) {
        (void)pthread_create(&ids[i], NULL, worker, (void *)(i + 1));
    }
    for (int i = 0; i < 8; i++) {
        (void)pthread_join(ids[i], NULL);
    }
    nvtxRangeEnd(all);
    return 0;
}

/* Pops without a push, ends of what never began, deeper than is kept, pushes without a pop. */
int scenario_unbalanced(long n)
{
    nvtxEventAttributes_t nothing = event(NVTX_MESSAGE_UNKNOWN);
    (void)n;
    nvtxRangePop();
    begin();
    nvtxRangePop();
    nvtxRangeEnd(77);
    nvtxRangeEnd(~(nvtxRangeId_t)0);
    for (int i = 0; i < 100; i++) {
        nvtxRangePushA("deep");
    }
    copy(100);
    for (int i = 0; i < 100; i++) {
        nvtxRangePop();
    }
    nvtxRangePushA(NULL);
    nvtxRangePushEx(NULL);
    nvtxRangePushEx(&nothing);
    copy(200);
    for (int i = 0; i < 10; i++) {
        nvtxRangePop();
    }
    nvtxRangePushA("never popped");
    copy(300);
    return 0;
}

/* Killed inside of ranges. */
int scenario_open(long n)
{
    (void)n;
    begin();
    nvtxRangePushA("outer");
    nvtxRangePushA("inner");
    (void)nvtxRangeStartA("process");
    copy(100);
    (void)raise(SIGKILL);
    return 0;
}

int scenario_scoped(long n)
{
    CUmodule module;
    CUfunction add;
    (void)n;
    begin();
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&add, module, "vector_add"));
    copy(1);
    for (int i = 0; i < 10; i++) {
        nvtxRangePushA("warm-up");
        copy(2);
        CHECK(client_vector_add(add, memory, memory, memory, 256, NULL));
        nvtxRangePop();
        nvtxRangePushA("hot");
        copy(3);
        CHECK(client_vector_add(add, memory, memory, memory, 512, NULL));
        nvtxRangePushA("part");
        copy(4);
        nvtxRangePop();
        nvtxRangePop();
        CHECK(cu.cuProfilerStart());
        copy(5);
        CHECK(cu.cuProfilerStop());
        copy(6);
    }
    CHECK(cu.cuModuleUnload(module));
    return 0;
}

/* Nothing that happens in range load touches the result. */
int scenario_load(long n)
{
    enum { BYTES = 16 << 20 };
    static char host[4096];
    CUdeviceptr result;
    CUmodule module;
    CUfunction add;
    (void)n;
    begin();
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&add, module, "vector_add"));
    CHECK(cu.cuMemAlloc(&result, BYTES));
    for (int i = 0; i < 20; i++) {
        nvtxRangePushA("load");
        copy(4096);
        nvtxRangePop();
        nvtxRangePushA("compute");
        CHECK(client_vector_add(add, result, memory, memory, 1024, NULL));
        CHECK(cu.cuMemcpyDtoH(host, result, sizeof host));
        nvtxRangePop();
    }
    CHECK(cu.cuMemFree(result));
    CHECK(cu.cuMemFree(memory));
    return 0;
}

/* One after the other, until standard input ends. */
int scenario_steps(long n)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    bool goes_on;
    (void)n;
    begin();
    puts("stepping");
    fflush(stdout);
    do {
        nvtxRangePushA("step");
        copy(100);
        nvtxRangePushA("part");
        copy(200);
        nvtxRangePop();
        goes_on = poll(&input, 1, 1) == 0;
        nvtxRangePop();
    } while (goes_on);
    puts("ended");
    return 0;
}

static pthread_barrier_t turns;

static void *copy_outside(void *unused)
{
    (void)unused;
    CHECK(cu.cuCtxSetCurrent(context));
    (void)pthread_barrier_wait(&turns);
    copy(2);
    (void)pthread_barrier_wait(&turns);
    return NULL;
}

int scenario_others(long n)
{
    pthread_t other;
    (void)n;
    begin();
    (void)pthread_barrier_init(&turns, NULL, 2);
    (void)pthread_create(&other, NULL, copy_outside, NULL);
    nvtxRangePushA("alone");
    copy(1);
    (void)pthread_barrier_wait(&turns);
    (void)pthread_barrier_wait(&turns);
    copy(1);
    nvtxRangePop();
    (void)pthread_join(other, NULL);
    return 0;
}

/* The child goes on inside of the range of its parent. */
int scenario_fork(long n)
{
    (void)n;
    nvtxRangePushA("parent");
    nvtxRangeId_t whole = nvtxRangeStartA("whole");
    pid_t child = fork();
    if (child == 0) {
        begin();
        copy(100);
        nvtxRangePop();
        nvtxRangeEnd(whole);
        exit(0);
    }
    (void)waitpid(child, NULL, 0);
    return 0;
}

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void push_and_pop(long n, const char *what)
{
    for (long i = 0; i < n; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s %ld", what, i);
        nvtxRangePushA(name);
        nvtxRangePop();
    }
}

/* The process's own memory: not the chunks of the spool that are mapped just then. */
static long own_kib(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;
    while (status != NULL && kib < 0 && fgets(line, sizeof line, status) != NULL) {
        (void)sscanf(line, "RssAnon: %ld kB", &kib);
    }
    if (status != NULL) {
        (void)fclose(status);
    }
    return kib;
}

/* N ranges of N names, without a call inside, after as many others. On stderr: ns of processor time per range
 * and KiB of growth. */
int scenario_many(long n)
{
    begin();
    push_and_pop(n, "warm-up");
    long before = own_kib();
    double start = seconds();
    push_and_pop(n, "iteration");
    double ns = 1e9 * (seconds() - start) / (double)(n > 0 ? n : 1);
    fprintf(stderr, "%.0f %ld\n", ns, before >= 0 ? own_kib() - before : LONG_MAX);
    return 0;
}

int scenario_nothing(long n)
{
    (void)n;
    nvtxRangePushA("nothing");
    nvtxRangePop();
    return 0;
}
