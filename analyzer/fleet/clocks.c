/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets of clocks, from the ends of collectives. */
#include "analyzer/fleet/clocks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fleet/outliers.h"
#include "analyzer/fleet/residuals.h"
#include "libtrace/record/checked.h"

/* Makes the median distance from the median of a normal distribution its standard deviation. */
#define NORMAL 1.4826
/* What lies so many standard deviations from its rank's line is another collective. */
#define AMBIGUOUS 8
/* By so many a rank's count of collectives may be wrong: one that it missed, or that was recorded before the others' first. */
#define SHIFTS 3

struct collective_end {
    uint64_t key;
    int64_t position;
    double at; /* ns from `base` */
};

struct match {
    const struct gmt_fleet *fleet;
    struct collective_end
        *ends; /* of all ranks, by key and position; then one of each, at their median */
    size_t count;
    int64_t base;
    double *times, *offsets, *room; /* of one rank's collectives */
    struct line *lines;             /* of all ranks, from the pass before; 0 at first */
    size_t ranks;                   /* with a clock */
    uint64_t *common;               /* communicators that more than half of these have */
    size_t common_count;
    bool
        is_numbered; /* the collectives of these suffice: others do not serve, whose count nobody knows */
};

/* Offset of a clock over the time. */
struct line {
    double middle, at, slope, deviation;
};

static int by_key(const void *a, const void *b)
{
    const struct collective_end *x = a, *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->position != y->position ? (x->position < y->position ? -1 : 1)
                                      : (x->at > y->at) - (x->at < y->at);
}

static bool has_clock(const struct gmt_fleet_rank *rank)
{
    return rank->trouble == NULL && rank->has_wall_clock && rank->collective_count > 0;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static bool holds(const uint64_t *values, size_t count, uint64_t value)
{
    return bsearch(&value, values, count, sizeof(value), by_value) != NULL;
}

/* Can it be compared with those of other ranks? */
static bool serves(const struct match *match, const struct gmt_fleet_collective *one)
{
    return one->communicator == 0 ? !match->is_numbered
                                  : holds(match->common, match->common_count, one->communicator);
}

static size_t count_serving(const struct match *match, const struct gmt_fleet_rank *rank)
{
    size_t count = 0;

    for (size_t i = 0; i < rank->collective_count; i++) {
        count += serves(match, &rank->collectives[i]);
    }
    return count;
}

/* The values that come more than `least` times, once each, in order. */
static size_t frequent(uint64_t *values, size_t count, size_t least)
{
    size_t kept = 0;

    qsort(values, count, sizeof(*values), by_value);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && values[next] == values[i];) {
            next++;
        }
        if (next - i > least) {
            values[kept++] = values[i];
        }
    }
    return kept;
}

/* Has each rank that has a clock enough collectives of a common communicator? */
static bool are_numbered(const struct match *match)
{
    for (size_t r = 0; r < match->fleet->count; r++) {
        const struct gmt_fleet_rank *rank = &match->fleet->ranks[r];
        size_t count = 0;

        for (size_t i = 0; i < rank->collective_count && has_clock(rank); i++) {
            count += holds(match->common, match->common_count, rank->collectives[i].communicator);
        }
        if (has_clock(rank) && count < GMT_FLEET_LEAST_MATCHES) {
            return false;
        }
    }
    return true;
}

/* room: as many numbers as all ranks have collectives. */
static void find_common(struct match *match, uint64_t *room)
{
    size_t all = 0;

    for (size_t r = 0; r < match->fleet->count; r++) {
        const struct gmt_fleet_rank *rank = &match->fleet->ranks[r];
        size_t own = 0;

        for (size_t i = 0; i < rank->collective_count && has_clock(rank); i++) {
            room[all + own] = rank->collectives[i].communicator;
            own += room[all + own] != 0;
        }
        all += frequent(room + all, own, 0);
    }
    match->common = room;
    match->common_count = frequent(room, all, match->ranks / 2);
    match->is_numbered = are_numbered(match);
}

static double on_line(const struct line *line, double time)
{
    return line->middle + line->slope * (time - line->at);
}

/*
 * An offset is a line over the time of all. since: from the line's middle, by a rank's own clock and the offset there, which grows
 * until then, too. What grows by half of the time is no clock.
 */
static double growth(double slope, double since)
{
    return fabs(slope) < 0.5 ? slope / (1 - slope) * since : 0;
}

