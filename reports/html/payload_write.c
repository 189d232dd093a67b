/* SPDX-License-Identifier: Apache-2.0 */
/* The container of the page's tables, and its way through gzip and base64 into a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* what it reads, it leaves */
#include <zlib.h>

#include "libtrace/base/progress.h"
#include "reports/html/payload.h"
#include "reports/json/json.h"

enum {
    GMT_GZIP = 16, /* added to the window's bits: a gzip header instead of zlib's */
    /* With Z_FILTERED as small as level 6 without, in half of its time: columns repeat little. */
    GMT_LEVEL = 4,
    GMT_CHUNK_BYTES = 3 * 8192, /* whole groups of base64 */
    GMT_PART_BYTES = 1 << 18,   /* given to gzip at once: how often progress is shown */
};

/* Where bytes go: through gzip and base64 into the file. */
struct sink {
    FILE *out;
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
    if (fwrite(text, 1, used, sink->out) != used) {
        sink->rc = -EIO;
    }
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
        if (!full) {
            break;
        }
    } while (sink->rc == 0 && code == Z_OK);
}

static void give(struct sink *sink, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;

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

static int count(const char *text, size_t bytes, void *total)
{
    (void)text;
    *(size_t *)total += bytes;
    return 0;
}

/* jansson writes a few bytes at a time. */
struct text_buffer {
    struct sink *sink;
    size_t used;
    char bytes[1 << 14];
};

static void empty(struct text_buffer *buffer)
{
    give(buffer->sink, buffer->bytes, buffer->used);
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
    return buffer->sink->rc;
}

/* The head's length stands before it, so it is made twice. */
static int head_bytes(const struct gmt_payload *payload, const struct gmt_report *report,
                      size_t *total)
{
    struct gmt_json_stream stream = {.write = count, .context = total, .flags = GMT_JSON_COMPACT};

    *total = 0;
    write_head(&stream, payload, report);
    return stream.rc == 0 && *total > UINT32_MAX ? -ENOMEM : stream.rc;
}

static int give_head(struct sink *sink, const struct gmt_payload *payload,
                     const struct gmt_report *report, size_t length)
{
    unsigned char start[8] = {'G', 'M', 'T', 'P'};
    struct text_buffer buffer = {.sink = sink};
    struct gmt_json_stream stream = {
        .write = collect, .context = &buffer, .flags = GMT_JSON_COMPACT};

    for (size_t i = 0; i < 4; i++) {
        start[4 + i] = (unsigned char)(length >> 8 * i);
    }
    give(sink, start, sizeof(start));
    write_head(&stream, payload, report);
    empty(&buffer);
    return stream.rc;
}

int gmt_payload_write(const struct gmt_payload *payload, const struct gmt_report *report, FILE *out)
{
    struct sink sink = {.out = out};
    size_t length;
    int rc = payload->failed ? -ENOMEM : head_bytes(payload, report, &length);

    if (rc != 0) {
        return rc;
    }
    if (deflateInit2(&sink.stream, GMT_LEVEL, Z_DEFLATED, MAX_WBITS + GMT_GZIP, 9, Z_FILTERED) !=
        Z_OK) {
        return -ENOMEM;
    }
    sink.stream.next_out = sink.chunk;
    sink.stream.avail_out = GMT_CHUNK_BYTES;
    gmt_progress_begin("packing the page", bytes_of(payload) + (double)length);
    rc = give_head(&sink, payload, report, length);
    for (size_t t = 0; t < payload->table_count; t++) {
        const struct gmt_page_table *table = &payload->tables[t];

        for (size_t i = 0; i < table->column_count; i++) {
            give(&sink, table->columns[i].bytes.data, table->columns[i].bytes.used);
        }
    }
    gmt_progress_end();
    deflate_all(&sink, Z_FINISH);
    deflateEnd(&sink.stream);
    return sink.rc != 0 ? sink.rc : rc;
}
