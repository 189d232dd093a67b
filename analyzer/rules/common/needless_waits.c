/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of the host for the device after which it reads nothing of what it waited for (needless_waits.h). */
#include "analyzer/rules/common/needless_waits.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/intervals.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/trace/cover.h"
#include "analyzer/trace/losses.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/unseen.h"

/* What the walk looks at, in the order of time. */
enum step_kind { STEP_WAIT, STEP_COPY, STEP_LAUNCH, STEP_HOST_WORK, STEP_STOP };
enum { KIND_BITS = 3 };

struct needless_steps {
    int64_t (*rows)
        [2]; /* begin, and index << KIND_BITS | kind; of work of the host the stream in place of an index */
    size_t count, room;
};

static int add_step(struct needless_steps *steps, int64_t at_ns, size_t index, enum step_kind kind)
{
    if (steps->count == steps->room) {
        size_t room = steps->room > 0 ? 2 * steps->room : 1024;
        int64_t(*rows)[2] = realloc(steps->rows, room * sizeof(*rows));

        if (rows == NULL) {
            return -ENOMEM;
        }
        steps->rows = rows;
        steps->room = room;
    }
    steps->rows[steps->count][0] = at_ns;
    steps->rows[steps->count++][1] = (int64_t)(index << KIND_BITS | kind);
    return 0;
}

/* ---- what is loaded ------------------------------------------------------------------------------ */

/* Of launches, or of arguments of these; ascending. */
struct id_set {
    int64_t *ids;
    size_t count;
};

struct needless_search {
    const struct gmt_timeline *timeline;
    struct gmt_needless_waits *waits;
    bool *of_event, *of_all; /* by index of the wait: for an event; for all streams */
    struct needless_steps steps;
    struct id_set host_sets; /* sets of arguments with memory of the host among them */
    struct id_set
        host_graphs; /* launches of graphs that may run functions of the host, or copy to it or from it */
    bool has_host_memory;
    struct gmt_cover busy;
    /* The walk: */
    size_t first;        /* the first wait of the stretch */
    size_t stretch;      /* its number */
    size_t open;         /* one that no launch has followed yet, or NONE */
    int32_t pending;     /* the stream whose results the host may wait for, or one of these: */
    int64_t last_launch; /* begin of the last one; GMT_NO_TIME: none */
};
/* No numbers of streams. */
enum { PENDING_NOTHING = INT32_MIN, PENDING_SEVERAL };
#define NONE SIZE_MAX

static int load_waits(struct needless_search *search)
{
    const struct gmt_timeline *tl = search->timeline;
    struct gmt_needless_waits *waits = search->waits;
    struct gmt_query query;
    int64_t count = 0;
    int rc = gmt_query_int64(tl->db, "SELECT count(*) FROM sync", &count);

    if (rc != 0 || count < 0) {
        return rc != 0 ? rc : -EIO;
    }
    waits->rows = calloc((size_t)count + 1, sizeof(*waits->rows));
    search->of_event = calloc((size_t)count + 1, sizeof(*search->of_event));
    search->of_all = calloc((size_t)count + 1, sizeof(*search->of_all));
    if (waits->rows == NULL || search->of_event == NULL || search->of_all == NULL) {
        return -ENOMEM;
    }
    rc = gmt_query_open(&query, tl->db,
                        "SELECT id, begin_ns, end_ns, thread_id, stream_id, stack_id, caller, "
                        "api_id, kind FROM sync WHERE result = 0 AND capturing = 0 ORDER BY "
                        "begin_ns");
    while (rc == 0 && waits->count < (size_t)count && gmt_query_next(&query)) {
        const char *kind = gmt_query_text_here(&query, 8);
        struct gmt_tl_call call = {.id = gmt_query_id(&query, 0),
                                   .begin_ns = gmt_query_instant(&query, 1),
                                   .end_ns = gmt_query_instant(&query, 2),
                                   .thread = gmt_query_id(&query, 3),
                                   .stream = gmt_query_id(&query, 4),
                                   .stack_id = gmt_query_id(&query, 5),
                                   .caller = (uint64_t)gmt_query_int(&query, 6),
                                   .api = gmt_query_id(&query, 7)};

        call.site = gmt_timeline_site(tl, call.stack_id, call.caller);
        search->of_event[waits->count] = kind == NULL || strcmp(kind, "event") == 0;
        search->of_all[waits->count] = kind != NULL && strcmp(kind, "stream") != 0;
        rc = add_step(&search->steps, call.begin_ns, waits->count, STEP_WAIT);
        waits->rows[waits->count++] = (struct gmt_needless_wait){.call = call, .needed = true};
    }
    return gmt_query_close(&query, rc);
}

