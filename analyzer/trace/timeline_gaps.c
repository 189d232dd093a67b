/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies made while device times were another CUPTI client's: how long one of them waited for kernels
 * is not known. It costs nothing then, rather than too much.
 */
#include "analyzer/trace/query.h"
#include "analyzer/trace/timeline.h"

/* The first copy that did not begin earlier. */
static size_t first_since(const struct gmt_timeline *tl, int64_t begin_ns)
{
    size_t low = 0, high = tl->copy_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tl->copies[middle].call.begin_ns < begin_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void mark(struct gmt_timeline *tl, int64_t begin_ns, int64_t end_ns)
{
    int64_t until_ns = end_ns != GMT_NO_TIME ? end_ns : INT64_MAX;

    for (size_t i = first_since(tl, begin_ns);
         i < tl->copy_count && tl->copies[i].call.begin_ns <= until_ns; i++) {
        struct gmt_tl_copy *copy = &tl->copies[i];

        copy->unpriced |= copy->call.end_ns <= until_ns && copy->blocking && copy->after_launch &&
                          copy->device_end_ns == GMT_NO_TIME;
    }
}

int gmt_timeline_open_gaps(const struct gmt_timeline *tl, struct gmt_query *query)
{
    int64_t tables = 0;
    int rc = gmt_query_int64(
        tl->db, "SELECT count(*) FROM sqlite_master WHERE name = 'device_gap' AND type = 'table'",
        &tables);

    return rc != 0 ? rc
                   : gmt_query_open(query, tl->db,
                                    tables != 0 ? "SELECT begin_ns, end_ns FROM device_gap"
                                                : "SELECT NULL, NULL WHERE 0");
}

int gmt_timeline_mark_gaps(struct gmt_timeline *tl)
{
    struct gmt_query query;
    int rc = gmt_timeline_open_gaps(tl, &query);

    if (rc != 0) {
        return rc;
    }
    while (rc == 0 && gmt_query_next(&query)) {
        mark(tl, gmt_query_time(&query, 0), gmt_query_time(&query, 1));
    }
    return gmt_query_close(&query, rc);
}
