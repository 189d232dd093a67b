/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of a trace, and its kernels with their counters, from tables to arrays. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/trace/query.h"
#include "analyzer/trace/timeline.h"
#include "libtrace/record/checked.h"
#include "libtrace/record/communication.h"
#include "libtrace/store/db/guard.h"

/* Columns 0..7 of every query for calls. */
#define GMT_CALL_COLUMNS "id, begin_ns, end_ns, caller, stack_id, api_id, thread_id, stream_id"

static void read_caller(const struct gmt_timeline *tl, struct gmt_query *query,
                        struct gmt_tl_call *call)
{
    call->id = gmt_query_id(query, 0);
    call->caller = (uint64_t)gmt_query_int(query, 3);
    call->stack_id = gmt_query_id(query, 4);
    call->api = gmt_query_id(query, 5);
    call->thread = gmt_query_id(query, 6);
    call->stream = gmt_query_id(query, 7);
    call->site = gmt_timeline_site(tl, call->stack_id, call->caller);
    if (!gmt_index_within(call->api, tl->api_count)) {
        call->api = 0;
    }
}

static void read_call(const struct gmt_timeline *tl, struct gmt_query *query,
                      struct gmt_tl_call *call)
{
    call->begin_ns = gmt_query_instant(query, 1);
    call->end_ns = gmt_query_instant(query, 2);
    read_caller(tl, query, call);
}

/* Both or none: rules ask for one and take the difference. */
static void read_times(struct gmt_query *query, int column, int64_t *start_ns, int64_t *end_ns)
{
    *start_ns = gmt_query_time(query, column);
    *end_ns = gmt_query_time(query, column + 1);
    if (*start_ns == GMT_NO_TIME || *end_ns == GMT_NO_TIME) {
        *start_ns = *end_ns = GMT_NO_TIME;
    }
}

/* Room for all rows of a table; one to spare, so that an empty table is no special case. */
static void *rows_for(struct gmt_timeline *tl, const char *count_sql, size_t bytes,
                      size_t *capacity)
{
    int64_t n = 0;

    if (gmt_query_int64(tl->db, count_sql, &n) != 0 || n < 0 ||
        !gmt_guard_plausible_rows(tl->db, n)) {
        return NULL;
    }
    *capacity = (size_t)n;
    return calloc((size_t)n + 1, bytes);
}

uint8_t gmt_index_of_name(const char *text, const char *(*name)(unsigned), unsigned n,
                          unsigned otherwise)
{
    for (unsigned i = 0; text != NULL && i < n; i++) {
        if (name(i) != NULL && strcmp(name(i), text) == 0) {
            return (uint8_t)i;
        }
    }
    return (uint8_t)otherwise;
}

/* Contexts and their devices, by context: joined in SQL, each call would search for its own. */
struct context_devices {
    int64_t (*rows)[2];
    size_t count, last;
};

static int load_contexts(struct gmt_timeline *tl, struct context_devices *contexts)
{
    struct gmt_query query;
    size_t capacity = 0;

    *contexts = (struct context_devices){
        .rows = rows_for(tl, "SELECT count(*) FROM context", sizeof(*contexts->rows), &capacity)};
    if (contexts->rows == NULL) {
        return -ENOMEM;
    }
    int rc = gmt_query_open(&query, tl->db, "SELECT id, device_id FROM context ORDER BY id");
    while (rc == 0 && contexts->count < capacity && gmt_query_next(&query)) {
        int64_t *row = contexts->rows[contexts->count++];

        row[0] = gmt_query_int(&query, 0);
        row[1] = gmt_query_known_id(&query, 1);
    }
    return gmt_query_close(&query, rc);
}

static int compare_contexts(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (x[0] > y[0]) - (x[0] < y[0]);
}

/* -1: not known. */
static int32_t device_of(struct context_devices *contexts, int64_t context)
{
    const int64_t key[2] = {context, 0};

    if (contexts->last < contexts->count && contexts->rows[contexts->last][0] == context) {
        return (int32_t)contexts->rows[contexts->last][1];
    }
    int64_t(*found)[2] = bsearch(key, contexts->rows, contexts->count, sizeof(key),
                                 compare_contexts);
    if (found == NULL) {
        return -1;
    }
    contexts->last = (size_t)(found - contexts->rows);
    return (int32_t)(*found)[1];
}

