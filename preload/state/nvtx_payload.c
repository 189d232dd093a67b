/* SPDX-License-Identifier: Apache-2.0 */
/* Which values of NCCL's payloads stand where, and reading them. */
#include "preload/state/nvtx_payload.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define SCHEMAS_MOST 64u /* of NCCL's domain: NCCL 2.27 registers 16 */
#define ENTRIES_MOST 64u
#define PAYLOADS_MOST 16u

static const struct {
    enum gmt_range_field field;
    const char *name;
} fields[] = {
    {GMT_RANGE_COMMUNICATOR, "NCCL communicator ID"},
    {GMT_RANGE_BYTES, "Message size [bytes]"},
    {GMT_RANGE_RANKS, "No. of ranks"},
    {GMT_RANGE_RANK, "Rank"},
};

struct schema_layout {
    _Atomic uint64_t schema; /* written last; 0: not there yet */
    uint32_t offset[GMT_RANGE_FIELDS];
    uint8_t bytes[GMT_RANGE_FIELDS]; /* 0: it has no such value */
};

/* The first ones that came; what is there stays as it is, so that nobody has to wait. */
static struct schema_layout layouts[SCHEMAS_MOST];
static _Atomic unsigned layout_count;
static _Atomic uint64_t dynamic_count;

static unsigned bytes_of(uint64_t type)
{
    switch (type) {
    case GMT_NVTX_INT:
    case GMT_NVTX_UINT:
    case GMT_NVTX_INT32:
    case GMT_NVTX_UINT32: return 4;
    case GMT_NVTX_INT64:
    case GMT_NVTX_UINT64:
    case GMT_NVTX_SIZE: return 8;
    default: return 0;
    }
}

static bool is_nccl(const char *domain)
{
    return domain != NULL && strcmp(domain, "NCCL") == 0;
}

static void find_fields(struct schema_layout *layout, const struct gmt_nvtx_schema *schema)
{
    uint64_t behind = 0; /* where the value before ends */
    size_t count = schema->entry_count < ENTRIES_MOST ? schema->entry_count : ENTRIES_MOST;
    for (size_t i = 0; i < count; i++) {
        const struct gmt_nvtx_entry *entry = &schema->entries[i];
        unsigned bytes = bytes_of(entry->type);
        uint64_t offset = entry->offset;
        if (bytes == 0 || entry->flags != 0) {
            behind =
                UINT64_MAX; /* its size is not known: those behind it have to say where they are */
            continue;
        }
        if (offset == 0 && i > 0) {
            if (behind == UINT64_MAX) {
                continue;
            }
            offset = (behind + bytes - 1) / bytes * bytes;
        }
        behind = offset + bytes;
        for (size_t f = 0; entry->name != NULL && f < sizeof(fields) / sizeof(fields[0]); f++) {
            if (strcmp(entry->name, fields[f].name) == 0 && offset <= UINT32_MAX - bytes) {
                layout->offset[fields[f].field] = (uint32_t)offset;
                layout->bytes[fields[f].field] = (uint8_t)bytes;
            }
        }
    }
}

static const struct schema_layout *layout_of(uint64_t schema)
{
    unsigned count = atomic_load_explicit(&layout_count, memory_order_relaxed);
    count = count < SCHEMAS_MOST ? count : SCHEMAS_MOST;
    for (unsigned i = 0; schema != 0 && i < count; i++) {
        if (atomic_load_explicit(&layouts[i].schema, memory_order_acquire) == schema) {
            return &layouts[i];
        }
    }
    return NULL;
}

uint64_t gmt_nvtx_schema_note(const char *domain, const struct gmt_nvtx_schema *schema)
{
    const uint64_t needed = GMT_NVTX_MASK_ENTRIES | GMT_NVTX_MASK_COUNT;
    if (schema == NULL) {
        return 0;
    }
    uint64_t id = (schema->mask & GMT_NVTX_MASK_ID) != 0 && schema->id != 0
                      ? schema->id
                      : GMT_NVTX_SCHEMA_DYNAMIC + atomic_fetch_add(&dynamic_count, 1) + 1;
    if (!is_nccl(domain) || (schema->mask & needed) != needed || schema->entries == NULL ||
        layout_of(id) != NULL) {
        return id;
    }
    unsigned at = atomic_load(&layout_count);
    while (at < SCHEMAS_MOST && !atomic_compare_exchange_weak(&layout_count, &at, at + 1)) {
    }
    if (at < SCHEMAS_MOST) {
        find_fields(&layouts[at], schema);
        atomic_store_explicit(&layouts[at].schema, id, memory_order_release);
    }
    return id;
}

static void read_one(struct gmt_range_payload *payload, const struct schema_layout *layout,
                     const struct gmt_nvtx_data *data)
{
    for (unsigned i = 0; i < GMT_RANGE_FIELDS; i++) {
        unsigned bytes = layout->bytes[i];
        if (bytes == 0 || data->bytes < (size_t)layout->offset[i] + bytes) {
            continue;
        }
        const uint8_t *at = (const uint8_t *)data->data + layout->offset[i];
        uint32_t half;
        if (bytes == sizeof(half)) {
            memcpy(&half, at, sizeof(half));
            payload->value[i] = half;
        } else {
            memcpy(&payload->value[i], at, sizeof(payload->value[i]));
        }
        payload->known |= 1u << i;
    }
}

void gmt_nvtx_payload_read(struct gmt_range_payload *payload, const char *domain,
                           const struct gmt_nvtx_data *data, size_t count)
{
    payload->known = 0;
    if (!is_nccl(domain) || data == NULL) {
        return;
    }
    for (size_t i = 0; i < count && i < PAYLOADS_MOST; i++) {
        const struct schema_layout *layout = layout_of(data[i].schema);
        if (layout != NULL && data[i].data != NULL) {
            read_one(payload, layout, &data[i]);
        }
    }
}
