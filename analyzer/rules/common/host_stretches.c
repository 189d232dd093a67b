/* SPDX-License-Identifier: Apache-2.0 */
/* Stretches of launches of one thread that a CUDA graph could hold, and how long the device waited for them. */
#include "analyzer/rules/common/host_stretches.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/intervals.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/price/price_launch.h"
#include "analyzer/trace/launch_rows.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/unseen.h"
#include "libtrace/record/traits.h"

double gmt_host_bare_period_ns(const struct gmt_model *model)
{
    double step_ns = gmt_price_step_launched_ns(model);

    if (!(step_ns > 0)) {
        step_ns = model->launch_queued_ns > 0 ? model->launch_queued_ns : GMT_LAUNCH_STEP_NS;
    }
    return 2 * step_ns + GMT_TRACED_CALL_NS;
}

/* ---- calls that a graph cannot hold ------------------------------------------------------------ */

struct breaks {
    int64_t (*rows)[2]; /* begin and thread, by begin */
    size_t count, room;
};

static int add_break(struct breaks *breaks, int64_t begin_ns, int32_t thread)
{
    if (breaks->count == breaks->room) {
        size_t room = breaks->room > 0 ? 2 * breaks->room : 256;
        int64_t(*rows)[2] = realloc(breaks->rows, room * sizeof(*rows));

        if (rows == NULL) {
            return -ENOMEM;
        }
        breaks->rows = rows;
        breaks->room = room;
    }
    breaks->rows[breaks->count][0] = begin_ns;
    breaks->rows[breaks->count++][1] = thread;
    return 0;
}

static bool must_wait(const struct gmt_tl_copy *copy)
{
    return copy->blocking || copy->host_class == GMT_MEM_PAGEABLE;
}

/* Memory in the order of a stream can be allocated in a graph. */
static bool ends_stretch(uint8_t kind)
{
    return kind != GMT_ALLOC_ASYNC && kind != GMT_ALLOC_POOL;
}

static int load_breaks(struct breaks *breaks, const struct gmt_timeline *tl)
{
    static const char calls[] =
        "SELECT s.begin_ns, s.thread_id FROM sync s UNION ALL "
        "SELECT c.begin_ns, c.thread_id FROM api_call c JOIN api a ON a.id = c.api_id "
        "WHERE a.family IN ('module', 'sync')";
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db, calls);

    while (rc == 0 && gmt_query_next(&query)) {
        rc = add_break(breaks, gmt_query_instant(&query, 0), gmt_query_id(&query, 1));
    }
    rc = gmt_query_close(&query, rc);
    for (size_t i = 0; rc == 0 && i < tl->copy_count; i++) {
        if (must_wait(&tl->copies[i])) {
            rc = add_break(breaks, tl->copies[i].call.begin_ns, tl->copies[i].call.thread);
        }
    }
    for (size_t i = 0; rc == 0 && i < tl->allocation_count; i++) {
        const struct gmt_tl_allocation *a = &tl->allocations[i];

        if (ends_stretch(a->kind)) {
            rc = add_break(breaks, a->call.begin_ns, a->call.thread);
        }
        if (rc == 0 && ends_stretch(a->kind) && a->free_begin_ns != GMT_NO_TIME) {
            rc = add_break(breaks, a->free_begin_ns, a->call.thread);
        }
    }
    gmt_sort_pairs(breaks->rows, breaks->count);
    return rc;
}

/* Whether the thread makes such a call in between. */
static bool breaks_between(const struct breaks *breaks, int32_t thread, int64_t from_ns,
                           int64_t to_ns)
{
    size_t low = 0, high = breaks->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (breaks->rows[middle][0] < from_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < breaks->count && breaks->rows[low][0] < to_ns; low++) {
        if (breaks->rows[low][1] == thread) {
            return true;
        }
    }
    return false;
}

/* ---- stretches --------------------------------------------------------------------------------- */

