/* SPDX-License-Identifier: Apache-2.0 */
/* The container of the page's tables, and its way through gzip and base64 into a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* what it reads, it leaves */
#include <zlib.h>

#include "reports/payload.h"
#include "reports/progress.h"

enum {
    GMT_GZIP = 16, /* added to the window's bits: a gzip header instead of zlib's */
    /* With Z_FILTERED as small as level 6 without, in half of its time: columns repeat little. */
    GMT_LEVEL = 4,
    GMT_CHUNK_BYTES = 3 * 8192, /* whole groups of base64 */
    GMT_PART_BYTES = 1 << 18,   /* given to gzip at once: how often progress is told */
};

/* Where bytes go: straight into the file, or through gzip and base64. */
struct sink {
    FILE *out;
    bool packed;
    z_stream stream;
    unsigned char chunk[GMT_CHUNK_BYTES];
    int rc;
};

static void write_base64(struct sink *sink, const unsigned char *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[GMT_CHUNK_BYTES / 3 * 4];
    size_t used = 0;

    for (size_t i = 0; i < n; i += 3) {
        unsigned second = i + 1 < n ? bytes[i + 1] : 0u, third = i + 2 < n ? bytes[i + 2] : 0u;
        unsigned group = (unsigned)bytes[i] << 16 | second << 8 | third;

        text[used++] = digits[group >> 18];
        text[used++] = digits[group >> 12 & 63];
        text[used++] = i + 1 < n ? digits[group >> 6 & 63] : '=';
        text[used++] = i + 2 < n ? digits[group & 63] : '=';
    }
    if (fwrite(text, 1, used, sink->out) != used)
        sink->rc = -EIO;
}

/* Runs gzip until it has taken all of its input, and at the end given all of its output. */
static void deflate_all(struct sink *sink, int flush)
{
    int code = Z_OK;

    do {
        code = deflate(&sink->stream, flush);
        bool full = sink->stream.avail_out == 0;
        if (full || code == Z_STREAM_END) {
            write_base64(sink, sink->chunk, GMT_CHUNK_BYTES - sink->stream.avail_out);
            sink->stream.next_out = sink->chunk;
            sink->stream.avail_out = GMT_CHUNK_BYTES;
        }
        if (!full)
            break;
    } while (sink->rc == 0 && code == Z_OK);
}

static void give(struct sink *sink, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;

    if (!sink->packed) {
        if (sink->rc == 0 && fwrite(bytes, 1, n, sink->out) != n)
            sink->rc = -EIO;
        return;
    }
    while (n > 0 && sink->rc == 0) {
        uInt part = n < GMT_PART_BYTES ? (uInt)n : GMT_PART_BYTES;

        sink->stream.next_in = at;
        sink->stream.avail_in = part;
        deflate_all(sink, Z_NO_FLUSH);
        at += part;
        n -= part;
        gmt_progress_add(part);
    }
}

static double bytes_of(const struct gmt_payload *payload)
{
    double bytes = 0;

    for (size_t t = 0; t < payload->table_count; t++) {
        for (size_t i = 0; i < payload->tables[t].column_count; i++)
            bytes += (double)payload->tables[t].columns[i].bytes.used;
    }
    return bytes;
}

static json_t *of_tables(const struct gmt_payload *payload)
{
    static const char *const encodings[GMT_ENCODINGS] = {
        [GMT_ENCODE_U8] = "u8",
        [GMT_ENCODE_VARINT] = "varint",
        [GMT_ENCODE_DELTA] = "delta",
        [GMT_ENCODE_STRING] = "string",
    };
    json_t *tables = json_array();
    size_t offset = 0;

    for (size_t t = 0; t < payload->table_count; t++) {
        const struct gmt_table *table = &payload->tables[t];
        json_t *columns = json_array();

        for (size_t i = 0; i < table->column_count; i++) {
            const struct gmt_column *column = &table->columns[i];

            json_array_append_new(columns, json_pack("{ss, ss, sI, sI}", "name", column->head.name,
                                                     "encoding", encodings[column->head.encoding],
                                                     "offset", (json_int_t)offset, "bytes",
                                                     (json_int_t)column->bytes.used));
            offset += column->bytes.used;
        }
        json_array_append_new(tables, json_pack("{ss, sI, so}", "name", table->name, "rows",
                                                (json_int_t)table->rows, "columns", columns));
    }
    return tables;
}

/* A new reference to what describes everything behind it. */
static json_t *of_head(const struct gmt_payload *payload, json_t *report)
{
    json_t *head = json_pack("{ss, si, sO}", "format", "gmtrace-page", "version", 1, "report",
                             report);
    json_t *strings = json_array();

    for (size_t i = 0; i < payload->string_count; i++)
        json_array_append_new(strings, json_string(payload->strings[i]));
    if (head == NULL || json_object_update(head, payload->head) != 0 ||
        json_object_set_new(head, "strings", strings) != 0 ||
        json_object_set_new(head, "tables", of_tables(payload)) != 0) {
        json_decref(head);
        return NULL;
    }
    return head;
}

static void give_container(struct sink *sink, const struct gmt_payload *payload, const char *head)
{
    size_t length = strlen(head);
    unsigned char start[8] = {'G', 'M', 'T', 'P'};

    for (size_t i = 0; i < 4; i++)
        start[4 + i] = (unsigned char)(length >> 8 * i);
    give(sink, start, sizeof(start));
    give(sink, head, length);
    for (size_t t = 0; t < payload->table_count; t++) {
        const struct gmt_table *table = &payload->tables[t];

        for (size_t i = 0; i < table->column_count; i++)
            give(sink, table->columns[i].bytes.data, table->columns[i].bytes.used);
    }
}

static int write_container(const struct gmt_payload *payload, json_t *report, FILE *out,
                           bool packed)
{
    struct sink sink = {.out = out, .packed = packed};
    json_t *head = payload->failed ? NULL : of_head(payload, report);
    char *text = head != NULL ? json_dumps(head, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;

    json_decref(head);
    if (text == NULL || strlen(text) > UINT32_MAX ||
        (packed && deflateInit2(&sink.stream, GMT_LEVEL, Z_DEFLATED, MAX_WBITS + GMT_GZIP, 9,
                                Z_FILTERED) != Z_OK)) {
        free(text);
        return -ENOMEM;
    }
    sink.stream.next_out = sink.chunk;
    sink.stream.avail_out = GMT_CHUNK_BYTES;
    gmt_progress_begin("packing the page", bytes_of(payload) + (double)strlen(text));
    give_container(&sink, payload, text);
    gmt_progress_end();
    if (packed) {
        deflate_all(&sink, Z_FINISH);
        deflateEnd(&sink.stream);
    }
    free(text);
    return sink.rc;
}

int gmt_payload_write(const struct gmt_payload *payload, json_t *report, FILE *out)
{
    return write_container(payload, report, out, true);
}

int gmt_payload_write_raw(const struct gmt_payload *payload, json_t *report, FILE *out)
{
    return write_container(payload, report, out, false);
}
