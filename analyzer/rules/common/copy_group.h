/* SPDX-License-Identifier: Apache-2.0 */
/* Copies from one place of the program, as rules about single copies report them. */
#ifndef GMT_ANALYZER_RULES_COMMON_COPY_GROUP_H
#define GMT_ANALYZER_RULES_COMMON_COPY_GROUP_H

#include "analyzer/findings/rule.h"
#include "analyzer/memory/trips.h"
#include "analyzer/trace/cover.h"
#include "libtrace/base/format.h"

/*
 * Calls report for each place (line, API, direction) with the copies whose indices are in members, in
 * the order of time. Sorts members; context is handed on. report may reorder its part.
 */
void gmt_copy_groups(struct gmt_analysis *analysis, size_t *members, size_t n,
                     void (*report)(struct gmt_analysis *analysis, size_t *members, size_t n,
                                    void *context),
                     void *context);

/* Where, SQL, and the evidence copies and bytes. */
void gmt_copy_group_fill(struct gmt_analysis *analysis, struct gmt_finding *finding,
                         const size_t *members, size_t n);

/*
 * The condition of SQL that selects these copies, whose id is in `column`: by id, or, where those are many
 * and follow no pattern, by place.
 */
const char *gmt_copy_group_condition(struct gmt_analysis *analysis, const char *column,
                                     const size_t *members, size_t n);

/* The same for both copies of each of these trips. */
const char *gmt_trips_condition(struct gmt_analysis *analysis, const struct gmt_trips *trips,
                                const size_t *members, size_t n);

/* Bytes of all copies of the trace: what GMT_EXCESS_SHARE is a share of. */
double gmt_copies_bytes(const struct gmt_timeline *timeline);

/*
 * Of what a copy cost (gmt_copy_cost_ns), what kernels hid: of an asynchronous one the host's call may be
 * hidden, the device's part not, or the reverse. 0 without times.
 */
double gmt_copy_hidden_ns(const struct gmt_timeline *timeline, const struct gmt_cover *kernels,
                          const struct gmt_tl_copy *copy);

/*
 * States hidden_ns as evidence and in the method, where there is any, and returns the share of cost_ns that
 * was not hidden.
 */
double gmt_finding_hidden(struct gmt_analysis *analysis, struct gmt_finding *finding,
                          double hidden_ns, double cost_ns);

/*
 * The name, without its parameters, of the first kernel launched from then on, or of the last one before,
 * for sketches; "kernel" where there is none, or its name is not known.
 */
const char *gmt_kernel_from(struct gmt_analysis *analysis, int64_t at_ns);
const char *gmt_kernel_before(struct gmt_analysis *analysis, int64_t at_ns);

/* Host side of an upload or a read-back; 0 for other directions. */
uint64_t gmt_copy_host_address(const struct gmt_tl_copy *copy);

/*
 * An asynchronous copy of pageable memory that kept its caller until it was (all but) done: GM103 speaks
 * of it.
 * Never in traces without times.
 */
bool gmt_copy_is_blocked_async(const struct gmt_analysis *analysis, const struct gmt_tl_copy *copy);

#endif
