/* SPDX-License-Identifier: Apache-2.0 */
/* Finds trips by host address; devices and contents are joined from the trace. */
#include "analyzer/memory/trips.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/trace/query.h"

#define NONE SIZE_MAX

struct visit {
    uint64_t address; /* of the host */
    size_t copy;
};

static int compare_visits(const void *a, const void *b)
{
    const struct visit *x = a, *y = b;

    if (x->address != y->address) {
        return x->address < y->address ? -1 : 1;
    }
    return (x->copy > y->copy) - (x->copy < y->copy);
}

static size_t collect(const struct gmt_timeline *tl, struct visit *visits)
{
    size_t n = 0;

    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];
        uint64_t address = copy->direction == GMT_DIR_D2H   ? copy->dst
                           : copy->direction == GMT_DIR_H2D ? copy->src
                                                            : 0;

        if (address != 0 && copy->bytes > 0 && copy->linear) {
            visits[n++] = (struct visit){address, i};
        }
    }
    qsort(visits, n, sizeof(*visits), compare_visits);
    return n;
}

static void pair(struct gmt_trips *trips, const struct gmt_timeline *tl, const struct visit *visits,
                 size_t n)
{
    size_t down = NONE;

    for (size_t i = 0; i < n; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[visits[i].copy];

        if (i > 0 && visits[i].address != visits[i - 1].address) {
            down = NONE;
        }
        if (copy->direction == GMT_DIR_D2H) {
            down = visits[i].copy;
        } else if (down != NONE && tl->copies[down].bytes == copy->bytes) {
            trips->trips[trips->count++] = (struct gmt_trip){.down = down, .up = visits[i].copy};
            down = NONE;
        }
    }
}

/* What the trace says of a copy beyond its row: a device, or a fingerprint in two words. */
struct extra {
    int64_t id;
    uint64_t value[2];
    int64_t bytes;
};

