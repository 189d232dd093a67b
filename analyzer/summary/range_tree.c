/* SPDX-License-Identifier: Apache-2.0 */
/* Which paths of ranges become nodes of a report, and in which order. */
#include "analyzer/summary/range_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/summary/range_sums.h"

/* ---- which ------------------------------------------------------------------------------------- */

static int by_weight(const void *a, const void *b, void *rows)
{
    const struct gmt_range_path *paths = rows;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    double of_x = gmt_range_node_weight(&paths[x].sums),
           of_y = gmt_range_node_weight(&paths[y].sums);

    return of_x < of_y ? 1 : of_x > of_y ? -1 : (x > y) - (x < y);
}

/* Marks the path and those around it, unless there are too many then. */
static void take(const struct gmt_range_paths *paths, int32_t path, bool *taken, size_t *count)
{
    size_t more = 0;

    for (int32_t at = path; at >= 0 && !taken[at]; at = paths->rows[at].sums.parent) {
        more++;
    }
    if (*count + more > GMT_RANGE_NODES_MOST) {
        return;
    }
    *count += more;
    for (int32_t at = path; at >= 0 && !taken[at]; at = paths->rows[at].sums.parent) {
        taken[at] = true;
    }
}

/* The largest ones. The caller frees; NULL: no memory. */
static bool *choose(const struct gmt_range_paths *paths)
{
    bool *taken = calloc(paths->count + 1, sizeof(*taken));
    int32_t *order = malloc((paths->count + 1) * sizeof(*order));
    size_t count = 0;

    if (taken == NULL || order == NULL) {
        free(taken);
        free(order);
        return NULL;
    }
    for (size_t i = 0; i < paths->count; i++) {
        order[i] = (int32_t)i;
    }
    qsort_r(order, paths->count, sizeof(*order), by_weight, paths->rows);
    for (size_t i = 0; i < paths->count && count < GMT_RANGE_NODES_MOST; i++) {
        take(paths, order[i], taken, &count);
    }
    free(order);
    return taken;
}

int gmt_range_tree_limit(struct gmt_range_paths *paths)
{
    if (paths->count <= GMT_RANGE_NODES_MOST) {
        return 0;
    }
    if (paths->timeline->simulated) {
        gmt_range_sums_add_calls(paths, paths->timeline); /* there are no other weights */
    }
    bool *taken = choose(paths);
    int rc = taken != NULL ? gmt_range_paths_narrow(paths, taken) : -ENOMEM;

    free(taken);
    return rc;
}

/* ---- the order ---------------------------------------------------------------------------------- */

/* Of each path, and of what is around all, with index 0: the largest one inside, and the next smaller one beside it; 0: none. */
struct links {
    int32_t *first, *next;
};

static int smallest_first(const void *a, const void *b, void *rows)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    const struct gmt_range_path *paths = rows;

    if (paths[x].sums.others != paths[y].sums.others) {
        return paths[x].sums.others ? -1 : 1;
    }
    return -by_weight(a, b, rows);
}

static int link_paths(const struct gmt_range_paths *paths, const struct links *links)
{
    int32_t *order = malloc((paths->count + 1) * sizeof(*order));

    if (order == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < paths->count; i++) {
        order[i] = (int32_t)i;
    }
    qsort_r(order, paths->count, sizeof(*order), smallest_first, paths->rows);
    for (size_t i = 0; i < paths->count; i++) {
        int32_t parent = paths->rows[order[i]].sums.parent + 1;

        links->next[order[i] + 1] = links->first[parent];
        links->first[parent] = order[i] + 1;
    }
    free(order);
    return 0;
}

/* From outside to inside: each node before those in it. `written`: of each path, where. */
static void write_nodes(const struct gmt_range_paths *paths, const struct links *links,
                        int32_t *written, const struct gmt_range_row *rows,
                        struct gmt_report *report)
{
    int32_t at = links->first[0];

    while (at > 0) {
        const struct gmt_range_path *path = &paths->rows[at - 1];
        struct gmt_range_node *node = &report->range_nodes[report->range_node_count];

        *node = path->sums;
        node->parent = node->parent >= 0 ? written[node->parent] : -1;
        node->label = node->others ? NULL : rows[path->group].label;
        written[at - 1] = (int32_t)report->range_node_count++;
        if (links->first[at] > 0) {
            at = links->first[at];
            continue;
        }
        while (at > 0 && links->next[at] == 0) {
            at = paths->rows[at - 1].sums.parent + 1;
        }
        at = links->next[at];
    }
}

int gmt_range_tree_report(const struct gmt_range_paths *paths, const struct gmt_range_row *rows,
                          struct gmt_report *report)
{
    size_t count = paths->count + 1;
    int32_t *indices = calloc(3 * count, sizeof(*indices));
    struct links links = {indices, indices + count};
    int rc = indices != NULL ? link_paths(paths, &links) : -ENOMEM;

    if (rc == 0) {
        report->range_nodes = gmt_arena_alloc(report->arena, count * sizeof(*report->range_nodes));
        rc = report->range_nodes != NULL ? 0 : -ENOMEM;
    }
    if (rc == 0) {
        write_nodes(paths, &links, indices + 2 * count, rows, report);
    }
    free(indices);
    return rc;
}
