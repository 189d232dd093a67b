/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of a rank's copies: the first read-back and the first upload of each. */
#include "analyzer/fleet/handed/contents.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/memory/content.h"
#include "analyzer/memory/content_events.h"
#include "analyzer/price/price.h"
#include "analyzer/trace/cover.h"
#include "analyzer/trace/query.h"

struct copied {
    struct gmt_fleet_content key; /* without its copies */
    size_t copy;                  /* index into the timeline's */
};

struct contents_read {
    struct gmt_fleet_rank *rank;
    struct gmt_analysis *analysis;
    struct gmt_arena *arena;
    struct gmt_cover kernels;
    struct gmt_copy_content *prints; /* of all copies: only these are filled in */
    struct copied *copied;           /* those that have one */
    size_t copied_count;
    int64_t to_wall_clock_ns;
};

static int compare_words(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

int gmt_fleet_compare_contents(const struct gmt_fleet_content *a, const struct gmt_fleet_content *b)
{
    const uint64_t x[] = {a->print[0], a->print[1], a->hashed, a->bytes};
    const uint64_t y[] = {b->print[0], b->print[1], b->hashed, b->bytes};
    int order = 0;

    for (size_t i = 0; i < sizeof(x) / sizeof(*x) && order == 0; i++) {
        order = compare_words(&x[i], &y[i]);
    }
    return order;
}

/* Copies of a timeline are in the order of time. */
static int compare_copied(const void *a, const void *b)
{
    const struct copied *x = a, *y = b;
    int order = gmt_fleet_compare_contents(&x->key, &y->key);

    return order != 0 ? order : (x->copy > y->copy) - (x->copy < y->copy);
}

/* ---- from the trace --------------------------------------------------------------------------- */

/* Bytes. Shorter ones, such as counters and lengths, are equal by chance on many ranks. */
#define LEAST_BYTES 256

static bool is_between(const struct gmt_tl_copy *copy)
{
    return copy->bytes >= LEAST_BYTES &&
           (copy->direction == GMT_DIR_D2H || copy->direction == GMT_DIR_H2D);
}

static bool is_known(const struct gmt_tl_copy *copy, const struct gmt_print *print)
{
    return print->whole >= 0 && copy->bytes > 0 && copy->linear &&
           copy->call.end_ns != GMT_NO_TIME && copy->call.begin_ns != GMT_NO_TIME;
}

static int load_prints(struct contents_read *reading)
{
    const struct gmt_timeline *tl = reading->analysis->timeline;
    struct gmt_fleet_copied *sums = &reading->rank->copied;

    reading->prints = calloc(tl->copy_count + 1, sizeof(*reading->prints));
    reading->copied = calloc(tl->copy_count + 1, sizeof(*reading->copied));
    if (reading->prints == NULL || reading->copied == NULL) {
        return -ENOMEM;
    }
    sums->is_modelled = tl->modelled;
    for (size_t i = 0; i < tl->copy_count; i++) {
        reading->prints[i].print.whole = -1;
    }
    int rc = gmt_content_prints(tl, reading->prints);
    for (size_t i = 0; rc == 0 && i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];
        const struct gmt_print *print = &reading->prints[i].print;

        if (!is_between(copy)) {
            continue;
        }
        sums->copies++;
        if (!is_known(copy, print)) {
            sums->unknown++;
            continue;
        }
        reading->copied[reading->copied_count++] = (struct copied){
            .key = {.print = {print->high, print->low},
                    .hashed = (uint64_t)print->bytes_hashed * 2 + (print->whole != 0),
                    .bytes = (uint64_t)copy->bytes},
            .copy = i};
    }
    qsort(reading->copied, reading->copied_count, sizeof(*reading->copied), compare_copied);
    return rc;
}

static int read_wall_clock(struct contents_read *reading, bool *known)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, reading->analysis->timeline->db,
                            "SELECT realtime_ns, start_ns FROM process ORDER BY id LIMIT 1");

    *known = false;
    if (rc == 0 && gmt_query_next(&query)) {
        int64_t wall = gmt_query_known(&query, 0), start = gmt_query_time(&query, 1);

        *known = wall != GMT_UNKNOWN &&
                 !__builtin_sub_overflow(wall, start, &reading->to_wall_clock_ns);
    }
    return gmt_query_close(&query, rc);
}

