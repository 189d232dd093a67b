/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a rank by step, from rows. */
#include "analyzer/fleet/rank_sums.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Nobody records more; a number beyond is damage. */
#define STEPS_MOST 10000000
/* Less of a step is not noticeable: differences of that size are not worth a line (measures.def). */
#define OWN_SHARE 0.01

struct gmt_rank_step {
    int32_t id;
    size_t first, count; /* steps of the rank, from 0; count 0: is left out */
    int64_t begin_ns, end_ns;
    double step_ns, in_calls_ns, own_ns;
    double h2d_bytes, d2h_bytes, h2d_ns, d2h_ns;
    bool has_time;
    double values[GMT_FLEET_MEASURES]; /* sums; LEAK and PEAK as they are */
};

/* Rows come by step, so the search goes on from the last one. NULL: no such step. */
static struct gmt_rank_step *step_of(struct gmt_rank_sums *sums, int32_t id)
{
    if (sums->used >= sums->step_count || sums->steps[sums->used].id > id) {
        sums->used = 0;
    }
    while (sums->used < sums->step_count && sums->steps[sums->used].id < id) {
        sums->used++;
    }
    struct gmt_rank_step *row = sums->used < sums->step_count ? &sums->steps[sums->used] : NULL;
    return row != NULL && row->id == id ? row : NULL;
}

int gmt_rank_sums_step(struct gmt_rank_sums *sums, int32_t id, int64_t steps, bool left_out,
                       int64_t begin_ns, int64_t end_ns)
{
    struct gmt_rank_step row = {
        .id = id, .first = sums->next, .begin_ns = begin_ns, .end_ns = end_ns};
    int64_t step_ns = -1;

    if (__builtin_sub_overflow(end_ns, begin_ns, &step_ns)) {
        step_ns = -1;
    }
    row.step_ns = (double)step_ns;
    row.count = left_out || steps < 1 ? 0 : (size_t)steps;
    if (row.count > STEPS_MOST || sums->next + row.count > STEPS_MOST || row.step_ns < 0) {
        sums->rank->trouble = "its steps are damaged";
        return 0;
    }
    struct gmt_rank_step *added = GMT_PUSH(sums->arena, sums->steps, sums->step_count);
    if (added == NULL) {
        return -ENOMEM;
    }
    *added = row;
    sums->next += row.count;
    sums->rank->step_count = sums->next;
    return 0;
}

static bool is(const char *kind, const char *word)
{
    return kind != NULL && strcmp(kind, word) == 0;
}

static void add_calls(struct gmt_rank_step *row, const char *kind, double calls, double bytes,
                      double host_ns)
{
    double *values = row->values;

    row->in_calls_ns += host_ns;
    if (is(kind, "kernel") || is(kind, "graph")) {
        values[GMT_FLEET_LAUNCHES] += calls;
        values[GMT_FLEET_CALLS] += host_ns;
    } else if (is(kind, "copy_h2d") || is(kind, "copy_d2h")) {
        values[GMT_FLEET_COPIES] += calls;
        values[GMT_FLEET_COPY_BYTES] += bytes;
    } else if (is(kind, "allocation") || is(kind, "free") || is(kind, "page_locking") ||
               is(kind, "page_unlocking")) {
        values[GMT_FLEET_ALLOC_CALLS] += calls;
        values[GMT_FLEET_ALLOC_NS] += host_ns;
    } else if (is(kind, "collective")) {
        /* Until the device's time is known. */
        values[GMT_FLEET_COLLECTIVES] += host_ns;
    } else if (is(kind, "module_loading") || is(kind, "other") || is(kind, "memset")) {
        values[GMT_FLEET_CALLS] += host_ns;
    }
}

void gmt_rank_sums_call(struct gmt_rank_sums *sums, int32_t step, const char *kind, int64_t calls,
                        int64_t bytes, int64_t host_ns)
{
    struct gmt_rank_step *row = step_of(sums, step);

    if (row != NULL) {
        add_calls(row, kind, (double)calls, (double)bytes, (double)host_ns);
    }
}

static void add_work(struct gmt_rank_step *row, const char *kind, double bytes, double device_ns)
{
    if (is(kind, "kernel")) {
        row->values[GMT_FLEET_KERNELS] += device_ns;
    } else if (is(kind, "collective")) {
        row->values[GMT_FLEET_COLLECTIVES] += device_ns;
    } else if (is(kind, "copy_h2d")) {
        row->h2d_bytes += bytes;
        row->h2d_ns += device_ns;
    } else if (is(kind, "copy_d2h")) {
        row->d2h_bytes += bytes;
        row->d2h_ns += device_ns;
    }
}

void gmt_rank_sums_work(struct gmt_rank_sums *sums, int32_t step, const char *kind, int64_t bytes,
                        int64_t device_ns)
{
    struct gmt_rank_step *row = step_of(sums, step);

    if (!sums->rank->has_device_times) {
        sums->rank->has_device_times = true;
        for (size_t i = 0; i < sums->step_count; i++) {
            sums->steps[i].values[GMT_FLEET_COLLECTIVES] = 0;
        }
    }
    if (row != NULL) {
        add_work(row, kind, (double)bytes, (double)device_ns);
    }
}

void gmt_rank_sums_time(struct gmt_rank_sums *sums, int32_t step, bool is_host_code, int64_t ns)
{
    struct gmt_rank_step *row = step_of(sums, step);

    if (row != NULL) {
        row->has_time = true;
        row->values[GMT_FLEET_HOST] += is_host_code ? (double)ns : 0;
    }
}

