/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of device activity over any span, from one pass over the timeline. */
#include "analyzer/trace/cover.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/intervals.h"

static void push(struct gmt_cover *cover, int64_t start, int64_t end)
{
    if (start != GMT_NO_TIME && end != GMT_NO_TIME && end > start) {
        cover->parts[cover->n++] = (struct gmt_interval){start, end};
    }
}

static unsigned kinds_of(const struct gmt_tl_copy *copy)
{
    if (copy->host_class != GMT_MEM_PINNED) {
        return GMT_COVER_COPIES;
    }
    return copy->direction == GMT_DIR_H2D   ? GMT_COVER_COPIES | GMT_COVER_UPLOADS
           : copy->direction == GMT_DIR_D2H ? GMT_COVER_COPIES | GMT_COVER_READBACKS
                                            : GMT_COVER_COPIES;
}

/* It was made for as many parts as there are launches and copies. */
static void shrink(struct gmt_cover *cover)
{
    struct gmt_interval *parts = realloc(cover->parts, (cover->n + 1) * sizeof(*parts));

    cover->parts = parts != NULL ? parts : cover->parts;
}

static int make(struct gmt_cover *cover, const struct gmt_timeline *tl, unsigned kinds)
{
    size_t capacity = tl->launch_count + tl->copy_count + tl->off_count + 1;

    *cover = (struct gmt_cover){.parts = calloc(capacity, sizeof(*cover->parts))};
    if (cover->parts == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; (kinds & GMT_COVER_KERNELS) != 0 && i < tl->launch_count; i++) {
        push(cover, tl->launches[i].device_start_ns, tl->launches[i].device_end_ns);
    }
    /* Kernels may have run where nothing is known of them: what is said to be open is open. */
    for (size_t i = 0; (kinds & GMT_COVER_KERNELS) != 0 && i < tl->off_count; i++) {
        push(cover, tl->off[i].begin_ns, tl->off[i].end_ns);
    }
    for (size_t i = 0; i < tl->copy_count; i++) {
        if ((kinds & kinds_of(&tl->copies[i])) != 0) {
            push(cover, tl->copies[i].device_start_ns, tl->copies[i].device_end_ns);
        }
    }
    cover->n = gmt_intervals_merge(cover->parts, cover->n);
    shrink(cover);
    cover->before = calloc(cover->n + 1, sizeof(*cover->before));
    if (cover->before == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < cover->n; i++) {
        cover->before[i + 1] = cover->before[i] +
                               (double)(cover->parts[i].end_ns - cover->parts[i].begin_ns);
    }
    return 0;
}

int gmt_cover_make(struct gmt_cover *cover, const struct gmt_timeline *tl, unsigned kinds)
{
    if (kinds == GMT_COVER_KERNELS && tl->kernels != NULL) {
        *cover = *tl->kernels;
        cover->is_shared = true;
        return 0;
    }
    return make(cover, tl, kinds);
}

int gmt_cover_keep_kernels(struct gmt_timeline *tl)
{
    struct gmt_cover *kernels = malloc(sizeof(*kernels));
    int rc = kernels != NULL ? make(kernels, tl, GMT_COVER_KERNELS) : -ENOMEM;

    tl->kernels = kernels;
    return rc;
}

void gmt_cover_forget_kernels(struct gmt_timeline *tl)
{
    if (tl->kernels != NULL) {
        gmt_cover_free(tl->kernels);
    }
    free(tl->kernels);
    tl->kernels = NULL;
}

void gmt_cover_free(struct gmt_cover *cover)
{
    if (!cover->is_shared) {
        free(cover->parts);
        free(cover->before);
    }
    *cover = (struct gmt_cover){0};
}

/* How many parts begin at or before at_ns: of those up to high, and at least low. */
static size_t parts_until(const struct gmt_cover *cover, size_t low, size_t high, int64_t at_ns)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (cover->parts[middle].begin_ns <= at_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The same of an instant that is not far behind the first `low` parts. */
static size_t parts_from(const struct gmt_cover *cover, size_t low, int64_t at_ns)
{
    size_t step = 1;

    while (low + step < cover->n && cover->parts[low + step].begin_ns <= at_ns) {
        low += step;
        step *= 2;
    }
    return parts_until(cover, low, low + step < cover->n ? low + step : cover->n, at_ns);
}

/* Length of the parts before at_ns; n of them begin at or before it. */
static double length_before(const struct gmt_cover *cover, size_t n, int64_t at_ns)
{
    if (n == 0) {
        return 0;
    }
    const struct gmt_interval *part = &cover->parts[n - 1];
    int64_t end = part->end_ns < at_ns ? part->end_ns : at_ns;
    return cover->before[n - 1] + (double)(end - part->begin_ns);
}

double gmt_cover_within(const struct gmt_cover *cover, int64_t begin_ns, int64_t end_ns)
{
    if (end_ns <= begin_ns) {
        return 0;
    }
    size_t before = parts_until(cover, 0, cover->n, begin_ns);
    size_t until = parts_from(cover, before, end_ns);
    return length_before(cover, until, end_ns) - length_before(cover, before, begin_ns);
}
