/* SPDX-License-Identifier: Apache-2.0 */
/* The container of the page's tables, and its way through gzip and base64 into a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/progress.h"
#include "reports/html/pack.h"
#include "reports/html/payload.h"
#include "reports/json/json.h"

enum {
    GMT_CHUNK_BYTES = 3 * 8192, /* whole groups of base64 */
    GMT_PART_BYTES = 1 << 18,   /* given to gzip at once: how often progress is shown */
    GMT_START_BYTES = 8,        /* before the head: "GMTP" and its length */
};

/* Where bytes go: through base64 into the file. */
struct sink {
    FILE *out;
    size_t used;
    unsigned char chunk[GMT_CHUNK_BYTES];
};

static int write_base64(struct sink *sink)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[GMT_CHUNK_BYTES / 3 * 4];
    const unsigned char *bytes = sink->chunk;
    size_t n = sink->used, used = 0;

    for (size_t i = 0; i < n; i += 3) {
        unsigned second = i + 1 < n ? bytes[i + 1] : 0u, third = i + 2 < n ? bytes[i + 2] : 0u;
        unsigned group = (unsigned)bytes[i] << 16 | second << 8 | third;

        text[used++] = digits[group >> 18];
        text[used++] = digits[group >> 12 & 63];
        text[used++] = i + 1 < n ? digits[group >> 6 & 63] : '=';
        text[used++] = i + 2 < n ? digits[group & 63] : '=';
    }
    sink->used = 0;
    return fwrite(text, 1, used, sink->out) == used ? 0 : -EIO;
}

/* A gmt_pack_out. */
static int put(void *context, const unsigned char *bytes, size_t n)
{
    struct sink *sink = context;
    int rc = 0;

    while (n > 0 && rc == 0) {
        size_t room = GMT_CHUNK_BYTES - sink->used, part = n < room ? n : room;

        memcpy(sink->chunk + sink->used, bytes, part);
        sink->used += part;
        bytes += part;
        n -= part;
        if (sink->used == GMT_CHUNK_BYTES) {
            rc = write_base64(sink);
        }
    }
    return rc;
}

static void give(struct gmt_packer *packer, const unsigned char *bytes, size_t n)
{
    for (size_t part; n > 0 && packer->rc == 0; bytes += part, n -= part) {
        part = n < GMT_PART_BYTES ? n : GMT_PART_BYTES;
        gmt_packer_give(packer, bytes, part);
        gmt_progress_add((double)part);
    }
}

static void give_table(struct gmt_packer *packer, const struct gmt_page_table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const struct gmt_payload_bytes *bytes = &table->columns[i].bytes;

        gmt_packer_choose(packer, bytes->data, bytes->used);
        give(packer, bytes->data, bytes->used);
    }
}

void gmt_payload_pack(struct gmt_payload *payload)
{
    struct gmt_packer packer;
    int rc = payload->failed ? -ENOMEM
                             : gmt_packer_begin(&packer, gmt_pack_append, &payload->packed);

    for (size_t t = 0; rc == 0 && t < payload->table_count; t++) {
        struct gmt_page_table *table = &payload->tables[t];

        for (size_t i = 0; i < table->column_count; i++) {
            struct gmt_payload_bytes *bytes = &table->columns[i].bytes;

            gmt_packer_choose(&packer, bytes->data, bytes->used);
            gmt_packer_give(&packer, bytes->data, bytes->used);
            free(bytes->data);
            bytes->data = NULL;
        }
    }
    if (rc == 0) {
        rc = gmt_packer_end(&packer, false);
    }
    payload->packed_tables = payload->table_count;
    payload->packed_check = rc == 0 ? packer.check : 0;
    payload->failed |= rc != 0;
}

static double bytes_of(const struct gmt_payload *payload)
{
    double bytes = 0;

    for (size_t t = payload->packed_tables; t < payload->table_count; t++) {
        for (size_t i = 0; i < payload->tables[t].column_count; i++) {
            bytes += (double)payload->tables[t].columns[i].bytes.used;
        }
    }
    return bytes;
}

static void write_tables(struct gmt_json_stream *stream, const struct gmt_payload *payload)
{
    static const char *const encodings[GMT_ENCODINGS] = {
        [GMT_ENCODE_U8] = "u8",
        [GMT_ENCODE_VARINT] = "varint",
        [GMT_ENCODE_DELTA] = "delta",
        [GMT_ENCODE_STRING] = "string",
    };
    size_t offset = 0;

    gmt_json_open_array(stream, "tables");
    for (size_t t = 0; t < payload->table_count; t++) {
        const struct gmt_page_table *table = &payload->tables[t];
        json_t *columns = json_array();

        for (size_t i = 0; i < table->column_count; i++) {
            const struct gmt_column *column = &table->columns[i];

            json_array_append_new(columns, json_pack("{ss, ss, sI, sI}", "name", column->head.name,
                                                     "encoding", encodings[column->head.encoding],
                                                     "offset", (json_int_t)offset, "bytes",
                                                     (json_int_t)column->bytes.used));
            offset += column->bytes.used;
        }
        gmt_json_give(stream, NULL,
                      json_pack("{ss, sI, so}", "name", table->name, "rows",
                                (json_int_t)table->rows, "columns", columns));
    }
    gmt_json_close_array(stream);
}

static json_t *of_string(const void *payload, size_t i)
{
    return json_string(((const struct gmt_payload *)payload)->strings[i]);
}

