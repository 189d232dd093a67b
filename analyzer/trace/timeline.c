/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a trace into memory: process, device, names and call sites; then the rows, then sums. */
#include "analyzer/trace/timeline.h"
#include "analyzer/base/memory_trim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/trace/cover.h"
#include "analyzer/trace/graph_kernels.h"
#include "analyzer/trace/managed_ops.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/timeline_part.h"
#include "libtrace/base/progress.h"
#include "libtrace/record/checked.h"

static int load_process(struct gmt_timeline *tl)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT command, exe, hostname, end_reason, options, start_ns, end_ns "
                            "FROM process ORDER BY id LIMIT 1");

    tl->start_ns = tl->end_ns = GMT_NO_TIME;
    if (rc == 0 && gmt_query_next(&query)) {
        tl->command = gmt_query_text(&query, 0, &tl->strings);
        tl->exe = gmt_query_text(&query, 1, &tl->strings);
        tl->hostname = gmt_query_text(&query, 2, &tl->strings);
        tl->end_reason = gmt_query_text(&query, 3, &tl->strings);
        tl->options = gmt_query_text(&query, 4, &tl->strings);
        tl->start_ns = gmt_query_time(&query, 5);
        tl->end_ns = gmt_query_time(&query, 6);
    }
    rc = gmt_query_close(&query, rc);
    if (rc != 0) {
        return rc;
    }
    rc = gmt_query_open(&query, tl->db, "SELECT value = '1' FROM meta WHERE key = 'complete'");
    if (rc == 0 && gmt_query_next(&query)) {
        tl->complete = gmt_query_int(&query, 0) != 0;
    }
    return gmt_query_close(&query, rc);
}

/* Whether the software device made it; traces before version 2 know no instructions. */
static int load_kind(struct gmt_timeline *tl)
{
    int64_t simulated = 0, tables = 0, rows = 0;
    int rc = gmt_query_int64(
        tl->db, "SELECT count(*) FROM capability WHERE name = 'software_device' AND state = 'ok'",
        &simulated);

    if (rc == 0) {
        rc = gmt_query_int64(
            tl->db, "SELECT count(*) FROM sqlite_master WHERE name = 'instruction'", &tables);
    }
    if (rc == 0 && tables > 0) {
        rc = gmt_query_int64(tl->db, "SELECT EXISTS (SELECT 1 FROM instruction)", &rows);
    }
    tl->simulated = simulated > 0;
    tl->has_instructions = rows > 0;
    return rc;
}

static int load_device(struct gmt_timeline *tl)
{
    struct gmt_query query;
    int rc = gmt_query_open(
        &query, tl->db,
        "SELECT d.name, d.uuid, d.driver_version, d.compute_major, d.compute_minor, d.sm_count, "
        "d.memory_bytes, d.l2_bytes, d.max_threads_per_sm, d.registers_per_sm, "
        "d.shared_bytes_per_sm, d.max_blocks_per_sm, d.reserved_shared_bytes_per_block, "
        "d.shared_bytes_per_block_optin "
        "FROM device d ORDER BY d.id NOT IN (SELECT device_id FROM context "
        "WHERE device_id IS NOT NULL), d.id");

    while (rc == 0 && gmt_query_next(&query)) {
        struct gmt_tl_device *device = &tl->device;

        if (tl->device_count++ > 0) {
            continue;
        }
        device->name = gmt_query_text(&query, 0, &tl->strings);
        device->uuid = gmt_query_text(&query, 1, &tl->strings);
        device->driver_version = gmt_query_text(&query, 2, &tl->strings);
        device->compute_major = gmt_query_count(&query, 3);
        device->compute_minor = gmt_query_count(&query, 4);
        device->sm_count = gmt_query_count(&query, 5);
        device->memory_bytes = gmt_query_bytes(&query, 6);
        device->l2_bytes = gmt_query_bytes(&query, 7);
        device->max_threads_per_sm = gmt_query_count(&query, 8);
        device->registers_per_sm = gmt_query_count(&query, 9);
        device->shared_bytes_per_sm = gmt_query_count(&query, 10);
        device->max_blocks_per_sm = gmt_query_count(&query, 11);
        device->reserved_shared_bytes_per_block = gmt_query_count(&query, 12);
        device->shared_bytes_per_block_optin = gmt_query_count(&query, 13);
    }
    return gmt_query_close(&query, rc);
}

