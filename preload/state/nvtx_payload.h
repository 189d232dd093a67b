/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Payloads of ranges: NVTX's payload extension, as far as NCCL uses it.
 *
 * A program registers a schema: which values stand where in a payload, each with a name. Ranges then carry payloads and the number of
 * their schema. Of NCCL's domain the values are read whose names are known: those of src/include/nvtx_payload_schemas.h of NCCL (from
 * 2.26 on with the communicator; before, the size of the message alone). Numbers and layouts are NVTX's binary interface;
 * tests/clients/nvtxclient.c, compiled with NVIDIA's headers, holds them to it.
 */
#ifndef GMT_PRELOAD_STATE_NVTX_PAYLOAD_H
#define GMT_PRELOAD_STATE_NVTX_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "libtrace/record/range_payload.h"

struct gmt_nvtx_entry { /* of a schema: one value */
    uint64_t flags;     /* 0: the value itself */
    uint64_t type;
    const char *name, *description;
    uint64_t detail;
    uint64_t offset; /* bytes; 0 but for the first one: where it is aligned behind the one before */
    const void *semantics, *reserved;
};
struct gmt_nvtx_schema {
    uint64_t mask; /* which of these are set */
    const char *name;
    uint64_t type, flags;
    const struct gmt_nvtx_entry *entries;
    size_t entry_count;
    size_t bytes, alignment;
    uint64_t id;
    void *extension;
};
struct gmt_nvtx_data {
    uint64_t schema;
    size_t bytes; /* SIZE_MAX: not said */
    const void *data;
};

/* Types of values that are read. */
enum gmt_nvtx_type {
    GMT_NVTX_INT = 5,
    GMT_NVTX_UINT = 6,
    GMT_NVTX_INT32 = 15,
    GMT_NVTX_UINT32 = 16,
    GMT_NVTX_INT64 = 17,
    GMT_NVTX_UINT64 = 18,
    GMT_NVTX_SIZE = 22
};
enum { GMT_NVTX_MASK_ENTRIES = 1 << 4, GMT_NVTX_MASK_COUNT = 1 << 5, GMT_NVTX_MASK_ID = 1 << 8 };
/* nvtxEventAttributes_t.payloadType: the payload is an array of gmt_nvtx_data, of as many as `reserved` says. */
enum { GMT_NVTX_PAYLOAD_EXTENSION = (int32_t)0xDFBD0009 };
/* Numbers that a tool gives begin here. */
#define GMT_NVTX_SCHEMA_DYNAMIC (UINT64_C(1) << 32)

struct gmt_nvtx_segment {
    size_t id, slots;
    intptr_t *functions;
};
struct gmt_nvtx_module {
    uint16_t version, struct_size, module, compatibility;
    size_t segment_count;
    struct gmt_nvtx_segment *segments;
    intptr_t (*get_export)(uint32_t function);
    const void *extension;
};
enum { GMT_NVTX_MODULE_PAYLOAD = 2 };
enum gmt_nvtx_payload_slot {
    GMT_NVTX_SCHEMA_REGISTER = 0,
    GMT_NVTX_PUSH_PAYLOAD = 3,
    GMT_NVTX_POP_PAYLOAD = 4
};
int InitializeInjectionNvtxExtension(const struct gmt_nvtx_module *module);

/* domain: its name. Returns the schema's number; 0: there is none. */
uint64_t gmt_nvtx_schema_note(const char *domain, const struct gmt_nvtx_schema *schema);
/* What payloads of that domain say; nothing where no schema of theirs is known. */
void gmt_nvtx_payload_read(struct gmt_range_payload *payload, const char *domain,
                           const struct gmt_nvtx_data *data, size_t count);

#endif
