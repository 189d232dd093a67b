/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict and the tables of a report: sums over a trace, before any rule has spoken. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/intervals.h"
#include "analyzer/model/occupancy.h"
#include "analyzer/price/price.h"
#include "analyzer/summary/summary.h"
#include "analyzer/trace/own_time.h"

/* Upper limits of the size classes of copies. */
static const double buckets[] = {256.0, 4096.0, 65536.0, 1048576.0, 16.0 * 1048576.0, INFINITY};
enum { BUCKETS = sizeof(buckets) / sizeof(buckets[0]) };

struct copy_sums {
    struct gmt_transfer_row row[GMT_DIR_COUNT][GMT_MEM_CLASS_COUNT][BUCKETS];
};

static size_t bucket_of(double bytes)
{
    size_t i = 0;

    while (i + 1 < BUCKETS && bytes > buckets[i]) {
        i++;
    }
    return i;
}

static void add_row(struct gmt_transfer_row *to, const struct gmt_transfer_row *row)
{
    to->count += row->count;
    to->bytes += row->bytes;
    to->time_ns += row->time_ns;
}

static int fill_copies(const struct gmt_timeline *tl, struct gmt_report *report)
{
    struct copy_sums *sums = calloc(1, sizeof(*sums));

    if (sums == NULL) {
        return -ENOMEM;
    }
    report->copy_ns = gmt_timeline_is_untimed(tl) ? NAN : 0;
    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];
        size_t bucket = bucket_of((double)copy->bytes);
        double cost_ns = gmt_copy_cost_ns(tl, copy);

        add_row(&sums->row[copy->direction][copy->host_class][bucket],
                &(struct gmt_transfer_row){
                    .count = 1, .bytes = (double)copy->bytes, .time_ns = cost_ns});
        /* What the model has no figure for is in none of its sums. */
        report->copy_ns += tl->modelled ? gmt_known(cost_ns) : cost_ns;
    }
    for (unsigned i = 0; i < GMT_DIR_COUNT; i++) {
        unsigned d = (i + 1) % GMT_DIR_COUNT; /* unknown ones last */

        for (size_t c = 0; c < GMT_MEM_CLASS_COUNT; c++) {
            struct gmt_transfer_row total = {.direction = gmt_name_direction(d),
                                             .host_class = gmt_name_mem_class((unsigned)c),
                                             .bucket_bytes = INFINITY};

            for (size_t b = 0; b < BUCKETS; b++) {
                struct gmt_transfer_row *row = &sums->row[d][c][b], *slot;

                if (row->count == 0) {
                    continue;
                }
                add_row(&total, row);
                row->direction = total.direction;
                row->host_class = total.host_class;
                row->bucket_bytes = buckets[b];
                slot = GMT_PUSH(report->arena, report->copy_rows, report->copy_row_count);
                if (slot != NULL) {
                    *slot = *row;
                }
            }
            struct gmt_transfer_row *slot = total.count > 0
                                                ? GMT_PUSH(report->arena, report->copy_totals,
                                                           report->copy_total_count)
                                                : NULL;
            if (slot != NULL) {
                *slot = total;
            }
        }
    }
    free(sums);
    return 0;
}

static int compare_kernels(const void *a, const void *b)
{
    const struct gmt_kernel_row *x = a, *y = b;
    double p = isnan(x->device_ns) ? -1 : x->device_ns, q = isnan(y->device_ns) ? -1 : y->device_ns;

    if (p < q || p > q) {
        return p < q ? 1 : -1;
    }
    if (x->launches != y->launches) {
        return x->launches < y->launches ? 1 : -1;
    }
    return strcmp(x->name, y->name);
}

static double ways(struct gmt_shared_access shared)
{
    return shared.ideal > 0 ? shared.wavefronts / shared.ideal : NAN;
}

static double efficiency(struct gmt_access access)
{
    return access.sectors > 0 ? 100 * access.bytes / (32 * access.sectors) : NAN;
}

static void fill_counters(struct gmt_arena *arena, const struct gmt_tl_class *class,
                          struct gmt_kernel_row *row)
{
    static const char *const names[GMT_METRICS] = {
#define GMT_METRIC(id, name, group, cupti_name, unit, meaning) #name,
#include "libtrace/metrics.def"
#undef GMT_METRIC
    };
    struct gmt_report_counter *counters = NULL;

    for (size_t i = 0; i < GMT_METRICS; i++) {
        struct gmt_report_counter *counter = isnan(class->counter[i])
                                                 ? NULL
                                                 : GMT_PUSH(arena, counters, row->counter_count);

        if (counter != NULL) {
            *counter = (struct gmt_report_counter){names[i], class->counter[i]};
        }
    }
    row->counters = counters;
}

