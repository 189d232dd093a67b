/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies made while records of devices were off: how long one of them waited for kernels is not known. It costs nothing
 * then, rather than too much.
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

/* What was begun before it without a record may have been waited for: no more of the call is its own than from its start on the
 * device. */
static void note_wait(struct gmt_tl_copy *copy)
{
    int64_t until_ns = copy->device_start_ns < copy->call.end_ns ? copy->device_start_ns
                                                                 : copy->call.end_ns;

    if (until_ns - copy->call.begin_ns > copy->wait_ns) {
        copy->wait_ns = until_ns - copy->call.begin_ns;
    }
}

static void mark(struct gmt_timeline *tl, struct gmt_interval off)
{
    for (size_t i = first_since(tl, off.begin_ns);
         i < tl->copy_count && tl->copies[i].call.begin_ns <= off.end_ns; i++) {
        struct gmt_tl_copy *copy = &tl->copies[i];

        if (copy->blocking && copy->after_launch && copy->device_start_ns != GMT_NO_TIME &&
            copy->device_end_ns != GMT_NO_TIME) {
            note_wait(copy);
        }
        copy->unpriced |= copy->call.end_ns <= off.end_ns && copy->blocking && copy->after_launch &&
                          copy->device_end_ns == GMT_NO_TIME;
    }
}

int gmt_timeline_open_gaps(const struct gmt_timeline *tl, struct gmt_query *query)
{
    int64_t tables = 0;
    int rc = gmt_query_int64(
        tl->db, "SELECT count(*) FROM sqlite_master WHERE name = 'device_gap' AND type = 'table'",
        &tables);

    return rc != 0
               ? rc
               : gmt_query_open(query, tl->db,
                                tables != 0
                                    ? "SELECT begin_ns, end_ns FROM device_gap ORDER BY begin_ns"
                                    : "SELECT NULL, NULL WHERE 0");
}

void gmt_timeline_mark_gaps(struct gmt_timeline *tl)
{
    for (size_t i = 0; i < tl->off_count; i++) {
        mark(tl, tl->off[i]);
    }
}
