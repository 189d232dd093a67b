/* SPDX-License-Identifier: Apache-2.0 */
/* What the fields of records stand for: texts behind the fixed part, strings by number, times. */
#include "libtrace/store/ingest/record_values.h"

#include <string.h>

#include "libtrace/store/ingest/ingest_internal.h"

struct gmt_text_cursor gmt_texts(const struct gmt_spool_record *record, size_t fixed_bytes)
{
    const char *data = record->data;
    return (struct gmt_text_cursor){
        .at = data + fixed_bytes,
        .end = data + (size_t)record->slots * GMT_SLOT_BYTES,
    };
}

struct gmt_record_text gmt_texts_next(struct gmt_text_cursor *cursor)
{
    size_t left = cursor->at < cursor->end ? (size_t)(cursor->end - cursor->at) : 0;
    size_t length = strnlen(cursor->at, left);
    struct gmt_record_text text = {.data = cursor->at, .bytes = (int)length};
    cursor->at += length < left ? length + 1 : left;
    return text;
}

char *gmt_text_copy(struct gmt_record_text text)
{
    return strndup(text.data, (size_t)text.bytes);
}

int gmt_ingest_string(struct gmt_ingest *ingest, struct gmt_record_text text, int64_t *id)
{
    uint64_t found;
    int known = gmt_intern_id(&ingest->strings, text.data, (size_t)text.bytes,
                              ingest->strings.count + 1, &found);
    *id = (int64_t)found;
    if (known != 0) {
        return known < 0 ? known : 0;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_STRING);
    gmt_put_integer(&row, *id);
    gmt_put_text(&row, text);
    return gmt_ingest_step(&row);
}

void gmt_ingest_saw(struct gmt_ingest *ingest, uint64_t ns)
{
    if (ns > ingest->last_ns && ns <= GMT_NUMBER_MOST) {
        ingest->last_ns = ns;
    }
}

uint64_t gmt_ingest_ns(struct gmt_ingest *ingest, uint64_t ticks)
{
    uint64_t ns = gmt_timebase_ns(ingest->time, ticks);
    gmt_ingest_saw(ingest, ns);
    return ns;
}