/* What the rank's clock showed, on that of all. */
static double corrected(const struct line *line, double time)
{
    return time + line->middle + growth(line->slope, time + line->middle - line->at);
}

/*
 * Gathers the ends of all ranks, by the clocks as they were corrected in the pass before, and leaves the median of each
 * collective that more than half of the ranks have. Without that correction it would depend on who is missing.
 */
static void find_medians(struct match *match)
{
    size_t n = 0, kept = 0;

    for (size_t r = 0; r < match->fleet->count; r++) {
        const struct gmt_fleet_rank *rank = &match->fleet->ranks[r];

        for (size_t i = 0; i < rank->collective_count && has_clock(rank); i++) {
            const struct gmt_fleet_collective *one = &rank->collectives[i];
            double at = (double)gmt_sub_clamped(one->end_ns, match->base);

            if (!serves(match, one)) {
                continue;
            }
            match->ends[n++] = (struct collective_end){one->key, one->position,
                                                       corrected(&match->lines[r], at)};
        }
    }
    qsort(match->ends, n, sizeof(*match->ends), by_key);
    for (size_t i = 0, next; i < n; i = next) {
        struct collective_end *of = &match->ends[i];

        for (next = i + 1; next < n && match->ends[next].key == of->key &&
                           match->ends[next].position == of->position;) {
            next++;
        }
        if ((next - i) * 2 > match->ranks) {
            struct collective_end median = *of;

            /* Sorted by time, too. */
            median.at =
                (match->ends[i + (next - i - 1) / 2].at + match->ends[i + (next - i) / 2].at) / 2;
            match->ends[kept++] = median;
        }
    }
    match->count = kept;
}

static const struct collective_end *median_of(const struct match *match, uint64_t key,
                                              int64_t position)
{
    size_t low = 0, high = match->count;

    while (low < high) {
        size_t at = (low + high) / 2;
        const struct collective_end *end = &match->ends[at];

        if (end->key < key || (end->key == key && end->position < position)) {
            low = at + 1;
        } else {
            high = at;
        }
    }
    const struct collective_end *found = &match->ends[low];
    return low < match->count && found->key == key && found->position == position ? found : NULL;
}

/* Fills times and offsets of the rank, as if it had counted from `shift` on. Returns how many it has. */
static size_t offsets_of(struct match *match, const struct gmt_fleet_rank *rank, int64_t shift)
{
    size_t n = 0;

    for (size_t i = 0; i < rank->collective_count; i++) {
        const struct gmt_fleet_collective *one = &rank->collectives[i];
        const struct collective_end *median =
            serves(match, one) ? median_of(match, one->key, one->position + shift) : NULL;

        if (median != NULL) {
            match->times[n] = median->at;
            match->offsets[n++] = median->at - (double)gmt_sub_clamped(one->end_ns, match->base);
        }
    }
    return n;
}

static double median_within(struct match *match, double from, double to, const double *values,
                            size_t n)
{
    size_t known = 0;

    for (size_t i = 0; i < n; i++) {
        if (match->times[i] >= from && match->times[i] <= to) {
            match->room[known++] = values[i];
        }
    }
    return gmt_fleet_median(match->room, known);
}

/* Through the medians of the first and the last third of the time. */
static struct line fit(struct match *match, size_t n)
{
    double first = INFINITY, last = -INFINITY;
    struct line line = {0};

    for (size_t i = 0; i < n; i++) {
        first = fmin(first, match->times[i]);
        last = fmax(last, match->times[i]);
    }
    double third = (last - first) / 3;
    double begin = median_within(match, first, first + third, match->offsets, n);
    double end = median_within(match, last - third, last, match->offsets, n);
    line.at = (first + last) / 2;
    if (third > 0 && !isnan(begin) && !isnan(end)) {
        double from = median_within(match, first, first + third, match->times, n);
        double to = median_within(match, last - third, last, match->times, n);

        line.slope = to > from ? (end - begin) / (to - from) : 0;
    }
    for (size_t i = 0; i < n; i++) {
        match->room[i] = match->offsets[i] - line.slope * (match->times[i] - line.at);
    }
    line.middle = gmt_fleet_median(match->room, n);
    for (size_t i = 0; i < n; i++) {
        match->room[i] = fabs(match->offsets[i] - on_line(&line, match->times[i]));
    }
    line.deviation = NORMAL * gmt_fleet_median(match->room, n);
    return line;
}

