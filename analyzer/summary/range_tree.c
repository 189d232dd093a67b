/* SPDX-License-Identifier: Apache-2.0 */
/* Which paths of ranges become nodes of a report, in which order, and what the rest adds up to. */
#include "analyzer/summary/range_tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"

/* What a report gets, while it is chosen. A root stands for what is around all, with index 0. */
struct choice {
    const struct gmt_range_paths *paths;
    int32_t
        *node_of; /* of each path: index of its node, that of the root being 0; -1: it has none */
    struct gmt_range_node *nodes;
    int32_t *groups;         /* of each node */
    int32_t *others;         /* of each node: that of the others inside of it; 0: none */
    int32_t *process_others; /* [0]: the same for ranges of the process, with none around */
    int32_t *first,
        *next; /* of each node: its largest one inside; the next smaller one beside it; 0: none */
    size_t count;
};

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

/* ---- the rest ----------------------------------------------------------------------------------- */

static int32_t add_node(struct choice *choice, int32_t parent, int32_t group, bool of_process)
{
    int32_t index = (int32_t)choice->count++;

    choice->nodes[index] = (struct gmt_range_node){
        .parent = parent, .depth = choice->nodes[parent].depth + 1, .of_process = of_process};
    choice->groups[index] = group;
    return index;
}

static int32_t others_of(struct choice *choice, int32_t parent, bool of_process)
{
    int32_t *others = parent == 0 && of_process ? choice->process_others : &choice->others[parent];

    if (*others == 0) {
        *others = add_node(choice, parent, -1, of_process);
        choice->nodes[*others].others = true;
    }
    return *others;
}

/* NAN: not known of one of them; what is known of others counts. */
static double plus(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

/* All of it is the others' own, as they have nothing inside that is shown. */
static void add_to_others(struct gmt_range_node *others, const struct gmt_range_node *sums,
                          bool is_first)
{
    others->threads = sums->threads > others->threads ? sums->threads : others->threads;
    others->host_ns = is_first ? sums->host_ns : plus(others->host_ns, sums->host_ns);
    others->host_self_ns = others->host_ns;
    others->device_ns = is_first ? sums->device_ns : plus(others->device_ns, sums->device_ns);
    others->device_self_ns = others->device_ns;
    others->idle_ns = is_first ? sums->idle_ns : plus(others->idle_ns, sums->idle_ns);
    others->launches += sums->launches;
    others->copies += sums->copies;
    others->h2d_bytes += sums->h2d_bytes;
    others->d2h_bytes += sums->d2h_bytes;
    others->allocated_bytes += sums->allocated_bytes;
    others->held_bytes += sums->held_bytes;
    others->findings += sums->findings;
    others->best_ns += sums->best_ns;
}

/* Paths come behind those around them. */
static void make_nodes(struct choice *choice, const bool *taken)
{
    const struct gmt_range_paths *paths = choice->paths;

    for (size_t i = 0; i < paths->count; i++) {
        const struct gmt_range_path *row = &paths->rows[i];
        const struct gmt_range_node *sums = &row->sums;
        int32_t parent = sums->parent >= 0 ? choice->node_of[sums->parent] : 0;

        if (taken[i] && !sums->others) {
            int32_t node = add_node(choice, parent, row->group, sums->of_process);
            int32_t depth = choice->nodes[node].depth;

            choice->nodes[node] = *sums;
            choice->nodes[node].parent = parent;
            choice->nodes[node].depth = depth;
            choice->node_of[i] = node;
            continue;
        }
        /* Inside of others, what there is has been added with what is around it. */
        bool inside = choice->nodes[parent].others;
        int32_t others = inside ? parent : others_of(choice, parent, sums->of_process);

        if (!inside) {
            add_to_others(&choice->nodes[others], sums, choice->nodes[others].count == 0);
        }
        choice->nodes[others].count += sums->count;
        choice->node_of[i] = others;
    }
}

/* ---- the order ---------------------------------------------------------------------------------- */

static int smallest_first(const void *a, const void *b, void *nodes)
{
    const struct gmt_range_node *x = (const struct gmt_range_node *)nodes + *(const int32_t *)a;
    const struct gmt_range_node *y = (const struct gmt_range_node *)nodes + *(const int32_t *)b;

    if (x->others != y->others) {
        return x->others ? -1 : 1;
    }
    double of_x = gmt_range_node_weight(x), of_y = gmt_range_node_weight(y);
    return of_x > of_y ? 1 : of_x < of_y ? -1 : (x < y) - (x > y);
}

static int link_nodes(struct choice *choice)
{
    int32_t *order = malloc(choice->count * sizeof(*order));

    if (order == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < choice->count; i++) {
        order[i] = (int32_t)i;
    }
    qsort_r(order, choice->count, sizeof(*order), smallest_first, choice->nodes);
    for (size_t i = 0; i < choice->count; i++) {
        int32_t node = order[i];

        if (node > 0) {
            choice->next[node] = choice->first[choice->nodes[node].parent];
            choice->first[choice->nodes[node].parent] = node;
        }
    }
    free(order);
    return 0;
}

/* From outside to inside: each node before those in it. */
static void write_nodes(struct choice *choice, const struct gmt_range_row *rows,
                        struct gmt_report *report)
{
    int32_t *written =
        choice->node_of; /* no more needed; of each node now: its index in the report */
    int32_t node = choice->first[0];

    while (node > 0) {
        int32_t parent = choice->nodes[node].parent;
        struct gmt_range_node *to = &report->range_nodes[report->range_node_count];

        *to = choice->nodes[node];
        to->parent = parent > 0 ? written[parent] : -1;
        to->depth--;
        to->label = choice->groups[node] >= 0 ? rows[choice->groups[node]].label : NULL;
        written[node] = (int32_t)report->range_node_count++;
        for (; choice->first[node] == 0 && choice->next[node] == 0 && node > 0;) {
            node = choice->nodes[node].parent;
            choice->first[node] = 0;
        }
        node = choice->first[node] > 0 ? choice->first[node] : choice->next[node];
    }
}

int gmt_range_tree_report(const struct gmt_range_paths *paths, const struct gmt_range_row *rows,
                          struct gmt_report *report)
{
    size_t most = 2 * paths->count +
                  3; /* each, others inside of each and of the root, and the root */
    int32_t *indices = calloc(5 * most + 1, sizeof(*indices));
    struct choice choice = {.paths = paths,
                            .node_of = indices,
                            .groups = indices + most,
                            .others = indices + 2 * most,
                            .first = indices + 3 * most,
                            .next = indices + 4 * most,
                            .process_others = indices + 5 * most,
                            .nodes = calloc(most, sizeof(*choice.nodes)),
                            .count = 1};
    bool *taken = choose(paths);
    int rc = indices != NULL && choice.nodes != NULL && taken != NULL ? 0 : -ENOMEM;

    if (rc == 0) {
        make_nodes(&choice, taken);
        rc = link_nodes(&choice);
    }
    if (rc == 0) {
        report->range_nodes = gmt_arena_alloc(report->arena,
                                              choice.count * sizeof(*report->range_nodes));
        rc = report->range_nodes != NULL ? 0 : -ENOMEM;
    }
    if (rc == 0) {
        write_nodes(&choice, rows, report);
    }
    free(taken);
    free(indices);
    free(choice.nodes);
    return rc;
}
