/* SPDX-License-Identifier: Apache-2.0 */
/* What pinning the host buffers of some copies costs: for the rules that advise it. */
#ifndef GMT_ANALYZER_RULES_COMMON_PINNING_H
#define GMT_ANALYZER_RULES_COMMON_PINNING_H

#include "analyzer/findings/rule.h"

/* Cost of pinning each distinct host range once, in either way that CUDA has. */
struct gmt_pinning {
    double least_ns, most_ns, bytes;
    size_t ranges;
};

/* Of all host ranges of the copies with these indices; sorts members by address. */
struct gmt_pinning gmt_pinning_cost(const struct gmt_analysis *analysis, size_t *members, size_t n);

/*
 * Whether host buffers of so many bytes are copied once, or twice at a few of them: then no slow copy speaks
 * for pinning, because the first copies of a process are slow from pinned memory, too.
 */
bool gmt_pinning_is_for_once(const struct gmt_pinning *pinning, double copied_bytes);

/* Why copies of such buffers are a note. */
extern const char gmt_pinning_once_why[];

/* Bytes of the distinct ranges of device memory that these copies fill or read; sorts members by address. */
double gmt_copies_device_bytes(const struct gmt_timeline *timeline, size_t *members, size_t n);

/* "once", or how many buffers there are: for a sketch. */
const char *gmt_pinning_once(struct gmt_analysis *analysis, const struct gmt_pinning *pinning);

#endif