/* Calls that wait for the device themselves, or need it to be done. */
static int load_stops(struct needless_search *search)
{
    static const char *const sources[] = {
        "SELECT begin_ns FROM allocation WHERE begin_ns IS NOT NULL AND kind NOT IN ('async', "
        "'pool')",
        "SELECT free_begin_ns FROM allocation WHERE free_begin_ns IS NOT NULL AND kind NOT IN "
        "('async', 'pool')",
        "SELECT begin_ns FROM host_allocation WHERE begin_ns IS NOT NULL",
        "SELECT free_begin_ns FROM host_allocation WHERE free_begin_ns IS NOT NULL",
        "SELECT c.begin_ns FROM api_call c JOIN api a ON a.id = c.api_id WHERE a.family IN "
        "('module', 'alloc') OR (a.family = 'sync' AND c.capturing <> 0)"};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(sources) / sizeof(sources[0]); i++) {
        struct gmt_query query;

        rc = gmt_query_open(&query, search->timeline->db, sources[i]);
        while (rc == 0 && gmt_query_next(&query)) {
            rc = add_step(&search->steps, gmt_query_instant(&query, 0), 0, STEP_STOP);
        }
        rc = gmt_query_close(&query, rc);
    }
    return rc;
}

/* Functions of the host in a stream, and what else lets the host see how far it is. */
static int load_host_work(struct needless_search *search)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, search->timeline->db,
                            "SELECT c.begin_ns, c.stream_id FROM api_call c JOIN api a ON a.id = "
                            "c.api_id WHERE a.family = 'sync' AND c.capturing = 0");

    while (rc == 0 && gmt_query_next(&query)) {
        rc = add_step(&search->steps, gmt_query_instant(&query, 0), (size_t)gmt_query_id(&query, 1),
                      STEP_HOST_WORK);
    }
    return gmt_query_close(&query, rc);
}

/* What `sql` gives, ascending. */
static int load_ids(struct id_set *set, const struct gmt_timeline *timeline,
                    struct gmt_arena *arena, const char *sql)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, timeline->db, sql);

    while (rc == 0 && gmt_query_next(&query)) {
        int64_t *id = GMT_PUSH(arena, set->ids, set->count);

        if (id == NULL) {
            rc = -ENOMEM;
        } else {
            *id = gmt_query_int(&query, 0);
        }
    }
    return gmt_query_close(&query, rc);
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static bool holds(const struct id_set *set, int64_t id)
{
    return set->count > 0 &&
           bsearch(&id, set->ids, set->count, sizeof(*set->ids), compare_ids) != NULL;
}

/* All launches of graphs but those whose nodes are known and stay on the device. */
static int load_host_graphs(struct needless_search *search, struct gmt_arena *arena)
{
    static const char all[] = "SELECT id FROM launch WHERE kind = 'graph' ORDER BY id";
    static const char known[] =
        "WITH still AS MATERIALIZED (SELECT g.handle, g.begin_ns, g.end_ns FROM graph g JOIN "
        "(SELECT graph_id, count(position) AS nodes, sum(NOT (kind IN ('kernel', 'memset', "
        "'empty') OR (kind = 'copy' AND direction IS 'd2d'))) AS others FROM graph_node GROUP BY "
        "graph_id) n ON n.graph_id = g.id WHERE n.nodes >= g.nodes AND n.others = 0) "
        "SELECT id FROM launch l WHERE kind = 'graph' AND NOT EXISTS (SELECT 1 FROM still s WHERE "
        "s.handle = l.graph AND s.begin_ns <= l.begin_ns AND (s.end_ns IS NULL OR l.begin_ns < "
        "s.end_ns)) ORDER BY id";
    int64_t tables = 0;
    /* Traces of earlier versions do not know what is in a graph. */
    int rc = gmt_query_int64(search->timeline->db,
                             "SELECT count(*) FROM sqlite_master WHERE name IN ('graph', "
                             "'graph_node') AND type = 'table'",
                             &tables);

    bool is_known = tables == 2 &&
                    gmt_loss_largest(search->timeline->db, GMT_LOSSES_OF_USES, arena).kind == NULL;

    return rc != 0
               ? rc
               : load_ids(&search->host_graphs, search->timeline, arena, is_known ? known : all);
}