/* What describes everything behind it. */
static void write_head(struct gmt_json_stream *stream, const struct gmt_payload *payload,
                       const struct gmt_report *report)
{
    const char *key;
    json_t *value;

    gmt_json_open_object(stream, NULL);
    gmt_json_give(stream, "format", json_string("gmtrace-page"));
    gmt_json_give(stream, "version", json_integer(1));
    if (report != NULL) {
        gmt_json_report(stream, "report", report);
    } else {
        gmt_json_give(stream, "report", json_null());
    }
    json_object_foreach(payload->head, key, value)
    {
        gmt_json_give(stream, key, json_incref(value));
    }
    gmt_json_give_each(stream, "strings", payload->string_count, of_string, payload);
    write_tables(stream, payload);
    gmt_json_close_object(stream);
}

/* jansson writes a few bytes at a time. */
struct text_buffer {
    struct gmt_packer *packer;
    size_t used;
    char bytes[1 << 14];
};

static void empty(struct text_buffer *buffer)
{
    gmt_packer_give(buffer->packer, buffer->bytes, buffer->used);
    buffer->used = 0;
}

static int collect(const char *text, size_t bytes, void *context)
{
    struct text_buffer *buffer = context;

    while (bytes > 0) {
        size_t room = sizeof(buffer->bytes) - buffer->used, part = bytes < room ? bytes : room;

        memcpy(buffer->bytes + buffer->used, text, part);
        buffer->used += part;
        text += part;
        bytes -= part;
        if (buffer->used == sizeof(buffer->bytes)) {
            empty(buffer);
        }
    }
    return buffer->packer->rc;
}

/* A part of the stream, and what it was made of. */
struct gzip_part {
    struct gmt_payload_bytes packed;
    uint32_t check;
    uint64_t bytes;
};

/* The head's length stands before it, so it is compressed first. */
static int pack_head(struct gzip_part *head, const struct gmt_payload *payload,
                     const struct gmt_report *report)
{
    struct gmt_packer packer;
    struct text_buffer buffer = {.packer = &packer};
    struct gmt_json_stream stream = {
        .write = collect, .context = &buffer, .flags = GMT_JSON_COMPACT};
    int rc = gmt_packer_begin(&packer, gmt_pack_append, &head->packed);

    if (rc != 0) {
        return rc;
    }
    write_head(&stream, payload, report);
    empty(&buffer);
    rc = gmt_packer_end(&packer, false);
    head->check = packer.check;
    head->bytes = packer.given;
    rc = stream.rc != 0 ? stream.rc : rc;
    return rc == 0 && head->bytes > UINT32_MAX ? -ENOMEM : rc;
}

static void put_number(unsigned char *at, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        at[i] = (unsigned char)(number >> 8 * i);
    }
}

/* gzip's header, and the container's start as a block of deflate that is not compressed. */
static int put_start(struct sink *sink, const struct gzip_part *head, struct gzip_part *all)
{
    unsigned char gzip[10] = {0x1f, 0x8b, 8}, block[5 + GMT_START_BYTES] = {0};
    unsigned char *start = block + 5;

    gzip[9] = 3; /* Unix */
    put_number(block + 1, GMT_START_BYTES, 2);
    put_number(block + 3, (uint16_t)~GMT_START_BYTES, 2);
    memcpy(start, "GMTP", 4);
    put_number(start + 4, head->bytes, 4);
    all->check = (uint32_t)crc32(crc32(0, NULL, 0), start, GMT_START_BYTES);
    all->bytes = GMT_START_BYTES;
    int rc = put(sink, gzip, sizeof(gzip));
    return rc == 0 ? put(sink, block, sizeof(block)) : rc;
}

static void join(struct gzip_part *all, uint32_t check, uint64_t bytes)
{
    all->check = (uint32_t)crc32_combine(all->check, check, (z_off_t)bytes);
    all->bytes += bytes;
}

static uint64_t packed_bytes(const struct gmt_payload *payload)
{
    uint64_t bytes = 0;

    for (size_t t = 0; t < payload->packed_tables; t++) {
        for (size_t i = 0; i < payload->tables[t].column_count; i++) {
            bytes += payload->tables[t].columns[i].bytes.used;
        }
    }
    return bytes;
}

/* The tables that were not packed yet: compressed on their way to the file. */
static int put_rest(struct sink *sink, const struct gmt_payload *payload, struct gzip_part *all)
{
    struct gmt_packer packer;
    int rc = gmt_packer_begin(&packer, put, sink);

    if (rc != 0) {
        return rc;
    }
    gmt_progress_begin("packing the page", bytes_of(payload));
    for (size_t t = payload->packed_tables; t < payload->table_count; t++) {
        give_table(&packer, &payload->tables[t]);
    }
    gmt_progress_end();
    rc = gmt_packer_end(&packer, true);
    join(all, packer.check, packer.given);
    return rc;
}

/* gzip's trailer. */
static int put_end(struct sink *sink, const struct gzip_part *all)
{
    unsigned char end[8];

    put_number(end, all->check, 4);
    put_number(end + 4, all->bytes, 4);
    int rc = put(sink, end, sizeof(end));
    return rc == 0 ? write_base64(sink) : rc;
}

int gmt_payload_write(const struct gmt_payload *payload, const struct gmt_report *report, FILE *out)
{
    struct sink sink = {.out = out};
    struct gzip_part head = {0}, all = {0};
    int rc = payload->failed ? -ENOMEM : pack_head(&head, payload, report);

    if (rc == 0) {
        rc = put_start(&sink, &head, &all);
    }
    if (rc == 0) {
        rc = put(&sink, head.packed.data, head.packed.used);
        join(&all, head.check, head.bytes);
    }
    if (rc == 0 && payload->packed_tables > 0) {
        rc = put(&sink, payload->packed.data, payload->packed.used);
        join(&all, payload->packed_check, packed_bytes(payload));
    }
    if (rc == 0) {
        rc = put_rest(&sink, payload, &all);
    }
    if (rc == 0) {
        rc = put_end(&sink, &all);
    }
    free(head.packed.data);
    return rc;
}
