/* SPDX-License-Identifier: Apache-2.0 */
/* The page's calls that the timeline does not hold, as the trace has them. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/page/page_parts.h"
#include "analyzer/trace/query.h"

/*
 * What the timeline does not hold. A call that failed, or that was only put into a graph, took its
 * time and moved nothing.
 */
#define GMT_COLUMNS "SELECT id, begin_ns, end_ns, stack_id, caller, api_id, thread_id, stream_id, "
#define GMT_NOTHING "NULL, NULL, NULL "
#define GMT_IDLE " WHERE result <> 0 OR capturing <> 0"

/* Rows of these tables that the timeline did not take. */
enum left_out { LEFT_OUT_NONE, LEFT_OUT_COPIES, LEFT_OUT_LAUNCHES };

static const struct call_source {
    enum gmt_page_kind kind;
    enum left_out of;
    const char *sql;
} sources[] = {
    {GMT_PAGE_MEMSET, LEFT_OUT_NONE,
     GMT_COLUMNS "bytes, device_start_ns, device_end_ns FROM memset "
                 "WHERE result = 0 AND capturing = 0"},
    {GMT_PAGE_SYNC, LEFT_OUT_NONE, GMT_COLUMNS GMT_NOTHING "FROM sync"},
    {GMT_PAGE_OTHER, LEFT_OUT_NONE,
     GMT_COLUMNS "CASE WHEN result = 0 AND capturing = 0 THEN bytes END, NULL, NULL FROM api_call"},
    {GMT_PAGE_OTHER, LEFT_OUT_COPIES, GMT_COLUMNS GMT_NOTHING "FROM transfer" GMT_IDLE},
    {GMT_PAGE_OTHER, LEFT_OUT_NONE, GMT_COLUMNS GMT_NOTHING "FROM memset" GMT_IDLE},
    {GMT_PAGE_OTHER, LEFT_OUT_LAUNCHES, GMT_COLUMNS GMT_NOTHING "FROM launch" GMT_IDLE},
};

static bool is_empty(const struct gmt_timeline *tl, const struct call_source *source)
{
    return (source->of == LEFT_OUT_COPIES && tl->all_copies) ||
           (source->of == LEFT_OUT_LAUNCHES && tl->all_launches);
}

static int reserve(struct gmt_page *page)
{
    if (page->other_count < page->other_capacity) {
        return 0;
    }
    size_t capacity = page->other_capacity + page->other_capacity / 2 + 1024;
    struct gmt_page_other *grown = realloc(page->others, capacity * sizeof(*grown));
    if (grown == NULL) {
        return -ENOMEM;
    }
    page->others = grown;
    page->other_capacity = capacity;
    return 0;
}

static int load_source(struct gmt_page *page, const struct call_source *source)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, page->timeline->db, source->sql);

    while (rc == 0 && gmt_query_next(&query)) {
        rc = reserve(page);
        if (rc != 0) {
            break;
        }
        page->others[page->other_count++] = (struct gmt_page_other){
            .id = gmt_query_int(&query, 0),
            .begin_ns = gmt_query_time(&query, 1),
            .end_ns = gmt_query_time(&query, 2),
            .stack_id = gmt_query_known(&query, 3),
            .caller = gmt_query_known(&query, 4),
            .api_id = gmt_query_known(&query, 5),
            .thread_id = gmt_query_known(&query, 6),
            .stream_id = gmt_query_known(&query, 7),
            .bytes = gmt_query_known(&query, 8),
            .device_start_ns = gmt_query_time(&query, 9),
            .device_end_ns = gmt_query_time(&query, 10),
            .kind = source->kind};
    }
    return gmt_query_close(&query, rc);
}

int gmt_page_load_others(struct gmt_page *page)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(sources) / sizeof(sources[0]); i++) {
        rc = is_empty(page->timeline, &sources[i]) ? 0 : load_source(page, &sources[i]);
    }
    return rc;
}
