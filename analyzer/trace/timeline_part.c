/* SPDX-License-Identifier: Apache-2.0 */
/* Checks values and loads copies while another thread loads launches. */
#include "analyzer/trace/timeline_part.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

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

static void *work(void *data)
{
    struct gmt_timeline_part *part = data;

    if (part->is_beside) {
        gmt_progress_forward_rows(note_rows);
    }
    part->rc = gmt_open_check(part->rows.db, part->why, sizeof(part->why));
    if (part->rc == 0 && part->loads) {
        part->rc = gmt_timeline_load_calls(&part->rows);
        if (part->rc != 0) {
            /* Of this thread: it has kept the reason. */
            snprintf(part->why, sizeof(part->why), "%s",
                     gmt_timeline_reason(part->rows.db, part->rc));
        }
    }
    if (part->is_beside) {
        gmt_progress_end();
    }
    return NULL;
}

void gmt_timeline_begin_part(struct gmt_timeline_part *part, const struct gmt_timeline *tl,
                             sqlite3 *beside, bool loads)
{
    pthread_attr_t attributes;

    *part = (struct gmt_timeline_part){.rows = *tl, .loads = loads};
    part->rows.db = beside;
    if (pthread_attr_init(&attributes) == 0) {
        /* Of little memory: the whole of a stack counts as taken. */
        (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
        part->is_beside = true;
        if (pthread_create(&part->thread, &attributes, work, part) != 0) {
            part->is_beside = false;
        }
        (void)pthread_attr_destroy(&attributes);
    }
    if (!part->is_beside) {
        (void)work(part);
    }
}

static bool has_ended(pthread_t thread)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_timedjoin_np(thread, NULL, &until) != ETIMEDOUT;
}

int gmt_timeline_end_part(struct gmt_timeline_part *part, struct gmt_timeline *tl, char *message,
                          size_t bytes)
{
    while (part->is_beside && !has_ended(part->thread)) {
        gmt_progress_add((double)atomic_exchange(&rows_read, 0));
    }
    tl->copies = part->rows.copies;
    tl->copy_count = part->rows.copy_count;
    tl->all_copies = part->rows.all_copies;
    tl->allocations = part->rows.allocations;
    tl->allocation_count = part->rows.allocation_count;
    if (part->rc != 0) {
        snprintf(message, bytes, "%s", part->why);
    }
    return part->rc;
}