struct stretch_search {
    const struct gmt_timeline *timeline;
    const struct gmt_model *model;
    struct breaks breaks;
    struct gmt_stack_frames frames;
    struct gmt_host_stretch stretch;
    size_t room; /* of its waits */
    int64_t last_stack;
    void (*found)(void *user, const struct gmt_host_stretch *stretch);
    void *user;
};

/* When the device ran out of work before it started at this time; GMT_NO_TIME: it had work, or may have had. */
static int64_t idle_since(const struct gmt_timeline *tl, int64_t start_ns)
{
    size_t low = 0, high = tl->maybe_busy_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tl->maybe_busy[middle].begin_ns < start_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool begins = low > 0 && low < tl->maybe_busy_count && tl->maybe_busy[low].begin_ns == start_ns;
    return begins ? tl->maybe_busy[low - 1].end_ns : GMT_NO_TIME;
}

static int add_wait(struct stretch_search *search, struct gmt_interval wait)
{
    struct gmt_host_stretch *stretch = &search->stretch;

    if (stretch->wait_count == search->room) {
        size_t room = search->room > 0 ? 2 * search->room : 256;
        struct gmt_interval *waits = realloc(stretch->waits, room * sizeof(*waits));

        if (waits == NULL) {
            return -ENOMEM;
        }
        stretch->waits = waits;
        search->room = room;
    }
    stretch->waits[stretch->wait_count++] = wait;
    return 0;
}

/* What of a wait a graph saves: all but what a step of a graph takes beyond its kernel, and what the recording took. */
static double saved_ns(const struct stretch_search *search, double idle_ns, double kernel_ns)
{
    double step_ns = gmt_price_step_in_graph_ns(search->model);

    step_ns = isfinite(step_ns) ? step_ns : GMT_GRAPH_STEP_NS;
    return fmax(0, idle_ns - GMT_TRACED_CALL_NS - fmax(0, step_ns - kernel_ns));
}

/* That launch b came after launch a. */
static int add_link(struct stretch_search *search, const struct gmt_tl_launch *a,
                    const struct gmt_tl_launch *b)
{
    struct gmt_host_stretch *stretch = &search->stretch;
    const struct gmt_timeline *tl = search->timeline;
    /* Another thread may have launched meanwhile, as one that computes gradients does. */
    const struct gmt_tl_call *last = &(b - 1)->call;
    double kernel_ns = gmt_launch_time(b), code_ns = (double)(b->call.begin_ns - last->end_ns);
    int64_t since_ns = idle_since(tl, b->device_start_ns);

    stretch->links++;
    stretch->kernel_ns += kernel_ns;
    stretch->code_ns += fmax(0, code_ns);
    stretch->period_ns += (double)(b->call.begin_ns - last->begin_ns);
    if (since_ns == GMT_NO_TIME || since_ns < a->device_start_ns || b->call.end_ns <= since_ns) {
        return 0;
    }
    double idle_ns = (double)(b->device_start_ns - since_ns);
    double launched_ns = gmt_host_bare_period_ns(search->model);
    double all_ns = saved_ns(search, idle_ns, kernel_ns);

    stretch->late++;
    stretch->idle_ns += idle_ns;
    /* Of longer ones it is not known whether the code is the launch's, or work that a graph would not do. */
    stretch->best_ns += code_ns <= GMT_HOST_DISPATCH_NS ? all_ns : 0;
    stretch->low_ns += saved_ns(search, fmin(idle_ns, launched_ns), kernel_ns);
    return add_wait(search, (struct gmt_interval){since_ns, b->device_start_ns});
}

static void begin_stretch(struct stretch_search *search, size_t index)
{
    struct gmt_interval *waits = search->stretch.waits;
    const struct gmt_tl_launch *launch = &search->timeline->launches[index];

    search->stretch = (struct gmt_host_stretch){
        .first = index,
        .span = {launch->call.begin_ns, launch->call.end_ns},
        .launches = 1,
        .waits = waits};
    search->last_stack = launch->call.stack_id;
    search->stretch.has_place = gmt_common_place_find(
        &search->frames, launch->call.stack_id, launch->call.stack_id, &search->stretch.place);
}

