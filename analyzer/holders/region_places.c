/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of regions without what is the allocator's own of them. */
#include "analyzer/holders/region_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/where.h"
#include "analyzer/trace/query.h"

struct gmt_region_stack {
    int64_t id;
    const struct gmt_report_frame *frames; /* innermost first */
    size_t depth;
    const struct gmt_report_frame *first; /* of the user's; NULL: none is */
    struct gmt_where where;
};

/* Of the user's frames the one at that index. */
static const struct gmt_report_frame *users_frame_at(const struct gmt_region_stack *stack,
                                                     size_t index)
{
    for (size_t i = 0; i < stack->depth; i++) {
        if (gmt_frame_is_users(&stack->frames[i]) && index-- == 0) {
            return &stack->frames[i];
        }
    }
    return NULL;
}

static bool is_same_function(const struct gmt_report_frame *a, const struct gmt_report_frame *b)
{
    return a != NULL && b != NULL && a->function != NULL && b->function != NULL &&
           strcmp(a->function, b->function) == 0;
}

/* Stacks whose innermost function is the same lie side by side; those without one come first. */
static int compare_first(const void *a, const void *b)
{
    const struct gmt_region_stack *x = *(struct gmt_region_stack *const *)a;
    const struct gmt_region_stack *y = *(struct gmt_region_stack *const *)b;
    const char *first = x->first != NULL && x->first->function != NULL ? x->first->function : "";
    const char *other = y->first != NULL && y->first->function != NULL ? y->first->function : "";
    int order = strcmp(first, other);

    return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

/* How many functions of stacks that register by the same one are the allocator's. */
static size_t own_functions(struct gmt_region_stack *const *group, size_t n)
{
    size_t own = n > 1 ? 0 : 1;
    bool all = n > 1;

    while (all) {
        const struct gmt_report_frame *frame = users_frame_at(group[0], own);

        for (size_t i = 1; i < n && all; i++) {
            all = is_same_function(frame, users_frame_at(group[i], own));
        }
        own += all;
    }
    return own;
}

static void place_group(struct gmt_analysis *analysis, struct gmt_region_stack *const *group,
                        size_t n)
{
    size_t own = own_functions(group, n);

    for (size_t i = 0; i < n; i++) {
        struct gmt_region_stack *stack = group[i];
        const struct gmt_report_frame *outer = users_frame_at(stack, own);

        /* One that has no more: what is nearest to its end. */
        for (size_t k = own; outer == NULL && k-- > 0;) {
            outer = users_frame_at(stack, k);
        }
        if (outer != NULL) {
            stack->where = gmt_where_from(analysis, &(struct gmt_tl_call){.stack_id = stack->id},
                                          (size_t)(outer - stack->frames));
        }
    }
}

static int place_all(struct gmt_region_places *places, struct gmt_analysis *analysis)
{
    struct gmt_region_stack **order = calloc(places->stack_count + 1,
                                             sizeof(struct gmt_region_stack *));

    if (order == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < places->stack_count; i++) {
        struct gmt_region_stack *stack = &places->stacks[i];

        stack->where = gmt_where_of_call(analysis, &(struct gmt_tl_call){.stack_id = stack->id});
        stack->frames = stack->where.stack;
        stack->depth = stack->where.stack_depth;
        stack->first = users_frame_at(stack, 0);
        order[i] = stack;
    }
    qsort(order, places->stack_count, sizeof(struct gmt_region_stack *), compare_first);
    for (size_t i = 0, end; i < places->stack_count; i = end) {
        end = i + 1;
        while (end < places->stack_count && is_same_function(order[i]->first, order[end]->first)) {
            end++;
        }
        place_group(analysis, order + i, end - i);
    }
    free(order);
    return 0;
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int find_stacks(struct gmt_region_places *places, const struct gmt_heaps *heaps)
{
    int64_t *ids = calloc(heaps->region_count + 1, sizeof(*ids));
    size_t n = 0;

    places->stacks = calloc(heaps->region_count + 1, sizeof(*places->stacks));
    if (ids == NULL || places->stacks == NULL) {
        free(ids);
        return -ENOMEM;
    }
    for (size_t i = 0; i < heaps->region_count; i++) {
        if (heaps->regions[i].stack_id > 0) {
            ids[n++] = heaps->regions[i].stack_id;
        }
    }
    qsort(ids, n, sizeof(*ids), compare_ids);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || ids[i] != ids[i - 1]) {
            places->stacks[places->stack_count++].id = ids[i];
        }
    }
    free(ids);
    return 0;
}

/* Names are those of the regions as they were registered. */
static int find_names(struct gmt_region_places *places, struct gmt_analysis *analysis)
{
    size_t most = analysis->memory->heaps.region_count;
    struct gmt_query query;
    int rc = gmt_query_open(&query, analysis->timeline->db,
                            "SELECT r.id, s.text FROM region r JOIN region m ON m.id = r.made_id "
                            "JOIN string s ON s.id = m.name_id WHERE r.begin_ns IS NOT NULL "
                            "ORDER BY r.id");

    places->names = calloc(most + 1, sizeof(*places->names));
    if (places->names == NULL) {
        (void)gmt_query_close(&query, rc);
        return -ENOMEM;
    }
    while (rc == 0 && places->name_count < most && gmt_query_next(&query)) {
        const char *text = gmt_query_text_here(&query, 1);
        const char *before = places->name_count > 0 ? places->names[places->name_count - 1].text
                                                    : NULL;

        /* Many regions in a row may have one name. */
        if (before == NULL || text == NULL || strcmp(before, text) != 0) {
            before = gmt_query_text(&query, 1, analysis->report->arena);
        }
        places->names[places->name_count++] = (struct gmt_named_region){gmt_query_id(&query, 0),
                                                                        before};
    }
    return gmt_query_close(&query, rc);
}

int gmt_region_places_find(struct gmt_region_places *places, struct gmt_analysis *analysis)
{
    int rc = find_stacks(places, &analysis->memory->heaps);

    if (rc == 0) {
        rc = place_all(places, analysis);
    }
    return rc == 0 ? find_names(places, analysis) : rc;
}

void gmt_region_places_free(struct gmt_region_places *places)
{
    free(places->stacks);
    free(places->names);
    *places = (struct gmt_region_places){0};
}

static int compare_stack(const void *key, const void *entry)
{
    int64_t id = *(const int64_t *)key, other = ((const struct gmt_region_stack *)entry)->id;

    return (id > other) - (id < other);
}

static int compare_name(const void *key, const void *entry)
{
    int64_t id = *(const int64_t *)key, other = ((const struct gmt_named_region *)entry)->region;

    return (id > other) - (id < other);
}

struct gmt_snapshot_holder gmt_region_place(const struct gmt_region_places *places,
                                            const struct gmt_heap_row *region)
{
    const struct gmt_region_stack *stack = bsearch(&region->stack_id, places->stacks,
                                                   places->stack_count, sizeof(*places->stacks),
                                                   compare_stack);
    const struct gmt_named_region *name = bsearch(&region->id, places->names, places->name_count,
                                                  sizeof(*places->names), compare_name);
    struct gmt_snapshot_holder holder = {.label = "place not recorded",
                                         .name = name != NULL ? name->text : NULL};

    if (stack != NULL && (stack->where.file != NULL || stack->where.function != NULL ||
                          stack->where.module != NULL)) {
        holder.label = stack->where.label;
        holder.function = stack->where.function;
        holder.file = stack->where.file;
        holder.line = stack->where.line;
    }
    return holder;
}
