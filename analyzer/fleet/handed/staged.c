/* SPDX-License-Identifier: Apache-2.0 */
/* Matches read-backs of ranks with uploads of others by what was copied. */
#include "analyzer/fleet/handed/staged.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fleet/handed/contents.h"

/* A content as one rank had it. */
struct holder {
    const struct gmt_fleet_content *content;
    size_t rank;
    int64_t down_ns, up_ns; /* end of its read-back, begin of its upload, on the clock of all */
    size_t uploads;         /* of other ranks that its read-back is matched with */
};

struct passing {
    struct holder *from; /* in the order of holders, which stays from here on */
    const struct holder *to;
};

struct staged_search {
    struct gmt_fleet_staged *staged;
    const struct gmt_fleet *fleet;
    struct holder *holders;
    size_t holder_count;
    struct holder **readers; /* of one content: those that read it back, by the end of that */
    struct passing *passings;
    size_t passing_count;
};

static bool has(const struct gmt_fleet_copy *copy)
{
    return copy->end_ns != 0;
}

/* It came from its device, and not to it. */
static bool is_original(const struct holder *holder)
{
    const struct gmt_fleet_copy *down = &holder->content->down, *up = &holder->content->up;

    return has(down) && (!has(up) || down->begin_ns <= up->begin_ns);
}

