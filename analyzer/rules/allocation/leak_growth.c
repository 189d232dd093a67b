/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the program, or an allocator of its own, asks for all through the run and keeps. How far the run has come is counted in
 * launches: the first ones take longer, as code is loaded and kernels are measured.
 */
#include "analyzer/rules/allocation/leak_growth.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/advice.h"
#include "analyzer/memory/trips.h"
#include "analyzer/rules/allocation/growth_places.h"
#include "libtrace/base/format.h"

enum { QUARTERS = 4 };

struct growth_change {
    int64_t at_ns, bytes;
};

/* Of one device, from the first launch of the program to the last: segments of an allocator, or all other allocations. */
struct growth {
    const struct gmt_memory *memory;
    bool segments;
    int64_t device, end_ns;
    struct growth_change *changes; /* by time: what was made and freed until the end */
    int64_t *kept;                 /* the least that is held from the change on until the end */
    size_t change_count;
    int64_t bounds[QUARTERS + 1]; /* of equally many launches, from the first to the last growth */
    int64_t level[QUARTERS + 1];  /* of `kept` there */
    size_t *rows;                 /* that the finding is about: oldest first */
    size_t row_count;
    double bytes; /* of these */
};

static bool belongs(const struct growth *growth, const struct gmt_memory_row *row)
{
    return row->segment == growth->segments && !row->host && row->bytes > 0 &&
           row->device_id == growth->device;
}

/* What the program itself frees after the last launch is no leak, however it came to be. */
static bool stays(const struct growth *growth, const struct gmt_memory_row *row)
{
    return belongs(growth, row) && (growth->segments ? gmt_memory_freed_ns(row) > growth->end_ns
                                                     : row->free_begin_ns == GMT_NO_TIME);
}

