/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the report on the host's calls and on idle time is made of: the calls, and what the devices did, in the orders in which causes
 * are looked for. It needs the timeline alone, so that another thread can gather it while memory and rules are looked at.
 */
#ifndef GMT_ANALYZER_SUMMARY_HOST_BASIS_H
#define GMT_ANALYZER_SUMMARY_HOST_BASIS_H

#include "analyzer/base/worker.h"
#include "analyzer/summary/idle_causes.h"

/* Zeros: nothing was begun. */
struct gmt_host_basis {
    struct gmt_host_calls calls;
    struct gmt_idle_calls idle_calls; /* this and the next: of a trace with device times only */
    struct gmt_idle_ops ops;
    const struct gmt_timeline *whole;
    struct gmt_timeline timeline; /* with the connection that is used here */
    struct gmt_worker worker;
    int rc;
    char why[256]; /* what was found wrong with the trace; "": nothing */
};

/* Begins to gather it in a thread of its own, which alone uses the connection `beside` until it is done. The timeline stays as it is
 * but for what is computed of its rows. gmt_host_basis_free in every case. */
void gmt_host_basis_begin(struct gmt_host_basis *basis, const struct gmt_timeline *timeline,
                          sqlite3 *beside);
/* Waits for it. 0, -ENOMEM, or -EIO with the reason in gmt_guard_reason of the timeline's own connection. */
int gmt_host_basis_end(struct gmt_host_basis *basis);
/* Gathers it here and now. As gmt_host_basis_end. */
int gmt_host_basis_load(struct gmt_host_basis *basis, const struct gmt_timeline *timeline);
void gmt_host_basis_free(struct gmt_host_basis *basis);

#endif
