/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes an operation reads and writes: extents, joined where they touch, and where two sets conflict. */
#include <stdlib.h>

#include "simgpu/order/state.h"

#define USES 4u /* of enum sim_touch */

static bool add(struct sim_extents *extents, uint64_t first, uint64_t end, unsigned uses)
{
    struct sim_extent *last = extents->count != 0 ? &extents->at[extents->count - 1] : NULL;
    if (last != NULL && last->uses == uses && last->end == first) {
        last->end = end;
        return true;
    }
    if (extents->at == NULL || extents->count == extents->capacity) {
        size_t grown = extents->capacity != 0 ? 2 * extents->capacity : 4;
        struct sim_extent *at = realloc(extents->at, grown * sizeof *at);
        if (at == NULL) {
            return false;
        }
        extents->at = at;
        extents->capacity = grown;
    }
    extents->at[extents->count++] = (struct sim_extent){first, end, uses};
    return true;
}

/* Without memory for it conflicts there are not found. */
void sim_operation_touch(struct sim_operation *operation, uint64_t first, uint64_t bytes,
                         unsigned uses)
{
    if (bytes != 0 && uses != 0) {
        (void)add(&operation->extents, first, first + bytes, uses);
    }
}

static int by_place(const void *a, const void *b)
{
    const struct sim_extent *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* An end of an extent; `uses` begin or end there. */
struct edge {
    uint64_t at;
    unsigned uses;
    bool begins;
};

static int by_edge(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Extents that overlap are cut, so that each byte lies in one, with all its uses. */
static void cut(struct sim_extents *extents)
{
    struct sim_extents made = {0};
    size_t count = 2 * extents->count, open[USES] = {0};
    struct edge *edges = calloc(count, sizeof *edges);
    for (size_t i = 0; edges != NULL && i < extents->count; i++) {
        const struct sim_extent *extent = &extents->at[i];
        edges[2 * i] = (struct edge){extent->first, extent->uses, true};
        edges[2 * i + 1] = (struct edge){extent->end, extent->uses, false};
    }
    if (edges != NULL) {
        qsort(edges, count, sizeof *edges, by_edge);
    }
    for (size_t i = 0; edges != NULL && i < count; i++) {
        unsigned uses = 0;
        for (unsigned use = 0; use < USES; use++) {
            if ((edges[i].uses >> use & 1) != 0) {
                open[use] += edges[i].begins ? 1 : SIZE_MAX;
            }
            uses |= open[use] != 0 ? 1u << use : 0;
        }
        if (uses != 0 && i + 1 < count && edges[i + 1].at > edges[i].at &&
            !add(&made, edges[i].at, edges[i + 1].at, uses)) {
            break;
        }
    }
    free(edges);
    free(extents->at);
    *extents = made;
}

void sim_extents_settle(struct sim_extents *extents)
{
    bool sorted = true, overlap = false;
    for (size_t i = 1; i < extents->count; i++) {
        sorted &= extents->at[i].first >= extents->at[i - 1].first;
    }
    if (!sorted) {
        qsort(extents->at, extents->count, sizeof *extents->at, by_place);
    }
    for (size_t i = 1; i < extents->count; i++) {
        overlap |= extents->at[i].first < extents->at[i - 1].end;
    }
    if (overlap) {
        cut(extents);
    }
}

/* Two strong accesses never conflict; of others one must be a write. */
static bool conflict(unsigned a, unsigned b)
{
    const unsigned plain = SIM_TOUCH_READ | SIM_TOUCH_WRITE;
    return (a & SIM_TOUCH_WRITE) != 0 || (b & SIM_TOUCH_WRITE) != 0 ||
           ((a & SIM_TOUCH_STRONG_WRITE) != 0 && (b & plain) != 0) ||
           ((b & SIM_TOUCH_STRONG_WRITE) != 0 && (a & plain) != 0);
}

static void note(const struct sim_extent *x, const struct sim_extent *y,
                 struct sim_overlap *overlap)
{
    uint64_t first = x->first > y->first ? x->first : y->first;
    uint64_t end = x->end < y->end ? x->end : y->end;
    if (overlap->bytes == 0) {
        *overlap = (struct sim_overlap){.first = first};
    }
    overlap->bytes += end - first;
    overlap->uses |= x->uses;
    overlap->others_uses |= y->uses;
}

bool sim_extents_conflict(const struct sim_extents *a, const struct sim_extents *b,
                          struct sim_overlap *overlap)
{
    size_t i = 0, k = 0;
    *overlap = (struct sim_overlap){0};
    while (i < a->count && k < b->count) {
        const struct sim_extent *x = &a->at[i], *y = &b->at[k];
        if (x->first < y->end && y->first < x->end && conflict(x->uses, y->uses)) {
            note(x, y, overlap);
        }
        if (x->end < y->end) {
            i++;
        } else {
            k++;
        }
    }
    return overlap->bytes != 0;
}

void sim_extents_forget(struct sim_extents *extents, uint64_t first, uint64_t end)
{
    struct sim_extents left = {0};
    bool meets = false;
    for (size_t i = 0; i < extents->count; i++) {
        meets |= extents->at[i].first < end && first < extents->at[i].end;
    }
    for (size_t i = 0; meets && i < extents->count; i++) {
        const struct sim_extent *at = &extents->at[i];
        if (at->first < first) {
            (void)add(&left, at->first, at->end < first ? at->end : first, at->uses);
        }
        if (at->end > end) {
            (void)add(&left, at->first > end ? at->first : end, at->end, at->uses);
        }
    }
    if (meets) {
        free(extents->at);
        *extents = left;
    }
}
