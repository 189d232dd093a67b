/* SPDX-License-Identifier: Apache-2.0 */
/* JSON written piece by piece, as jansson writes it whole: of a long document only one piece is in memory. */
#ifndef GMT_REPORTS_JSON_JSON_STREAM_H
#define GMT_REPORTS_JSON_JSON_STREAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Reports have numbers of so many digits. */
#define GMT_JSON_INDENTED (JSON_INDENT(2) | JSON_REAL_PRECISION(9))
#define GMT_JSON_COMPACT (JSON_COMPACT | JSON_REAL_PRECISION(9))

/* Initialize the first three. What goes wrong stays in rc, so that pieces may be given without a check. */
struct gmt_json_stream {
    json_dump_callback_t write; /* not 0: the bytes could not be written */
    void *context;
    size_t flags; /* jansson's: JSON_INDENT(n) or JSON_COMPACT, and how numbers look */
    size_t depth; /* of what is open */
    bool begun;   /* the innermost one has something in it */
    int rc;       /* 0, -EIO: write failed, or -ENOMEM */
};

/* For `write`, with a FILE as the context. */
int gmt_json_to_file(const char *text, size_t bytes, void *file);

/* `key` is NULL for what an array holds, and for the document itself. */
void gmt_json_open_object(struct gmt_json_stream *stream, const char *key);
void gmt_json_close_object(struct gmt_json_stream *stream);
void gmt_json_open_array(struct gmt_json_stream *stream, const char *key);
void gmt_json_close_array(struct gmt_json_stream *stream);

/* Writes a value and releases it. NULL, for want of memory, is left out. */
void gmt_json_give(struct gmt_json_stream *stream, const char *key, json_t *value);

/* An array of n values, each of them made when it is written. */
void gmt_json_give_each(struct gmt_json_stream *stream, const char *key, size_t n,
                        json_t *(*item)(const void *context, size_t i), const void *context);

#endif