static int load_apis(struct gmt_timeline *tl)
{
    struct gmt_query query;
    int64_t max = 0;
    int rc = gmt_query_int64(tl->db, "SELECT max(id) FROM api", &max);

    if (rc != 0) {
        return rc;
    }
    /* Ids are 16 bits wide in a spool; anything beyond is not ours. */
    if (max < 0 || max > UINT16_MAX) {
        return -EIO;
    }
    tl->api_count = (size_t)max + 1;
    tl->apis = calloc(tl->api_count, sizeof(*tl->apis));
    if (tl->apis == NULL) {
        return -ENOMEM;
    }
    rc = gmt_query_open(&query, tl->db,
                        "SELECT id, name, runtime_name, traits FROM api WHERE id >= 0");
    while (rc == 0 && gmt_query_next(&query)) {
        int64_t id = gmt_query_id(&query, 0);

        /* The largest came from a statement of its own. */
        if (!gmt_index_within(id, tl->api_count)) {
            continue;
        }
        struct gmt_tl_api *api = &tl->apis[id];
        api->name = gmt_query_text(&query, 1, &tl->strings);
        api->runtime_name = gmt_query_text(&query, 2, &tl->strings);
        api->traits = (uint32_t)gmt_query_int(&query, 3);
    }
    return gmt_query_close(&query, rc);
}

/* The site of a stack by its frames outside of runtimes, innermost first; what has been seen of it. */
struct site_search {
    int64_t stack; /* -1: none yet */
    bool is_settled;
};

/* What `query` says of a frame: its stack, its id, whether it is nameless and innermost, and whether it
 * was made at run time and has a name. The top bits keep ids of frames, of pairs of them, of stacks and
 * return addresses apart. */
static void add_site_frame(struct gmt_timeline *tl, struct site_search *search,
                           struct gmt_query *query)
{
    int64_t stack = gmt_query_id(query, 0);
    uint64_t frame = (uint64_t)gmt_query_id(query, 1);
    bool made = gmt_query_int(query, 3) != 0;

    if (stack != search->stack) {
        /* Called by code without a name, which may be a runtime linked into a stripped program: there
         * all calls come from one frame, and only the whole stack distinguishes them. */
        bool nameless = gmt_query_int(query, 2) != 0;

        *search = (struct site_search){.stack = stack, .is_settled = nameless || made};
        tl->stack_sites[tl->stack_site_count++] = (struct gmt_tl_stack_site){
            .stack_id = stack,
            .site = nameless ? (uint64_t)stack | UINT64_C(3) << 62 : frame | UINT64_C(1) << 63};
    } else if (made && !search->is_settled) {
        /* A library's function that an interpreted program calls: the program's own places count. */
        struct gmt_tl_stack_site *site = &tl->stack_sites[tl->stack_site_count - 1];

        site->site = UINT64_C(1) << 62 | (site->site & 0x7fffffff) << 31 | (frame & 0x7fffffff);
        search->is_settled = true;
    }
}

/* For each stack, its first frame outside of runtimes. */
static int load_stack_sites(struct gmt_timeline *tl)
{
    struct gmt_query query;
    struct site_search search = {.stack = -1};
    int64_t n = 0;
    int rc = gmt_query_int64(tl->db, "SELECT count(*) FROM stack", &n);

    if (rc != 0) {
        return rc;
    }
    tl->stack_sites = calloc((size_t)n + 1, sizeof(*tl->stack_sites));
    if (tl->stack_sites == NULL) {
        return -ENOMEM;
    }
    rc = gmt_query_open(&query, tl->db,
                        "SELECT s.stack_id, s.frame_id, s.position = 0 AND f.function_id IS NULL, "
                        "f.module_id IS NULL AND f.function_id IS NOT NULL "
                        "FROM stack_frame s JOIN frame f ON f.id = s.frame_id WHERE f.runtime = 0 "
                        "ORDER BY s.stack_id, s.position");
    while (rc == 0 && gmt_query_next(&query)) {
        if (tl->stack_site_count < (size_t)n || gmt_query_id(&query, 0) == search.stack) {
            add_site_frame(tl, &search, &query);
        }
    }
    return gmt_query_close(&query, rc);
}

struct gmt_interval gmt_copy_interval(const struct gmt_timeline *tl, const struct gmt_tl_copy *copy)
{
    struct gmt_interval host = {copy->call.begin_ns, copy->call.end_ns};
    bool timed = copy->device_start_ns != GMT_NO_TIME && copy->device_end_ns != GMT_NO_TIME;

