/* SPDX-License-Identifier: Apache-2.0 */
/* The page's pieces of idle time: when a device was idle, for which cause, and where the program was. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/page/page_parts.h"
#include "reports/json/json_values.h"

static int compare_begins(const void *a, const void *b)
{
    const struct gmt_idle_piece *x = a, *y = b;

    if (x->begin_ns != y->begin_ns) {
        return x->begin_ns < y->begin_ns ? -1 : 1;
    }
    return (x->device > y->device) - (x->device < y->device);
}

static json_t *places_of(const struct gmt_report *report)
{
    json_t *places = json_array();

    for (size_t i = 0; i < report->idle_place_count; i++) {
        const struct gmt_call_place *place = &report->idle_places[i];
        json_t *json = json_pack("{so, so, so, so}", "label", gmt_json_text(place->where.label),
                                 "function", gmt_json_text(place->where.function), "file",
                                 gmt_json_text(place->where.file), "line",
                                 gmt_json_line(place->where.line));

        if (place->until != NULL) {
            json_object_set_new(json, "until", gmt_json_text(place->until));
        }
        if (place->inner != NULL) {
            json_object_set_new(json, "inner", gmt_json_text(place->inner));
        }
        json_array_append_new(places, json);
    }
    return places;
}

void gmt_page_write_idle(struct gmt_page *page)
{
    static const struct gmt_column_head heads[] = {{"begin", GMT_ENCODE_DELTA},
                                                   {"ns", GMT_ENCODE_VARINT},
                                                   {"part", GMT_ENCODE_U8},
                                                   {"place", GMT_ENCODE_VARINT},
                                                   {"device", GMT_ENCODE_VARINT}};
    const struct gmt_report *report = page->report;
    struct gmt_idle_piece *pieces = calloc(report->idle_count + 1, sizeof(*pieces));
    struct gmt_page_table *table = gmt_payload_table(page->payload, "idle", heads,
                                                     sizeof(heads) / sizeof(heads[0]));

    if (pieces == NULL ||
        json_object_set_new(page->payload->head, "idle_places", places_of(report)) != 0) {
        page->payload->failed = true;
        free(pieces);
        return;
    }
    if (report->idle_count > 0) {
        memcpy(pieces, report->idle, report->idle_count * sizeof(*pieces));
    }
    qsort(pieces, report->idle_count, sizeof(*pieces), compare_begins);
    for (size_t i = 0; i < report->idle_count; i++) {
        const struct gmt_idle_piece *piece = &pieces[i];
        int64_t device = gmt_ids_index(&page->devices, piece->device);

        gmt_payload_row(page->payload, table,
                        (int64_t[]){gmt_page_time(page, piece->begin_ns),
                                    piece->end_ns - piece->begin_ns, piece->part, piece->place,
                                    device < 0 ? 0 : device});
    }
    free(pieces);
}