/* Which launches can write what the host reads without a copy. */
static int load_host_memory(struct needless_search *search, struct gmt_arena *arena)
{
    int64_t exists = 0;
    int rc = gmt_query_int64(search->timeline->db,
                             "SELECT EXISTS (SELECT 1 FROM host_allocation) OR EXISTS (SELECT 1 "
                             "FROM allocation WHERE kind = 'managed')",
                             &exists);

    search->has_host_memory = exists != 0;
    if (rc != 0 || exists == 0) {
        return rc;
    }
    return load_ids(
        &search->host_sets, search->timeline, arena,
        "SELECT DISTINCT set_id FROM launch_argument WHERE allocation_id IN (SELECT id FROM "
        "host_allocation UNION ALL SELECT id FROM allocation WHERE kind = 'managed') ORDER BY "
        "set_id");
}

static bool reaches_host(const struct needless_search *search, const struct gmt_tl_launch *launch)
{
    if (launch->is_graph && holds(&search->host_graphs, launch->call.id)) {
        return true;
    }
    if (!search->has_host_memory) {
        return false;
    }
    if (launch->argument_set == 0) {
        return !launch->arguments_complete;
    }
    return holds(&search->host_sets, launch->argument_set);
}

/* ---- the walk ------------------------------------------------------------------------------------ */

/*
 * Ends the stretch. It takes as long as the host computes and waits, and as the device works and is idle; without its waits as
 * long as the longer of the host's and the device's work. So no more goes than all waits, and no more than all idle times.
 */
static void end_stretch(struct needless_search *search, size_t until)
{
    struct gmt_needless_wait *rows = search->waits->rows;
    double waited_ns = 0, idle_ns = 0;

    for (size_t i = search->first; i < until; i++) {
        waited_ns += rows[i].waited_ns;
        idle_ns += rows[i].idle_ns;
    }
    for (size_t i = search->first; idle_ns > 0 && i < until; i++) {
        rows[i].best_ns = fmin(1, waited_ns / idle_ns) * rows[i].idle_ns;
        rows[i].stretch = search->stretch;
    }
    search->first = until;
    search->stretch++;
}

/* The host needs the open wait after all, or comes to wait without it. */
static void reject(struct needless_search *search)
{
    size_t open = search->open;

    if (open != NONE) {
        search->open = NONE;
        end_stretch(search, open);
        search->first = open + 1;
    }
}

static void pend(struct needless_search *search, int32_t stream)
{
    search->pending = search->pending == PENDING_NOTHING || search->pending == stream
                          ? stream
                          : PENDING_SEVERAL;
}

static void on_wait(struct needless_search *search, size_t index)
{
    const struct gmt_tl_call *call = &search->waits->rows[index].call;
    bool covers = search->of_all[index] && !search->of_event[index];

    if (search->of_event[index] || search->pending != PENDING_NOTHING) {
        reject(search);
        end_stretch(search, index);
        search->first = index + 1;
        if (covers || (!search->of_event[index] && search->pending == call->stream)) {
            search->pending = PENDING_NOTHING;
        }
    } else if (search->open == NONE) {
        search->open = index;
    }
}

static void on_copy(struct needless_search *search, const struct gmt_tl_copy *copy,
                    size_t next_wait)
{
    bool waits = copy->blocking || copy->host_class == GMT_MEM_PAGEABLE;
    /* From page-locked memory the host may read what a kernel wrote there. */
    bool reads = copy->direction == GMT_DIR_D2H || copy->direction == GMT_DIR_H2H ||
                 copy->direction == GMT_DIR_UNKNOWN;

    if (waits || reads) {
        reject(search);
    }
    if (waits) {
        end_stretch(search, next_wait);
    }
    if (!copy->blocking && (reads || copy->direction == GMT_DIR_H2D)) {
        pend(search, copy->call.stream);
    }
}

/* What was not seen may have needed it. */
static void note_unseen(struct needless_search *search, int64_t at_ns)
{
    if (search->last_launch != GMT_NO_TIME &&
        gmt_unseen_between(search->timeline->unseen, search->last_launch, at_ns)) {
        reject(search);
        pend(search, PENDING_SEVERAL);
    }
    search->last_launch = at_ns;
}

