/* SPDX-License-Identifier: Apache-2.0 */
/* Why a device was idle: each idle interval, cut where its cause changes (idle_causes.h). */
#include "analyzer/summary/idle_causes.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/thresholds.h"

/* ---- calls, as they are looked up -------------------------------------------------------------- */

static bool holds(enum gmt_time_part part)
{
    return part == GMT_TIME_ALLOCATION || part == GMT_TIME_PAGE_LOCKING || part == GMT_TIME_LOADING;
}

static bool lasts(const struct gmt_host_calls *calls, size_t call)
{
    return calls->rows[call].end_ns > calls->rows[call].begin_ns;
}

/* What begins before the one before it ended counts from there on; where nothing is left of it, it is not in the list. */
static void put(const struct gmt_host_calls *calls, uint32_t *list, size_t first, size_t *count,
                size_t call)
{
    if (*count == first || calls->rows[list[*count - 1]].end_ns < calls->rows[call].end_ns) {
        list[(*count)++] = (uint32_t)call;
    }
}

static struct gmt_interval span_of(const struct gmt_host_calls *calls, const uint32_t *list,
                                   size_t i)
{
    struct gmt_interval span = {calls->rows[list[i]].begin_ns, calls->rows[list[i]].end_ns};

    if (i > 0 && calls->rows[list[i - 1]].end_ns > span.begin_ns) {
        span.begin_ns = calls->rows[list[i - 1]].end_ns;
    }
    return span;
}

static void put_threads(struct gmt_idle_calls *made, int64_t (*order)[2])
{
    const struct gmt_host_calls *calls = made->calls;
    size_t count = 0, first = 0;

    for (size_t i = 0; i < calls->count; i++) {
        if (i == 0 || order[i][0] != order[i - 1][0]) {
            first = count;
            made->threads[made->thread_count][0] = order[i][0];
            made->threads[made->thread_count++][1] = (int64_t)first;
        }
        if (lasts(calls, (size_t)order[i][1])) {
            put(calls, made->by_thread, first, &count, (size_t)order[i][1]);
        }
    }
    made->threads[made->thread_count][1] = (int64_t)count;
}

int gmt_idle_calls_make(struct gmt_idle_calls *made, const struct gmt_host_calls *calls)
{
    size_t room = calls->count + 1;
    size_t threads = 1;
    int64_t(*order)[2] = calls->count < UINT32_MAX ? malloc(room * sizeof(*order)) : NULL;

    *made = (struct gmt_idle_calls){.calls = calls};
    made->holding = malloc(room * sizeof(*made->holding));
    made->moving = malloc(room * sizeof(*made->moving));
    made->by_thread = malloc(room * sizeof(*made->by_thread));
    if (order == NULL || made->holding == NULL || made->moving == NULL || made->by_thread == NULL) {
        free(order);
        return -ENOMEM;
    }
    for (size_t i = 0; i < calls->count; i++) {
        enum gmt_time_part part = calls->rows[i].part;

        order[i][0] = calls->rows[i].thread;
        order[i][1] = (int64_t)i;
        if (!lasts(calls, i)) {
            continue;
        }
        if (holds(part)) {
            put(calls, made->holding, 0, &made->holding_count, i);
        } else if (part != GMT_TIME_SYNC) {
            put(calls, made->moving, 0, &made->moving_count, i);
        }
    }
    gmt_sort_pairs(order, calls->count);
    for (size_t i = 1; i < calls->count; i++) {
        threads += order[i][0] != order[i - 1][0];
    }
    made->threads = malloc((threads + 1) * sizeof(*made->threads));
    if (made->threads != NULL) {
        put_threads(made, order);
    }
    free(order);
    return made->threads != NULL ? 0 : -ENOMEM;
}

void gmt_idle_calls_free(struct gmt_idle_calls *made)
{
    free(made->holding);
    free(made->moving);
    free(made->by_thread);
    free(made->threads);
    *made = (struct gmt_idle_calls){.calls = NULL};
}

