/* SPDX-License-Identifier: Apache-2.0 */
/* A table of open ranges; the latest are at its end, where they are looked for first. */
#include "libtrace/store/live/open_ranges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gmt_open_ranges_free(struct gmt_open_ranges *ranges)
{
    for (size_t i = 0; i < ranges->count; i++) {
        free(ranges->open[i].names);
    }
    ranges->count = 0;
}

void gmt_range_names_read(struct gmt_range_names *names, const char *texts, size_t room)
{
    size_t length = strnlen(texts, room);
    *names = (struct gmt_range_names){0};
    (void)snprintf(names->name, sizeof(names->name), "%.*s", (int)length, texts);
    if (length + 1 >= room) {
        return;
    }
    texts += length + 1;
    room -= length + 1;
    length = strnlen(texts, room);
    (void)snprintf(names->domain, sizeof(names->domain), "%.*s", (int)length, texts);
    if (length + 1 < room) {
        gmt_range_payload_read(&names->payload, texts + length + 1, room - length - 1);
    }
}

void gmt_open_ranges_note(struct gmt_open_ranges *ranges, uint32_t id,
                          const struct gmt_range_names *names)
{
    size_t at = 0;
    while (at < ranges->count && ranges->open[at].id != 0) {
        at++;
    }
    struct gmt_range_names *copy = at < GMT_OPEN_RANGES ? malloc(sizeof(*copy)) : NULL;
    if (copy != NULL) {
        *copy = *names;
        ranges->open[at] = (struct gmt_open_range){id, copy};
        ranges->count = at == ranges->count ? at + 1 : ranges->count;
    }
}

bool gmt_open_ranges_take(struct gmt_open_ranges *ranges, uint32_t id,
                          struct gmt_range_names *names)
{
    for (size_t i = ranges->count; i-- > 0;) {
        if (ranges->open[i].id == id) {
            struct gmt_range_payload later = names->payload;
            *names = *ranges->open[i].names;
            gmt_range_payload_add(&names->payload, &later);
            free(ranges->open[i].names);
            ranges->open[i] = (struct gmt_open_range){0};
            while (ranges->count > 0 && ranges->open[ranges->count - 1].id == 0) {
                ranges->count--;
            }
            return true;
        }
    }
    return false;
}
