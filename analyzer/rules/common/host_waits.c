/* SPDX-License-Identifier: Apache-2.0 */
/* Places before which the device waits, again and again, for code of the host (host_waits.h). */
#include "analyzer/rules/common/host_waits.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/intervals.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/rules/common/host_loads.h"
#include "analyzer/summary/host_basis.h"
#include "analyzer/summary/idle_places.h"
#include "analyzer/trace/unseen.h"

struct piece {
    struct gmt_interval gap;
    double ns;       /* without gmtrace's own work */
    size_t place;    /* index into places */
    int64_t ends_in; /* frame.id that names the call after; 0: not known */
    size_t call, until;
    int32_t load_stack; /* where the call after it loads code: of that call; else -1 */
    bool is_inner; /* it is named by the calls' own places; else by the function that both have */
    const char *file, *label; /* by which it is named */
};

struct wait_search {
    struct gmt_analysis *analysis;
    const struct gmt_host_calls *calls;
    struct gmt_stack_frames frames;
    struct gmt_idle_places places;
    struct gmt_interval *counted; /* waits that GM512 counts already; merged */
    size_t counted_count;
    struct piece *rows;
    size_t count, room;
};

/* ---- the pieces -------------------------------------------------------------------------------- */

static int add_piece(struct wait_search *search, const struct piece *piece)
{
    if (search->count == search->room) {
        size_t room = search->room > 0 ? 2 * search->room : 256;
        struct piece *rows = realloc(search->rows, room * sizeof(*rows));

        if (rows == NULL) {
            return -ENOMEM;
        }
        search->rows = rows;
        search->room = room;
    }
    search->rows[search->count++] = *piece;
    return 0;
}

static bool may_bring_results(const struct gmt_timeline *tl, const struct gmt_host_call *call)
{
    size_t low = 0, high = tl->copy_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tl->copies[middle].call.begin_ns < call->begin_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < tl->copy_count && tl->copies[low].call.begin_ns == call->begin_ns; low++) {
        if (tl->copies[low].call.thread == call->thread) {
            /* From page-locked memory: a kernel may have written it. */
            return tl->copies[low].direction == GMT_DIR_D2H ||
                   tl->copies[low].direction == GMT_DIR_H2H ||
                   tl->copies[low].direction == GMT_DIR_UNKNOWN;
        }
    }
    return false;
}

/*
 * Whether the code may depend on what the device computed: since the last launch a thread has waited for the device, or read
 * from it. Whichever thread, as the next call may be another's: PyTorch's backward is launched by a thread of its own.
 */
static bool follows_results(const struct wait_search *search, size_t until)
{
    enum { MOST = 1000 };
    const struct gmt_host_call *rows = search->calls->rows;

    for (size_t i = until; i > 0 && i + MOST > until; i--) {
        const struct gmt_host_call *row = &rows[i - 1];

        if (row->part == GMT_TIME_LAUNCH_CALLS) {
            return false;
        }
        if (row->part == GMT_TIME_SYNC || (row->part == GMT_TIME_COPY_CALLS &&
                                           may_bring_results(search->analysis->timeline, row))) {
            return true;
        }
    }
    return false;
}

/* Code that is made or read before the call that loads it, and that call: one wait. */
static bool is_for_load(const struct wait_search *search, const struct gmt_idle_cause *cause,
                        struct piece *piece)
{
    const struct gmt_host_call *rows = search->calls->rows;

    if (cause->part == GMT_TIME_LOADING) {
        piece->until = cause->call;
    }
    if (!gmt_is_load(search->analysis->timeline, &rows[piece->until])) {
        return false;
    }
    piece->load_stack = rows[piece->until].stack_id;
    return true;
}

