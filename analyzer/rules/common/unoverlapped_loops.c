/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts the timeline into steps at the copies of one place, and sums up what each engine does in them. */
#include "analyzer/rules/common/unoverlapped_loops.h"

#include <errno.h>
#include <math.h>

#include "analyzer/memory/trips.h"

int gmt_loop_covers_make(struct gmt_loop_covers *covers, const struct gmt_timeline *tl)
{
    *covers = (struct gmt_loop_covers){0};
    if (gmt_cover_make(&covers->uploads, tl, GMT_COVER_UPLOADS) != 0 ||
        gmt_cover_make(&covers->readbacks, tl, GMT_COVER_READBACKS) != 0 ||
        gmt_cover_make(&covers->kernels, tl, GMT_COVER_KERNELS) != 0) {
        return -ENOMEM;
    }
    return gmt_cover_make(&covers->any, tl,
                          GMT_COVER_UPLOADS | GMT_COVER_READBACKS | GMT_COVER_KERNELS);
}

void gmt_loop_covers_free(struct gmt_loop_covers *covers)
{
    gmt_cover_free(&covers->uploads);
    gmt_cover_free(&covers->readbacks);
    gmt_cover_free(&covers->kernels);
    gmt_cover_free(&covers->any);
}

/* Where the step ends that this copy is alone in. */
static int64_t end_of_single(const struct gmt_timeline *tl, const struct gmt_tl_copy *copy)
{
    size_t next = gmt_first_launch_after(tl, copy->call.begin_ns);
    int64_t end = copy->device_end_ns;

    if (next == tl->launch_count || tl->launches[next].device_end_ns == GMT_NO_TIME) {
        return end;
    }
    int64_t kernel = tl->launches[next].device_end_ns;
    end = kernel > end ? kernel : end;
    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *one = &tl->copies[i];

        if (one->direction == GMT_DIR_D2H && one->device_start_ns != GMT_NO_TIME &&
            one->device_start_ns >= kernel) {
            return one->device_end_ns;
        }
    }
    return end;
}

static void add_step(struct gmt_loop_sums *sums, const struct gmt_loop_covers *covers,
                     int64_t begin_ns, int64_t end_ns)
{
    double uploads = gmt_cover_within(&covers->uploads, begin_ns, end_ns);
    double readbacks = gmt_cover_within(&covers->readbacks, begin_ns, end_ns);
    double kernels = gmt_cover_within(&covers->kernels, begin_ns, end_ns);

    sums->uploads += uploads;
    sums->readbacks += readbacks;
    sums->kernels += kernels;
    sums->any += gmt_cover_within(&covers->any, begin_ns, end_ns);
    sums->longest += fmax(kernels, fmax(uploads, readbacks));
}

static bool gets(const struct gmt_launch_rows *rows, const struct gmt_tl_launch *launch,
                 size_t index, int64_t allocation)
{
    for (size_t k = rows->first[index]; launch->argument_set != 0 && k < rows->argument_count &&
                                        rows->arguments[k].set == launch->argument_set;
         k++) {
        if (rows->arguments[k].allocation == allocation) {
            return true;
        }
    }
    return false;
}

void gmt_loop_look_at_launches(struct gmt_loop *loop, const struct gmt_timeline *tl,
                               const struct gmt_launch_rows *rows)
{
    const struct gmt_tl_copy *copy = &tl->copies[loop->members[0]];
    int64_t allocation = copy->direction == GMT_DIR_H2D ? copy->dst_allocation
                                                        : copy->src_allocation;

    loop->known = true;
    for (size_t i = 0; i < tl->launch_count; i++) {
        const struct gmt_tl_launch *launch = &tl->launches[i];

        if (launch->device_start_ns == GMT_NO_TIME ||
            launch->device_start_ns < loop->span.begin_ns ||
            launch->device_end_ns > loop->span.end_ns) {
            continue;
        }
        if (loop->launches++ == 0) {
            loop->launch = i;
        }
        loop->known &= launch->arguments_complete;
        loop->shared |= gets(rows, launch, i, allocation);
    }
}

void gmt_loop_measure(struct gmt_loop *loop, const struct gmt_timeline *tl,
                      const struct gmt_loop_covers *covers)
{
    const struct gmt_tl_copy *first = &tl->copies[loop->members[0]];
    const struct gmt_tl_copy *last = &tl->copies[loop->members[loop->n - 1]];
    int64_t begin = first->device_start_ns, end = loop->n > 1 ? 0 : end_of_single(tl, last);

    if (loop->n > 1) {
        int64_t mean = (last->device_start_ns - begin) / (int64_t)(loop->n - 1);

        end = last->device_start_ns + mean;
    }
    for (size_t i = 0; i < loop->n; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[loop->members[i]];
        int64_t next = i + 1 < loop->n ? tl->copies[loop->members[i + 1]].device_start_ns : end;

        loop->own_ns += (double)(copy->device_end_ns - copy->device_start_ns);
        add_step(&loop->sums, covers, copy->device_start_ns, next);
    }
    loop->span = (struct gmt_interval){begin, end};
}

int gmt_loop_relays(const struct gmt_timeline *tl, bool *relayed)
{
    struct gmt_trips trips;
    int rc = gmt_trips_find(&trips, tl);

    for (size_t i = 0; rc == 0 && i < trips.count; i++) {
        relayed[trips.trips[i].down] = relayed[trips.trips[i].up] = true;
    }
    gmt_trips_free(&trips);
    return rc;
}
