/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator registers many heaps under one name: they are one row of the report. */
#include "analyzer/holders/heap_names.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/holders/region_peaks.h"
#include "analyzer/trace/query.h"

enum { MOST_NAMED = 20 };

/* Of a heap; ids are rows of `string`, 0: none. */
struct heap_label {
    int64_t domain, name;
    size_t heap; /* its index */
};

/* Heaps of one label lie side by side. */
struct label_group {
    int64_t domain, name;
    size_t peak; /* its index */
    double count, region_bytes, slack_bytes;
};

struct label_work {
    struct gmt_analysis *analysis;
    const struct gmt_heaps *heaps;
    struct heap_label *labels;
    struct label_group *groups;
    struct gmt_region_peak *peaks; /* as find_groups orders groups */
    size_t *group_of;              /* of each heap */
    size_t group_count;
};

bool gmt_heaps_is_on(const struct gmt_memory *memory, int64_t device_id, int64_t device)
{
    bool several = memory->timeline->device_count > 1;

    return device_id >= -1 && (device_id > 0 && several ? device_id : 0) == device;
}

static int compare_heap_labels(const void *a, const void *b)
{
    const struct heap_label *x = a, *y = b;

    if (x->domain != y->domain) {
        return x->domain < y->domain ? -1 : 1;
    }
    if (x->name != y->name) {
        return x->name < y->name ? -1 : 1;
    }
    return (x->heap > y->heap) - (x->heap < y->heap);
}

/* Both the rows and the heaps are in the order of their ids; a heap without a row has no label. */
static int find_labels(struct label_work *work)
{
    const struct gmt_heaps *heaps = work->heaps;
    struct gmt_query query;
    int rc = gmt_query_open(&query, work->analysis->timeline->db,
                            "SELECT id, domain_id, name_id FROM heap ORDER BY id");
    size_t at = 0;

    for (size_t i = 0; i < heaps->heap_count; i++) {
        work->labels[i].heap = i;
    }
    while (rc == 0 && at < heaps->heap_count && gmt_query_next(&query)) {
        int64_t id = gmt_query_id(&query, 0);

        while (at < heaps->heap_count && heaps->heaps[at].id < id) {
            at++;
        }
        if (at < heaps->heap_count && heaps->heaps[at].id == id) {
            work->labels[at].domain = gmt_query_id(&query, 1);
            work->labels[at].name = gmt_query_id(&query, 2);
        }
    }
    return gmt_query_close(&query, rc);
}

static void find_groups(struct label_work *work)
{
    size_t n = work->heaps->heap_count;

    qsort(work->labels, n, sizeof(*work->labels), compare_heap_labels);
    for (size_t i = 0; i < n; i++) {
        const struct heap_label *label = &work->labels[i];

        if (i == 0 || label->domain != label[-1].domain || label->name != label[-1].name) {
            work->groups[work->group_count] = (struct label_group){
                .domain = label->domain, .name = label->name, .peak = work->group_count};
            work->group_count += 1;
        }
        work->group_of[label->heap] = work->group_count - 1;
    }
}

/* Of each group the first moment at which its regions on the device held most. */
static int find_peaks(struct label_work *work, int64_t device)
{
    const struct gmt_heaps *heaps = work->heaps;
    struct gmt_grouped_region *regions = calloc(heaps->region_count + 1, sizeof(*regions));
    size_t n = 0;

    if (regions == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < heaps->region_count; i++) {
        const struct gmt_heap_row *region = &heaps->regions[i];
        const struct gmt_heap_row *heap = gmt_heaps_find(heaps, region->heap_id);

        if (heap != NULL && region->until_ns > region->begin_ns &&
            gmt_heaps_is_on(work->analysis->memory, region->device_id, device)) {
            regions[n++] = (struct gmt_grouped_region){work->group_of[heap - heaps->heaps], region};
        }
    }
    int rc = gmt_region_peaks_find(regions, n, work->peaks, work->group_count);
    free(regions);
    return rc;
}