enum { CLOSE = 64 }; /* operations */

/* ---- one interval ------------------------------------------------------------------------------ */

struct idle_search {
    const struct gmt_idle_calls *calls;
    const struct gmt_idle_ops *ops;
    const struct gmt_idle_op *ending; /* the operation that ends the interval; NULL: none does */
    const uint32_t *own;              /* calls of the thread that the device waits for */
    size_t own_count;
    int64_t idle_ns; /* since when the device is idle */
    bool starts;     /* the device has done nothing so far */
    int (*take)(void *user, const struct gmt_idle_cause *cause);
    void *user;
    int rc;
};

static void take(struct idle_search *search, int64_t begin_ns, int64_t end_ns,
                 enum gmt_time_part part, size_t call, size_t until)
{
    struct gmt_idle_cause cause = {begin_ns, end_ns, part, call, until};
    bool of_host = part == GMT_TIME_HOST || part == GMT_TIME_OTHER_CALLS;
    /* No device works any more: one of several may have had its last work long before. */
    int64_t shutdown_ns = search->ops->until_ns;
    bool is_last = search->ending == NULL && !search->starts && end_ns > shutdown_ns;

    if (of_host && is_last && begin_ns < shutdown_ns) {
        take(search, begin_ns, shutdown_ns, part, call, until);
        take(search, shutdown_ns, end_ns, part, call, until);
        return;
    }
    if (of_host && (search->starts || is_last)) {
        cause.part = search->starts ? GMT_TIME_START_UP : GMT_TIME_SHUTDOWN;
        cause.until = part == GMT_TIME_OTHER_CALLS ? call : until;
    }
    if (search->rc == 0 && end_ns > begin_ns) {
        search->rc = search->take(search->user, &cause);
    }
}

