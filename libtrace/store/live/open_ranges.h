/* SPDX-License-Identifier: Apache-2.0 */
/* Names of ranges that are open: where a range has two records, only the first one has texts (layout.h, gmt_user_range). */
#ifndef GMT_STORE_LIVE_OPEN_RANGES_H
#define GMT_STORE_LIVE_OPEN_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/record/range_payload.h"
#include "libtrace/store/live/live_page.h"

enum { GMT_OPEN_RANGES = 4096 }; /* further ones are not known */

struct gmt_range_names {
    char name[GMT_LIVE_NAME_BYTES], domain[GMT_LIVE_NAME_BYTES]; /* cut; "": none */
    struct gmt_range_payload payload;
};

struct gmt_open_ranges {
    struct gmt_open_range {
        uint32_t id; /* 0: none */
        struct gmt_range_names *names;
    } open[GMT_OPEN_RANGES];
    size_t count; /* places that were ever used */
};

/* Zero-initialization is one without ranges. */
void gmt_open_ranges_free(struct gmt_open_ranges *ranges);

/* Names and payload of the texts behind a record: `room` bytes, NUL-terminated one after the other. */
void gmt_range_names_read(struct gmt_range_names *names, const char *texts, size_t room);

/* A range was opened. */
void gmt_open_ranges_note(struct gmt_open_ranges *ranges, uint32_t id,
                          const struct gmt_range_names *names);

/* It has ended; a payload that is known already stays. False: it is not known. */
bool gmt_open_ranges_take(struct gmt_open_ranges *ranges, uint32_t id,
                          struct gmt_range_names *names);

#endif
