/* SPDX-License-Identifier: Apache-2.0 */
/* Which code made the memory that grew, and which last used it. */
#ifndef GMT_ANALYZER_RULES_ALLOCATION_GROWTH_PLACES_H
#define GMT_ANALYZER_RULES_ALLOCATION_GROWTH_PLACES_H

#include "analyzer/findings/rule.h"
#include "analyzer/memory/memory.h"

struct gmt_growth_place {
    struct gmt_where where;
    double bytes, all_bytes; /* of that place, and of all places */
};

/*
 * The place that made most of these rows of gmt_memory, by bytes. 0 or -ENOMEM.
 */
int gmt_growth_maker(struct gmt_analysis *analysis, const size_t *rows, size_t count,
                     struct gmt_growth_place *place);

/*
 * The place that launched the kernels which used most of their parts before these lay idle: for longer at one time than
 * for the rest of the time from their first use until `end_ns`. Parts begin where pointers of kernels point, and end where the next
 * begins. all_bytes 0: there are none. 0, -ENOMEM or -EIO.
 */
int gmt_growth_holder(struct gmt_analysis *analysis, const size_t *rows, size_t count,
                      int64_t end_ns, struct gmt_growth_place *place);

#endif