/* The first of a list that ends after a time. */
static size_t first_after(const struct idle_search *search, const uint32_t *list, size_t n,
                          int64_t at_ns)
{
    const struct gmt_host_call *rows = search->calls->calls->rows;
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (rows[list[middle]].end_ns <= at_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static size_t own_after(const struct idle_search *search, int64_t at_ns)
{
    return first_after(search, search->own, search->own_count, at_ns);
}

/* Takes what lies in these calls; hands the rest on. */
static void cut(struct idle_search *search, const uint32_t *list, size_t n, int64_t begin_ns,
                int64_t end_ns,
                void (*rest)(struct idle_search *search, int64_t begin_ns, int64_t end_ns))
{
    const struct gmt_host_calls *calls = search->calls->calls;
    int64_t at_ns = begin_ns;

    for (size_t i = first_after(search, list, n, begin_ns); i < n; i++) {
        struct gmt_interval span = span_of(calls, list, i);
        int64_t to_ns = span.end_ns < end_ns ? span.end_ns : end_ns;

        if (span.begin_ns >= end_ns) {
            break;
        }
        if (span.begin_ns > at_ns) {
            rest(search, at_ns, span.begin_ns);
            at_ns = span.begin_ns;
        }
        take(search, at_ns, to_ns, calls->rows[list[i]].part, list[i], SIZE_MAX);
        at_ns = to_ns;
    }
    if (end_ns > at_ns) {
        rest(search, at_ns, end_ns);
    }
}

static void take_host(struct idle_search *search, int64_t begin_ns, int64_t end_ns)
{
    size_t after = own_after(search, begin_ns);

    take(search, begin_ns, end_ns, GMT_TIME_HOST, after > 0 ? search->own[after - 1] : SIZE_MAX,
         after < search->own_count ? search->own[after] : SIZE_MAX);
}

static void take_others(struct idle_search *search, int64_t begin_ns, int64_t end_ns)
{
    cut(search, search->calls->moving, search->calls->moving_count, begin_ns, end_ns, take_host);
}

/* Something in the stream waits: an event, a function of the host, another device. */
static void take_queued(struct idle_search *search, int64_t begin_ns, int64_t end_ns)
{
    size_t after = own_after(search, search->ending->call_begin_ns);

    take(search, begin_ns, end_ns, GMT_TIME_SYNC,
         after < search->own_count ? search->own[after] : SIZE_MAX, SIZE_MAX);
}

/* From the call of the ending operation on. */
static void take_launch(struct idle_search *search, int64_t begin_ns, int64_t end_ns)
{
    const struct gmt_idle_op *op = search->ending;
    int64_t called_ns = op->call_end_ns > search->idle_ns ? op->call_end_ns : search->idle_ns;
    int64_t until_ns = called_ns + (int64_t)GMT_LAUNCH_LATENCY_NS;
    size_t at = own_after(search, op->call_begin_ns);

    until_ns = until_ns < end_ns ? until_ns : end_ns;
    take(search, begin_ns, until_ns, op->is_copy ? GMT_TIME_COPY_CALLS : GMT_TIME_LAUNCH_CALLS,
         at < search->own_count ? search->own[at] : SIZE_MAX, SIZE_MAX);
    begin_ns = begin_ns > until_ns ? begin_ns : until_ns;
    if (end_ns > begin_ns) {
        cut(search, search->own, search->own_count, begin_ns, end_ns, take_queued);
    }
}

static void take_calls(struct idle_search *search, int64_t begin_ns, int64_t end_ns)
{
    const struct gmt_idle_op *op = search->ending;
    bool known = op != NULL && op->call_begin_ns != GMT_NO_TIME;
    int64_t called_ns = known && op->call_begin_ns < end_ns ? op->call_begin_ns : end_ns;

    called_ns = called_ns > begin_ns ? called_ns : begin_ns;
    if (called_ns > begin_ns) {
        cut(search, search->own, search->own_count, begin_ns, called_ns, take_others);
    }
    if (end_ns > called_ns) {
        take_launch(search, called_ns, end_ns);
    }
}

/* The first operation that starts at a time or later. */
static size_t next_op(const struct gmt_idle_ops *ops, int64_t at_ns)
{
    size_t low = 0, high = ops->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ops->rows[middle].start_ns < at_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void look_at_thread(struct idle_search *search, int32_t thread)
{
    const struct gmt_idle_calls *calls = search->calls;
    size_t low = 0, high = calls->thread_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (calls->threads[middle][0] < thread) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool known = low < calls->thread_count && calls->threads[low][0] == thread;
    search->own = calls->by_thread + (known ? calls->threads[low][1] : 0);
    search->own_count = known ? (size_t)(calls->threads[low + 1][1] - calls->threads[low][1]) : 0;
}

/* The thread of the next operation; where that is not known, of the one before it of which it is, if that is close. */
static int32_t thread_of(const struct gmt_idle_ops *ops, size_t next)
{
    for (size_t i = next < ops->count ? next + 1 : next; i > 0 && i + CLOSE > next; i--) {
        if (ops->rows[i - 1].thread >= 0) {
            return ops->rows[i - 1].thread;
        }
    }
    return -1;
}

int gmt_idle_causes_find(const struct gmt_idle_calls *calls, const struct gmt_idle_ops *ops,
                         const struct gmt_interval *idle, size_t n,
                         int (*take_piece)(void *user, const struct gmt_idle_cause *cause),
                         void *user)
{
    struct idle_search search = {.calls = calls, .ops = ops, .take = take_piece, .user = user};

    for (size_t i = 0; search.rc == 0 && i < n; i++) {
        size_t next = next_op(ops, idle[i].end_ns);

        search.ending = next < ops->count ? &ops->rows[next] : NULL;
        search.starts = next == 0;
        search.idle_ns = idle[i].begin_ns;
        look_at_thread(&search, thread_of(ops, next));
        cut(&search, calls->holding, calls->holding_count, idle[i].begin_ns, idle[i].end_ns,
            take_calls);
    }
    return search.rc;
}
