/* SPDX-License-Identifier: Apache-2.0 */
/* The largest holders are named, the rest are counted. */
#include "analyzer/holders/snapshot_holders.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/where.h"
#include "analyzer/holders/snapshot_match.h"

enum { MOST_LISTED = 20 };

static int compare_holders(const void *a, const void *b)
{
    const struct gmt_snapshot_holder *x = a, *y = b;

    if (x->bytes < y->bytes || x->bytes > y->bytes) {
        return x->bytes < y->bytes ? 1 : -1;
    }
    return strcmp(x->label, y->label);
}

/* Sorts them and keeps the largest; `all` may be freed then. */
static int keep_largest(struct gmt_arena *arena, struct gmt_snapshot_holder *all, size_t n,
                        struct gmt_snapshot_holders *holders)
{
    size_t kept = n < MOST_LISTED ? n : MOST_LISTED;

    if (n > 1) {
        qsort(all, n, sizeof(*all), compare_holders);
    }
    *holders = (struct gmt_snapshot_holders){
        .list = gmt_arena_alloc(arena, (kept + 1) * sizeof(*holders->list)), .count = kept};
    if (holders->list == NULL) {
        return -ENOMEM;
    }
    memcpy(holders->list, all, kept * sizeof(*all));
    for (size_t i = kept; i < n; i++) {
        holders->rest_bytes += all[i].bytes;
        holders->rest_count += all[i].count;
        holders->rest_places += 1;
    }
    return 0;
}

static const char *label_of(struct gmt_arena *arena, const struct gmt_snapshot_place *place)
{
    const char *slash = place->file != NULL ? strrchr(place->file, '/') : NULL;
    const char *base = slash != NULL ? slash + 1 : place->file;

    if (base != NULL && place->line > 0) {
        return gmt_arena_text(arena, "%s:%" PRId64, base, place->line);
    }
    return base != NULL ? base : place->function;
}

int gmt_snapshot_hold_places(struct gmt_arena *arena, const struct gmt_torch_snapshot *snapshot,
                             const double *bytes, const double *counts,
                             struct gmt_snapshot_holders *holders)
{
    struct gmt_snapshot_holder *all = calloc(snapshot->place_count + 1, sizeof(*all));
    size_t n = 0;

    if (all == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i <= snapshot->place_count; i++) {
        if (!(counts[i] > 0)) {
            continue;
        }
        all[n] = (struct gmt_snapshot_holder){
            .label = "place not recorded", .bytes = bytes[i], .count = counts[i]};
        if (i < snapshot->place_count) {
            const struct gmt_snapshot_place *place = &snapshot->places[i];

            all[n].label = label_of(arena, place);
            all[n].function = place->function;
            all[n].file = place->file;
            all[n].line = place->line;
        }
        n++;
    }
    int rc = keep_largest(arena, all, n, holders);

    free(all);
    return rc;
}

/* ---- allocations outside of segments -------------------------------------------------------------- */

/* An allocation and where it was made. */
struct site_row {
    uint64_t site;
    size_t row;
};

static int compare_rows(const void *a, const void *b)
{
    const struct site_row *x = a, *y = b;

    if (x->site != y->site) {
        return x->site < y->site ? -1 : 1;
    }
    return (x->row > y->row) - (x->row < y->row);
}

/* Memory whose device is not known counts to the first one. */
static bool is_other(const struct gmt_analysis *analysis, const struct gmt_memory_row *row,
                     int64_t at_ns, int64_t device)
{
    bool several = analysis->timeline->device_count > 1;

    return !row->host && row->bytes > 0 && row->lives_ns <= at_ns &&
           gmt_memory_freed_ns(row) > at_ns &&
           gmt_snapshot_match_row(analysis->snapshot, row) == NULL &&
           (!several || (row->device_id > 0 ? row->device_id : 0) == device);
}

struct gmt_snapshot_holder gmt_snapshot_holder_of(struct gmt_analysis *analysis,
                                                  const struct gmt_memory_row *row)
{
    struct gmt_tl_call call = gmt_memory_call(analysis->memory, row);
    struct gmt_where where = gmt_where_of_call(analysis, &call);
    const char *function, *library = gmt_where_library(&where, &function);

    if (library != NULL) {
        return (struct gmt_snapshot_holder){.label = library};
    }
    if (where.function == NULL && where.file == NULL && where.module == NULL) {
        return (struct gmt_snapshot_holder){.label = "place not recorded"};
    }
    return (struct gmt_snapshot_holder){
        .label = where.label, .function = where.function, .file = where.file, .line = where.line};
}

static int compare_labels(const void *a, const void *b)
{
    const struct gmt_snapshot_holder *x = a, *y = b;

    return strcmp(x->label, y->label);
}

static bool is_same_name(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* One holder per label, in place; returns how many are left. */
static size_t merge_labels(struct gmt_snapshot_holder *all, size_t n)
{
    size_t kept = 0;

    if (n > 1) {
        qsort(all, n, sizeof(*all), compare_labels);
    }
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && strcmp(all[kept - 1].label, all[i].label) == 0) {
            all[kept - 1].bytes += all[i].bytes;
            all[kept - 1].count += all[i].count;
            if (!is_same_name(all[kept - 1].name, all[i].name)) {
                all[kept - 1].name = NULL;
            }
        } else {
            all[kept++] = all[i];
        }
    }
    return kept;
}

int gmt_snapshot_hold_all(struct gmt_arena *arena, struct gmt_snapshot_holder *all, size_t n,
                          struct gmt_snapshot_holders *holders)
{
    return keep_largest(arena, all, merge_labels(all, n), holders);
}

int gmt_snapshot_hold_others(struct gmt_analysis *analysis, int64_t at_ns, int64_t device,
                             struct gmt_snapshot_holders *holders, double *total)
{
    const struct gmt_memory *memory = analysis->memory;
    struct site_row *rows = calloc(memory->count + 1, sizeof(*rows));
    struct gmt_snapshot_holder *all = calloc(memory->count + 1, sizeof(*all));
    size_t n = 0, sites = 0;
    int rc = -ENOMEM;

    *total = 0;
    if (rows == NULL || all == NULL) {
        goto out;
    }
    for (size_t i = 0; i < memory->count; i++) {
        if (is_other(analysis, &memory->rows[i], at_ns, device)) {
            rows[n++] = (struct site_row){memory->rows[i].site, i};
        }
    }
    if (n > 1) {
        qsort(rows, n, sizeof(*rows), compare_rows);
    }
    for (size_t i = 0; i < n; i++) {
        const struct gmt_memory_row *row = &memory->rows[rows[i].row];

        if (i == 0 || rows[i].site != rows[i - 1].site) {
            all[sites++] = gmt_snapshot_holder_of(analysis, row);
        }
        all[sites - 1].bytes += (double)row->bytes;
        all[sites - 1].count += 1;
        *total += (double)row->bytes;
    }
    rc = keep_largest(analysis->report->arena, all, merge_labels(all, sites), holders);
out:
    free(rows);
    free(all);
    return rc;
}
