/* SPDX-License-Identifier: Apache-2.0 */
/* Groups copies by the place that makes them, and writes what all findings about such a group say. */
#include "analyzer/rules/common/copy_group.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/kernel_name.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/price/price.h"

enum { STACKS = 16 }; /* that a statement lists: more is no reading matter */

static int compare_kinds(const struct gmt_tl_copy *p, const struct gmt_tl_copy *q)
{
    if (p->call.site != q->call.site) {
        return p->call.site < q->call.site ? -1 : 1;
    }
    if (p->call.api != q->call.api) {
        return p->call.api < q->call.api ? -1 : 1;
    }
    return (p->direction > q->direction) - (p->direction < q->direction);
}

static int compare_members(const void *a, const void *b, void *timeline)
{
    const struct gmt_timeline *tl = timeline;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = compare_kinds(&tl->copies[x], &tl->copies[y]);

    return order != 0 ? order : (x > y) - (x < y);
}

void gmt_copy_groups(struct gmt_analysis *analysis, size_t *members, size_t n,
                     void (*report)(struct gmt_analysis *analysis, size_t *members, size_t n,
                                    void *context),
                     void *context)
{
    const struct gmt_tl_copy *copies = analysis->timeline->copies;

    qsort_r(members, n, sizeof(*members), compare_members, (void *)(uintptr_t)analysis->timeline);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && compare_kinds(&copies[members[i]], &copies[members[end]]) == 0;
             end++) {
        }
        report(analysis, members + i, end - i, context);
    }
}

static size_t add_stack(int64_t *stacks, size_t count, int64_t stack)
{
    for (size_t i = 0; i < count && i < STACKS; i++) {
        if (stacks[i] == stack) {
            return count;
        }
    }
    if (count < STACKS) {
        stacks[count] = stack;
    }
    return count + 1;
}

/* Of the copies and of what else was copied there meanwhile. */
static const char *place_of(struct gmt_analysis *analysis, const size_t *members, size_t n)
{
    const struct gmt_tl_copy *copies = analysis->timeline->copies;
    const struct gmt_tl_copy *first = &copies[members[0]];
    int64_t stacks[STACKS] = {0}, low = first->call.id, high = low;
    size_t count = 0;
    const char *place;

    for (size_t i = 0; i < n; i++) {
        const struct gmt_tl_call *call = &copies[members[i]].call;

        low = call->id < low ? call->id : low;
        high = call->id > high ? call->id : high;
        count = add_stack(stacks, count, call->stack_id);
    }
    place = gmt_text(analysis, "stack_id IN (%" PRId64, stacks[0]);
    for (size_t i = 1; i < count && i < STACKS; i++) {
        place = gmt_text(analysis, "%s, %" PRId64, place, stacks[i]);
    }
    place = gmt_text(analysis, "%s)", place);
    if (first->call.stack_id <= 0 || count > STACKS) {
        place = gmt_call_condition(analysis, first->call.stack_id, (int64_t)first->call.caller);
    }
    return gmt_text(analysis,
                    "(%s AND direction = '%s' AND id BETWEEN %" PRId64 " AND %" PRId64 ")", place,
                    gmt_name_direction(first->direction), low, high);
}

const char *gmt_copy_group_condition(struct gmt_analysis *analysis, const char *column,
                                     const size_t *members, size_t n)
{
    int64_t *ids = calloc(n + 1, sizeof(*ids));
    const char *text;

    for (size_t i = 0; ids != NULL && i < n; i++) {
        ids[i] = analysis->timeline->copies[members[i]].call.id;
    }
    text = gmt_id_condition(analysis, column, ids, n, NULL);
    free(ids);
    if (text != NULL) {
        return text;
    }
    text = place_of(analysis, members, n);
    return strcmp(column, "id") == 0
               ? text
               : gmt_text(analysis, "%s IN (SELECT id FROM transfer WHERE %s)", column, text);
}

const char *gmt_trips_condition(struct gmt_analysis *analysis, const struct gmt_trips *trips,
                                const size_t *members, size_t n)
{
    size_t *copies = calloc(n + 1, sizeof(*copies));
    const char *sides[2] = {"0", "0"};

    for (int side = 0; copies != NULL && side < 2; side++) {
        for (size_t i = 0; i < n; i++) {
            copies[i] = side == 0 ? trips->trips[members[i]].down : trips->trips[members[i]].up;
        }
        sides[side] = gmt_copy_group_condition(analysis, "id", copies, n);
    }
    analysis->report->arena->failed |= copies == NULL;
    free(copies);
    return gmt_text(analysis, "(%s) OR (%s)", sides[0], sides[1]);
}

