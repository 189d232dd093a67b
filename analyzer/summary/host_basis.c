/* SPDX-License-Identifier: Apache-2.0 */
/* What the report on the host's calls and on idle time is made of (host_basis.h). */
#include "analyzer/summary/host_basis.h"

#include <stdio.h>

#include "analyzer/base/memory_trim.h"
#include "libtrace/store/db/guard.h"

enum { STACK_BYTES = 1 << 20 };

static void gather(void *data)
{
    struct gmt_host_basis *basis = data;
    const struct gmt_timeline *tl = &basis->timeline;
    int rc = gmt_host_calls_load(&basis->calls, tl);

    if (rc == 0 && !tl->simulated && tl->has_device_times) {
        rc = gmt_idle_calls_make(&basis->idle_calls, &basis->calls);
        if (rc == 0) {
            rc = gmt_idle_ops_load(&basis->ops, tl);
        }
    }
    basis->rc = rc;
    gmt_memory_trim();
    /* Of this thread: it has kept the reason. */
    if (tl->db != basis->whole->db && gmt_guard_noted(tl->db)) {
        snprintf(basis->why, sizeof(basis->why), "%s", gmt_guard_reason(tl->db));
    }
}

void gmt_host_basis_begin(struct gmt_host_basis *basis, const struct gmt_timeline *timeline,
                          sqlite3 *beside)
{
    *basis = (struct gmt_host_basis){.whole = timeline, .timeline = *timeline};
    basis->timeline.db = beside;
    gmt_worker_begin(&basis->worker, STACK_BYTES, gather, basis);
}

int gmt_host_basis_end(struct gmt_host_basis *basis)
{
    gmt_worker_wait(&basis->worker);
    if (basis->why[0] != '\0') {
        gmt_guard_note_reason(basis->whole->db, basis->why);
    }
    return basis->rc;
}

int gmt_host_basis_load(struct gmt_host_basis *basis, const struct gmt_timeline *timeline)
{
    *basis = (struct gmt_host_basis){.whole = timeline, .timeline = *timeline};
    gather(basis);
    return basis->rc;
}

void gmt_host_basis_free(struct gmt_host_basis *basis)
{
    gmt_worker_end(&basis->worker);
    gmt_idle_ops_free(&basis->ops);
    gmt_idle_calls_free(&basis->idle_calls);
    gmt_host_calls_free(&basis->calls);
}
