/* SPDX-License-Identifier: Apache-2.0 */
/* Late peers and slow transfers. */
#include "analyzer/fleet/waits.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fleet/collectives.h"
#include "analyzer/fleet/residuals.h"

/* A collective as one rank has it. */
struct rank_part {
    const struct gmt_fleet_collective *of;
    size_t rank;
    int64_t begin_ns, end_ns; /* on the clock of all */
};

/* A collective of all its ranks. */
struct whole {
    const struct gmt_fleet_collective *of;
    size_t ranks;
    double late_ns, transfer_ns; /* mean over the ranks */
    double spread_ns;            /* from the first rank that came to the last */
};

/* Where a rank may only receive, bytes of those alone count whose ranks came within such a share of the transfer. */
#define TOGETHER 0.1

struct matching {
    const struct gmt_fleet *fleet;
    const struct gmt_fleet_clocks *clocks;
    struct gmt_fleet_waits *waits;
    struct rank_part *parts;
    struct whole *wholes;
    double *room;
    size_t part_count, whole_count;
};

#define COMPARE(left, right) (((left) > (right)) - ((left) < (right)))

static int by_number(const void *a, const void *b)
{
    const struct rank_part *x = a, *y = b;
    int order = COMPARE(x->of->communicator, y->of->communicator);

    order = order != 0 ? order : COMPARE(x->of->position, y->of->position);
    return order != 0 ? order : COMPARE(x->rank, y->rank);
}

static int by_kind(const void *a, const void *b)
{
    const struct whole *x = a, *y = b;
    int order = COMPARE(x->of->operation, y->of->operation);

    order = order != 0 ? order : COMPARE(x->of->bytes, y->of->bytes);
    order = order != 0 ? order : COMPARE(x->ranks, y->ranks);
    order = order != 0 ? order : COMPARE(x->of->communicator, y->of->communicator);
    return order != 0 ? order : COMPARE(x->of->position, y->of->position);
}

static int by_time(const void *a, const void *b)
{
    const struct gmt_fleet_traffic *x = a, *y = b;

    return COMPARE(y->late_sum_ns + y->transfer_sum_ns, x->late_sum_ns + x->transfer_sum_ns);
}

static void gather(struct matching *matching)
{
    for (size_t r = 0; r < matching->fleet->count; r++) {
        const struct gmt_fleet_rank *rank = &matching->fleet->ranks[r];

        for (size_t i = 0; i < rank->collective_count; i++) {
            const struct gmt_fleet_collective *of = &rank->collectives[i];
            const struct gmt_fleet_clock *clock = &matching->clocks->ranks[r];

            if (of->communicator != 0) {
                matching->parts[matching->part_count++] = (struct rank_part){
                    .of = of,
                    .rank = r,
                    .begin_ns = gmt_fleet_common_time(clock, of->begin_ns),
                    .end_ns = gmt_fleet_common_time(clock, of->end_ns)};
            }
        }
    }
    qsort(matching->parts, matching->part_count, sizeof(*matching->parts), by_number);
}

/* Wall clocks of one host are one clock; those of several have to be known. */
static bool one_clock(const struct matching *matching, const struct rank_part *parts, size_t count)
{
    const char *host = matching->fleet->ranks[parts[0].rank].host;
    bool known = true, here = host != NULL;

    for (size_t i = 0; i < count; i++) {
        const char *other = matching->fleet->ranks[parts[i].rank].host;

        known = known && matching->clocks->ranks[parts[i].rank].confidence != GMT_FLEET_NO_MATCH;
        here = here && other != NULL && strcmp(other, host) == 0 &&
               matching->clocks->ranks[parts[i].rank].confidence == GMT_FLEET_NO_MATCH;
    }
    return known || here;
}

static bool agree(const struct rank_part *parts, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (parts[i].of->operation != parts[0].of->operation ||
            parts[i].of->bytes != parts[0].of->bytes || parts[i].rank == parts[i - 1].rank) {
            return false;
        }
    }
    return true;
}

/* The last of its ranks has come; `before`: the last but one. */
static void add_whole(struct matching *matching, const struct rank_part *parts, size_t count)
{
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, before_ns = INT64_MIN;
    struct whole whole = {.of = parts[0].of, .ranks = count};
    size_t last = 0;

    for (size_t i = 0; i < count; i++) {
        first_ns = parts[i].begin_ns < first_ns ? parts[i].begin_ns : first_ns;
        if (parts[i].begin_ns > last_ns) {
            before_ns = last_ns;
            last_ns = parts[i].begin_ns;
            last = parts[i].rank;
        } else if (parts[i].begin_ns > before_ns) {
            before_ns = parts[i].begin_ns;
        }
    }
    for (size_t i = 0; i < count; i++) {
        struct gmt_fleet_wait *wait = &matching->waits->ranks[parts[i].rank];
        double late = (double)(last_ns - parts[i].begin_ns);
        double transfer = fmax((double)(parts[i].end_ns - last_ns), 0);

        wait->late_ns += late;
        wait->transfer_ns += transfer;
        wait->count++;
        whole.late_ns += late / (double)count;
        whole.transfer_ns += transfer / (double)count;
    }
    whole.spread_ns = (double)(last_ns - first_ns);
    matching->waits->ranks[last].last++;
    matching->waits->ranks[last].made_ns += (double)(last_ns - before_ns);
    matching->wholes[matching->whole_count++] = whole;
}