static int compare_holders(const void *a, const void *b)
{
    const struct holder *x = a, *y = b;
    int order = gmt_fleet_compare_contents(x->content, y->content);

    return order != 0 ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static int compare_readers(const void *a, const void *b)
{
    const struct holder *x = *(struct holder *const *)a, *y = *(struct holder *const *)b;

    if (x->down_ns != y->down_ns) {
        return x->down_ns < y->down_ns ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* ---- one content ------------------------------------------------------------------------------ */

/* The last that had read it back when `at` came; NULL: none. */
static struct holder *last_reader(struct holder *const *readers, size_t n, int64_t at)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (readers[middle]->down_ns <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? readers[low - 1] : NULL;
}

static void match_group(struct staged_search *search, struct holder *group, size_t n)
{
    const struct holder *original = NULL;
    size_t originals = 0, readers = 0;

    for (size_t i = 0; i < n; i++) {
        if (is_original(&group[i])) {
            original = &group[i];
            originals++;
        }
        if (has(&group[i].content->down)) {
            search->readers[readers++] = &group[i];
        }
    }
    if (originals == 0 || originals == n) {
        return;
    }
    qsort(search->readers, readers, sizeof(struct holder *), compare_readers);
    for (size_t i = 0; i < n; i++) {
        if (is_original(&group[i])) {
            continue;
        }
        if (originals > 1) {
            search->staged->ambiguous++;
        } else if (original->down_ns > group[i].up_ns) {
            search->staged->early++;
        } else {
            struct holder *from = last_reader(search->readers, readers, group[i].up_ns);

            from->uploads++;
            search->passings[search->passing_count++] = (struct passing){from, &group[i]};
        }
    }
}

static int64_t common_time(const struct gmt_fleet_clock *clock, const struct gmt_fleet_copy *copy,
                           bool end)
{
    return has(copy) ? gmt_fleet_common_time(clock, end ? copy->end_ns : copy->begin_ns) : 0;
}

static int gather(struct staged_search *search, const struct gmt_fleet_clocks *clocks)
{
    const struct gmt_fleet *fleet = search->fleet;
    size_t n = 0;

    for (size_t r = 0; r < fleet->count; r++) {
        n += fleet->ranks[r].content_count;
    }
    search->holders = calloc(n + 1, sizeof(*search->holders));
    search->passings = calloc(n + 1, sizeof(*search->passings));
    search->readers = calloc(n + 1, sizeof(struct holder *));
    if (search->holders == NULL || search->passings == NULL || search->readers == NULL) {
        return -ENOMEM;
    }
    for (size_t r = 0; r < fleet->count; r++) {
        const struct gmt_fleet_rank *rank = &fleet->ranks[r];
        const struct gmt_fleet_clock *clock = &clocks->ranks[r];

        for (size_t i = 0; i < rank->content_count; i++) {
            const struct gmt_fleet_content *content = &rank->contents[i];

            if (!has(&content->down) && !has(&content->up)) {
                continue;
            }
            search->holders[search->holder_count++] = (struct holder){
                .content = content,
                .rank = r,
                .down_ns = common_time(clock, &content->down, true),
                .up_ns = common_time(clock, &content->up, false)};
        }
    }
    qsort(search->holders, search->holder_count, sizeof(*search->holders), compare_holders);
    return 0;
}

static void match(struct staged_search *search)
{
    for (size_t i = 0, end; i < search->holder_count; i = end) {
        end = i + 1;
        while (end < search->holder_count &&
               gmt_fleet_compare_contents(search->holders[i].content,
                                          search->holders[end].content) == 0) {
            end++;
        }
        match_group(search, &search->holders[i], end - i);
    }
}

/* ---- pairs of ranks --------------------------------------------------------------------------- */

static double between(const struct passing *passing)
{
    int64_t ns;

    /* A wall clock in a double is off by 0.2 us. */
    return __builtin_sub_overflow(passing->to->up_ns, passing->from->down_ns, &ns) ? NAN
                                                                                   : (double)ns;
}

/* Places are numbered by each rank. */
static int compare_places(const struct passing *x, const struct passing *y)
{
    const uint64_t a[] = {x->from->rank, x->to->rank, x->from->content->down.place,
                          x->to->content->up.place};
    const uint64_t b[] = {y->from->rank, y->to->rank, y->from->content->down.place,
                          y->to->content->up.place};
    int order = 0;

    for (size_t i = 0; i < sizeof(a) / sizeof(*a) && order == 0; i++) {
        order = (a[i] > b[i]) - (a[i] < b[i]);
    }
    return order;
}

/* Within a pair by time between, for its median. */
static int compare_passings(const void *a, const void *b)
{
    const struct passing *x = a, *y = b;
    int order = compare_places(x, y);
    double p = between(x), q = between(y);

    return order != 0 ? order : (p > q) - (p < q);
}

static int compare_pairs(const void *a, const void *b)
{
    const struct gmt_fleet_staged_pair *x = a, *y = b;

    if (x->bytes != y->bytes) {
        return x->bytes < y->bytes ? 1 : -1;
    }
    if (x->from != y->from) {
        return x->from < y->from ? -1 : 1;
    }
    return (x->to > y->to) - (x->to < y->to);
}

static bool is_one_host(const struct gmt_fleet_rank *a, const struct gmt_fleet_rank *b)
{
    return a->host != NULL && b->host != NULL && strcmp(a->host, b->host) == 0;
}

static int add_pair(struct staged_search *search, const struct passing *group, size_t n,
                    struct gmt_arena *arena)
{
    struct gmt_fleet_staged *staged = search->staged;
    const struct passing *first = &group[0];
    const struct gmt_fleet_rank *from = &search->fleet->ranks[first->from->rank];
    const struct gmt_fleet_rank *to = &search->fleet->ranks[first->to->rank];
    struct gmt_fleet_staged_pair *pair = GMT_PUSH(arena, staged->pairs, staged->pair_count);

    if (pair == NULL) {
        return -ENOMEM;
    }
    *pair = (struct gmt_fleet_staged_pair){
        .from = first->from->rank,
        .to = first->to->rank,
        .down_at = from->places[first->from->content->down.place],
        .up_at = to->places[first->to->content->up.place],
        .count = n,
        .between_ns = (between(&group[(n - 1) / 2]) + between(&group[n / 2])) / 2,
        .is_one_host = is_one_host(from, to),
        .is_modelled = from->copied.is_modelled != 0 || to->copied.is_modelled != 0};
    for (size_t i = 0; i < n; i++) {
        const struct gmt_fleet_content *source = group[i].from->content;
        const struct gmt_fleet_copy *up = &group[i].to->content->up;
        double cost = up->cost_ns + source->down.cost_ns / (double)group[i].from->uploads;
        double saved = cost - up->direct_ns;

        pair->bytes += source->bytes;
        pair->cost_ns += cost;
        pair->saves_ns += saved < 0 ? 0 : saved; /* NAN stays */
    }
    if (!pair->is_one_host) {
        pair->saves_ns = NAN;
    }
    staged->count += n;
    staged->bytes += pair->bytes;
    return 0;
}

static int group_passings(struct staged_search *search, struct gmt_arena *arena)
{
    const struct passing *passings = search->passings;
    int rc = 0;

    qsort(search->passings, search->passing_count, sizeof(*search->passings), compare_passings);
    for (size_t i = 0, end; rc == 0 && i < search->passing_count; i = end) {
        end = i + 1;
        while (end < search->passing_count && compare_places(&passings[i], &passings[end]) == 0) {
            end++;
        }
        if (end - i < GMT_FLEET_STAGED_LEAST) {
            search->staged->few += end - i;
        } else {
            rc = add_pair(search, &passings[i], end - i, arena);
        }
    }
    if (rc == 0 && search->staged->pair_count > 1) {
        qsort(search->staged->pairs, search->staged->pair_count, sizeof(*search->staged->pairs),
              compare_pairs);
    }
    return rc;
}

int gmt_fleet_staged_fill(struct gmt_fleet_staged *staged, const struct gmt_fleet *fleet,
                          const struct gmt_fleet_clocks *clocks, struct gmt_arena *arena)
{
    struct staged_search search = {.staged = staged, .fleet = fleet};

    *staged = (struct gmt_fleet_staged){0};
    for (size_t r = 0; r < fleet->count; r++) {
        staged->copied.copies += fleet->ranks[r].copied.copies;
        staged->copied.unknown += fleet->ranks[r].copied.unknown;
        staged->copied.left_out += fleet->ranks[r].copied.left_out;
    }
    int rc = gather(&search, clocks);
    if (rc == 0) {
        match(&search);
        rc = group_passings(&search, arena);
    }
    free(search.holders);
    free(search.readers);
    free(search.passings);
    return rc;
}