static int load_copies(struct gmt_timeline *tl, struct context_devices *contexts)
{
    struct gmt_query query;
    size_t capacity = 0;

    tl->copies = rows_for(tl, "SELECT count(*) FROM transfer", sizeof(*tl->copies), &capacity);
    if (tl->copies == NULL) {
        return -ENOMEM;
    }
    int rc = gmt_query_open(
        &query, tl->db,
        "SELECT " GMT_CALL_COLUMNS ", direction, dst_class, src_class, blocking, bytes, dst, src, "
        "dst_allocation_id, src_allocation_id, device_start_ns, device_end_ns, height, depth, "
        "batch, context_id FROM transfer WHERE result = 0 AND capturing = 0");
    while (rc == 0 && tl->copy_count < capacity && gmt_query_next(&query)) {
        struct gmt_tl_copy *copy = &tl->copies[tl->copy_count++];
        uint8_t dst, src;

        read_call(tl, &query, &copy->call);
        copy->direction = gmt_index_of_name(gmt_query_text_here(&query, 8), gmt_name_direction,
                                            GMT_DIR_COUNT, GMT_DIR_UNKNOWN);
        dst = gmt_index_of_name(gmt_query_text_here(&query, 9), gmt_name_mem_class,
                                GMT_MEM_CLASS_COUNT, GMT_MEM_UNKNOWN);
        src = gmt_index_of_name(gmt_query_text_here(&query, 10), gmt_name_mem_class,
                                GMT_MEM_CLASS_COUNT, GMT_MEM_UNKNOWN);
        copy->host_class = copy->direction == GMT_DIR_H2D ? src : dst;
        copy->blocking = gmt_query_int(&query, 11) != 0;
        copy->bytes = gmt_query_bytes(&query, 12);
        copy->dst = (uint64_t)gmt_query_int(&query, 13);
        copy->src = (uint64_t)gmt_query_int(&query, 14);
        copy->dst_allocation = gmt_query_id(&query, 15);
        copy->src_allocation = gmt_query_id(&query, 16);
        read_times(&query, 17, &copy->device_start_ns, &copy->device_end_ns);
        copy->linear = gmt_query_int(&query, 19) <= 1 && gmt_query_int(&query, 20) <= 1 &&
                       gmt_query_time(&query, 21) == GMT_NO_TIME;
        copy->run = -1;
        copy->device = device_of(contexts, gmt_query_known(&query, 22));
    }
    tl->all_copies = tl->copy_count == capacity;
    return gmt_query_close(&query, rc);
}

static int load_launches(struct gmt_timeline *tl, struct context_devices *contexts)
{
    struct gmt_query query;
    size_t capacity = 0;

    tl->launches = rows_for(tl, "SELECT count(*) FROM launch", sizeof(*tl->launches), &capacity);
    if (tl->launches == NULL) {
        return -ENOMEM;
    }
    int rc = gmt_query_open(
        &query, tl->db,
        "SELECT " GMT_CALL_COLUMNS ", class_id, CASE WHEN measured IS NULL THEN 0 "
        "WHEN no_activity = 0 AND device_start_ns IS NOT NULL THEN 2 ELSE 1 END, "
        "argument_set_id, device_start_ns, device_end_ns, "
        "arguments = 'complete', measured IS 'hardware', kernel_id, kind = 'graph', context_id "
        "FROM launch "
        "WHERE result = 0 AND capturing = 0");
    while (rc == 0 && tl->launch_count < capacity && gmt_query_next(&query)) {
        struct gmt_tl_launch *launch = &tl->launches[tl->launch_count++];

        read_call(tl, &query, &launch->call);
        launch->class_index = gmt_timeline_class(tl, gmt_query_int(&query, 8));
        launch->measured = gmt_query_int(&query, 9) == 1;
        launch->repeated = gmt_query_int(&query, 9) == 2;
        launch->argument_set = gmt_query_id(&query, 10);
        read_times(&query, 11, &launch->device_start_ns, &launch->device_end_ns);
        launch->arguments_complete = gmt_query_int(&query, 13) != 0;
        launch->by_hardware = gmt_query_int(&query, 14) != 0;
        launch->kernel = gmt_query_known_id(&query, 15);
        launch->is_graph = gmt_query_int(&query, 16) != 0;
        launch->device = device_of(contexts, gmt_query_known(&query, 17));
    }
    tl->all_launches = tl->launch_count == capacity;
    return gmt_query_close(&query, rc);
}

