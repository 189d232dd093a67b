/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up in a timeline: call sites, kernel classes, launches, and what the device was busy with. */
#include "analyzer/trace/timeline.h"

#include <stdlib.h>

uint64_t gmt_timeline_site(const struct gmt_timeline *tl, int64_t stack_id, uint64_t caller)
{
    size_t low = 0, high = tl->stack_site_count;

    if (stack_id <= 0) {
        return caller;
    }
    /* Ids are given out one by one: most stand where their number says. */
    if ((uint64_t)stack_id <= high && tl->stack_sites[stack_id - 1].stack_id == stack_id) {
        return tl->stack_sites[stack_id - 1].site;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tl->stack_sites[middle].stack_id < stack_id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < tl->stack_site_count && tl->stack_sites[low].stack_id == stack_id) {
        return tl->stack_sites[low].site;
    }
    return caller;
}

static int compare_classes(const void *a, const void *b)
{
    const struct gmt_tl_class *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

int32_t gmt_timeline_class(const struct gmt_timeline *tl, int64_t id)
{
    struct gmt_tl_class key = {.id = id};

    if (id > 0 && (uint64_t)id <= tl->class_count && tl->classes[id - 1].id == id) {
        return (int32_t)(id - 1); /* as above */
    }
    const struct gmt_tl_class *found = bsearch(&key, tl->classes, tl->class_count,
                                               sizeof(*tl->classes), compare_classes);

    return found != NULL ? (int32_t)(found - tl->classes) : -1;
}

const struct gmt_tl_launch *gmt_timeline_launch(const struct gmt_timeline *tl, int64_t id)
{
    size_t low = 0, high = tl->launch_ids != NULL ? tl->launch_count : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tl->launch_ids[middle][0] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return tl->launch_ids != NULL && low < tl->launch_count && tl->launch_ids[low][0] == id
               ? &tl->launches[tl->launch_ids[low][1]]
               : NULL;
}

int64_t gmt_timeline_wait_ns(const struct gmt_timeline *tl, int64_t at_ns)
{
    size_t low = 0, high = tl->pending_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tl->pending[middle].begin_ns <= at_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0 || tl->pending[low - 1].busy_until_ns <= at_ns) {
        return 0;
    }
    return tl->pending[low - 1].busy_until_ns - at_ns;
}
