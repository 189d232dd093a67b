/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the host ranges of copies, and prices pinning each of them. */
#include "analyzer/rules/common/pinning.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price.h"
#include "analyzer/rules/common/copy_group.h"

static int compare_addresses(const void *a, const void *b, void *timeline)
{
    const struct gmt_timeline *tl = timeline;
    uint64_t x = gmt_copy_host_address(&tl->copies[*(const size_t *)a]);
    uint64_t y = gmt_copy_host_address(&tl->copies[*(const size_t *)b]);

    return (x > y) - (x < y);
}

/* fmin and fmax ignore a NAN: what the model lacks does not decide. */
static void add_range(const struct gmt_model *model, double bytes, struct gmt_pinning *pinning)
{
    double registered = gmt_curve_at(&model->register_unregister, bytes);
    double allocated = gmt_curve_at(&model->pin_unpin, bytes);

    pinning->least_ns += gmt_known(fmin(registered, allocated));
    pinning->most_ns += gmt_known(fmax(registered, allocated));
    pinning->bytes += bytes;
    pinning->ranges++;
}

/* Whether what begins at `from` is another buffer than the range up to `limit`. Rows of one buffer may have
 * padding between them; blocks of malloc's own pages may lie as near. */
static bool is_apart(uint64_t limit, uint64_t from)
{
    if (from <= limit || from - limit > GMT_PAGE_BYTES) {
        return from > limit;
    }
    return from % GMT_PAGE_BYTES == GMT_MALLOC_HEADER_BYTES &&
           from / GMT_PAGE_BYTES != (limit - 1) / GMT_PAGE_BYTES;
}

struct gmt_pinning gmt_pinning_cost(const struct gmt_analysis *analysis, size_t *members, size_t n)
{
    struct gmt_pinning pinning = {0};

    qsort_r(members, n, sizeof(*members), compare_addresses, (void *)(uintptr_t)analysis->timeline);
    for (size_t i = 0, end; i < n; i = end) {
        uint64_t begin = gmt_copy_host_address(&analysis->timeline->copies[members[i]]);
        uint64_t limit = begin;

        for (end = i; end < n; end++) {
            const struct gmt_tl_copy *copy = &analysis->timeline->copies[members[end]];
            uint64_t from = gmt_copy_host_address(copy);

            /* Addresses may be any: neither sum is to wrap. The first copy always belongs to its range. */
            if (is_apart(limit, from)) {
                break;
            }
            uint64_t bytes = (uint64_t)copy->bytes;
            uint64_t to = bytes < UINT64_MAX - from ? from + bytes : UINT64_MAX;
            if (to > limit) {
                limit = to;
            }
        }
        add_range(analysis->model, (double)(limit - begin), &pinning);
    }
    return pinning;
}

const char gmt_pinning_once_why[] =
    "pinning a buffer that is copied once costs more than it saves, "
    "unless it is allocated page-locked";

bool gmt_pinning_is_for_once(const struct gmt_pinning *pinning, double copied_bytes)
{
    return copied_bytes < GMT_EXCESS_RATIO * pinning->bytes;
}

static uint64_t device_address(const struct gmt_tl_copy *copy)
{
    return copy->direction == GMT_DIR_H2D ? copy->dst : copy->src;
}

static int compare_device_addresses(const void *a, const void *b, void *timeline)
{
    const struct gmt_timeline *tl = timeline;
    uint64_t x = device_address(&tl->copies[*(const size_t *)a]);
    uint64_t y = device_address(&tl->copies[*(const size_t *)b]);

    return (x > y) - (x < y);
}

double gmt_copies_device_bytes(const struct gmt_timeline *tl, size_t *members, size_t n)
{
    double sum = 0;
    uint64_t limit = 0;

    qsort_r(members, n, sizeof(*members), compare_device_addresses, (void *)(uintptr_t)tl);
    for (size_t i = 0; i < n; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[members[i]];
        uint64_t from = device_address(copy), bytes = (uint64_t)copy->bytes;
        uint64_t to = bytes < UINT64_MAX - from ? from + bytes : UINT64_MAX;

        if (to > limit) {
            sum += (double)(to - (from > limit ? from : limit));
            limit = to;
        }
    }
    return sum;
}

const char *gmt_pinning_once(struct gmt_analysis *analysis, const struct gmt_pinning *pinning)
{
    return pinning->ranges > 1 ? gmt_text(analysis, "once each: %zu buffers", pinning->ranges)
                               : "once";
}
