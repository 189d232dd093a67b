/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, streams, devices, stacks and frames of a trace, and where each lies in the page. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/page/page_parts.h"
#include "analyzer/trace/query.h"
#include "reports/json/json_values.h"

int32_t gmt_page_thread(struct gmt_page *page, int64_t thread_id)
{
    int64_t index = gmt_ids_index(&page->threads, thread_id);

    if (index != GMT_UNKNOWN) {
        return (int32_t)index;
    }
    page->lost_thread = true;
    return (int32_t)page->threads.n;
}

int32_t gmt_page_stream(const struct gmt_page *page, int64_t stream_id)
{
    int64_t index = gmt_ids_index(&page->streams, stream_id);

    return index != GMT_UNKNOWN ? (int32_t)index : -1;
}

static int load_contexts(struct gmt_page *page)
{
    struct gmt_query query;
    size_t n = 0;
    int rc = gmt_ids_load(&page->contexts, page->timeline->db,
                          "SELECT id FROM context ORDER BY id");

    page->context_device = calloc(page->contexts.n + 1, sizeof(*page->context_device));
    if (rc != 0 || page->context_device == NULL) {
        return rc != 0 ? rc : -ENOMEM;
    }
    rc = gmt_query_open(&query, page->timeline->db, "SELECT device_id FROM context ORDER BY id");
    while (rc == 0 && n < page->contexts.n && gmt_query_next(&query)) {
        page->context_device[n++] = gmt_ids_index(&page->devices, gmt_query_known(&query, 0));
    }
    return gmt_query_close(&query, rc);
}

int gmt_page_load_places(struct gmt_page *page)
{
    const struct {
        struct gmt_ids *ids;
        const char *sql;
    } tables[] = {
        {&page->threads, "SELECT id FROM thread ORDER BY id"},
        {&page->streams, "SELECT id FROM stream ORDER BY id"},
        {&page->devices, "SELECT id FROM device ORDER BY id"},
        {&page->stacks, "SELECT DISTINCT stack_id FROM stack_frame ORDER BY stack_id"},
        {&page->frames, "SELECT id FROM frame ORDER BY id"},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(tables) / sizeof(tables[0]); i++) {
        rc = gmt_ids_load(tables[i].ids, page->timeline->db, tables[i].sql);
    }
    return rc == 0 ? load_contexts(page) : rc;
}

void gmt_page_free_places(struct gmt_page *page)
{
    free(page->threads.ids);
    free(page->streams.ids);
    free(page->devices.ids);
    free(page->contexts.ids);
    free(page->stacks.ids);
    free(page->frames.ids);
    free(page->context_device);
    free(page->callers.addresses);
    free(page->callers.slots);
}

static json_t *text_of(struct gmt_query *query, int column)
{
    return gmt_json_text(gmt_query_text_here(query, column));
}

static json_t *number_of(struct gmt_query *query, int column)
{
    return gmt_json_number(gmt_query_real(query, column));
}

static json_t *thread_of(struct gmt_page *page, struct gmt_query *query)
{
    (void)page;
    return json_pack("{sI, so}", "tid", (json_int_t)gmt_query_int(query, 0), "name",
                     text_of(query, 1));
}

/* The driver's names for its own streams; others are numbered in the order of their creation. */
static json_t *stream_of(struct gmt_page *page, struct gmt_query *query)
{
    enum { LEGACY, LEGACY_HANDLE, PER_THREAD };
    int64_t handle = gmt_query_int(query, 0), number = gmt_query_int(query, 4);
    int64_t device = gmt_ids_index(&page->devices, gmt_query_known(query, 2));
    char label[64];

    if (handle == LEGACY || handle == LEGACY_HANDLE) {
        snprintf(label, sizeof(label), "default stream");
    } else if (handle == PER_THREAD) {
        snprintf(label, sizeof(label), "default stream of thread %" PRId64,
                 gmt_query_int(query, 3));
    } else {
        snprintf(label, sizeof(label), "stream %" PRId64, number);
    }
    return json_pack("{ss, sI, so}", "label", label, "device",
                     (json_int_t)(device != GMT_UNKNOWN ? device : 0), "priority",
                     number_of(query, 1));
}

static json_t *device_of(struct gmt_page *page, struct gmt_query *query)
{
    (void)page;
    json_t *name = text_of(query, 0);

    if (json_is_null(name)) {
        name = json_string("unknown device");
    }
    return json_pack("{so, so, so, so, so, so, so}", "name", name, "uuid", text_of(query, 1),
                     "compute_capability", text_of(query, 2), "driver_version", text_of(query, 3),
                     "sm_count", number_of(query, 4), "memory_bytes", number_of(query, 5),
                     "l2_bytes", number_of(query, 6));
}