static int take(void *user, const struct gmt_idle_cause *cause)
{
    struct wait_search *search = user;
    const struct gmt_timeline *tl = search->analysis->timeline;
    const struct gmt_host_call *rows = search->calls->rows;
    size_t count = search->calls->count;
    struct piece piece = {.gap = {cause->begin_ns, cause->end_ns},
                          .call = cause->call,
                          .until = cause->until,
                          .load_stack = -1};
    struct gmt_common_place ends;
    bool is_code = cause->part == GMT_TIME_HOST && cause->call < count && cause->until < count;
    bool is_loading = cause->part == GMT_TIME_LOADING && cause->call < count;

    if (!(is_code || is_loading) || (!is_for_load(search, cause, &piece) && is_loading)) {
        return 0;
    }
    piece.ns = (double)(cause->end_ns - cause->begin_ns) -
               gmt_intervals_overlap(tl->own, tl->own_count, piece.gap);
    if (piece.ns <= GMT_HOST_DISPATCH_NS ||
        gmt_intervals_overlap(search->counted, search->counted_count, piece.gap) > 0 ||
        gmt_unseen_between(tl->unseen, rows[piece.call].begin_ns, rows[piece.until].begin_ns) ||
        (piece.load_stack < 0 && follows_results(search, piece.until))) {
        return 0;
    }
    int rc = gmt_idle_places_add(&search->places, cause, &piece.place);
    if (rc != 0) {
        return rc;
    }
    if (gmt_common_place_find(&search->frames, rows[piece.until].stack_id,
                              rows[piece.until].stack_id, &ends)) {
        piece.ends_in = ends.frames[0];
    }
    return add_piece(search, &piece);
}

/* When no device may have been at work, from the first to the last of what they did. */
static int find_pieces(struct wait_search *search, const struct gmt_host_basis *basis)
{
    const struct gmt_timeline *tl = search->analysis->timeline;
    size_t n = tl->maybe_busy_count;
    struct gmt_interval *idle = calloc(n + 1, sizeof(*idle));
    size_t count = 0;

    for (size_t i = 1; idle != NULL && i < n; i++) {
        struct gmt_interval gap = {tl->maybe_busy[i - 1].end_ns, tl->maybe_busy[i].begin_ns};

        if ((double)(gap.end_ns - gap.begin_ns) > GMT_HOST_DISPATCH_NS) {
            idle[count++] = gap;
        }
    }
    int rc = idle == NULL
                 ? -ENOMEM
                 : gmt_idle_causes_find(&basis->idle_calls, &basis->ops, idle, count, take, search);
    free(idle);
    return rc;
}

/* What reported loops of launches wait for. */
static int load_counted(struct wait_search *search, const struct gmt_host_loops *loops)
{
    size_t n = 0;

    for (size_t i = 0; i < loops->count; i++) {
        n += gmt_host_loop_waits(&loops->rows[i]) ? loops->rows[i].wait_count : 0;
    }
    search->counted = calloc(n + 1, sizeof(*search->counted));
    if (search->counted == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < loops->count; i++) {
        const struct gmt_host_loop *loop = &loops->rows[i];

        for (size_t k = 0; gmt_host_loop_waits(loop) && k < loop->wait_count; k++) {
            search->counted[search->counted_count++] = loop->waits[k];
        }
    }
    search->counted_count = gmt_intervals_merge(search->counted, search->counted_count);
    return 0;
}

/* ---- the places -------------------------------------------------------------------------------- */

/* The place on either side (0: before): of the common function where it goes on from line to line, else the call's own. */
static struct gmt_where where_of(const struct wait_search *search, const struct piece *piece,
                                 int side)
{
    const struct gmt_host_call *rows = search->calls->rows;
    const struct gmt_host_call *row = &rows[side == 0 ? piece->call : piece->until];
    struct gmt_tl_call call = gmt_host_call_of_timeline(row);
    struct gmt_common_place common;

    if (!piece->is_inner && gmt_common_place_find(&search->frames, rows[piece->call].stack_id,
                                                  rows[piece->until].stack_id, &common)) {
        return gmt_where_of_frame(search->analysis, &call, common.positions[side]);
    }
    return gmt_host_call_where(search->analysis, row);
}

static int compare_places(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    if (x->place != y->place) {
        return x->place < y->place ? -1 : 1;
    }
    return (x->ends_in > y->ends_in) - (x->ends_in < y->ends_in);
}

