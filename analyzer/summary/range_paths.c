/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the paths of ranges: their nesting, how often and how long they were open, and which were open at a moment. */
#include "analyzer/summary/range_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/intervals.h"
#include "analyzer/base/thresholds.h"

/* Slots for all paths that there can be, and those of others: at most half of them are in use. */
enum { SLOTS = 4 * GMT_RANGE_PATHS_MOST };
/* Groups of the paths that have no name of a range. */
enum { OTHERS = -1 };
/* Ranges that overlap and lie in none another: so many are looked at, from the latest one on. */
enum { CROSSING_MOST = 256 };

/* ---- paths -------------------------------------------------------------------------------------- */

static size_t slot_of(const struct gmt_range_paths *paths, int32_t parent, int32_t group,
                      bool of_process)
{
    uint64_t key = ((uint64_t)(uint32_t)parent << 32 | (uint32_t)group) * 2 + of_process;
    size_t slot = (size_t)((key * 0x9e3779b97f4a7c15u) >> 32) % SLOTS;

    for (; paths->slots[slot] != 0; slot = (slot + 1) % SLOTS) {
        const struct gmt_range_path *row = &paths->rows[paths->slots[slot] - 1];

        if (row->sums.parent == parent && row->group == group &&
            row->sums.of_process == of_process) {
            break;
        }
    }
    return slot;
}

/* Index of a new path, or -ENOMEM. */
static int32_t add_path(struct gmt_range_paths *paths, size_t slot,
                        const struct gmt_range_path *row)
{
    if (paths->count == paths->room) {
        size_t room = paths->room > 0 ? 2 * paths->room : 64;
        struct gmt_range_path *rows = realloc(paths->rows, room * sizeof(*rows));

        if (rows == NULL) {
            return -ENOMEM;
        }
        paths->rows = rows;
        paths->room = room;
    }
    paths->rows[paths->count] = *row;
    paths->slots[slot] = (int32_t)++paths->count;
    return (int32_t)paths->count - 1;
}

/* Of the paths that these are a part of: the one of a group inside of another; -1: there is none, or it is not taken. */
static int32_t find_wider(const struct gmt_range_paths *paths, int32_t parent, int32_t group,
                          bool of_process)
{
    int32_t around = parent >= 0 ? paths->rows[parent].wider : -1;
    int32_t found = paths->wider->slots[slot_of(paths->wider, around, group, of_process)] - 1;

    return found >= 0 && paths->taken[found] ? found : -1;
}

/* The path of a group inside of another path: of others where there would be too many, or it would be too deep. -ENOMEM. */
static int32_t path_within(struct gmt_range_paths *paths, int32_t parent, int32_t group,
                           bool of_process)
{
    if (parent >= 0 && paths->rows[parent].sums.others) {
        return parent;
    }
    int32_t depth = parent >= 0 ? paths->rows[parent].sums.depth + 1 : 0;
    int32_t wider = paths->wider != NULL ? find_wider(paths, parent, group, of_process) : -1;

    group = paths->wider != NULL && wider < 0 ? OTHERS : group;
    wider = group == OTHERS ? -1 : wider;
    size_t slot = slot_of(paths, parent, group, of_process);

    if (paths->slots[slot] == 0 &&
        (depth >= GMT_RANGE_DEPTH_MOST || paths->count >= GMT_RANGE_PATHS_MOST)) {
        group = OTHERS;
        wider = -1;
        slot = slot_of(paths, parent, group, of_process);
    }
    if (paths->slots[slot] != 0) {
        return paths->slots[slot] - 1;
    }
    struct gmt_range_path row = {
        .group = group,
        .wider = wider,
        .thread = -1,
        .sums = {
            .parent = parent, .depth = depth, .of_process = of_process, .others = group == OTHERS}};

    return add_path(paths, slot, &row);
}

/* ---- ranges ------------------------------------------------------------------------------------- */

/* The latest range that was open when this one began, and when it ends. */
static int32_t container_of(const struct gmt_named_ranges *all, size_t range)
{
    int32_t at = all->ranges[range].parent;

    for (int looked = 0; at >= 0 && all->ranges[at].end_ns < all->ranges[range].end_ns; looked++) {
        at = looked < CROSSING_MOST ? all->ranges[at].parent : -1;
    }
    return at;
}