static int load_allocations(struct gmt_timeline *tl)
{
    struct gmt_query query;
    size_t capacity = 0;

    tl->allocations = rows_for(tl, "SELECT count(*) FROM allocation", sizeof(*tl->allocations),
                               &capacity);
    if (tl->allocations == NULL) {
        return -ENOMEM;
    }
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT " GMT_CALL_COLUMNS ", kind, address, bytes, free_api_id, "
                            "free_begin_ns, free_end_ns FROM allocation");
    while (rc == 0 && tl->allocation_count < capacity && gmt_query_next(&query)) {
        struct gmt_tl_allocation *allocation = &tl->allocations[tl->allocation_count++];
        read_caller(tl, &query, &allocation->call);
        read_times(&query, 1, &allocation->call.begin_ns, &allocation->call.end_ns);
        allocation->kind = gmt_index_of_name(gmt_query_text_here(&query, 8), gmt_name_alloc_kind,
                                             GMT_ALLOC_KIND_COUNT, GMT_ALLOC_UNKNOWN);
        allocation->address = (uint64_t)gmt_query_int(&query, 9);
        allocation->bytes = gmt_query_bytes(&query, 10);
        allocation->free_api = gmt_query_id(&query, 11);
        read_times(&query, 12, &allocation->free_begin_ns, &allocation->free_end_ns);
    }
    return gmt_query_close(&query, rc);
}

static int load_classes(struct gmt_timeline *tl)
{
    struct gmt_query query;
    size_t capacity = 0;

    tl->classes = rows_for(tl, "SELECT count(*) FROM kernel_class", sizeof(*tl->classes),
                           &capacity);
    if (tl->classes == NULL) {
        return -ENOMEM;
    }
    int rc = gmt_query_open(
        &query, tl->db,
        "SELECT c.id, k.name, k.registers, k.static_shared_bytes, c.dynamic_shared_bytes, "
        "k.local_bytes, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, c.block_z, "
        "c.max_blocks_per_sm, c.theoretical_occupancy, c.cluster_x, c.cluster_y, c.cluster_z, "
        "k.max_threads_per_block, (SELECT t.name FROM main.kernel t WHERE t.id = k.id) "
        "FROM kernel_class c JOIN kernel k ON k.id = c.kernel_id ORDER BY c.id");
    while (rc == 0 && tl->class_count < capacity && gmt_query_next(&query)) {
        struct gmt_tl_class *class = &tl->classes[tl->class_count++];

        class->id = gmt_query_id(&query, 0);
        class->name = gmt_query_text(&query, 1, &tl->strings);
        class->signature = gmt_query_text(&query, 18, &tl->strings);
        class->communicates = class->signature != NULL && gmt_kernel_communicates(class->signature);
        class->registers = gmt_query_count(&query, 2);
        class->static_shared_bytes = gmt_query_count(&query, 3);
        class->dynamic_shared_bytes = gmt_query_count(&query, 4);
        class->local_bytes = gmt_query_count(&query, 5);
        for (int i = 0; i < 3; i++) {
            class->grid[i] = gmt_query_count(&query, 6 + i);
            class->block[i] = gmt_query_count(&query, 9 + i);
            class->cluster[i] = gmt_query_count(&query, 14 + i);
        }
        class->max_blocks_per_sm = gmt_query_count(&query, 12);
        class->theoretical_occupancy = gmt_query_real(&query, 13);
        class->max_threads_per_block = gmt_query_count(&query, 17);
        class->shown = (struct gmt_tl_resources){
            .registers = gmt_query_real(&query, 2),
            .static_shared_bytes = gmt_query_real(&query, 3),
            .dynamic_shared_bytes = gmt_query_real(&query, 4),
            .local_bytes = gmt_query_real(&query, 5),
            .max_threads_per_block = gmt_query_real(&query, 17)};
        for (size_t i = 0; i < GMT_METRICS; i++) {
            class->counter[i] = NAN;
        }
        class->median_ns = class->total_ns = NAN;
        class->footprint_bytes = class->mapped_bytes = class->writable_bytes = NAN;
    }
    return gmt_query_close(&query, rc);
}