/* The function further out is the one that all have in common. */
static void join_place(struct stretch_search *search, const struct gmt_tl_launch *launch)
{
    struct gmt_host_stretch *stretch = &search->stretch;
    int64_t first = search->timeline->launches[stretch->first].call.stack_id;
    struct gmt_common_place place;

    if (!stretch->has_place || launch->call.stack_id == search->last_stack) {
        return;
    }
    search->last_stack = launch->call.stack_id;
    stretch->has_place = gmt_common_place_find(&search->frames, first, launch->call.stack_id,
                                               &place);
    if (stretch->has_place && place.positions[0] > stretch->place.positions[0]) {
        stretch->place = place;
    }
}

static bool goes_on(const struct stretch_search *search, const struct gmt_tl_launch *a,
                    const struct gmt_tl_launch *b)
{
    return a->call.thread == b->call.thread && a->class_index >= 0 && b->class_index >= 0 &&
           (double)(b->call.begin_ns - a->call.end_ns) < GMT_HOST_STRETCH_NS &&
           !breaks_between(&search->breaks, a->call.thread, a->call.end_ns, b->call.begin_ns) &&
           !gmt_unseen_between(search->timeline->unseen, a->call.begin_ns, b->call.begin_ns);
}

/* Both have times, nothing of gmtrace's came between, and it is not where the kernel was launched first. */
static bool is_link(const struct gmt_timeline *tl, const struct gmt_tl_launch *a,
                    const struct gmt_tl_launch *b)
{
    const struct gmt_tl_class *class = &tl->classes[b->class_index];
    int64_t from_ns = a->call.begin_ns < a->device_end_ns ? a->call.begin_ns : a->device_end_ns;

    return !isnan(gmt_launch_time(a)) && !isnan(gmt_launch_time(b)) &&
           class->first_launch != (size_t)(b - tl->launches) &&
           gmt_intervals_overlap(tl->own, tl->own_count,
                                 (struct gmt_interval){from_ns, b->device_start_ns}) <= 0;
}

static void end_stretch(struct stretch_search *search)
{
    if (search->stretch.links > 0) {
        search->found(search->user, &search->stretch);
    }
}

static int walk(struct stretch_search *search, int64_t (*order)[2], size_t n)
{
    const struct gmt_timeline *tl = search->timeline;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        size_t index = (size_t)order[i][1];
        const struct gmt_tl_launch *launch = &tl->launches[index];
        const struct gmt_tl_launch *before = i > 0 ? &tl->launches[order[i - 1][1]] : NULL;

        if (before == NULL || !goes_on(search, before, launch)) {
            if (before != NULL) {
                end_stretch(search);
            }
            begin_stretch(search, index);
            continue;
        }
        search->stretch.launches++;
        search->stretch.span.end_ns = launch->call.end_ns;
        join_place(search, launch);
        if (is_link(tl, before, launch)) {
            rc = add_link(search, before, launch);
        }
    }
    if (rc == 0 && n > 0) {
        end_stretch(search);
    }
    return rc;
}

int gmt_host_stretches_find(struct gmt_analysis *analysis,
                            void (*found)(void *user, const struct gmt_host_stretch *stretch),
                            void *user)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct stretch_search search = {
        .timeline = tl, .model = analysis->model, .found = found, .user = user};
    int64_t(*order)[2] = calloc(tl->launch_count + 1, sizeof(*order));
    int rc = order != NULL ? load_breaks(&search.breaks, tl) : -ENOMEM;

    if (rc == 0) {
        rc = gmt_stack_frames_load(&search.frames, tl);
    }
    for (size_t i = 0; rc == 0 && i < tl->launch_count; i++) {
        order[i][0] = tl->launches[i].call.thread;
        order[i][1] = (int64_t)i;
    }
    if (rc == 0) {
        gmt_sort_pairs(order, tl->launch_count);
        rc = walk(&search, order, tl->launch_count);
    }
    free(search.stretch.waits);
    free(search.breaks.rows);
    gmt_stack_frames_free(&search.frames);
    free(order);
    return rc;
}
