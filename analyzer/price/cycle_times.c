/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles of multiprocessors to device times (cycle_times.h). */
#include "analyzer/price/cycle_times.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "libtrace/record/checked.h"

static double cycles_of(const struct gmt_tl_class *class)
{
    double cycles = class->counter[GMT_M_sm_cycles_active_max];

    return cycles > 0 ? cycles : NAN;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Cycles per ns by the classes that have both; NAN where they are too few. */
static double clock_of_trace(const struct gmt_timeline *tl)
{
    double *clocks = calloc(tl->class_count + 1, sizeof(*clocks)), clock = NAN;
    size_t n = 0;

    for (size_t i = 0; clocks != NULL && i < tl->class_count; i++) {
        const struct gmt_tl_class *class = &tl->classes[i];
        double cycles = cycles_of(class);

        if (class->timed > 0 && !(class->faults_ns > 0) && class->median_ns >= GMT_CYCLES_MIN_NS &&
            isfinite(cycles)) {
            clocks[n++] = cycles / (class->median_ns - GMT_CYCLES_EDGE_NS);
        }
    }
    if (n >= GMT_CYCLES_MIN_CLASSES) {
        qsort(clocks, n, sizeof(*clocks), compare);
        clock = (clocks[(n - 1) / 2] + clocks[n / 2]) / 2;
    }
    free(clocks);
    return clock;
}

static double clock_of_model(const struct gmt_timeline *tl, const struct gmt_model *model)
{
    double clock = model->shared_wavefronts_per_s / (1e9 * (double)tl->device.sm_count);

    return model->provenance >= GMT_MODEL_SHIPPED && clock > 0 ? clock : NAN;
}

void gmt_cycle_times(struct gmt_timeline *tl, const struct gmt_model *model)
{
    double clock = clock_of_trace(tl);

    if (isnan(clock)) {
        clock = clock_of_model(tl, model);
    }
    for (size_t i = 0; !tl->simulated && isfinite(clock) && i < tl->class_count; i++) {
        struct gmt_tl_class *class = &tl->classes[i];
        double cycles = cycles_of(class);

        if (class->launches == 0 || class->timed > 0 || isnan(cycles)) {
            continue;
        }
        double ns = cycles / clock + GMT_CYCLES_EDGE_NS;
        double faults_ns = class->faults_ns / fmax(1, (double)class->alone);
        /* No kernel took longer than the run: such counters, or such a clock, are damaged. */
        if (!(ns * (double)class->launches <= gmt_timeline_recorded_ns(tl))) {
            continue;
        }
        class->median_ns = fmax(0, ns - faults_ns);
        class->total_ns = class->median_ns * (double)class->launches;
        class->by_cycles = true;
        class->is_faults = class->faults_ns > 0 && class->faults_ns >= class->total_ns;
    }
}

int64_t gmt_cycle_times_end(const struct gmt_tl_class *class, const struct gmt_tl_launch *launch)
{
    return class->by_cycles ? launch->call.begin_ns + gmt_integer_clamped(class->median_ns)
                            : GMT_NO_TIME;
}
