/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the page's tables: columns of integers in few bytes, strings once. */
#include "reports/html/payload.h"

#include <stdlib.h>
#include <string.h>

#include "libtrace/base/format.h"

/* Beyond, a double of JavaScript could not hold what a difference of two may be. */
#define GMT_PAYLOAD_LIMIT (INT64_C(1) << 51)

static unsigned char *room_for(struct gmt_payload *payload, struct gmt_payload_bytes *bytes,
                               size_t n)
{
    if (bytes->capacity - bytes->used < n) {
        size_t capacity = bytes->capacity > 0 ? 2 * bytes->capacity : (size_t)1024;
        unsigned char *grown = realloc(bytes->data, capacity);

        if (grown == NULL) {
            payload->failed = true;
            return NULL;
        }
        bytes->data = grown;
        bytes->capacity = capacity;
    }
    return bytes->data + bytes->used;
}

static void put_varint(struct gmt_payload *payload, struct gmt_payload_bytes *bytes, uint64_t raw)
{
    unsigned char *at = room_for(payload, bytes, 10);

    if (at == NULL) {
        return;
    }
    for (; raw >= 0x80; raw >>= 7) {
        *at++ = (unsigned char)(raw | 0x80);
    }
    *at++ = (unsigned char)raw;
    bytes->used = (size_t)(at - bytes->data);
}

static bool representable(int64_t value)
{
    return value > -GMT_PAYLOAD_LIMIT && value < GMT_PAYLOAD_LIMIT;
}

static void put(struct gmt_payload *payload, struct gmt_column *column, int64_t value)
{
    if (column->head.encoding == GMT_ENCODE_U8) {
        unsigned char *at = room_for(payload, &column->bytes, 1);

        if (at != NULL) {
            *at = value >= 0 && value <= UINT8_MAX ? (unsigned char)value : 0;
            column->bytes.used++;
        }
        return;
    }
    if (!representable(value)) {
        put_varint(payload, &column->bytes, 0);
        return;
    }
    int64_t step = value;
    if (column->head.encoding == GMT_ENCODE_DELTA) {
        step -= column->last;
        column->last = value;
    }
    /* Zigzag: small numbers of either sign become small ones; 0 is left for "not known". */
    uint64_t zigzag = step >= 0 ? (uint64_t)step << 1 : ((uint64_t)(-(step + 1)) << 1) + 1;
    put_varint(payload, &column->bytes, zigzag + 1);
}

struct gmt_page_table *gmt_payload_table(struct gmt_payload *payload, const char *name,
                                         const struct gmt_column_head *heads, size_t n)
{
    struct gmt_column *columns = calloc(n, sizeof(*columns));

    if (columns == NULL || payload->table_count == GMT_PAYLOAD_TABLES) {
        free(columns);
        payload->failed = true;
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        columns[i].head = heads[i];
    }
    struct gmt_page_table *table = &payload->tables[payload->table_count++];
    *table = (struct gmt_page_table){.name = name, .columns = columns, .column_count = n};
    return table;
}

void gmt_payload_row(struct gmt_payload *payload, struct gmt_page_table *table,
                     const int64_t *values)
{
    if (table == NULL) {
        return;
    }
    for (size_t i = 0; i < table->column_count; i++) {
        put(payload, &table->columns[i], values[i]);
    }
    table->rows++;
}

/* FNV-1a. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash ^ hash >> 32;
}

/* The slot that holds the text, or the free one where it belongs. */
static uint32_t *slot_of(const struct gmt_payload *payload, const char *text)
{
    size_t at = hash_of(text) & (payload->slot_count - 1);

    while (payload->slots[at] != 0 && strcmp(payload->strings[payload->slots[at] - 1], text) != 0) {
        at = (at + 1) & (payload->slot_count - 1);
    }
    return &payload->slots[at];
}

/* At most half of the slots are taken; strings have room for half as many as there are slots. */
static bool grow_pool(struct gmt_payload *payload)
{
    size_t slots = payload->slot_count > 0 ? 2 * payload->slot_count : (size_t)256;
    char **strings = realloc(payload->strings, slots / 2 * sizeof(*strings));
    uint32_t *fresh = NULL;

    if (strings != NULL) {
        payload->strings = strings;
        fresh = calloc(slots, sizeof(*fresh));
    }
    if (fresh == NULL) {
        payload->failed = true;
        return false;
    }
    free(payload->slots);
    payload->slots = fresh;
    payload->slot_count = slots;
    for (size_t i = 0; i < payload->string_count; i++) {
        *slot_of(payload, payload->strings[i]) = (uint32_t)i + 1;
    }
    return true;
}

int64_t gmt_payload_string(struct gmt_payload *payload, const char *text)
{
    if (text == NULL) {
        return GMT_UNKNOWN;
    }
    if (payload->string_count >= payload->slot_count / 2 && !grow_pool(payload)) {
        return GMT_UNKNOWN;
    }
    char *clean = gmt_clean_cut(text, GMT_PAYLOAD_MAX_TEXT);
    if (clean == NULL) {
        payload->failed = true;
        return GMT_UNKNOWN;
    }
    uint32_t *slot = slot_of(payload, clean);
    if (*slot == 0) {
        payload->strings[payload->string_count++] = clean;
        *slot = (uint32_t)payload->string_count;
    } else {
        free(clean);
    }
    return (int64_t)*slot - 1;
}

void gmt_payload_free(struct gmt_payload *payload)
{
    for (size_t t = 0; t < payload->table_count; t++) {
        for (size_t i = 0; i < payload->tables[t].column_count; i++) {
            free(payload->tables[t].columns[i].bytes.data);
        }
        free(payload->tables[t].columns);
    }
    for (size_t i = 0; i < payload->string_count; i++) {
        free(payload->strings[i]);
    }
    free(payload->strings);
    free(payload->slots);
    free(payload->packed.data);
    json_decref(payload->head);
    *payload = (struct gmt_payload){0};
}
