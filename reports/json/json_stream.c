/* SPDX-License-Identifier: Apache-2.0 */
/* JSON written piece by piece, with the layout of jansson's json_dumpf. */
#include "reports/json/json_stream.h"

#include <errno.h>
#include <string.h>

/* JSON_INDENT(n) is n in the lowest five bits. */
enum { INDENT_MASK = 0x1f };

static void put(struct gmt_json_stream *stream, const char *text, size_t bytes)
{
    if (stream->rc == 0 && stream->write(text, bytes, stream->context) != 0) {
        stream->rc = -EIO;
    }
}

static void put_text(struct gmt_json_stream *stream, const char *text)
{
    put(stream, text, strlen(text));
}

static void break_line(struct gmt_json_stream *stream)
{
    size_t indent = stream->flags & INDENT_MASK;

    if (indent == 0) {
        return;
    }
    put(stream, "\n", 1);
    for (size_t i = 0; i < indent * stream->depth; i++) {
        put(stream, " ", 1);
    }
}

/* jansson does not know how deep its value stands. Lines end between tokens only: in texts they are \n. */
static int put_nested(const char *text, size_t bytes, void *context)
{
    struct gmt_json_stream *stream = context;
    const char *end = text + bytes, *line;

    while ((line = memchr(text, '\n', (size_t)(end - text))) != NULL) {
        put(stream, text, (size_t)(line - text));
        break_line(stream);
        text = line + 1;
    }
    put(stream, text, (size_t)(end - text));
    return stream->rc;
}

static void dump(struct gmt_json_stream *stream, const json_t *value)
{
    if (json_dump_callback(value, put_nested, stream, stream->flags | JSON_ENCODE_ANY) != 0 &&
        stream->rc == 0) {
        stream->rc = -ENOMEM;
    }
}

static void begin(struct gmt_json_stream *stream, const char *key)
{
    if (stream->begun) {
        put_text(stream, ",");
    }
    stream->begun = true;
    if (stream->depth > 0) {
        break_line(stream);
    }
    if (key == NULL) {
        return;
    }
    json_t *text = json_string(key);
    dump(stream, text);
    json_decref(text);
    put_text(stream, (stream->flags & JSON_COMPACT) != 0 ? ":" : ": ");
}

static void open_with(struct gmt_json_stream *stream, const char *key, const char *bracket)
{
    begin(stream, key);
    put_text(stream, bracket);
    stream->depth++;
    stream->begun = false;
}

static void close_with(struct gmt_json_stream *stream, const char *bracket)
{
    stream->depth--;
    if (stream->begun) {
        break_line(stream);
    }
    put_text(stream, bracket);
    stream->begun = true;
}

int gmt_json_to_file(const char *text, size_t bytes, void *file)
{
    return fwrite(text, 1, bytes, file) == bytes ? 0 : -1;
}

void gmt_json_open_object(struct gmt_json_stream *stream, const char *key)
{
    open_with(stream, key, "{");
}

void gmt_json_close_object(struct gmt_json_stream *stream)
{
    close_with(stream, "}");
}

void gmt_json_open_array(struct gmt_json_stream *stream, const char *key)
{
    open_with(stream, key, "[");
}

void gmt_json_close_array(struct gmt_json_stream *stream)
{
    close_with(stream, "]");
}

void gmt_json_give(struct gmt_json_stream *stream, const char *key, json_t *value)
{
    if (value == NULL) {
        return;
    }
    begin(stream, key);
    dump(stream, value);
    json_decref(value);
}

void gmt_json_give_each(struct gmt_json_stream *stream, const char *key, size_t n,
                        json_t *(*item)(const void *context, size_t i), const void *context)
{
    gmt_json_open_array(stream, key);
    for (size_t i = 0; stream->rc == 0 && i < n; i++) {
        gmt_json_give(stream, NULL, item(context, i));
    }
    gmt_json_close_array(stream);
}