    if (tl->modelled) {
        return copy->modelled;
    }
    if (tl->simulated || copy->unpriced) {
        return (struct gmt_interval){host.begin_ns, host.begin_ns};
    }
    if (!copy->blocking) {
        if (timed && copy->device_end_ns - copy->device_start_ns > host.end_ns - host.begin_ns) {
            return (struct gmt_interval){copy->device_start_ns, copy->device_end_ns};
        }
        return host;
    }
    host.begin_ns += copy->wait_ns;
    /* What the device saw is part of the call, whatever was still running before. */
    if (timed && copy->device_start_ns < host.begin_ns &&
        copy->device_start_ns > copy->call.begin_ns) {
        host.begin_ns = copy->device_start_ns;
    }
    if (host.begin_ns > host.end_ns) {
        host.begin_ns = host.end_ns;
    }
    return host;
}

double gmt_copy_cost_ns(const struct gmt_timeline *tl, const struct gmt_tl_copy *copy)
{
    struct gmt_interval interval = gmt_copy_interval(tl, copy);

    if (gmt_timeline_is_untimed(tl) || (tl->modelled && interval.end_ns == interval.begin_ns)) {
        return NAN;
    }
    return (double)(interval.end_ns - interval.begin_ns);
}

/* About as many as loading reads: ids are given out one by one. */
static double rows_of(sqlite3 *db)
{
    int64_t rows = 0;

    (void)gmt_query_int64(db,
                          "SELECT coalesce((SELECT max(id) FROM transfer), 0) + "
                          "coalesce((SELECT max(id) FROM launch), 0) + "
                          "coalesce((SELECT max(id) FROM allocation), 0) + "
                          "coalesce((SELECT max(id) FROM kernel_counters), 0)",
                          &rows);
    return (double)rows;
}

/* One after the other, until one fails. */
static int run_steps(struct gmt_timeline *tl, int (*const *steps)(struct gmt_timeline *), size_t n)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = steps[i](tl);
    }
    return rc;
}

/* Calls and kernels; with a second connection, by two threads. */
static int load_rows(struct gmt_timeline *tl, sqlite3 *beside, int rc, char *message, size_t bytes)
{
    struct gmt_timeline_part part;

    if (beside != NULL) {
        /* Values of a wrong type are the reason of whatever else fails. */
        gmt_timeline_begin_part(&part, tl, beside, rc == 0);
    } else if (rc == 0) {
        rc = gmt_timeline_load_calls(tl);
    }
    if (rc == 0) {
        rc = gmt_timeline_load_kernels(tl);
    }
    if (rc == 0 && (beside == NULL || gmt_timeline_part_takes_ops(&part))) {
        rc = gmt_timeline_load_ops(tl);
    }
    if (beside != NULL) {
        return gmt_timeline_end_part(&part, tl, rc, message, bytes);
    }
    return rc;
}

int gmt_timeline_load_beside(struct gmt_timeline *tl, sqlite3 *db, sqlite3 *beside, char *message,
                             size_t bytes)
{
    static int (*const first[])(struct gmt_timeline *) = {load_process, load_kind, load_device,
                                                          load_apis, load_stack_sites};
    static int (*const last[])(struct gmt_timeline *) = {
        gmt_timeline_load_busy, gmt_graph_kernels_load, gmt_timeline_load_footprints,
        gmt_timeline_load_writable, gmt_timeline_derive};

    message[0] = '\0';
    *tl = (struct gmt_timeline){.db = db, .own_ns = NAN};
    gmt_progress_begin_rows("reading", rows_of(db));
    int rc = run_steps(tl, first, sizeof(first) / sizeof(first[0]));
    rc = load_rows(tl, beside, rc, message, bytes);
    gmt_memory_trim();
    if (rc == 0) {
        rc = run_steps(tl, last, sizeof(last) / sizeof(last[0]));
    }
    gmt_progress_end();
    if (rc == 0 && tl->strings.failed) {
        rc = -ENOMEM;
    }
    if (rc != 0 && message[0] == '\0') {
        snprintf(message, bytes, "%s", gmt_timeline_reason(db, rc));
    }
    return rc;
}

int gmt_timeline_load(struct gmt_timeline *tl, sqlite3 *db, char *message, size_t bytes)
{
    return gmt_timeline_load_beside(tl, db, NULL, message, bytes);
}

void gmt_timeline_free(struct gmt_timeline *tl)
{
    free(tl->copies);
    free(tl->priced_classes);
    free(tl->launches);
    free(tl->allocations);
    free(tl->classes);
    free(tl->by_class);
    free(tl->launch_ids);
    free(tl->nodes);
    free(tl->apis);
    free(tl->busy);
    free(tl->off);
    free(tl->maybe_busy);
    free(tl->kernel_busy);
    gmt_cover_forget_kernels(tl);
    free(tl->own);
    free(tl->managed);
    free(tl->faults);
    free(tl->pending);
    free(tl->stack_sites);
    gmt_arena_free(&tl->strings);
    *tl = (struct gmt_timeline){0};
}