/* Were they counted from the first one of their communicator on? */
static bool is_counted(const struct match *match, const struct gmt_fleet_rank *rank)
{
    for (size_t i = 0; i < rank->collective_count; i++) {
        const struct gmt_fleet_collective *one = &rank->collectives[i];

        if (serves(match, one) && (one->communicator == 0 || one->ranks == 0)) {
            return false;
        }
    }
    return true;
}

/* Would it fit about as well if the rank had counted otherwise? */
static bool fits_elsewhere(struct match *match, const struct gmt_fleet_rank *rank, double deviation)
{
    if (is_counted(match, rank)) {
        return false;
    }
    for (int64_t shift = -SHIFTS; shift <= SHIFTS; shift++) {
        size_t n = shift != 0 ? offsets_of(match, rank, shift) : 0;

        if (n >= GMT_FLEET_LEAST_MATCHES && fit(match, n).deviation <= 2 * deviation) {
            return true;
        }
    }
    return false;
}

/* line: the rank's, for the next pass; stays as it is where the clock is not known. */
static void set_clock(struct match *match, const struct gmt_fleet_rank *rank,
                      struct gmt_fleet_clock *clock, struct line *kept)
{
    size_t n = offsets_of(match, rank, 0), serving = count_serving(match, rank), far = 0;

    *clock = (struct gmt_fleet_clock){
        .offset_ns = NAN, .drift_ppm = NAN, .error_ns = NAN, .ambiguous = serving};
    if (n < GMT_FLEET_LEAST_MATCHES) {
        return;
    }
    struct line line = fit(match, n);
    for (size_t i = 0; i < n; i++) {
        far += fabs(match->offsets[i] - on_line(&line, match->times[i])) >
               AMBIGUOUS * line.deviation;
    }
    if (fits_elsewhere(match, rank, line.deviation)) {
        return;
    }
    *kept = line;
    clock->offset_ns = line.middle;
    clock->middle_ns = match->base + (int64_t)line.at;
    clock->drift_ppm = line.slope * 1e6;
    clock->error_ns = line.deviation;
    clock->matched = n - far;
    clock->ambiguous = serving - clock->matched;
    clock->confidence = clock->ambiguous * 10 >= serving ? GMT_FLEET_LOW : GMT_FLEET_GOOD;
}

static bool same_host(const struct gmt_fleet_rank *a, const struct gmt_fleet_rank *b)
{
    return a->host != NULL && b->host != NULL && strcmp(a->host, b->host) == 0;
}

/* The host's offset is the median of its ranks' ones. Returns the number of hosts; host[r] is its index. */
static size_t offsets_of_hosts(const struct gmt_fleet *fleet, const struct gmt_fleet_clocks *clocks,
                               size_t *host, double *offsets, double *room)
{
    size_t hosts = 0;

    for (size_t r = 0; r < fleet->count; r++) {
        size_t n = 0, earlier = 0;

        while (earlier < r && !same_host(&fleet->ranks[earlier], &fleet->ranks[r])) {
            earlier++;
        }
        if (earlier < r) {
            host[r] = host[earlier];
            continue;
        }
        host[r] = hosts;
        for (size_t other = r; other < fleet->count; other++) {
            if ((other == r || same_host(&fleet->ranks[other], &fleet->ranks[r])) &&
                !isnan(clocks->ranks[other].offset_ns)) {
                room[n++] = clocks->ranks[other].offset_ns;
            }
        }
        offsets[hosts++] = gmt_fleet_median(room, n);
    }
    return hosts;
}

/*
 * Ranks of a host have its clock, so hosts are compared; then each rank with its host, as what it read its clock by can be
 * wrong. Where there are too few of them to know their spread, the floor decides.
 */
