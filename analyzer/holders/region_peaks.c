/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions come and go along a sweep over time. How many addresses they cover is kept in a segment tree over the
 * regions' edges (the measure of a union of intervals: J. L. Bentley, "Algorithms for Klee's rectangle problems", 1977).
 */
#include "analyzer/holders/region_peaks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyzer/trace/timeline.h"

struct region_change {
    int64_t at_ns;
    size_t first, end; /* indexes of edges */
    bool is_end;
};

/* Of the edges of a node's part of the address range. */
struct cover_node {
    size_t open; /* regions that cover this part, and not all of the part above it */
    uint64_t covered_bytes;
};

struct cover {
    int64_t *edges; /* ascending, each once */
    size_t edge_count;
    struct cover_node *nodes; /* 4 an edge; the root is 1, those below i are 2 i and 2 i + 1 */
    struct region_change *changes;
};

static int compare_groups(const void *a, const void *b)
{
    const struct gmt_grouped_region *x = a, *y = b;

    return (x->group > y->group) - (x->group < y->group);
}

static int compare_edges(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Of one moment, what ends comes first. */
static int compare_changes(const void *a, const void *b)
{
    const struct region_change *x = a, *y = b;

    if (x->at_ns != y->at_ns) {
        return x->at_ns < y->at_ns ? -1 : 1;
    }
    return (int)y->is_end - (int)x->is_end;
}

static void find_edges(struct cover *cover, const struct gmt_grouped_region *regions, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        cover->edges[2 * i] = regions[i].region->address;
        cover->edges[2 * i + 1] = regions[i].region->address + regions[i].region->bytes;
    }
    qsort(cover->edges, 2 * n, sizeof(*cover->edges), compare_edges);
    for (size_t i = 0; i < 2 * n; i++) {
        if (kept == 0 || cover->edges[i] != cover->edges[kept - 1]) {
            cover->edges[kept++] = cover->edges[i];
        }
    }
    cover->edge_count = kept;
}

static size_t edge_at(const struct cover *cover, int64_t address)
{
    const int64_t *edge = bsearch(&address, cover->edges, cover->edge_count, sizeof(*cover->edges),
                                  compare_edges);

    return (size_t)(edge - cover->edges);
}

static void find_changes(struct cover *cover, const struct gmt_grouped_region *regions, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct gmt_heap_row *region = regions[i].region;
        size_t first = edge_at(cover, region->address);
        size_t end = edge_at(cover, region->address + region->bytes);

        cover->changes[2 * i] = (struct region_change){region->begin_ns, first, end, false};
        cover->changes[2 * i + 1] = (struct region_change){region->until_ns, first, end, true};
    }
    qsort(cover->changes, 2 * n, sizeof(*cover->changes), compare_changes);
}

/* The part from `low` to `high`, indexes of edges. As deep as the logarithm of their number. */
static void cover_part(struct cover *cover, size_t node, size_t low, size_t high,
                       const struct region_change *change)
{
    struct cover_node *at = &cover->nodes[node];

    if (change->end <= low || change->first >= high) {
        return;
    }
    if (change->first <= low && change->end >= high) {
        at->open = change->is_end ? at->open - 1 : at->open + 1;
    } else {
        size_t middle = low + (high - low) / 2;

        cover_part(cover, 2 * node, low, middle, change);
        cover_part(cover, 2 * node + 1, middle, high, change);
    }
    if (at->open > 0) {
        at->covered_bytes = (uint64_t)(cover->edges[high] - cover->edges[low]);
    } else {
        at->covered_bytes = high - low == 1 ? 0
                                            : cover->nodes[2 * node].covered_bytes +
                                                  cover->nodes[2 * node + 1].covered_bytes;
    }
}

static int find_peak(struct gmt_grouped_region *regions, size_t n, struct gmt_region_peak *peak)
{
    struct cover cover = {.edges = calloc(2 * n, sizeof(*cover.edges)),
                          .changes = calloc(2 * n, sizeof(*cover.changes))};
    int rc = cover.edges != NULL && cover.changes != NULL ? 0 : -ENOMEM;

    if (rc == 0) {
        find_edges(&cover, regions, n);
        find_changes(&cover, regions, n);
        cover.nodes = calloc(4 * cover.edge_count, sizeof(*cover.nodes));
        rc = cover.nodes != NULL ? 0 : -ENOMEM;
    }
    for (size_t i = 0; rc == 0 && i < 2 * n; i++) {
        cover_part(&cover, 1, 0, cover.edge_count - 1, &cover.changes[i]);
        if ((double)cover.nodes[1].covered_bytes > peak->bytes) {
            *peak = (struct gmt_region_peak){(double)cover.nodes[1].covered_bytes,
                                             cover.changes[i].at_ns};
        }
    }
    free(cover.edges);
    free(cover.nodes);
    free(cover.changes);
    return rc;
}

int gmt_region_peaks_find(struct gmt_grouped_region *regions, size_t n,
                          struct gmt_region_peak *peaks, size_t group_count)
{
    int rc = 0;

    for (size_t i = 0; i < group_count; i++) {
        peaks[i] = (struct gmt_region_peak){0, GMT_NO_TIME};
    }
    if (n > 1) {
        qsort(regions, n, sizeof(*regions), compare_groups);
    }
    for (size_t i = 0, end; rc == 0 && i < n; i = end) {
        for (end = i + 1; end < n && regions[end].group == regions[i].group; end++) {
        }
        rc = find_peak(&regions[i], end - i, &peaks[regions[i].group]);
    }
    return rc;
}