void gmt_copy_group_fill(struct gmt_analysis *analysis, struct gmt_finding *finding,
                         const size_t *members, size_t n)
{
    const struct gmt_tl_copy *copies = analysis->timeline->copies;
    double bytes = 0;

    for (size_t i = 0; i < n; i++) {
        bytes += (double)copies[members[i]].bytes;
    }
    finding->where = gmt_where_of_call(analysis, &copies[members[0]].call);
    gmt_finding_evidence(finding, "copies", "count", (double)n);
    gmt_finding_evidence(finding, "bytes", "bytes", bytes);
    finding->sql = gmt_text(analysis,
                            "SELECT count(*), sum(bytes), sum(end_ns - begin_ns) FROM transfer "
                            "WHERE %s",
                            gmt_copy_group_condition(analysis, "id", members, n));
}

double gmt_copies_bytes(const struct gmt_timeline *tl)
{
    double sum = 0;

    for (size_t i = 0; i < tl->copy_count; i++) {
        sum += (double)tl->copies[i].bytes;
    }
    return sum;
}

static double open_ns(const struct gmt_cover *kernels, int64_t begin_ns, int64_t end_ns)
{
    return (double)(end_ns - begin_ns) - gmt_cover_within(kernels, begin_ns, end_ns);
}

double gmt_copy_hidden_ns(const struct gmt_timeline *tl, const struct gmt_cover *kernels,
                          const struct gmt_tl_copy *copy)
{
    struct gmt_interval paid = gmt_copy_interval(tl, copy);
    double cost_ns = (double)(paid.end_ns - paid.begin_ns);
    double left_ns = open_ns(kernels, paid.begin_ns, paid.end_ns);

    if (!copy->blocking && copy->device_start_ns != GMT_NO_TIME &&
        copy->device_end_ns != GMT_NO_TIME) {
        left_ns = fmax(open_ns(kernels, copy->call.begin_ns, copy->call.end_ns),
                       open_ns(kernels, copy->device_start_ns, copy->device_end_ns));
    }
    double hidden_ns = cost_ns - left_ns;
    /* Records of two engines overlap a little even where one waits for the other. */
    return tl->simulated || hidden_ns < GMT_MODEL_UNCERTAINTY * cost_ns ? 0 : hidden_ns;
}

double gmt_finding_hidden(struct gmt_analysis *analysis, struct gmt_finding *finding,
                          double hidden_ns, double cost_ns)
{
    char text[GMT_FORMAT_BYTES];

    /* Sums of many times, each rounded: less than a nanosecond is none. */
    if (!(hidden_ns >= 1)) {
        return 1;
    }
    gmt_finding_evidence(finding, "hidden_behind_kernels", "ns", hidden_ns);
    finding->method = gmt_text(analysis,
                               "%s; %s of the time overlap with kernels and save nothing, "
                               "unless the device waits for the host afterwards",
                               finding->method, gmt_format_ns(text, hidden_ns));
    return fmax(0, 1 - hidden_ns / cost_ns);
}

static const char *kernel_name(struct gmt_analysis *analysis, size_t launch)
{
    const struct gmt_timeline *tl = analysis->timeline;
    int32_t class = launch < tl->launch_count ? tl->launches[launch].class_index : -1;
    const char *name = class >= 0 ? tl->classes[class].name : NULL;

    return name != NULL ? gmt_short_kernel_name(analysis->report->arena, name) : "kernel";
}

const char *gmt_kernel_from(struct gmt_analysis *analysis, int64_t at_ns)
{
    return kernel_name(analysis, gmt_first_launch_after(analysis->timeline, at_ns));
}

const char *gmt_kernel_before(struct gmt_analysis *analysis, int64_t at_ns)
{
    /* Before the first one is none: SIZE_MAX. */
    return kernel_name(analysis, gmt_first_launch_after(analysis->timeline, at_ns) - 1);
}

uint64_t gmt_copy_host_address(const struct gmt_tl_copy *copy)
{
    if (copy->direction == GMT_DIR_H2D) {
        return copy->src;
    }
    return copy->direction == GMT_DIR_D2H ? copy->dst : 0;
}

bool gmt_copy_is_blocked_async(const struct gmt_analysis *analysis, const struct gmt_tl_copy *copy)
{
    const struct gmt_timeline *tl = analysis->timeline;

    if (tl->simulated || copy->blocking || copy->host_class != GMT_MEM_PAGEABLE ||
        copy->bytes < GMT_ASYNC_STAGED_BYTES || gmt_copy_host_address(copy) == 0) {
        return false;
    }
    /* An upload returns once its last part is staged, some 20 us before the device has it. */
    if (copy->device_start_ns != GMT_NO_TIME && copy->device_end_ns != GMT_NO_TIME) {
        return (double)(copy->call.end_ns - copy->device_start_ns) >=
               GMT_BLOCKED_SHARE * (double)(copy->device_end_ns - copy->device_start_ns);
    }
    double held_ns = (double)(copy->call.end_ns - copy->call.begin_ns - copy->wait_ns);
    double copy_ns = gmt_curve_at(gmt_price_curve(analysis->model, copy, false),
                                  (double)copy->bytes);
    return held_ns >= GMT_BLOCKED_SHARE * copy_ns;
}