/*
 * A copy whose source size is 0 (zero fill, at the edge of a matrix) reads nothing, and is counted with its full width: what copies
 * read is no more than the sectors hold that their bytes could lie in. That cuts off nothing else: lanes of a copy would have to
 * read the same bytes, but each has a place of its own in shared memory to fill, and tiles are copied there to be shared, once.
 * Plain loads of one address by several lanes are counted once, too (metrics.def).
 */
static double bytes_read(const double *c)
{
    double ideal = c[GMT_M_async_copy_ideal_sectors];

    if (isnan(ideal)) {
        ideal = c[GMT_M_async_copy_sectors];
    }
    return fmin(c[GMT_M_async_copy_bytes], 32 * ideal);
}

/*
 * Copies from global to shared memory (LDGSTS, cp.async) are loads of global memory like others: their bytes and sectors count as
 * those. Where only the instructions were counted nothing is added (gaps.c says so). How many lines of 128 bytes they touch is not
 * counted.
 */
static void add_async_copies(struct gmt_timeline *tl)
{
    static const enum gmt_metric_index sums[][2] = {
        {GMT_M_global_load_bytes, GMT_M_async_copy_bytes},
        {GMT_M_global_load_sectors, GMT_M_async_copy_sectors},
        {GMT_M_global_load_requests, GMT_M_async_copy_instructions},
        {GMT_M_global_load_ideal_sectors, GMT_M_async_copy_ideal_sectors}};

    for (size_t i = 0; i < tl->class_count; i++) {
        double *c = tl->classes[i].counter;

        if (!(c[GMT_M_async_copy_bytes] > 0) || isnan(c[GMT_M_async_copy_sectors])) {
            continue;
        }
        c[GMT_M_async_copy_bytes] = bytes_read(c);
        for (size_t s = 0; s < sizeof(sums) / sizeof(sums[0]); s++) {
            c[sums[s][0]] += c[sums[s][1]];
        }
        c[GMT_M_global_load_lines] = NAN;
    }
}

static int load_counters(struct gmt_timeline *tl)
{
    static const char *const names[GMT_METRICS] = {
#define GMT_METRIC(id, name, group, cupti_name, unit, meaning) #name,
#include "libtrace/metrics.def"
#undef GMT_METRIC
    };
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT kc.class_id, m.name, kc.grp, avg(kc.value) "
                            "FROM kernel_counters kc JOIN metric m ON m.id = kc.metric_id "
                            "WHERE kc.value IS NOT NULL GROUP BY kc.class_id, kc.metric_id");

    while (rc == 0 && gmt_query_next(&query)) {
        int32_t class = gmt_timeline_class(tl, gmt_query_int(&query, 0));
        const char *name = gmt_query_text_here(&query, 1);
        const char *group = gmt_query_text_here(&query, 2);

        for (size_t i = 0; class >= 0 && name != NULL && i < GMT_METRICS; i++) {
            if (strcmp(names[i], name) == 0) {
                tl->classes[class].counter[i] = gmt_query_real(&query, 3);
            }
        }
        /* The software device counts what the software-patched group does, and more. */
        tl->has_patched |= group != NULL &&
                           (strcmp(group, "patched") == 0 || strcmp(group, "simulated") == 0);
        tl->has_hardware |= group != NULL && strcmp(group, "hardware") == 0;
    }
    rc = gmt_query_close(&query, rc);
    add_async_copies(tl);
    return rc;
}

/* What a set of arguments points into. */
struct set_bytes {
    int64_t set;
    double bytes;  /* of all allocations; NAN: the size of one is unknown */
    double mapped; /* of page-locked host memory among them; NAN: none */
};