void gmt_rank_sums_memory(struct gmt_rank_sums *sums, int32_t step, int64_t live_bytes,
                          int64_t peak_bytes)
{
    struct gmt_rank_step *row = step_of(sums, step);

    if (row != NULL) {
        row->values[GMT_FLEET_LEAK] += (double)live_bytes;
        row->values[GMT_FLEET_PEAK] += (double)peak_bytes;
    }
}

void gmt_rank_sums_own(struct gmt_rank_sums *sums, int64_t begin_ns, int64_t end_ns)
{
    size_t low = 0, high = sums->step_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (sums->steps[middle].end_ns <= begin_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < sums->step_count && sums->steps[low].begin_ns < end_ns; low++) {
        struct gmt_rank_step *row = &sums->steps[low];
        double from = fmax((double)begin_ns, (double)row->begin_ns);

        row->own_ns += fmax(fmin((double)end_ns, (double)row->end_ns) - from, 0);
    }
}

void gmt_rank_sums_collectives(struct gmt_rank_sums *sums, int64_t count)
{
    /* Powers of two: those that one rank keeps are among those of a rank with a few less. */
    sums->collective_every = 1;
    while (count / sums->collective_every > GMT_FLEET_COLLECTIVES_MOST) {
        sums->collective_every *= 2;
    }
}

int gmt_rank_sums_collective(struct gmt_rank_sums *sums, const struct gmt_collective_row *row,
                             int64_t to_wall_clock_ns)
{
    struct gmt_fleet_collective one;

    /* By their positions, which are the same in all ranks. */
    if (!gmt_fleet_collective_of(&one, row, to_wall_clock_ns) ||
        one.position % sums->collective_every != 0) {
        return 0;
    }
    struct gmt_fleet_collective *added = GMT_PUSH(sums->arena, sums->rank->collectives,
                                                  sums->rank->collective_count);
    if (added == NULL) {
        return -ENOMEM;
    }
    *added = one;
    return 0;
}

/* Values of one row, by step. */
static void spread_row(struct gmt_fleet_rank *rank, struct gmt_rank_step *row)
{
    double steps = (double)row->count, *values = row->values;

    for (int m = 0; m < GMT_FLEET_MEASURES; m++) {
        values[m] /= m == GMT_FLEET_LEAK || m == GMT_FLEET_PEAK ? 1 : steps;
    }
    values[GMT_FLEET_STEP] = row->step_ns / steps;
    values[GMT_FLEET_H2D] = row->h2d_bytes > 0 ? row->h2d_ns / row->h2d_bytes * 1e6 : NAN;
    values[GMT_FLEET_D2H] = row->d2h_bytes > 0 ? row->d2h_ns / row->d2h_bytes * 1e6 : NAN;
    if (!rank->has_device_times) {
        values[GMT_FLEET_KERNELS] = NAN;
        values[GMT_FLEET_HOST] = fmax(row->step_ns - row->in_calls_ns, 0) / steps;
    } else if (!row->has_time) {
        values[GMT_FLEET_HOST] = NAN;
    }
    for (size_t i = 0; i < row->count; i++) {
        memcpy(rank->values + (row->first + i) * GMT_FLEET_MEASURES, values, sizeof(row->values));
    }
}

static bool is_disturbed(const struct gmt_rank_step *row)
{
    return row->own_ns > OWN_SHARE * row->step_ns;
}

static void drop_times(struct gmt_fleet_rank *rank, const struct gmt_rank_step *row)
{
    for (size_t i = 0; i < row->count * GMT_FLEET_MEASURES; i++) {
        enum gmt_fleet_unit unit = gmt_fleet_measure_rows[i % GMT_FLEET_MEASURES].unit;

        if (unit == GMT_FLEET_UNIT_NS || unit == GMT_FLEET_UNIT_RATE) {
            rank->values[row->first * GMT_FLEET_MEASURES + i] = NAN;
        }
    }
}

/* In the step behind gmtrace's work queues fill again, and the others that waited catch up. */
static void drop_disturbed(struct gmt_rank_sums *sums)
{
    struct gmt_fleet_rank *rank = sums->rank;
    size_t dropped = 0;

    for (size_t i = 0; i < sums->step_count; i++) {
        const struct gmt_rank_step *row = &sums->steps[i];

        if (is_disturbed(row) || (i > 0 && is_disturbed(row - 1))) {
            drop_times(rank, row);
            dropped += row->count;
        }
    }
    if (dropped * 2 > rank->step_count && rank->remark == NULL) {
        rank->remark = "gmtrace itself worked in more than half of its steps, whose times are left "
                       "out: see --counters, --repeat";
    }
}

int gmt_rank_sums_finish(struct gmt_rank_sums *sums)
{
    struct gmt_fleet_rank *rank = sums->rank;

    if (rank->trouble == NULL && rank->step_count == 0) {
        rank->trouble = rank->traits[GMT_FLEET_DEVICE] == NULL ? "it has used no GPU"
                                                               : "its trace has no steps";
    }
    if (rank->trouble != NULL) {
        return 0;
    }
    rank->values = gmt_arena_alloc(sums->arena, (rank->step_count + 1) * GMT_FLEET_MEASURES *
                                                    sizeof(*rank->values));
    if (rank->values == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < sums->step_count; i++) {
        if (sums->steps[i].count > 0) {
            spread_row(rank, &sums->steps[i]);
        }
    }
    drop_disturbed(sums);
    return 0;
}