static int write_list(struct gmt_page *page, const char *key, const char *sql,
                      json_t *(*of)(struct gmt_page *, struct gmt_query *))
{
    struct gmt_query query;
    json_t *array = json_array();
    int rc = gmt_query_open(&query, page->timeline->db, sql);

    while (rc == 0 && gmt_query_next(&query)) {
        json_array_append_new(array, of(page, &query));
    }
    if (json_object_set_new(page->payload->head, key, array) != 0 && rc == 0) {
        rc = -ENOMEM;
    }
    return gmt_query_close(&query, rc);
}

int gmt_page_write_places(struct gmt_page *page)
{
    json_t *head = page->payload->head;
    int rc = write_list(page, "threads", "SELECT tid, name FROM thread ORDER BY id", thread_of);

    if (rc == 0) {
        rc = write_list(page, "streams",
                        "SELECT s.handle, s.priority, c.device_id, t.tid, "
                        "sum(s.handle NOT IN (0, 1, 2)) OVER (ORDER BY s.id) "
                        "FROM stream s LEFT JOIN context c ON c.id = s.context_id "
                        "LEFT JOIN thread t ON t.id = s.thread_id ORDER BY s.id",
                        stream_of);
    }
    if (rc == 0) {
        rc = write_list(page, "devices",
                        "SELECT name, uuid, compute_major || '.' || compute_minor, "
                        "driver_version, sm_count, memory_bytes, l2_bytes FROM device ORDER BY id",
                        device_of);
    }
    if (rc == 0 && page->lost_thread) {
        json_array_append_new(json_object_get(head, "threads"),
                              json_pack("{si, ss}", "tid", 0, "name", "unknown thread"));
    }
    return rc;
}

static int write_frames(struct gmt_page *page)
{
    static const struct gmt_column_head heads[] = {
        {"function", GMT_ENCODE_STRING}, {"file", GMT_ENCODE_STRING},
        {"module", GMT_ENCODE_STRING},   {"line", GMT_ENCODE_VARINT},
        {"offset", GMT_ENCODE_VARINT},   {"runtime", GMT_ENCODE_U8},
    };
    enum { COLUMNS = sizeof(heads) / sizeof(heads[0]) };
    struct gmt_payload *payload = page->payload;
    struct gmt_page_table *table = gmt_payload_table(payload, "frame", heads, COLUMNS);
    struct gmt_query query;
    int rc = gmt_query_open(&query, page->timeline->db,
                            "SELECT function, file, module, line, offset, runtime FROM v_frame "
                            "ORDER BY id");

    while (rc == 0 && gmt_query_next(&query)) {
        int64_t row[COLUMNS];

        for (int i = 0; i < COLUMNS; i++) {
            row[i] = heads[i].encoding == GMT_ENCODE_STRING
                         ? gmt_payload_string(payload, gmt_query_text_here(&query, i))
                         : gmt_query_known(&query, i);
        }
        if (row[3] <= 0) {
            row[3] = GMT_UNKNOWN; /* no line 0 */
        }
        gmt_payload_row(payload, table, row);
    }
    rc = gmt_query_close(&query, rc);
    return rc == 0 ? gmt_page_write_caller_frames(page, table) : rc;
}

int gmt_page_write_stacks(struct gmt_page *page)
{
    static const struct gmt_column_head heads[] = {{"stack", GMT_ENCODE_DELTA},
                                                   {"frame", GMT_ENCODE_VARINT}};
    struct gmt_page_table *table = gmt_payload_table(page->payload, "stack_frame", heads, 2);
    struct gmt_query query;
    int rc = gmt_query_open(&query, page->timeline->db,
                            "SELECT stack_id, frame_id FROM stack_frame "
                            "ORDER BY stack_id, position");

    while (rc == 0 && gmt_query_next(&query)) {
        int64_t frame = gmt_ids_index(&page->frames, gmt_query_known(&query, 1));
        int64_t row[] = {gmt_ids_index(&page->stacks, gmt_query_int(&query, 0)), frame};

        if (frame != GMT_UNKNOWN) {
            gmt_payload_row(page->payload, table, row);
        }
    }
    gmt_page_write_callers(page, table);
    rc = gmt_query_close(&query, rc);
    return rc == 0 ? write_frames(page) : rc;
}