static int compare_sets(const void *a, const void *b)
{
    const struct set_bytes *x = a, *y = b;

    return (x->set > y->set) - (x->set < y->set);
}

/* Ascending. */
static struct set_bytes *load_set_bytes(struct gmt_timeline *tl, size_t *count)
{
    struct gmt_query query;
    size_t capacity = 0;

    *count = 0;
    struct set_bytes *sets = rows_for(tl, "SELECT count(DISTINCT set_id) FROM launch_argument",
                                      sizeof(*sets), &capacity);
    if (sets == NULL) {
        return NULL;
    }
    int rc = gmt_query_open(
        &query, tl->db,
        "SELECT set_id, CASE count(*) WHEN count(bytes) THEN sum(bytes) END, sum(mapped) FROM "
        "(SELECT DISTINCT a.set_id, a.allocation_id, coalesce(d.bytes, h.bytes) AS bytes, "
        "nullif(h.bytes, 0) AS mapped FROM launch_argument a "
        "LEFT JOIN allocation d ON d.id = a.allocation_id "
        "LEFT JOIN host_allocation h ON h.id = a.allocation_id) GROUP BY set_id ORDER BY set_id");
    while (rc == 0 && *count < capacity && gmt_query_next(&query)) {
        sets[(*count)++] = (struct set_bytes){gmt_query_int(&query, 0), gmt_query_real(&query, 1),
                                              gmt_query_real(&query, 2)};
    }
    if (gmt_query_close(&query, rc) != 0) {
        free(sets);
        return NULL;
    }
    return sets;
}

/* All that a launch can read and write, as far as its arguments show; the largest of a class. */
static void widen(struct gmt_tl_class *class, const struct gmt_tl_launch *launch,
                  const struct set_bytes *sets, size_t count)
{
    struct set_bytes key = {.set = launch->argument_set};
    const struct set_bytes *found = bsearch(&key, sets, count, sizeof(key), compare_sets);

    if (found == NULL) {
        return;
    }
    class->mapped_bytes = fmax(class->mapped_bytes, found->mapped);
    if (launch->arguments_complete) {
        class->footprint_bytes = fmax(class->footprint_bytes, found->bytes);
    }
}

int gmt_timeline_load_footprints(struct gmt_timeline *tl)
{
    size_t count = 0;
    struct set_bytes *sets = load_set_bytes(tl, &count);

    if (sets == NULL) {
        return sqlite3_errcode(tl->db) == SQLITE_NOMEM ? -ENOMEM : -EIO;
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        if (tl->launches[i].class_index >= 0) {
            widen(&tl->classes[tl->launches[i].class_index], &tl->launches[i], sets, count);
        }
    }
    for (size_t i = 0; i < tl->class_count; i++) {
        if (tl->classes[i].in_graphs > 0) {
            widen(&tl->classes[i], &tl->classes[i].captured, sets, count);
        }
    }
    free(sets);
    return 0;
}

int gmt_timeline_load_calls(struct gmt_timeline *tl)
{
    struct context_devices contexts;
    int rc = load_contexts(tl, &contexts);

    if (rc == 0) {
        rc = load_copies(tl, &contexts);
    }
    free(contexts.rows);
    if (rc == 0) {
        rc = load_allocations(tl);
    }
    if (rc == 0) {
        tl->copies = gmt_timeline_sort(tl->copies, tl->copy_count, sizeof(*tl->copies));
        tl->allocations = gmt_timeline_sort(tl->allocations, tl->allocation_count,
                                            sizeof(*tl->allocations));
    }
    return rc;
}

int gmt_timeline_load_kernels(struct gmt_timeline *tl)
{
    struct context_devices contexts = {.rows = NULL};
    int rc = load_classes(tl);

    if (rc == 0) {
        rc = load_counters(tl);
    }
    if (rc == 0) {
        rc = load_contexts(tl, &contexts);
    }
    if (rc == 0) {
        rc = load_launches(tl, &contexts);
    }
    free(contexts.rows);
    if (rc == 0) {
        tl->launches = gmt_timeline_sort(tl->launches, tl->launch_count, sizeof(*tl->launches));
    }
    return rc;
}