/* When the device was done with what had begun before the wait's end; no earlier than its begin. */
static int64_t end_of_work(const struct gmt_cover *busy, const struct gmt_tl_call *wait)
{
    size_t low = 0, high = busy->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (busy->parts[middle].begin_ns < wait->end_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && busy->parts[low - 1].end_ns > wait->begin_ns ? busy->parts[low - 1].end_ns
                                                                   : wait->begin_ns;
}

/* Nothing needs the wait, after which the device began with a kernel at `next_ns`. */
static void measure(struct needless_search *search, struct gmt_needless_wait *wait, int64_t next_ns)
{
    const struct gmt_timeline *tl = search->timeline;
    struct gmt_interval call = {wait->call.begin_ns, wait->call.end_ns};
    struct gmt_interval idle = {end_of_work(&search->busy, &wait->call), next_ns};

    if (next_ns == GMT_NO_TIME || idle.end_ns <= idle.begin_ns) {
        return;
    }
    wait->idle_ns = fmax(0, (double)(idle.end_ns - idle.begin_ns) -
                                gmt_cover_within(&search->busy, idle.begin_ns, idle.end_ns) -
                                gmt_intervals_overlap(tl->own, tl->own_count, idle) -
                                GMT_TRACED_CALL_NS);
    if (wait->idle_ns > 0) {
        wait->idle = (struct gmt_interval){idle.end_ns - (int64_t)wait->idle_ns, idle.end_ns};
        wait->waited_ns = (double)(call.end_ns - call.begin_ns) -
                          gmt_intervals_overlap(tl->own, tl->own_count, call);
    }
}

static void on_launch(struct needless_search *search, const struct gmt_tl_launch *launch)
{
    note_unseen(search, launch->call.begin_ns);
    struct gmt_needless_wait *wait = search->open != NONE ? &search->waits->rows[search->open]
                                                          : NULL;

    if (wait != NULL && launch->call.begin_ns >= wait->call.end_ns) {
        search->open = NONE;
        wait->needed = false;
        measure(search, wait, launch->device_start_ns);
    }
    if (reaches_host(search, launch)) {
        pend(search, launch->call.stream);
    }
}

static void walk(struct needless_search *search)
{
    const struct gmt_timeline *tl = search->timeline;
    size_t next_wait = 0;

    for (size_t i = 0; i < search->steps.count; i++) {
        size_t index = (size_t)(search->steps.rows[i][1] >> KIND_BITS);

        switch ((enum step_kind)(search->steps.rows[i][1] & ((1 << KIND_BITS) - 1))) {
        case STEP_WAIT:
            next_wait = index + 1;
            on_wait(search, index);
            break;
        case STEP_COPY: on_copy(search, &tl->copies[index], next_wait); break;
        case STEP_LAUNCH: on_launch(search, &tl->launches[index]); break;
        case STEP_STOP:
            reject(search);
            end_stretch(search, next_wait);
            break;
        case STEP_HOST_WORK:
            reject(search);
            end_stretch(search, next_wait);
            pend(search, (int32_t)index);
            break;
        }
    }
    reject(search);
    end_stretch(search, search->waits->count);
}

int gmt_needless_waits_find(struct gmt_needless_waits *waits, const struct gmt_timeline *timeline)
{
    struct needless_search search = {.timeline = timeline,
                                     .waits = waits,
                                     .open = NONE,
                                     .pending = PENDING_NOTHING,
                                     .last_launch = GMT_NO_TIME};
    struct gmt_arena arena = {0};

    *waits = (struct gmt_needless_waits){.rows = NULL};
    int rc = load_waits(&search);
    if (rc == 0) {
        rc = load_stops(&search);
    }
    if (rc == 0) {
        rc = load_host_work(&search);
    }
    if (rc == 0) {
        rc = load_host_memory(&search, &arena);
    }
    if (rc == 0) {
        rc = load_host_graphs(&search, &arena);
    }
    if (rc == 0) {
        rc = gmt_cover_make(&search.busy, timeline, GMT_COVER_KERNELS | GMT_COVER_COPIES);
    }
    for (size_t i = 0; rc == 0 && i < timeline->copy_count; i++) {
        rc = add_step(&search.steps, timeline->copies[i].call.begin_ns, i, STEP_COPY);
    }
    for (size_t i = 0; rc == 0 && i < timeline->launch_count; i++) {
        rc = add_step(&search.steps, timeline->launches[i].call.begin_ns, i, STEP_LAUNCH);
    }
    if (rc == 0) {
        gmt_sort_pairs(search.steps.rows, search.steps.count);
        walk(&search);
    }
    gmt_cover_free(&search.busy);
    gmt_arena_free(&arena);
    free(search.steps.rows);
    free(search.of_event);
    free(search.of_all);
    return rc;
}

void gmt_needless_waits_free(struct gmt_needless_waits *waits)
{
    free(waits->rows);
    *waits = (struct gmt_needless_waits){.rows = NULL};
}