static int judge(const struct gmt_fleet *fleet, struct gmt_fleet_clocks *clocks, double alpha)
{
    size_t *host = calloc(fleet->count + 1, sizeof(*host));
    double *offsets = calloc(4 * fleet->count + 1, sizeof(*offsets));
    struct gmt_outliers outliers;
    int rc = -ENOMEM;

    if (host == NULL || offsets == NULL) {
        goto out;
    }
    double *odd = offsets + fleet->count, *own = odd + fleet->count, *odd_own = own + fleet->count;
    size_t hosts = offsets_of_hosts(fleet, clocks, host, offsets, odd);
    for (size_t r = 0; r < fleet->count; r++) {
        own[r] = clocks->ranks[r].offset_ns - offsets[host[r]];
    }
    rc = gmt_outliers_find(&outliers, offsets, hosts, GMT_FLEET_EITHER, alpha / 2, odd);
    if (rc == 0) {
        rc = gmt_outliers_find(&outliers, own, fleet->count, GMT_FLEET_EITHER, alpha / 2, odd_own);
    }
    for (size_t r = 0; r < fleet->count && rc == 0; r++) {
        struct gmt_fleet_clock *clock = &clocks->ranks[r];
        bool host_odd = hosts < GMT_OUTLIERS_LEAST || odd[host[r]] != 0;
        bool own_odd = fleet->count < GMT_OUTLIERS_LEAST || odd_own[r] != 0;
        double floor = fmax(GMT_FLEET_CLOCK_FLOOR_NS, AMBIGUOUS * clock->error_ns);

        clock->odd = clock->confidence != GMT_FLEET_NO_MATCH &&
                     ((host_odd && fabs(offsets[host[r]]) > floor) ||
                      (own_odd && fabs(own[r]) > floor));
    }
out:
    free(host);
    free(offsets);
    return rc;
}

static int make_room(struct match *match, size_t all, size_t most)
{
    match->ends = calloc(all + 1, sizeof(*match->ends));
    match->times = calloc(most + 1, sizeof(double));
    match->offsets = calloc(most + 1, sizeof(double));
    match->room = calloc(most + 1, sizeof(double));
    match->lines = calloc(match->fleet->count + 1, sizeof(*match->lines));
    match->common = calloc(all + 1, sizeof(*match->common));
    return match->common != NULL && match->ends != NULL && match->times != NULL &&
                   match->offsets != NULL && match->room != NULL && match->lines != NULL
               ? 0
               : -ENOMEM;
}

static void find_offsets(struct match *match, struct gmt_fleet_clocks *clocks)
{
    find_common(match, match->common);
    for (int pass = 0; pass < 2; pass++) {
        find_medians(match);
        clocks->matched = clocks->ambiguous = 0;
        for (size_t r = 0; r < match->fleet->count; r++) {
            if (has_clock(&match->fleet->ranks[r])) {
                set_clock(match, &match->fleet->ranks[r], &clocks->ranks[r], &match->lines[r]);
                clocks->matched += clocks->ranks[r].matched;
                clocks->ambiguous += clocks->ranks[r].ambiguous;
            }
        }
    }
}

int gmt_fleet_clocks_fill(struct gmt_fleet_clocks *clocks, const struct gmt_fleet *fleet,
                          double alpha, struct gmt_arena *arena)
{
    struct match match = {.fleet = fleet};
    size_t all = 0, most = 0;

    *clocks = (struct gmt_fleet_clocks){
        .ranks = gmt_arena_alloc(arena, (fleet->count + 1) * sizeof(*clocks->ranks))};
    if (clocks->ranks == NULL) {
        return -ENOMEM;
    }
    for (size_t r = 0; r < fleet->count; r++) {
        const struct gmt_fleet_rank *rank = &fleet->ranks[r];

        clocks->ranks[r] = (struct gmt_fleet_clock){
            .offset_ns = NAN, .drift_ppm = NAN, .error_ns = NAN};
        if (has_clock(rank)) {
            match.base = match.ranks == 0 ? rank->collectives[0].end_ns : match.base;
            match.ranks++;
            all += rank->collective_count;
            most = rank->collective_count > most ? rank->collective_count : most;
        }
    }
    int rc = make_room(&match, all, most);
    if (rc == 0 && match.ranks >= 2) {
        find_offsets(&match, clocks);
    }
    if (rc == 0) {
        rc = judge(fleet, clocks, alpha);
    }
    free(match.ends);
    free(match.times);
    free(match.offsets);
    free(match.room);
    free(match.lines);
    free(match.common);
    return rc;
}

int64_t gmt_fleet_common_time(const struct gmt_fleet_clock *clock, int64_t wall_clock_ns)
{
    if (clock->confidence == GMT_FLEET_NO_MATCH) {
        return wall_clock_ns;
    }
    double since = (double)gmt_sub_clamped(wall_clock_ns, clock->middle_ns) + clock->offset_ns;
    double correction = clock->offset_ns + growth(clock->drift_ppm / 1e6, since);
    int64_t whole_ns = fabs(correction) < 0x1p62 ? (int64_t)correction : 0;
    return gmt_add_clamped(wall_clock_ns, whole_ns);
}