/* How much of a range reaches beyond what there was so far; moves that on. */
static int64_t beyond(const struct gmt_named_range *range, int64_t *until_ns, int64_t *from_ns)
{
    *from_ns = range->begin_ns > *until_ns ? range->begin_ns : *until_ns;
    if (range->end_ns <= *from_ns) {
        return 0;
    }
    *until_ns = range->end_ns;
    return range->end_ns - *from_ns;
}

/* Of the time from the first call to the end. */
static double idle_within(const struct gmt_range_paths *paths, int64_t begin_ns, int64_t end_ns)
{
    const struct gmt_timeline *tl = paths->timeline;

    begin_ns = begin_ns > tl->start_ns ? begin_ns : tl->start_ns;
    end_ns = end_ns < tl->end_ns ? end_ns : tl->end_ns;
    return begin_ns < end_ns
               ? (double)(end_ns - begin_ns) - gmt_cover_within(paths->busy, begin_ns, end_ns)
               : 0;
}

static void add_range(struct gmt_range_paths *paths, size_t i, int32_t container)
{
    const struct gmt_named_range *range = &paths->all->ranges[i];
    struct gmt_range_path *row = &paths->rows[paths->path_of[i]];
    struct gmt_range_node *sums = &row->sums;
    double ns = (double)(range->end_ns - range->begin_ns);
    int64_t from_ns;

    if (sums->count++ == 0 || row->thread != range->thread) {
        sums->threads += !sums->of_process;
        row->thread = range->thread;
        row->until_ns = INT64_MIN;
    }
    if (beyond(range, &row->until_ns, &from_ns) > 0 && paths->busy != NULL) {
        sums->idle_ns += idle_within(paths, from_ns, range->end_ns);
    }
    if (container >= 0 && paths->path_of[container] == paths->path_of[i]) {
        return; /* one of others inside of another */
    }
    sums->host_ns += ns;
    sums->host_self_ns += ns;
    if (container >= 0) {
        struct gmt_range_node *around = &paths->rows[paths->path_of[container]].sums;

        around->host_self_ns -= (double)beyond(range, &paths->inside_until_ns[container], &from_ns);
    }
}

static int add_ranges(struct gmt_range_paths *paths)
{
    const struct gmt_named_ranges *all = paths->all;

    for (size_t i = 0; i < all->count; i++) {
        const struct gmt_named_range *range = &all->ranges[i];
        int32_t container = container_of(all, i);
        int32_t parent = container >= 0 ? paths->path_of[container] : -1;
        int32_t path = path_within(paths, parent, range->group, range->thread == -1);

        if (path < 0) {
            return path;
        }
        paths->path_of[i] = path;
        paths->inside_until_ns[i] = INT64_MIN;
        paths->up[i] = path == parent ? paths->up[container] : container;
        paths->crossing[i] = range->parent != container ? range->parent
                             : container >= 0           ? paths->crossing[container]
                                                        : -1;
        add_range(paths, i, container);
    }
    return 0;
}

/* When a device worked, may have worked, or the program waited for gmtrace: the rest is idle time, as in the time parts. */
static int find_busy(const struct gmt_timeline *tl, struct gmt_cover *busy)
{
    size_t count = tl->maybe_busy_count + tl->own_count + 1;

    busy->parts = malloc(count * sizeof(*busy->parts));
    busy->before = malloc(count * sizeof(*busy->before));
    if (busy->parts == NULL || busy->before == NULL) {
        return -ENOMEM;
    }
    if (tl->maybe_busy_count > 0) {
        memcpy(busy->parts, tl->maybe_busy, tl->maybe_busy_count * sizeof(*busy->parts));
    }
    if (tl->own_count > 0) {
        memcpy(busy->parts + tl->maybe_busy_count, tl->own, tl->own_count * sizeof(*busy->parts));
    }
    busy->n = gmt_intervals_merge(busy->parts, count - 1);
    for (size_t i = 0; i < busy->n; i++) {
        const struct gmt_interval *last = i > 0 ? &busy->parts[i - 1] : NULL;

        busy->before[i] = last != NULL
                              ? busy->before[i - 1] + (double)(last->end_ns - last->begin_ns)
                              : 0;
    }
    return 0;
}