static void fill_kernel(struct gmt_arena *arena, const struct gmt_timeline *tl,
                        const struct gmt_tl_class *class, struct gmt_kernel_row *row)
{
    const double *c = class->counter;
    struct gmt_work work = gmt_work_of_class(tl, class);
    double local = c[GMT_M_local_load_requests] + c[GMT_M_local_store_requests];
    double others = c[GMT_M_global_load_requests] + c[GMT_M_global_store_requests] +
                    c[GMT_M_shared_load_requests] + c[GMT_M_shared_store_requests];

    row->name = class->name != NULL ? class->name : "unnamed kernel";
    row->class_id = class->id;
    for (int i = 0; i < 3; i++) {
        row->grid[i] = class->grid[i];
        row->block[i] = class->block[i];
    }
    row->launches = class->launches;
    row->in_graphs = class->in_graphs + class->steps;
    row->measured = class->measured;
    row->device_ns = gmt_class_device_ns(class);
    row->by_cycles = class->by_cycles;
    row->estimated = class->estimated;
    row->estimated_error_ns = class->estimated_error_ns;
    row->share = row->device_ns / gmt_timeline_wall_ns(tl);
    row->load_efficiency = efficiency(gmt_access_of_loads(class));
    row->store_efficiency = efficiency(gmt_access_of_stores(class));
    row->shared_ways = fmax(ways(gmt_shared_loads(class)), ways(gmt_shared_stores(class)));
    row->achieved_occupancy = c[GMT_M_achieved_occupancy_percent] / 100;
    row->theoretical_occupancy = class->theoretical_occupancy;
    row->local_share = local + others > 0 ? local / (local + others) : NAN;
    row->dram_bytes_per_s = work.dram_bytes * 1e9 / class->median_ns;
    row->registers = class->shown.registers;
    row->static_shared_bytes = class->shown.static_shared_bytes;
    row->dynamic_shared_bytes = class->shown.dynamic_shared_bytes;
    row->local_bytes = class->shown.local_bytes;
    row->max_threads_per_block = class->shown.max_threads_per_block;
    fill_counters(arena, class, row);
    row->occupancy = gmt_occupancy_report(arena, tl, class);
}

static void fill_kernels(const struct gmt_timeline *tl, struct gmt_report *report)
{
    report->kernel_ns = NAN;
    for (size_t i = 0; i < tl->class_count; i++) {
        const struct gmt_tl_class *class = &tl->classes[i];
        struct gmt_kernel_row *row;

        if (class->launches == 0) {
            continue;
        }
        report->kernel_classes++;
        report->measured_classes += class->measured > 0;
        report->measured_launches += (uint64_t) class->measured;
        if (!isnan(class->total_ns)) {
            report->kernel_ns = (isnan(report->kernel_ns) ? 0 : report->kernel_ns) +
                                gmt_class_device_ns(class);
        }
        row = GMT_PUSH(report->arena, report->kernels, report->kernel_count);
        if (row != NULL) {
            fill_kernel(report->arena, tl, class, row);
        }
    }
    if (report->kernel_count > 1) {
        qsort(report->kernels, report->kernel_count, sizeof(*report->kernels), compare_kernels);
    }
}

int gmt_verdict_fill(const struct gmt_timeline *tl, struct gmt_report *report)
{
    const struct gmt_tl_device *device = &tl->device;

    report->tool_version = GMT_VERSION;
    report->command = tl->command;
    report->exe = tl->exe;
    report->hostname = tl->hostname;
    report->end_reason = tl->end_reason;
    report->device_name = device->name;
    report->device_uuid = device->uuid;
    report->driver_version = device->driver_version;
    if (device->compute_major > 0) {
        report->compute_capability = gmt_arena_text(
            report->arena, "%d.%d", (int)device->compute_major, (int)device->compute_minor);
    }
    report->simulated = tl->simulated;
    report->modelled = tl->modelled;
    report->modelled_ns = tl->modelled ? (double)tl->modelled_end_ns : NAN;
    gmt_details_fill(tl, report);
    report->wall_ns = gmt_timeline_wall_ns(tl);
    report->recorded_ns = gmt_timeline_recorded_ns(tl);
    report->own_ns = tl->own_ns;
    gmt_device_seen_fill(tl, report);
    report->transfers = tl->copy_count;
    report->launches = tl->launch_count;
    fill_kernels(tl, report);
    return fill_copies(tl, report);
}
