/* SPDX-License-Identifier: Apache-2.0 */
/* Which place of the program a region of an allocator belongs to. */
#ifndef GMT_ANALYZER_HOLDERS_REGION_PLACES_H
#define GMT_ANALYZER_HOLDERS_REGION_PLACES_H

#include "analyzer/findings/rule.h"
#include "analyzer/memory/heaps.h"
#include "reports/model/snapshot.h"

struct gmt_region_stack;
struct gmt_named_region {
    int64_t region;
    const char *text;
};

struct gmt_region_places {
    struct gmt_region_stack *stacks; /* by id */
    size_t stack_count;
    struct gmt_named_region *names; /* by region */
    size_t name_count;
};

/*
 * The function that registers is the allocator's own, and so are those that all stacks through it go on with: who asked for memory is further
 * out. Where nothing is, the innermost function is the place. 0, -ENOMEM or -EIO; free it in any case.
 */
int gmt_region_places_find(struct gmt_region_places *places, struct gmt_analysis *analysis);
void gmt_region_places_free(struct gmt_region_places *places);

/* Place and name of a region, without its bytes. */
struct gmt_snapshot_holder gmt_region_place(const struct gmt_region_places *places,
                                            const struct gmt_heap_row *region);

#endif