/* Ranks of a communicator: as NCCL says, or as many as there are traces that have it. */
static size_t ranks_of(const struct matching *matching, const struct rank_part *parts, size_t count)
{
    size_t known = 0, seen = 0;
    bool *has = calloc(matching->fleet->count + 1, sizeof(*has));

    for (size_t i = 0; i < count && has != NULL; i++) {
        known = parts[i].of->ranks > known ? parts[i].of->ranks : known;
        seen += !has[parts[i].rank];
        has[parts[i].rank] = true;
    }
    free(has);
    return known != 0 ? known : seen;
}

/* parts: those of one communicator. */
static void match_communicator(struct matching *matching, const struct rank_part *parts,
                               size_t count)
{
    size_t ranks = ranks_of(matching, parts, count);

    matching->waits->communicators++;
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && parts[next].of->position == parts[i].of->position;) {
            next++;
        }
        if (!agree(parts + i, next - i)) {
            matching->waits->ambiguous++;
        } else if (next - i != ranks || ranks < 2 || !one_clock(matching, parts + i, next - i)) {
            matching->waits->incomplete++;
        } else {
            matching->waits->matched++;
            add_whole(matching, parts + i, next - i);
        }
    }
}

static void match_all(struct matching *matching)
{
    for (size_t i = 0, next; i < matching->part_count; i = next) {
        for (next = i + 1;
             next < matching->part_count &&
             matching->parts[next].of->communicator == matching->parts[i].of->communicator;) {
            next++;
        }
        match_communicator(matching, matching->parts + i, next - i);
    }
    qsort(matching->wholes, matching->whole_count, sizeof(*matching->wholes), by_kind);
}

/* The median transfer of those that a late peer does not make too short; NAN: there is none. */
static double bounded_transfer(struct matching *matching, const struct whole *wholes, size_t count)
{
    bool all_send = gmt_fleet_all_send((enum gmt_fleet_operation)wholes[0].of->operation);
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (all_send || wholes[i].spread_ns <= TOGETHER * wholes[i].transfer_ns) {
            matching->room[n++] = wholes[i].transfer_ns;
        }
    }
    return gmt_fleet_median(matching->room, n);
}

static struct gmt_fleet_traffic sum_up(struct matching *matching, const struct whole *wholes,
                                       size_t count)
{
    const struct gmt_fleet_collective *of = wholes[0].of;
    struct gmt_fleet_traffic traffic = {.operation = (enum gmt_fleet_operation)of->operation,
                                        .bytes = of->bytes,
                                        .ranks = wholes[0].ranks,
                                        .count = count};
    double ranks = (double)traffic.ranks;

    for (size_t i = 0; i < count; i++) {
        matching->room[i] = wholes[i].transfer_ns;
        traffic.late_sum_ns += ranks * wholes[i].late_ns;
        traffic.transfer_sum_ns += ranks * wholes[i].transfer_ns;
        traffic.communicators += i == 0 ||
                                 wholes[i].of->communicator != wholes[i - 1].of->communicator;
    }
    traffic.late_ns = traffic.late_sum_ns / ranks / (double)count;
    traffic.transfer_ns = gmt_fleet_median(matching->room, count);
    traffic.bytes_per_s = gmt_fleet_bus_bandwidth(traffic.operation, (double)traffic.bytes, ranks,
                                                  bounded_transfer(matching, wholes, count));
    return traffic;
}

static int list_traffic(struct matching *matching, struct gmt_arena *arena)
{
    struct gmt_fleet_waits *waits = matching->waits;

    for (size_t i = 0, next; i < matching->whole_count; i = next) {
        const struct whole *first = &matching->wholes[i];

        for (next = i + 1; next < matching->whole_count &&
                           matching->wholes[next].of->operation == first->of->operation &&
                           matching->wholes[next].of->bytes == first->of->bytes &&
                           matching->wholes[next].ranks == first->ranks;) {
            next++;
        }
        struct gmt_fleet_traffic *added = GMT_PUSH(arena, waits->traffic, waits->traffic_count);
        if (added == NULL) {
            return -ENOMEM;
        }
        *added = sum_up(matching, first, next - i);
    }
    if (waits->traffic_count > 1) {
        qsort(waits->traffic, waits->traffic_count, sizeof(*waits->traffic), by_time);
    }
    return 0;
}

int gmt_fleet_waits_fill(struct gmt_fleet_waits *waits, const struct gmt_fleet *fleet,
                         const struct gmt_fleet_clocks *clocks, struct gmt_arena *arena)
{
    struct matching matching = {.fleet = fleet, .clocks = clocks, .waits = waits};
    size_t all = 0;

    *waits = (struct gmt_fleet_waits){
        .ranks = gmt_arena_alloc(arena, (fleet->count + 1) * sizeof(*waits->ranks))};
    for (size_t r = 0; r < fleet->count; r++) {
        all += fleet->ranks[r].collective_count;
    }
    matching.parts = calloc(all + 1, sizeof(*matching.parts));
    matching.wholes = calloc(all + 1, sizeof(*matching.wholes));
    matching.room = calloc(all + 1, sizeof(*matching.room));
    int rc = waits->ranks != NULL && matching.parts != NULL && matching.wholes != NULL &&
                     matching.room != NULL
                 ? 0
                 : -ENOMEM;
    if (rc == 0) {
        memset(waits->ranks, 0, (fleet->count + 1) * sizeof(*waits->ranks));
        gather(&matching);
        match_all(&matching);
        rc = list_traffic(&matching, arena);
    }
    free(matching.parts);
    free(matching.wholes);
    free(matching.room);
    return rc;
}