static int compare_changes(const void *a, const void *b)
{
    const struct growth_change *x = a, *y = b;

    if (x->at_ns != y->at_ns) {
        return x->at_ns < y->at_ns ? -1 : 1;
    }
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static void find_changes(struct growth *growth)
{
    const struct gmt_memory *memory = growth->memory;
    int64_t held = 0;
    size_t n = 0;

    for (size_t i = 0; i < memory->count; i++) {
        const struct gmt_memory_row *row = &memory->rows[i];

        if (!belongs(growth, row) || row->lives_ns > growth->end_ns) {
            continue;
        }
        growth->changes[n++] = (struct growth_change){row->lives_ns, row->bytes};
        if (!stays(growth, row)) {
            int64_t freed_ns = gmt_memory_freed_ns(row);

            growth->changes[n++] = (struct growth_change){
                freed_ns < growth->end_ns ? freed_ns : growth->end_ns, -row->bytes};
        }
    }
    growth->change_count = n;
    qsort(growth->changes, n, sizeof(*growth->changes), compare_changes);
    for (size_t i = 0; i < n; i++) {
        held += growth->changes[i].bytes;
        growth->kept[i] = held;
    }
    for (size_t i = n; i-- > 1;) {
        growth->kept[i - 1] = growth->kept[i] < growth->kept[i - 1] ? growth->kept[i]
                                                                    : growth->kept[i - 1];
    }
}

/* What is held at that time and stays until the end. */
static int64_t level_at(const struct growth *growth, int64_t at_ns)
{
    size_t low = 0, high = growth->change_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (growth->changes[middle].at_ns <= at_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? growth->kept[low - 1] : 0;
}

/* False: what is held has been at its level for too many launches, or there was never anything. */
static bool find_quarters(struct growth *growth)
{
    const struct gmt_timeline *tl = growth->memory->timeline;
    size_t last = 0;

    if (growth->change_count == 0) {
        return false;
    }
    while (growth->kept[last] < growth->kept[growth->change_count - 1]) {
        last++;
    }
    size_t until = gmt_first_launch_after(tl, growth->changes[last].at_ns + 1);
    if ((double)until < GMT_GROWTH_LAST_SHARE * (double)tl->launch_count) {
        return false;
    }
    for (size_t q = 0; q < QUARTERS; q++) {
        growth->bounds[q] = tl->launches[q * until / QUARTERS].call.begin_ns;
    }
    growth->bounds[QUARTERS] = growth->changes[last].at_ns;
    for (size_t q = 0; q <= QUARTERS; q++) {
        growth->level[q] = level_at(growth, growth->bounds[q]);
    }
    return true;
}

static size_t made_between(const struct growth *growth, int64_t after_ns, int64_t until_ns)
{
    const struct gmt_memory *memory = growth->memory;
    size_t n = 0;

    for (size_t i = 0; i < memory->count; i++) {
        const struct gmt_memory_row *row = &memory->rows[i];

        n += stays(growth, row) && row->lives_ns > after_ns && row->lives_ns <= until_ns;
    }
    return n;
}

/* The first quarter is warm-up: caches fill, and whatever is made once. */
static bool goes_on(const struct growth *growth)
{
    double mean = (double)(growth->level[QUARTERS] - growth->level[1]) / (QUARTERS - 1);

    for (size_t q = 1; q < QUARTERS; q++) {
        double grown = (double)(growth->level[q + 1] - growth->level[q]);

        if (!(grown > 0) || grown < GMT_GROWTH_EVEN_SHARE * mean ||
            made_between(growth, growth->bounds[q], growth->bounds[q + 1]) < GMT_GROWTH_MIN_COUNT) {
            return false;
        }
    }
    return true;
}

/* What grew after the first quarter, and in that one as much as in a mean one after it: the rest was made once. */
static double grown_bytes(const struct growth *growth)
{
    double after = (double)(growth->level[QUARTERS] - growth->level[1]);
    double first = (double)(growth->level[1] - growth->level[0]);

    return after + fmin(fmax(first, 0), after / (QUARTERS - 1));
}

/* The newest that make up the growth. */
static void choose_rows(struct growth *growth)
{
    const struct gmt_memory *memory = growth->memory;
    double most = grown_bytes(growth);
    size_t n = 0;

    for (size_t i = memory->count; i-- > 0;) {
        const struct gmt_memory_row *row = &memory->rows[i];

        if (stays(growth, row) && row->lives_ns > growth->bounds[0] &&
            row->lives_ns <= growth->bounds[QUARTERS] &&
            growth->bytes + (double)row->bytes <= most) {
            growth->bytes += (double)row->bytes;
            growth->rows[n++] = i;
        }
    }
    growth->row_count = n;
    for (size_t i = 0; i < n / 2; i++) {
        size_t row = growth->rows[i];

        growth->rows[i] = growth->rows[n - 1 - i];
        growth->rows[n - 1 - i] = row;
    }
}

/* How much lower the peak of the device would be without these rows. NAN: no memory. */
static double saved_bytes(const struct growth *growth, struct gmt_memory_peak *peak)
{
    const struct gmt_memory *memory = growth->memory;
    struct gmt_interval *lives = gmt_memory_lives(memory);
    struct gmt_memory_peak after;

    for (size_t i = 0; lives != NULL && i < memory->count; i++) {
        if (memory->rows[i].device_id != growth->device) {
            lives[i].end_ns = lives[i].begin_ns;
        }
    }
    int rc = lives != NULL ? gmt_memory_peak(memory, lives, false, peak) : -ENOMEM;
    for (size_t i = 0; rc == 0 && i < growth->row_count; i++) {
        lives[growth->rows[i]].end_ns = lives[growth->rows[i]].begin_ns;
    }
    rc = rc == 0 ? gmt_memory_peak(memory, lives, false, &after) : rc;
    free(lives);
    return rc == 0 ? (double)(peak->bytes - after.bytes) : NAN;
}

/* Kernels say what lies in the segments; whose tensors these are is better to know than who asked for more when it was full. */
static int name_place(struct gmt_analysis *analysis, const struct growth *growth,
                      struct gmt_finding *finding)
{
    char bytes[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];
    struct gmt_growth_place maker, holder;
    int rc = gmt_growth_maker(analysis, growth->rows, growth->row_count, &maker);

    if (rc == 0) {
        rc = gmt_growth_holder(analysis, growth->rows, growth->row_count, growth->end_ns, &holder);
    }
    if (rc != 0) {
        return rc;
    }
    /* Less than half of it: what lies there is mostly in use, or not known. */
    bool idle = holder.all_bytes > growth->bytes / 2;
    const struct gmt_growth_place *named = idle ? &holder : &maker;

    finding->where = named->where;
    gmt_finding_evidence(finding, "of_this_place", "bytes", named->bytes);
    if (idle) {
        gmt_finding_evidence(finding, "idle", "bytes", holder.all_bytes);
    }
    finding->headline = gmt_text(
        analysis,
        idle ? "device memory grows until the end: +%s in %s %s; what lies idle in "
               "them was mostly last used at %s"
             : "device memory grows until the end: +%s in %s %s, mostly made at %s",
        gmt_format_bytes(bytes, growth->bytes), gmt_format_count(count, (double)growth->row_count),
        growth->segments ? "segments" : "allocations", named->where.label);
    return 0;
}

static const char *rows_sql(struct gmt_analysis *analysis, const struct growth *growth)
{
    int64_t *ids = calloc(growth->row_count + 1, sizeof(*ids));
    const struct gmt_memory_row *first = &growth->memory->rows[growth->rows[0]];
    const char *condition = gmt_text(analysis, "end_ns BETWEEN %" PRId64 " AND %" PRId64 "%s",
                                     first->lives_ns, growth->bounds[QUARTERS],
                                     growth->segments ? "" : " AND free_begin_ns IS NULL");

    for (size_t i = 0; ids != NULL && i < growth->row_count; i++) {
        ids[i] = growth->memory->rows[growth->rows[i]].id;
    }
    if (ids != NULL) {
        condition = gmt_id_condition(analysis, "id", ids, growth->row_count, condition);
    }
    free(ids);
    return gmt_text(analysis, "SELECT count(*), sum(bytes) FROM allocation WHERE %s", condition);
}

static void describe(struct gmt_analysis *analysis, const struct growth *growth, double saved,
                     const struct gmt_memory_peak *peak, struct gmt_finding *finding)
{
    const struct gmt_report *report = analysis->report;
    bool scarce = report->failure_count > 0 ||
                  saved >= GMT_PEAK_DEVICE_SHARE * report->memory_bytes;

    gmt_finding_evidence(finding, "allocations", "count", (double)growth->row_count);
    gmt_finding_evidence(finding, "bytes", "bytes", growth->bytes);
    gmt_finding_evidence(finding, "grown_after_warm_up", "bytes",
                         (double)(growth->level[QUARTERS] - growth->level[1]));
    gmt_finding_evidence(finding, "grown_in_all", "bytes",
                         (double)(growth->level[QUARTERS] - growth->level[0]));
    gmt_finding_evidence(finding, "saved_peak", "bytes", saved);
    gmt_finding_evidence(finding, "peak", "bytes", (double)peak->bytes);
    finding->saved_peak_bytes = saved;
    finding->saved_peak_of = "device memory";
    finding->severity = scarce ? GMT_SEVERITY_MEDIUM : GMT_SEVERITY_LOW;
    finding->sql = rows_sql(analysis, growth);
    finding->method =
        "no time is saved; the peak of device memory without what it grew by after "
        "the first quarter of the launches, and in that quarter at most as much as in "
        "a mean one after it";
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = "Find what keeps them, a list or a cache without a limit, and free each after "
                   "its last use; or keep only the values that are read later.";
    gmt_finding_advise_as(analysis, finding, &finding->where, GMT_ADVICE_GROWTH);
}

/* 1: there is a finding; 0: there is none; -ENOMEM or -EIO. */
static int judge(struct gmt_analysis *analysis, struct growth *growth)
{
    struct gmt_memory_peak peak = {0};

    find_changes(growth);
    if (!find_quarters(growth) || !goes_on(growth)) {
        return 0;
    }
    choose_rows(growth);
    double saved = saved_bytes(growth, &peak);
    if (growth->row_count == 0 ||
        !(saved >= fmax(GMT_PEAK_MIN_BYTES, GMT_PEAK_MIN_SHARE * (double)peak.bytes))) {
        return 0;
    }
    struct gmt_finding *finding = gmt_finding_new(analysis);
    int rc = finding != NULL ? name_place(analysis, growth, finding) : -ENOMEM;
    if (rc != 0) {
        return rc;
    }
    describe(analysis, growth, saved, &peak, finding);
    gmt_finding_emit(analysis, finding);
    return 1;
}

/* The device after `device` in the order of ids that has such rows; INT64_MAX: there is none. */
static int64_t next_device(const struct gmt_memory *memory, bool segments, int64_t device)
{
    int64_t next = INT64_MAX;

    for (size_t i = 0; i < memory->count; i++) {
        const struct gmt_memory_row *row = &memory->rows[i];

        if (row->segment == segments && !row->host && row->device_id > device &&
            row->device_id < next) {
            next = row->device_id;
        }
    }
    return next;
}

int gmt_leak_growth(struct gmt_analysis *analysis, bool segments)
{
    const struct gmt_memory *memory = analysis->memory;
    const struct gmt_timeline *tl = analysis->timeline;
    int found = 0;

    if (tl->launch_count == 0) {
        return 0;
    }
    struct growth_change *changes = calloc(2 * memory->count + 1, sizeof(*changes));
    int64_t *kept = calloc(2 * memory->count + 1, sizeof(*kept));
    size_t *rows = calloc(memory->count + 1, sizeof(*rows));
    int rc = changes != NULL && kept != NULL && rows != NULL ? 0 : -ENOMEM;
    for (int64_t device = next_device(memory, segments, INT64_MIN); rc >= 0 && device != INT64_MAX;
         device = next_device(memory, segments, device)) {
        struct growth growth = {.memory = memory,
                                .segments = segments,
                                .device = device,
                                .end_ns = tl->launches[tl->launch_count - 1].call.begin_ns,
                                .changes = changes,
                                .kept = kept,
                                .rows = rows};

        rc = judge(analysis, &growth);
        found += rc == 1;
    }
    free(changes);
    free(kept);
    free(rows);
    return rc < 0 ? rc : found;
}
