/* SPDX-License-Identifier: Apache-2.0 */
/* What the page carries: typed tables, a pool of strings and a JSON head; docs/page.md. */
#ifndef GMT_REPORTS_HTML_PAYLOAD_H
#define GMT_REPORTS_HTML_PAYLOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "libtrace/base/unknown.h"

/* Characters of a string; one that is longer ends with an ellipsis. */
enum { GMT_PAYLOAD_MAX_TEXT = 16384 };

/* How the values of a column lie in the payload; GMT_UNKNOWN: null. */
enum gmt_payload_encoding {
    GMT_ENCODE_U8,     /* has no "unknown": such a value becomes 0 */
    GMT_ENCODE_VARINT, /* integers in 7 bits a byte */
    GMT_ENCODE_DELTA,  /* the same of differences: for what ascends */
    GMT_ENCODE_STRING, /* indices into the pool */
    GMT_ENCODINGS
};

struct gmt_column_head {
    const char *name;
    enum gmt_payload_encoding encoding;
};

struct gmt_payload_bytes {
    unsigned char *data;
    size_t used, capacity;
};

struct gmt_column {
    struct gmt_column_head head;
    struct gmt_payload_bytes bytes;
    int64_t last; /* known value, of delta columns */
};

struct gmt_page_table {
    const char *name;
    size_t rows;
    struct gmt_column *columns;
    size_t column_count;
};

enum { GMT_PAYLOAD_TABLES = 8 };

/*
 * Zero-initialize it and set `head` to an object; free it in every case. What fails for want of
 * memory sets `failed`, so that tables may be filled without a check at each value.
 */
struct gmt_payload {
    json_t *head; /* what a page knows beside its report and its tables */
    struct gmt_page_table tables[GMT_PAYLOAD_TABLES];
    size_t table_count;
    char **strings;
    size_t string_count;
    uint32_t *slots; /* hash table of the strings: index + 1, 0 is free */
    size_t slot_count;
    /* The first tables, compressed: their columns have lost their bytes. */
    struct gmt_payload_bytes packed;
    size_t packed_tables;
    uint32_t packed_check; /* CRC-32 of what was packed */
    bool failed;
};

/* A table with those columns and no rows; `name` and `heads` must outlive it. NULL: no memory. */
struct gmt_page_table *gmt_payload_table(struct gmt_payload *payload, const char *name,
                                         const struct gmt_column_head *heads, size_t n);
/* One row: a value for each column in the order of the heads. NULL table: nothing happens. */
void gmt_payload_row(struct gmt_payload *payload, struct gmt_page_table *table,
                     const int64_t *values);
/* Index of a text in the pool, made valid and printable; NULL: GMT_UNKNOWN. */
int64_t gmt_payload_string(struct gmt_payload *payload, const char *text);
/* Compresses the tables that there are, which get no more rows: once, beside other work. */
void gmt_payload_pack(struct gmt_payload *payload);
void gmt_payload_free(struct gmt_payload *payload);

struct gmt_report;

/*
 * Base64 of gzip of the container with `report` in its head, or null; all in parts, so that of it no more than
 * the head lies in memory, compressed. 0, -ENOMEM, or -EIO: then errno says why out could not be written.
 */
int gmt_payload_write(const struct gmt_payload *payload, const struct gmt_report *report,
                      FILE *out);

#endif