/* `paths` are new ones, with what they are made of. */
static int make_paths(struct gmt_range_paths *paths)
{
    const struct gmt_named_ranges *all = paths->all;
    const struct gmt_timeline *tl = paths->timeline;
    struct gmt_cover busy = {0};

    paths->busy = paths->knows_idle ? &busy : NULL;
    paths->path_of = malloc(all->count * sizeof(*paths->path_of));
    paths->up = malloc(all->count * sizeof(*paths->up));
    paths->crossing = malloc(all->count * sizeof(*paths->crossing));
    paths->inside_until_ns = malloc(all->count * sizeof(*paths->inside_until_ns));
    paths->slots = calloc(SLOTS, sizeof(*paths->slots));
    int rc = paths->path_of != NULL && paths->up != NULL && paths->crossing != NULL &&
                     paths->inside_until_ns != NULL && paths->slots != NULL
                 ? 0
                 : -ENOMEM;
    if (rc == 0 && paths->knows_idle) {
        rc = find_busy(tl, &busy);
    }
    if (rc == 0) {
        rc = add_ranges(paths);
    }
    gmt_cover_free(&busy);
    paths->busy = NULL;
    for (size_t i = 0; i < paths->count; i++) {
        struct gmt_range_node *sums = &paths->rows[i].sums;

        sums->host_ns = tl->simulated ? NAN : sums->host_ns;
        sums->host_self_ns = tl->simulated ? NAN : sums->host_self_ns;
        sums->idle_ns = paths->knows_idle ? sums->idle_ns : NAN;
    }
    paths->visited = malloc((paths->count + 1) * sizeof(*paths->visited));
    return rc == 0 && paths->visited == NULL ? -ENOMEM : rc;
}

int gmt_range_paths_make(struct gmt_range_paths *paths, const struct gmt_named_ranges *all,
                         const struct gmt_timeline *tl, bool knows_idle)
{
    *paths = (struct gmt_range_paths){.all = all, .timeline = tl, .knows_idle = knows_idle};
    return make_paths(paths);
}

int gmt_range_paths_narrow(struct gmt_range_paths *paths, const bool *taken)
{
    struct gmt_range_paths wider = *paths;

    *paths = (struct gmt_range_paths){.all = wider.all,
                                      .timeline = wider.timeline,
                                      .knows_idle = wider.knows_idle,
                                      .wider = &wider,
                                      .taken = taken};
    int rc = make_paths(paths);
    paths->wider = NULL;
    paths->taken = NULL;
    gmt_range_paths_free(&wider);
    return rc;
}

void gmt_range_paths_free(struct gmt_range_paths *paths)
{
    free(paths->rows);
    free(paths->path_of);
    free(paths->up);
    free(paths->crossing);
    free(paths->inside_until_ns);
    free(paths->slots);
    free(paths->visited);
    *paths = (struct gmt_range_paths){.all = NULL};
}

/* ---- moments ------------------------------------------------------------------------------------ */

/* Adds the paths of the range and of those around it, up to one that is there already. */
static size_t visit_range(struct gmt_range_paths *paths, int32_t range, size_t n)
{
    for (; range >= 0 && paths->rows[paths->path_of[range]].visit != paths->visit;
         range = paths->up[range]) {
        paths->rows[paths->path_of[range]].visit = paths->visit;
        paths->visited[n++] = (struct gmt_range_visit){paths->path_of[range], range};
    }
    return n;
}

size_t gmt_range_paths_visit(struct gmt_range_paths *paths, int64_t thread, int64_t at_ns)
{
    const struct gmt_named_ranges *all = paths->all;
    const int64_t where[] = {thread, -1};
    size_t n = 0;

    paths->visit++;
    for (size_t i = thread == -1 ? 1 : 0; i < 2; i++) {
        int32_t range = gmt_named_ranges_open(all, where[i], at_ns);

        for (int looked = 0; range >= 0 && looked < CROSSING_MOST; looked++) {
            bool is_open = all->ranges[range].end_ns >= at_ns;

            n = is_open ? visit_range(paths, range, n) : n;
            range = is_open ? paths->crossing[range] : all->ranges[range].parent;
        }
    }
    return n;
}