static void add_shares(struct label_work *work, const struct gmt_heap_share *shares)
{
    for (size_t i = 0; i < work->heaps->heap_count; i++) {
        struct label_group *group = &work->groups[work->group_of[i]];

        group->count += shares[i].is_there;
        group->region_bytes += shares[i].region_bytes;
        group->slack_bytes += shares[i].slack_bytes;
    }
}

static double held_by(const struct label_group *group)
{
    return group->region_bytes + group->slack_bytes;
}

static int compare_groups(const void *a, const void *b)
{
    const struct label_group *x = a, *y = b;
    double more = held_by(y) - held_by(x);

    if (more > 0 || more < 0) {
        return more > 0 ? 1 : -1;
    }
    if (x->domain != y->domain) {
        return x->domain < y->domain ? -1 : 1;
    }
    return (x->name > y->name) - (x->name < y->name);
}

static int read_text(struct gmt_analysis *analysis, int64_t id, const char **text)
{
    char sql[64];
    struct gmt_query query;

    (void)snprintf(sql, sizeof(sql), "SELECT text FROM string WHERE id = %" PRId64, id);
    int rc = gmt_query_open(&query, analysis->timeline->db, sql);
    if (rc == 0 && gmt_query_next(&query)) {
        *text = gmt_query_text(&query, 0, analysis->report->arena);
    }
    return gmt_query_close(&query, rc);
}

static int list_group(struct label_work *work, const struct label_group *group,
                      struct gmt_heaps_device *device)
{
    struct gmt_analysis *analysis = work->analysis;
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_region_peak *peak = &work->peaks[group->peak];
    struct gmt_heaps_named *to = GMT_PUSH(analysis->report->arena, device->named,
                                          device->named_count);

    if (to == NULL) {
        return -ENOMEM;
    }
    *to = (struct gmt_heaps_named){.count = group->count,
                                   .held_bytes = held_by(group),
                                   .region_bytes = group->region_bytes,
                                   .peak_bytes = peak->bytes,
                                   .peak_at_ns = tl->simulated || peak->at_ns == GMT_NO_TIME
                                                     ? NAN
                                                     : (double)(peak->at_ns - tl->start_ns)};
    int rc = read_text(analysis, group->name, &to->name);
    return rc == 0 ? read_text(analysis, group->domain, &to->domain) : rc;
}

static int list_groups(struct label_work *work, struct gmt_heaps_device *device)
{
    int rc = 0;

    qsort(work->groups, work->group_count, sizeof(*work->groups), compare_groups);
    for (size_t i = 0; rc == 0 && i < work->group_count; i++) {
        const struct label_group *group = &work->groups[i];

        if (!(group->count > 0)) {
            continue;
        }
        if (device->named_count < MOST_NAMED) {
            rc = list_group(work, group, device);
        } else {
            device->rest_names += 1;
            device->rest_heaps += group->count;
            device->rest_held_bytes += held_by(group);
            device->rest_region_bytes += group->region_bytes;
        }
    }
    return rc;
}

int gmt_heaps_hold_names(struct gmt_analysis *analysis, const struct gmt_heap_share *shares,
                         struct gmt_heaps_device *device)
{
    const struct gmt_heaps *heaps = &analysis->memory->heaps;
    size_t room = heaps->heap_count + 1;
    struct label_work work = {.analysis = analysis,
                              .heaps = heaps,
                              .labels = calloc(room, sizeof(*work.labels)),
                              .groups = calloc(room, sizeof(*work.groups)),
                              .peaks = calloc(room, sizeof(*work.peaks)),
                              .group_of = calloc(room, sizeof(*work.group_of))};
    int rc = work.labels != NULL && work.groups != NULL && work.peaks != NULL &&
                     work.group_of != NULL
                 ? 0
                 : -ENOMEM;

    if (rc == 0) {
        rc = find_labels(&work);
    }
    if (rc == 0) {
        find_groups(&work);
        rc = find_peaks(&work, device->device);
    }
    if (rc == 0) {
        add_shares(&work, shares);
        rc = list_groups(&work, device);
    }
    free(work.labels);
    free(work.groups);
    free(work.peaks);
    free(work.group_of);
    return rc;
}
