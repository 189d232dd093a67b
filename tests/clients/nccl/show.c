/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX ranges of domain "NCCL" with payloads, as NCCL has them from 2.26 on: src/include/nvtx.h and nvtx_payload_schemas.h name
 * the numbers of the schemas and their values. With STANDIN_NCCL_VERSION=22503 or below as before 2.26: without the communicator.
 */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <pthread.h>
#include <stdlib.h>

#include "standin.h"

#define COMMUNICATOR "NCCL communicator ID"
#define SIZE "Message size [bytes]"
#define REDUCTION (NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 11)

struct init_payload {
    uint64_t communicator;
    int ranks, rank, device;
};
struct split_payload {
    uint64_t communicator, parent;
    int ranks, rank, device, color, key;
};
struct
    operation_payload { /* its beginning: gather has no more, others a root or peer, a reduction, or both */
    uint64_t communicator;
    size_t bytes;
    int first, second;
};
struct older_payload {
    size_t bytes;
    int first, second;
};

#define VALUE(type, name, object, member) \
    { \
        0, type, name, NULL, 0, offsetof(struct object, member), NULL, NULL \
    }
#define INT(name, object, member) VALUE(NVTX_PAYLOAD_ENTRY_TYPE_INT, name, object, member)
#define ID(name, object, member) VALUE(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, name, object, member)
#define SIZED(object) VALUE(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, SIZE, object, bytes)
#define OPERATION(...) \
    { \
        ID(COMMUNICATOR, operation_payload, communicator), SIZED(operation_payload), __VA_ARGS__ \
    }
#define OLDER(...) \
    { \
        SIZED(older_payload), __VA_ARGS__ \
    }
#define END \
    { \
        0, 0, NULL, NULL, 0, 0, NULL, NULL \
    }

static const nvtxPayloadSchemaEntry_t init_entries[] = {
    ID(COMMUNICATOR, init_payload, communicator), INT("No. of ranks", init_payload, ranks),
    INT("Rank", init_payload, rank), INT("CUDA device", init_payload, device)};
static const nvtxPayloadSchemaEntry_t split_entries[] = {
    ID(COMMUNICATOR, split_payload, communicator),
    ID("Parent NCCL communicator ID", split_payload, parent),
    INT("No. of ranks", split_payload, ranks),
    INT("Rank", split_payload, rank),
    INT("CUDA device", split_payload, device),
    INT("Color", split_payload, color),
    INT("Key", split_payload, key)};

enum form { PLAIN, ROOT, REDUCED, ROOT_REDUCED, PEER, FORMS };
static const nvtxPayloadSchemaEntry_t forms[FORMS][4] = {
    [PLAIN] = OPERATION(END, END),
    [ROOT] = OPERATION(INT("Root", operation_payload, first), END),
    [REDUCED] = OPERATION(VALUE(REDUCTION, "Reduction operation", operation_payload, first), END),
    [ROOT_REDUCED] = OPERATION(INT("Root", operation_payload, first),
                               VALUE(REDUCTION, "Reduction operation", operation_payload, second)),
    [PEER] = OPERATION(INT("Peer rank", operation_payload, first), END),
};
static const nvtxPayloadSchemaEntry_t older_forms[FORMS][4] = {
    [PLAIN] = OLDER(END, END, END),
    [ROOT] = OLDER(INT("Root", older_payload, first), END, END),
    [REDUCED] = OLDER(VALUE(REDUCTION, "Reduction operation", older_payload, first), END, END),
    [ROOT_REDUCED] = OLDER(INT("Root", older_payload, first),
                           VALUE(REDUCTION, "Reduction operation", older_payload, second), END),
    [PEER] = OLDER(INT("Peer rank", older_payload, first), END, END),
};

static const struct {
    const char *name;
    uint64_t schema; /* behind NVTX_PAYLOAD_SCHEMA_ID_STATIC_START */
    enum form form;
} calls[CALLS] = {
    [CALL_INIT] = {"CommInitRank", 0, FORMS},
    [CALL_DESTROY] = {"CommDestroy", 2, FORMS},
    [CALL_ABORT] = {"CommAbort", 3, FORMS},
    [CALL_ALL_GATHER] = {"AllGather", 4, PLAIN},
    [CALL_ALL_REDUCE] = {"AllReduce", 5, REDUCED},
    [CALL_BROADCAST] = {"Broadcast", 6, ROOT},
    [CALL_REDUCE_SCATTER] = {"ReduceScatter", 7, REDUCED},
    [CALL_REDUCE] = {"Reduce", 8, ROOT_REDUCED},
    [CALL_SEND] = {"Send", 9, PEER},
    [CALL_RECV] = {"Recv", 10, PEER},
    [CALL_SPLIT] = {"CommSplit", 14, FORMS},
    [CALL_FINALIZE] = {"CommFinalize", 15, FORMS},
};