/* Code is made for each stack that loads it by itself: two of one line compile different things. */
static int compare_names(const struct piece *x, const struct piece *y)
{
    int order = strcmp(x->label, y->label);

    if (order == 0) {
        order = strcmp(x->file != NULL ? x->file : "", y->file != NULL ? y->file : "");
    }
    return order != 0 ? order : (x->load_stack > y->load_stack) - (x->load_stack < y->load_stack);
}

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    int order = compare_names(x, y);

    return order != 0 ? order
                      : (x->gap.begin_ns > y->gap.begin_ns) - (x->gap.begin_ns < y->gap.begin_ns);
}

/* Frames of one line may be many: what is called the same is one place. */
static void name_pieces(struct wait_search *search)
{
    struct piece *rows = search->rows;

    if (search->count > 1) {
        qsort(rows, search->count, sizeof(*rows), compare_places);
    }
    for (size_t i = 0; i < search->count; i++) {
        const struct gmt_idle_place *place = &search->places.rows[rows[i].place];

        if (rows[i].load_stack >= 0) {
            struct gmt_where load = gmt_host_call_where(search->analysis,
                                                        &search->calls->rows[rows[i].until]);
            rows[i].is_inner = true;
            rows[i].file = load.file;
            rows[i].label = load.label;
            continue;
        }
        if (i > 0 && rows[i - 1].load_stack < 0 && compare_places(&rows[i - 1], &rows[i]) == 0) {
            rows[i].is_inner = rows[i - 1].is_inner;
            rows[i].file = rows[i - 1].file;
            rows[i].label = rows[i - 1].label;
            continue;
        }
        rows[i].is_inner = !place->is_common ||
                           gmt_idle_place_name(search->analysis, &search->places, place).until ==
                               NULL;
        struct gmt_where where = where_of(search, &rows[i], 1);
        rows[i].file = where.file;
        rows[i].label = where.label;
    }
    if (search->count > 1) {
        qsort(rows, search->count, sizeof(*rows), compare_pieces);
    }
}

static int compare_ns(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Whether a kernel begins in this time. */
static bool has_kernel(const struct gmt_timeline *tl, int64_t from_ns, int64_t to_ns)
{
    size_t low = 0, high = tl->kernel_busy_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tl->kernel_busy[middle].begin_ns < from_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < tl->kernel_busy_count && tl->kernel_busy[low].begin_ns < to_ns;
}

/* Those after which the device computes: uploads one after the other are start-up. Returns how many are left. */
static size_t keep_steps(const struct gmt_timeline *tl, struct piece *rows, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        int64_t to_ns = i + 1 < n ? rows[i + 1].gap.begin_ns : INT64_MAX;

        if (has_kernel(tl, rows[i].gap.end_ns, to_ns)) {
            rows[kept++] = rows[i];
        }
    }
    return kept;
}

/* Of one load the code before the call and the call are one. Returns how many are left. */
static size_t join_loads(struct piece *rows, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && rows[kept - 1].until == rows[i].until) {
            rows[kept - 1].gap.end_ns = rows[i].gap.end_ns;
            rows[kept - 1].ns += rows[i].ns;
        } else {
            rows[kept++] = rows[i];
        }
    }
    return kept;
}

/* Those of a loop that it has been through: its set-up compiles each operation once. Returns how many are left. */
static size_t keep_recurring(const struct gmt_timeline *tl, struct piece *rows, size_t n)
{
    size_t kept = 0;

    n = join_loads(rows, n);
    if (n < GMT_HOST_WAITS_MIN) {
        return 0; /* launches are not looked at for each place of the set-up */
    }
    for (size_t i = 0; i < n; i++) {
        int64_t to_ns = i + 1 < n ? rows[i + 1].gap.begin_ns : INT64_MAX;

        if (gmt_load_recurs(tl, rows[i].gap.begin_ns, to_ns)) {
            rows[kept++] = rows[i];
        }
    }
    return kept;
}