static int compare_extras(const void *a, const void *b)
{
    const struct extra *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static const struct extra *find(const struct extra *extras, size_t n,
                                const struct gmt_tl_copy *copy)
{
    struct extra key = {.id = copy->call.id};

    return bsearch(&key, extras, n, sizeof(key), compare_extras);
}

/* Rows of id, text or number, bytes; in the order of ids. NULL: no memory, or not readable. */
static struct extra *load(const struct gmt_timeline *tl, const char *sql, size_t *n)
{
    struct extra *extras = calloc(tl->copy_count + 1, sizeof(*extras));
    struct gmt_query query;

    *n = 0;
    if (extras == NULL) {
        return NULL;
    }
    int rc = gmt_query_open(&query, tl->db, sql);
    while (rc == 0 && *n < tl->copy_count && gmt_query_next(&query)) {
        const char *text = gmt_query_text_here(&query, 1);
        unsigned long long high = 0, low = 0;

        if (text == NULL || sscanf(text, "%16llx%16llx", &high, &low) < 1) {
            continue;
        }
        extras[(*n)++] = (struct extra){
            gmt_query_int(&query, 0), {high, low}, gmt_query_int(&query, 2)};
    }
    if (gmt_query_close(&query, rc) != 0) {
        free(extras);
        return NULL;
    }
    return extras;
}

/* The device is that of the memory; where that is not known, of the call's context. */
static int join_devices(struct gmt_trips *trips, const struct gmt_timeline *tl)
{
    int64_t devices = 0;
    size_t n = 0;
    int rc = gmt_query_int64(tl->db, "SELECT count(DISTINCT device_id) FROM context", &devices);

    if (rc != 0 || devices < 2) {
        return rc;
    }
    struct extra *extras = load(
        tl,
        "SELECT t.id, printf('%x', coalesce(sc.device_id, dc.device_id, tc.device_id)), 0 "
        "FROM transfer t LEFT JOIN allocation s ON s.id = t.src_allocation_id "
        "LEFT JOIN context sc ON sc.id = s.context_id "
        "LEFT JOIN allocation d ON d.id = t.dst_allocation_id "
        "LEFT JOIN context dc ON dc.id = d.context_id LEFT JOIN context tc ON tc.id = t.context_id "
        "WHERE t.direction IN ('h2d', 'd2h') AND t.result = 0 "
        "AND coalesce(sc.device_id, dc.device_id, tc.device_id) IS NOT NULL ORDER BY t.id",
        &n);
    if (extras == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < trips->count; i++) {
        const struct extra *down = find(extras, n, &tl->copies[trips->trips[i].down]);
        const struct extra *up = find(extras, n, &tl->copies[trips->trips[i].up]);

        trips->trips[i].crosses = down != NULL && up != NULL && down->value[0] != up->value[0];
    }
    free(extras);
    return 0;
}

/* Traces without fingerprints leave the contents unknown. */
static int join_contents(struct gmt_trips *trips, const struct gmt_timeline *tl)
{
    int64_t tables = 0;
    size_t n = 0;
    int rc = gmt_query_int64(
        tl->db, "SELECT count(*) FROM sqlite_master WHERE name = 'fingerprint'", &tables);

    if (rc != 0 || tables == 0) {
        return rc;
    }
    struct extra *extras = load(tl,
                                "SELECT transfer_id, hash, bytes_hashed FROM fingerprint "
                                "WHERE hash IS NOT NULL ORDER BY transfer_id",
                                &n);
    if (extras == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < trips->count; i++) {
        const struct extra *down = find(extras, n, &tl->copies[trips->trips[i].down]);
        const struct extra *up = find(extras, n, &tl->copies[trips->trips[i].up]);

        if (down == NULL || up == NULL || down->bytes != up->bytes) {
            continue;
        }
        trips->trips[i].content = down->value[0] == up->value[0] && down->value[1] == up->value[1]
                                      ? GMT_TRIP_SAME
                                      : GMT_TRIP_CHANGED;
    }
    free(extras);
    return 0;
}

static int compare_calls(const struct gmt_tl_call *a, const struct gmt_tl_call *b)
{
    if (a->site != b->site) {
        return a->site < b->site ? -1 : 1;
    }
    return (a->api > b->api) - (a->api < b->api);
}

static int compare_lines(const struct gmt_timeline *tl, const struct gmt_trip *x,
                         const struct gmt_trip *y)
{
    int order = compare_calls(&tl->copies[x->down].call, &tl->copies[y->down].call);

    return order != 0 ? order : compare_calls(&tl->copies[x->up].call, &tl->copies[y->up].call);
}

static int compare_trips(const void *a, const void *b, void *timeline)
{
    const struct gmt_trip *x = a, *y = b;
    int order = compare_lines(timeline, x, y);

    return order != 0 ? order : (x->down > y->down) - (x->down < y->down);
}

int gmt_trips_find(struct gmt_trips *trips, const struct gmt_timeline *tl)
{
    struct visit *visits = calloc(tl->copy_count + 1, sizeof(*visits));
    int rc = -ENOMEM;

    *trips = (struct gmt_trips){.trips = calloc(tl->copy_count + 1, sizeof(*trips->trips))};
    if (visits != NULL && trips->trips != NULL) {
        pair(trips, tl, visits, collect(tl, visits));
        qsort_r(trips->trips, trips->count, sizeof(*trips->trips), compare_trips,
                (void *)(uintptr_t)tl);
        rc = trips->count > 0 ? join_devices(trips, tl) : 0;
        if (rc == 0 && trips->count > 0) {
            rc = join_contents(trips, tl);
        }
    }
    free(visits);
    return rc;
}

void gmt_trips_free(struct gmt_trips *trips)
{
    free(trips->trips);
    *trips = (struct gmt_trips){0};
}

size_t gmt_trips_alike(const struct gmt_trips *trips, const struct gmt_timeline *tl, size_t i)
{
    size_t end = i + 1;

    while (end < trips->count && compare_lines(tl, &trips->trips[i], &trips->trips[end]) == 0) {
        end++;
    }
    return end - i;
}

double gmt_trip_host_ns(const struct gmt_timeline *tl, const struct gmt_trip *trip)
{
    const struct gmt_tl_copy *down = &tl->copies[trip->down], *up = &tl->copies[trip->up];
    int64_t from = down->call.end_ns;

    if (!down->blocking && down->device_end_ns != GMT_NO_TIME && down->device_end_ns > from) {
        from = down->device_end_ns;
    }
    return fmax(0, (double)(up->call.begin_ns - from));
}

bool gmt_trip_is_quick(const struct gmt_timeline *tl, const struct gmt_trip *trip)
{
    double bytes = (double)tl->copies[trip->down].bytes;

    return tl->simulated ||
           gmt_trip_host_ns(tl, trip) <= GMT_HOST_STEP_NS + GMT_HOST_STEP_NS_PER_BYTE * bytes;
}

size_t gmt_first_launch_after(const struct gmt_timeline *tl, int64_t at_ns)
{
    size_t low = 0, high = tl->launch_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tl->launches[middle].call.begin_ns < at_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