/* ---- one copy --------------------------------------------------------------------------------- */

static uint64_t place_of(struct contents_read *reading, const char *label)
{
    struct gmt_fleet_rank *rank = reading->rank;
    size_t at = 0;

    while (at < rank->place_count && strcmp(rank->places[at], label) != 0) {
        at++;
    }
    if (at == rank->place_count) {
        const char **place = GMT_PUSH(reading->arena, rank->places, rank->place_count);

        if (place != NULL) {
            *place = gmt_arena_copy(reading->arena, label);
        }
    }
    return at;
}

static double cost_of(const struct contents_read *reading, const struct gmt_tl_copy *copy)
{
    const struct gmt_timeline *tl = reading->analysis->timeline;
    double cost = gmt_copy_cost_ns(tl, copy);

    if (isnan(cost)) {
        return NAN;
    }
    struct gmt_interval interval = gmt_copy_interval(tl, copy);
    return cost - gmt_cover_within(&reading->kernels, interval.begin_ns, interval.end_ns);
}

/* As GM110 prices it: between devices as this machine was calibrated, else one crossing. */
static double direct_of(const struct contents_read *reading, const struct gmt_tl_copy *copy)
{
    const struct gmt_model *model = reading->analysis->model;
    double peer = gmt_price_peer(model, (double)copy->bytes);

    if (isfinite(peer) || model->provenance == GMT_MODEL_NONE) {
        return peer;
    }
    return gmt_curve_at(gmt_price_curve(model, copy, true), (double)copy->bytes);
}

static void fill_copy(struct contents_read *reading, struct gmt_fleet_copy *filled, size_t index)
{
    const struct gmt_tl_copy *copy = &reading->analysis->timeline->copies[index];
    int64_t begin, end;

    if (filled->end_ns != 0 ||
        __builtin_add_overflow(copy->call.begin_ns, reading->to_wall_clock_ns, &begin) ||
        __builtin_add_overflow(copy->call.end_ns, reading->to_wall_clock_ns, &end)) {
        return;
    }
    *filled = (struct gmt_fleet_copy){
        .begin_ns = begin,
        .end_ns = end,
        .cost_ns = cost_of(reading, copy),
        .direct_ns = copy->direction == GMT_DIR_H2D ? direct_of(reading, copy) : NAN,
        .place = place_of(reading, gmt_where_of_call(reading->analysis, &copy->call).label)};
}

/* ---- all of them ------------------------------------------------------------------------------ */

static int fill(struct contents_read *reading)
{
    const struct gmt_tl_copy *copies = reading->analysis->timeline->copies;
    struct gmt_fleet_rank *rank = reading->rank;
    struct gmt_fleet_content *content = NULL;

    for (size_t i = 0; i < reading->copied_count; i++) {
        const struct copied *one = &reading->copied[i];

        if (i == 0 || gmt_fleet_compare_contents(&one->key, &one[-1].key) != 0) {
            if (rank->content_count == GMT_FLEET_CONTENTS_MOST) {
                rank->copied.left_out++;
                content = NULL;
                continue;
            }
            content = GMT_PUSH(reading->arena, rank->contents, rank->content_count);
            if (content == NULL) {
                return -ENOMEM;
            }
            *content = one->key;
        }
        if (content != NULL) {
            fill_copy(reading,
                      copies[one->copy].direction == GMT_DIR_H2D ? &content->up : &content->down,
                      one->copy);
        }
    }
    return reading->arena->failed ? -ENOMEM : 0;
}

int gmt_fleet_contents_read(struct gmt_fleet_rank *rank, struct gmt_analysis *analysis,
                            struct gmt_arena *arena)
{
    struct contents_read reading = {.rank = rank, .analysis = analysis, .arena = arena};
    bool has_clock = false;
    int rc = load_prints(&reading);

    if (rc == 0) {
        rc = read_wall_clock(&reading, &has_clock);
    }
    if (rc == 0) {
        rc = gmt_cover_make(&reading.kernels, analysis->timeline, GMT_COVER_KERNELS);
    }
    if (rc == 0 && has_clock) {
        rc = fill(&reading);
    }
    gmt_cover_free(&reading.kernels);
    free(reading.prints);
    free(reading.copied);
    return rc;
}
