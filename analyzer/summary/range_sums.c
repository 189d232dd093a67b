/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the calls in ranges, by path: launches and their time on the device, copies, memory, and findings. */
#include "analyzer/summary/range_sums.h"

#include <math.h>

/* A kernel's own time where it was not counted meanwhile, else that of its class. NAN: not known. */
static double kernel_ns(const struct gmt_timeline *tl, const struct gmt_tl_launch *launch)
{
    bool is_timed = !tl->simulated && launch->device_start_ns != GMT_NO_TIME &&
                    launch->device_end_ns >= launch->device_start_ns &&
                    (!launch->measured || launch->repeated);

    if (is_timed) {
        return (double)(launch->device_end_ns - launch->device_start_ns);
    }
    return launch->class_index >= 0 && !gmt_timeline_is_untimed(tl)
               ? tl->classes[launch->class_index].median_ns
               : NAN;
}

/* Of the paths just visited. */
static void add_device(struct gmt_range_paths *paths, size_t visited, double ns)
{
    for (size_t i = 0; i < visited && !isnan(ns); i++) {
        struct gmt_range_path *row = &paths->rows[paths->visited[i].path];

        row->is_timed = true;
        row->sums.device_ns += ns;
        row->sums.device_self_ns += i == 0 ? ns : 0;
    }
}

static void add_launches(struct gmt_range_paths *paths, const struct gmt_timeline *tl)
{
    bool by_kernel = tl->node_count + tl->unknown_nodes > 0;

    for (size_t i = 0; i < tl->launch_count; i++) {
        const struct gmt_tl_launch *launch = &tl->launches[i];
        size_t visited = gmt_range_paths_visit(paths, launch->call.thread, launch->call.begin_ns);

        for (size_t k = 0; k < visited; k++) {
            paths->rows[paths->visited[k].path].sums.launches++;
        }
        if (!launch->is_graph || !by_kernel) {
            add_device(paths, visited, kernel_ns(tl, launch));
        }
    }
    for (size_t i = 0; i < tl->node_count && !tl->simulated; i++) {
        const struct gmt_tl_node *node = &tl->nodes[i];
        const struct gmt_tl_launch *launch = gmt_timeline_launch(tl, node->launch_id);

        if (launch != NULL && node->device_end_ns >= node->device_start_ns) {
            size_t visited = gmt_range_paths_visit(paths, launch->call.thread,
                                                   launch->call.begin_ns);

            add_device(paths, visited, (double)(node->device_end_ns - node->device_start_ns));
        }
    }
}

static void add_copies(struct gmt_range_paths *paths, const struct gmt_timeline *tl)
{
    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];
        size_t visited = gmt_range_paths_visit(paths, copy->call.thread, copy->call.begin_ns);

        for (size_t k = 0; k < visited; k++) {
            struct gmt_range_node *sums = &paths->rows[paths->visited[k].path].sums;

            sums->copies++;
            sums->h2d_bytes += copy->direction == GMT_DIR_H2D ? (double)copy->bytes : 0;
            sums->d2h_bytes += copy->direction == GMT_DIR_D2H ? (double)copy->bytes : 0;
        }
    }
}

static void add_allocations(struct gmt_range_paths *paths, const struct gmt_timeline *tl)
{
    for (size_t i = 0; i < tl->allocation_count; i++) {
        const struct gmt_tl_allocation *one = &tl->allocations[i];
        bool is_foreign = one->kind == GMT_ALLOC_IPC || one->kind == GMT_ALLOC_EXTERNAL;
        size_t visited = is_foreign
                             ? 0
                             : gmt_range_paths_visit(paths, one->call.thread, one->call.begin_ns);

        for (size_t k = 0; k < visited; k++) {
            struct gmt_range_node *sums = &paths->rows[paths->visited[k].path].sums;
            int64_t end_ns = paths->all->ranges[paths->visited[k].range].end_ns;
            bool is_held = one->free_begin_ns == GMT_NO_TIME || one->free_begin_ns > end_ns;

            sums->allocated_bytes += (double)one->bytes;
            sums->held_bytes += is_held ? (double)one->bytes : 0;
        }
    }
}

void gmt_range_sums_add_calls(struct gmt_range_paths *paths, const struct gmt_timeline *tl)
{
    bool is_timed = false;

    add_launches(paths, tl);
    add_copies(paths, tl);
    add_allocations(paths, tl);
    for (size_t i = 0; i < paths->count; i++) {
        is_timed |= paths->rows[i].is_timed;
    }
    for (size_t i = 0; i < paths->count; i++) {
        struct gmt_range_path *row = &paths->rows[i];

        row->is_timed |= is_timed && row->sums.launches <= 0;
        if (!row->is_timed) {
            row->sums.device_ns = row->sums.device_self_ns = NAN;
        }
    }
}

/* ---- findings ----------------------------------------------------------------------------------- */

size_t gmt_range_sums_visit(struct gmt_range_paths *paths, const struct gmt_range_claim *claim)
{
    if (claim->range < 0) {
        return 0;
    }
    return gmt_range_paths_visit(paths, paths->all->ranges[claim->range].thread, claim->called_ns);
}

/* Once per path that has more than half of the cost. */
static void add_finding(struct gmt_range_paths *paths, const struct gmt_range_claim *claims,
                        size_t count, double best_ns)
{
    double total_ns = 0;

    for (size_t i = 0; i < count; i++) {
        size_t visited = gmt_range_sums_visit(paths, &claims[i]);

        total_ns += claims[i].ns;
        for (size_t k = 0; k < visited; k++) {
            paths->rows[paths->visited[k].path].cost_ns += claims[i].ns;
        }
    }
    for (size_t i = 0; i < count; i++) {
        size_t visited = gmt_range_sums_visit(paths, &claims[i]);

        for (size_t k = 0; k < visited; k++) {
            struct gmt_range_path *row = &paths->rows[paths->visited[k].path];

            if (row->cost_ns > total_ns / 2) {
                row->sums.findings++;
                row->sums.best_ns += isfinite(best_ns) ? best_ns : 0;
            }
            row->cost_ns = 0;
        }
    }
}

void gmt_range_sums_add_findings(struct gmt_range_paths *paths,
                                 const struct gmt_range_claims *claims,
                                 const struct gmt_report *report)
{
    const struct gmt_range_claim *at = claims->items;

    for (size_t i = 0; at != NULL && i < report->finding_count; i++) {
        size_t count = gmt_range_claims_of(paths->timeline, &report->findings[i]);

        if (report->findings[i].note_why == NULL) {
            add_finding(paths, at, count, report->findings[i].saving.best_ns);
        }
        at += count;
    }
}
