/* SPDX-License-Identifier: Apache-2.0 */
/* What the fields of a record stand for: its texts, their numbers, and times; private to the ingest. */
#ifndef GMT_STORE_INGEST_RECORD_VALUES_H
#define GMT_STORE_INGEST_RECORD_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "libtrace/store/ingest/ingest.h"

struct gmt_record_text {
    const char *data; /* not NUL-terminated                                                 */
    int bytes;
};

/* Strings behind the fixed part of a side record. */
struct gmt_text_cursor {
    const char *at;
    const char *end;
};

struct gmt_text_cursor gmt_texts(const struct gmt_spool_record *record, size_t fixed_bytes);
struct gmt_record_text gmt_texts_next(struct gmt_text_cursor *cursor);
/* The same as a NUL-terminated copy; NULL: no memory. */
char *gmt_text_copy(struct gmt_record_text text);

uint64_t gmt_ingest_ns(struct gmt_ingest *ingest, uint64_t ticks);
void gmt_ingest_saw(struct gmt_ingest *ingest, uint64_t ns);

/* string.id of a text, stored if it is new. */
int gmt_ingest_string(struct gmt_ingest *ingest, struct gmt_record_text text, int64_t *id);

#endif
