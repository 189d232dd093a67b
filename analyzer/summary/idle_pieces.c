/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces of time in which a device was idle, with their causes and places: summed up, named, and kept for the page. */
#include "analyzer/summary/idle_pieces.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/intervals.h"

/* Of a cause; of the pieces that a page shows; and of places that are named, of a cause or on a page. */
enum { MOST_PLACES = 5, MOST_PIECES = 100000, MOST_NAMED = 1000 };

int gmt_idle_pieces_take(void *user, const struct gmt_idle_cause *cause)
{
    struct gmt_idle_pieces *pieces = user;
    struct gmt_idle_cause named = *cause;
    size_t place = 0;

    gmt_user_calls_put(pieces->user_calls, &named);
    pieces->part_ns[cause->part] += (double)(cause->end_ns - cause->begin_ns);
    int rc = gmt_idle_places_add(&pieces->places, &named, &place);
    if (rc != 0) {
        return rc;
    }
    if (pieces->count == pieces->room) {
        size_t room = pieces->room > 0 ? 2 * pieces->room : 256;
        struct gmt_idle_piece *rows = realloc(pieces->rows, room * sizeof(*rows));

        if (rows == NULL) {
            return -ENOMEM;
        }
        pieces->rows = rows;
        pieces->room = room;
    }
    pieces->rows[pieces->count++] = (struct gmt_idle_piece){
        cause->begin_ns, cause->end_ns, (uint32_t)place, (uint8_t)cause->part, pieces->device};
    return 0;
}

/* The call of an operation; SIZE_MAX: it is not among them. */
static size_t call_of(const struct gmt_host_calls *calls, const struct gmt_idle_op *op)
{
    size_t low = 0, high = calls->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (calls->rows[middle].begin_ns < op->call_begin_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < calls->count && calls->rows[low].begin_ns == op->call_begin_ns; low++) {
        if (calls->rows[low].thread == op->thread) {
            return low;
        }
    }
    return SIZE_MAX;
}

int gmt_idle_pieces_take_copies(struct gmt_idle_pieces *pieces, const struct gmt_idle_ops *ops,
                                const struct gmt_interval *kernels, size_t n)
{
    int64_t done_ns = INT64_MIN;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ops->count; i++) {
        const struct gmt_idle_op *op = &ops->rows[i];
        struct gmt_interval span = {op->start_ns > done_ns ? op->start_ns : done_ns, op->end_ns};
        size_t place = 0;

        if (!op->is_copy || span.end_ns <= span.begin_ns) {
            continue;
        }
        done_ns = span.end_ns;
        int64_t alone_ns = span.end_ns - span.begin_ns -
                           (int64_t)gmt_intervals_overlap(kernels, n, span);
        if (alone_ns > 0) {
            struct gmt_idle_cause cause = {0, alone_ns, GMT_TIME_COPIES,
                                           call_of(pieces->places.calls, op), SIZE_MAX};

            rc = gmt_idle_places_add(&pieces->places, &cause, &place);
        }
    }
    return rc;
}

struct ranked_place {
    const struct gmt_idle_place *place;
};

static int compare_places(const void *a, const void *b)
{
    const struct gmt_idle_place *x = ((const struct ranked_place *)a)->place,
                                *y = ((const struct ranked_place *)b)->place;

    if (x->time_ns < y->time_ns || x->time_ns > y->time_ns) {
        return x->time_ns < y->time_ns ? 1 : -1;
    }
    if (x->call != y->call) {
        return x->call < y->call ? -1 : 1;
    }
    return (x > y) - (x < y);
}

/* The places, most time first; the caller frees. NULL: no memory. */
static struct ranked_place *ranked(const struct gmt_idle_places *places)
{
    struct ranked_place *rows = calloc(places->count + 1, sizeof(*rows));