static void add_up(const struct wait_search *search, const struct piece *rows, size_t n,
                   double median_ns, struct gmt_host_wait *wait)
{
    double launched_ns = gmt_host_bare_period_ns(search->analysis->model);

    wait->span_ns = (double)(rows[n - 1].gap.end_ns - rows[0].gap.begin_ns);
    for (size_t i = 0; i < n; i++) {
        /* What happened once, as reading a file, happens here once. */
        double ns = fmin(rows[i].ns, GMT_HOST_WAIT_MOST * median_ns);
        double after_ns = i + 1 < n ? (double)(rows[i + 1].gap.begin_ns - rows[i].gap.end_ns) : 0;

        wait->idle_ns += rows[i].ns;
        wait->high_ns += ns;
        wait->best_ns += fmax(0, ns - launched_ns);
        wait->low_ns += wait->is_load ? fmax(0, ns - launched_ns) / 2
                                      : fmin(fmax(0, ns - launched_ns), after_ns);
    }
}

static int look_at(struct wait_search *search, struct piece *rows, size_t n,
                   void (*found)(struct gmt_analysis *analysis, const struct gmt_host_wait *wait))
{
    const struct gmt_timeline *tl = search->analysis->timeline;
    struct gmt_host_wait wait = {.is_load = n > 0 && rows[0].load_stack >= 0};

    n = wait.is_load ? keep_recurring(tl, rows, n) : keep_steps(tl, rows, n);
    if (n < GMT_HOST_WAITS_MIN) {
        return 0;
    }
    double *lengths = calloc(n, sizeof(*lengths));
    struct gmt_interval *gaps = calloc(n, sizeof(*gaps));
    int rc = lengths != NULL && gaps != NULL ? 0 : -ENOMEM;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        lengths[i] = rows[i].ns;
        gaps[i] = rows[i].gap;
    }
    if (rc == 0) {
        qsort(lengths, n, sizeof(*lengths), compare_ns);
        add_up(search, rows, n, lengths[n / 2], &wait);
        wait.gaps = gaps;
        wait.count = n;
    }
    /* Of all but what happened once. */
    if (rc == 0 &&
        wait.high_ns >= GMT_HOST_IDLE_SHARE * (wait.span_ns - wait.idle_ns + wait.high_ns)) {
        wait.after = where_of(search, &rows[n / 2], 0);
        wait.before = where_of(search, &rows[n / 2], 1);
        wait.call = &search->calls->rows[rows[n / 2].until];
        found(search->analysis, &wait);
    }
    free(lengths);
    free(gaps);
    return rc;
}

int gmt_host_waits_find(struct gmt_analysis *analysis, const struct gmt_host_loops *loops,
                        void (*found)(struct gmt_analysis *analysis,
                                      const struct gmt_host_wait *wait))
{
    struct gmt_host_basis *basis = analysis->host_basis;
    struct wait_search search = {.analysis = analysis, .calls = &basis->calls};
    /* What lies outside of a range is not there, and would be taken for the host's code. */
    bool limited = analysis->timeline->unseen != NULL && analysis->timeline->unseen->limited;
    int rc = limited ? 0 : gmt_host_basis_end(basis);

    if (rc == 0 && !limited) {
        rc = gmt_stack_frames_load(&search.frames, analysis->timeline);
        search.places = (struct gmt_idle_places){.calls = &basis->calls, .frames = &search.frames};
    }
    if (rc == 0 && !limited) {
        rc = load_counted(&search, loops);
    }
    if (rc == 0 && !limited) {
        rc = find_pieces(&search, basis);
    }
    if (rc == 0) {
        name_pieces(&search);
    }
    for (size_t i = 0, n; rc == 0 && i < search.count; i += n) {
        for (n = 1;
             i + n < search.count && compare_names(&search.rows[i + n], &search.rows[i]) == 0;
             n++) {
        }
        rc = look_at(&search, &search.rows[i], n, found);
    }
    free(search.rows);
    free(search.counted);
    gmt_idle_places_free(&search.places);
    gmt_stack_frames_free(&search.frames);
    return rc;
}
