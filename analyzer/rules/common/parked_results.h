/* SPDX-License-Identifier: Apache-2.0 */
/* Results that wait on the host while their buffer is freed and allocated again: for GM106. */
#ifndef GMT_ANALYZER_RULES_COMMON_PARKED_RESULTS_H
#define GMT_ANALYZER_RULES_COMMON_PARKED_RESULTS_H

#include "analyzer/findings/rule.h"
#include "analyzer/memory/content.h"

/*
 * Of uploads that bring back what was parked (gmt_copy_content.parked), those whose buffers could have been
 * kept all at once: each goes to an allocation of the same size that was made after the first one was
 * freed, and the peak of device memory would be no higher. Moves them to the front, and returns how many.
 * None where uses of memory may be missing, where the program once got no memory, in traces of several
 * devices, and for want of memory of our own.
 */
size_t gmt_parked_kept(const struct gmt_analysis *analysis, const struct gmt_copy_content *contents,
                       size_t *members, size_t n);

#endif
