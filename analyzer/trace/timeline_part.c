/* SPDX-License-Identifier: Apache-2.0 */
/* Checks values, loads copies and records of the device while another thread loads launches. */
#include "analyzer/trace/timeline_part.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#include "analyzer/trace/open.h"
#include "libtrace/base/progress.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/db/guard.h"

enum { STACK_BYTES = 1 << 20, WAIT_NS = 100000000 };

/* Arrays are made for as many rows as a table has: where it is missing, that is the reason. */
const char *gmt_timeline_reason(sqlite3 *db, int rc)
{
    return rc == -ENOMEM && gmt_database_error(db) == 0 && !gmt_guard_noted(db)
               ? gmt_guard_memory_reason()
               : gmt_guard_reason(db);
}

/* Read by the other thread, and not yet shown. */
static _Atomic int64_t rows_read;

static void note_rows(double rows, const char *part)
{
    (void)part;
    atomic_fetch_add(&rows_read, (int64_t)rows);
}

bool gmt_timeline_part_takes_ops(struct gmt_timeline_part *part)
{
    return !atomic_flag_test_and_set(&part->ops_taken);
}

static void work(void *data)
{
    struct gmt_timeline_part *part = data;

    bool is_beside = !pthread_equal(pthread_self(), part->owner);

    if (is_beside) {
        gmt_progress_forward_rows(note_rows);
    }
    part->rc = gmt_open_check(part->rows.db, part->why, sizeof(part->why));
    if (part->rc == 0 && part->loads) {
        part->rc = gmt_timeline_load_calls(&part->rows);
        if (part->rc == 0 && gmt_timeline_part_takes_ops(part)) {
            part->has_ops = true;
            part->ops_rc = gmt_timeline_load_ops(&part->rows);
        }
        int rc = part->rc != 0 ? part->rc : part->ops_rc;
        if (rc != 0) {
            /* Of this thread: it has kept the reason. */
            snprintf(part->why, sizeof(part->why), "%s", gmt_timeline_reason(part->rows.db, rc));
        }
    }
    if (is_beside) {
        gmt_progress_end();
    }
}

void gmt_timeline_begin_part(struct gmt_timeline_part *part, const struct gmt_timeline *tl,
                             sqlite3 *beside, bool loads)
{
    *part = (struct gmt_timeline_part){
        .rows = *tl, .owner = pthread_self(), .loads = loads, .ops_taken = ATOMIC_FLAG_INIT};
    part->rows.db = beside;
    gmt_worker_begin(&part->worker, STACK_BYTES, work, part);
}

int gmt_timeline_end_part(struct gmt_timeline_part *part, struct gmt_timeline *tl, int rc,
                          char *message, size_t bytes)
{
    const struct gmt_timeline *rows = &part->rows;

    while (!gmt_worker_wait_ns(&part->worker, WAIT_NS)) {
        gmt_progress_add((double)atomic_exchange(&rows_read, 0));
    }
    gmt_worker_end(&part->worker);
    tl->copies = rows->copies;
    tl->copy_count = rows->copy_count;
    tl->all_copies = rows->all_copies;
    tl->allocations = rows->allocations;
    tl->allocation_count = rows->allocation_count;
    if (part->has_ops) {
        tl->op_count = rows->op_count;
        tl->has_kernel_ops = rows->has_kernel_ops;
        tl->has_graph_ops = rows->has_graph_ops;
        tl->has_unjoined_ops = rows->has_unjoined_ops;
        tl->busy = rows->busy;
        tl->busy_count = rows->busy_count;
        tl->kernel_busy = rows->kernel_busy;
        tl->kernel_busy_count = rows->kernel_busy_count;
    }
    /* As if one thread had loaded all: launches before the records of the device. */
    if (part->rc != 0 || (rc == 0 && part->ops_rc != 0)) {
        snprintf(message, bytes, "%s", part->why);
    }
    return part->rc != 0 ? part->rc : rc != 0 ? rc : part->ops_rc;
}