static nvtxDomainHandle_t domain;
static bool is_older;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add_schema(enum standin_call call, const nvtxPayloadSchemaEntry_t *entries,
                       size_t count, size_t bytes)
{
    const nvtxPayloadSchemaAttr_t schema = {
        .fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID,
        .name = calls[call].name,
        .type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        .entries = entries,
        .numEntries = count,
        .payloadStaticSize = bytes,
        .schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + calls[call].schema};
    (void)nvtxPayloadSchemaRegister(domain, &schema);
}

static void start(void)
{
    const char *version = getenv("STANDIN_NCCL_VERSION");
    is_older = version != NULL && atoi(version) < 22600;
    domain = nvtxDomainCreateA("NCCL");
    for (int call = 0; call < CALLS; call++) {
        if (calls[call].form == FORMS) {
            bool is_split = call == CALL_SPLIT;
            add_schema((enum standin_call)call, is_split ? split_entries : init_entries,
                       is_split ? 7 : 4,
                       is_split ? sizeof(struct split_payload) : sizeof(struct init_payload));
            continue;
        }
        const nvtxPayloadSchemaEntry_t *entries = (is_older ? older_forms
                                                            : forms)[calls[call].form];
        size_t count = 0;
        while (count < 4 && entries[count].name != NULL) {
            count++;
        }
        add_schema((enum standin_call)call, entries, count,
                   is_older ? sizeof(struct older_payload) : sizeof(struct operation_payload));
    }
}

/* The payload of a call, in the memory of the caller. */
union payload {
    struct init_payload init;
    struct split_payload split;
    struct operation_payload operation;
    struct older_payload older;
};

static nvtxPayloadData_t fill(const struct shown *shown, union payload *payload)
{
    nvtxPayloadData_t data = {.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START +
                                          calls[shown->call].schema,
                              .payload = payload};
    enum form form = calls[shown->call].form;
    int first = form == REDUCED ? shown->op : shown->root;
    if (shown->call == CALL_SPLIT) {
        payload->split = (struct split_payload){shown->communicator, shown->parent, shown->ranks,
                                                shown->rank,         shown->device, shown->color,
                                                shown->key};
        data.size = sizeof(payload->split);
    } else if (form == FORMS) {
        payload->init = (struct init_payload){shown->communicator, shown->ranks, shown->rank,
                                              shown->device};
        data.size = sizeof(payload->init);
    } else if (is_older) {
        payload->older = (struct older_payload){shown->bytes, first, shown->op};
        data.size = sizeof(payload->older);
    } else {
        payload->operation = (struct operation_payload){shown->communicator, shown->bytes, first,
                                                        shown->op};
        data.size = sizeof(payload->operation);
    }
    return data;
}

static void push(const char *function, const nvtxPayloadData_t *data)
{
    (void)pthread_once(&once, start);
    nvtxEventAttributes_t event = {.version = NVTX_VERSION,
                                   .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                   .messageType = NVTX_MESSAGE_TYPE_REGISTERED};
    event.message.registered = nvtxDomainRegisterStringA(domain, function);
    if (data != NULL) {
        event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
        event.reserved0 = 1;
        event.payload.ullValue = (uint64_t)(uintptr_t)data;
    }
    (void)nvtxDomainRangePushEx(domain, &event);
}

void show_begin(const char *function)
{
    push(function, NULL);
}

void show_begin_with(const char *function, const struct shown *shown)
{
    union payload payload;
    (void)pthread_once(&once, start);
    /* Before 2.26 payloads of calls that make and end communicators are others. */
    bool is_empty = is_older && calls[shown->call].form == FORMS;
    nvtxPayloadData_t data = fill(shown, &payload);
    push(function, is_empty ? NULL : &data);
}

void show_end(void)
{
    (void)nvtxDomainRangePop(domain);
}

void show_end_with(const struct shown *shown)
{
    union payload payload;
    nvtxPayloadData_t data = fill(shown, &payload);
    if (is_older) {
        show_end();
    } else {
        (void)nvtxRangePopPayload(domain, &data, 1);
    }
}