    for (size_t i = 0; rows != NULL && i < places->count; i++) {
        rows[i].place = &places->rows[i];
    }
    if (rows != NULL && places->count > 1) {
        qsort(rows, places->count, sizeof(*rows), compare_places);
    }
    return rows;
}

static int compare_texts(const char *a, const char *b)
{
    return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

/* What is called the same is one place, whatever calls and functions it is known by. */
static int compare_lines(const struct gmt_call_place *a, const struct gmt_call_place *b)
{
    int order = compare_texts(a->where.label, b->where.label);

    order = order != 0 ? order : compare_texts(a->until, b->until);
    return order != 0 ? order : compare_texts(a->where.file, b->where.file);
}

static int compare_times(const void *a, const void *b)
{
    const struct gmt_call_place *x = a, *y = b;
    int order;

    if (x->time_ns < y->time_ns || x->time_ns > y->time_ns) {
        return x->time_ns < y->time_ns ? 1 : -1;
    }
    order = compare_lines(x, y);
    return order != 0 ? order : compare_texts(x->inner, y->inner);
}

/* Of one name the one with most time first. */
static int compare_names(const void *a, const void *b)
{
    const struct gmt_call_place *x = a, *y = b;
    int order = compare_lines(x, y);

    order = order != 0 ? order : compare_texts(x->inner, y->inner);
    return order != 0 ? order : compare_times(a, b);
}

/* Makes one place of those of one name. Returns how many are left. */
static size_t merge_names(struct gmt_call_place *names, size_t n)
{
    size_t kept = 0;

    if (n > 1) {
        qsort(names, n, sizeof(*names), compare_names);
    }
    for (size_t i = 0; i < n; i++) {
        struct gmt_call_place *last = kept > 0 ? &names[kept - 1] : NULL;

        if (last == NULL || compare_lines(last, &names[i]) != 0 ||
            compare_texts(last->inner, names[i].inner) != 0) {
            names[kept++] = names[i];
            continue;
        }
        last->count += names[i].count;
        last->time_ns += names[i].time_ns;
        last->longest_ns = fmax(last->longest_ns, names[i].longest_ns);
    }
    return kept;
}

/* A line that has more than half of the time says little: it is divided by what of a library it was in. Others are not. */
static void name_lines(struct gmt_call_place *names, size_t n, double all_ns)
{
    for (size_t i = 0, end; i < n; i = end) {
        double ns = 0;

        for (end = i; end < n && compare_lines(&names[i], &names[end]) == 0; end++) {
            ns += names[end].time_ns;
        }
        for (size_t k = i; k < end && ns <= all_ns / 2; k++) {
            names[k].inner = NULL;
        }
    }
}

/* The places of a cause, most time first, of which those that took most are named: room for MOST_NAMED. */
static void name_part(struct gmt_analysis *analysis, const struct gmt_idle_places *places,
                      const struct ranked_place *rows, enum gmt_time_part part,
                      struct gmt_call_place *names)
{
    struct gmt_time_row *row = &analysis->report->time_parts[part];
    double all_ns = 0;
    size_t n = 0;

    for (size_t i = 0; i < places->count; i++) {
        const struct gmt_idle_place *place = rows[i].place;

        if (place->part != part) {
            continue;
        }
        row->times = (isnan(row->times) ? 0 : row->times) + place->count;
        row->longest_ns = fmax(row->longest_ns, place->longest_ns);
        all_ns += place->time_ns;
        if (n < MOST_NAMED) {
            names[n++] = gmt_idle_place_name(analysis, places, place);
        } else {
            row->more_places++;
            row->more_ns += place->time_ns;
        }
    }
    n = merge_names(names, n);
    name_lines(names, n, all_ns);
    n = merge_names(names, n);
    if (n > 1) {
        qsort(names, n, sizeof(*names), compare_times);
    }
    for (size_t i = 0; i < n; i++) {
        struct gmt_call_place *place = row->place_count < MOST_PLACES
                                           ? GMT_PUSH(analysis->report->arena, row->places,
                                                      row->place_count)
                                           : NULL;

        if (place != NULL) {
            *place = names[i];
            continue;
        }
        row->more_places++;
        row->more_ns += names[i].time_ns;
    }
}

int gmt_idle_pieces_name(struct gmt_analysis *analysis, const struct gmt_idle_pieces *pieces)
{
    const struct gmt_idle_places *places = &pieces->places;
    struct gmt_report *report = analysis->report;
    struct gmt_call_place *names = calloc(MOST_NAMED, sizeof(*names));
    struct ranked_place *rows = ranked(places);
    int rc = rows != NULL && names != NULL ? 0 : -ENOMEM;

    for (size_t i = GMT_TIME_ALLOCATION; rc == 0 && i <= GMT_TIME_HOST; i++) {
        report->time_parts[i].times = report->time_parts[i].longest_ns = 0;
    }
    for (int i = 0; rc == 0 && i < GMT_TIME_PARTS; i++) {
        name_part(analysis, places, rows, (enum gmt_time_part)i, names);
    }
    free(rows);
    free(names);
    return rc;
}

/* Lengths from which on there are no more pieces than a page can have: a power of two. */
static int64_t shortest_shown(const struct gmt_idle_pieces *pieces)
{
    size_t counts[64] = {0}, n = 0;
    int bit = 63;

    for (size_t i = 0; i < pieces->count; i++) {
        uint64_t ns = (uint64_t)(pieces->rows[i].end_ns - pieces->rows[i].begin_ns);

        counts[63 - __builtin_clzll(ns | 1)]++;
    }
    while (bit > 0 && n + counts[bit] <= MOST_PIECES) {
        n += counts[bit--];
    }
    bool some = bit > 0 || n + counts[0] > MOST_PIECES;

    return some && bit < 62 ? INT64_C(2) << bit : some ? INT64_MAX : 0;
}

/* Of very many places those are named that took most time. */
int gmt_idle_pieces_keep(struct gmt_analysis *analysis, const struct gmt_idle_pieces *pieces)
{
    struct gmt_report *report = analysis->report;
    const struct gmt_idle_places *places = &pieces->places;
    struct ranked_place *rows = ranked(places);
    uint32_t *named = calloc(places->count + 1, sizeof(*named));
    int64_t least_ns = pieces->count > MOST_PIECES ? shortest_shown(pieces) : 0;
    int rc = rows != NULL && named != NULL ? 0 : -ENOMEM;

    for (size_t i = 0; rc == 0 && i < places->count; i++) {
        if (i < MOST_NAMED) {
            struct gmt_call_place *place = GMT_PUSH(report->arena, report->idle_places,
                                                    report->idle_place_count);

            rc = place != NULL ? 0 : -ENOMEM;
            if (rc == 0 && i + 1 < MOST_NAMED) {
                *place = gmt_idle_place_name(analysis, places, rows[i].place);
            } else if (rc == 0) {
                *place = (struct gmt_call_place){.where = {.label = "other places"}};
            }
        }
        named[rows[i].place - places->rows] = (uint32_t)(i < MOST_NAMED ? i : MOST_NAMED - 1);
    }
    for (size_t i = 0; rc == 0 && i < pieces->count; i++) {
        struct gmt_idle_piece piece = pieces->rows[i];
        struct gmt_idle_piece *slot = piece.end_ns - piece.begin_ns >= least_ns
                                          ? GMT_PUSH(report->arena, report->idle,
                                                     report->idle_count)
                                          : NULL;

        piece.place = named[piece.place];
        if (slot != NULL) {
            *slot = piece;
        }
    }
    free(rows);
    free(named);
    return rc;
}

void gmt_idle_pieces_free(struct gmt_idle_pieces *pieces)
{
    gmt_idle_places_free(&pieces->places);
    free(pieces->rows);
    pieces->rows = NULL;
    pieces->count = pieces->room = 0;
}
