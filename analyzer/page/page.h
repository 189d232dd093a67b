/* SPDX-License-Identifier: Apache-2.0 */
/* From a trace to the tables that the page draws; docs/page.md describes them. */
#ifndef GMT_ANALYZER_PAGE_PAGE_H
#define GMT_ANALYZER_PAGE_PAGE_H

#include "analyzer/base/worker.h"
#include "analyzer/model/device_model.h"
#include "analyzer/trace/timeline.h"
#include "reports/html/payload.h"

/* Rows of calls that a page holds; of more, neighbours are merged. */
enum { GMT_PAGE_MAX_CALLS = 1000000 };

struct gmt_page; /* one that is being filled */

/*
 * Begins to fill an empty payload: what findings do not decide is done from here on in a thread of its own, which
 * uses the timeline, and of the report only its kernels, which it has already and keeps. `beside`: a second connection to the
 * trace's file, which this thread alone uses until gmt_page_finish or gmt_page_free has returned; NULL: there is none, and
 * the file is read before this returns. `before`: who uses that connection, until it is done; it stays until the page is freed;
 * NULL: nobody. 0, -ENOMEM, or -EIO with the reason in gmt_guard_reason; *page is to be freed in every
 * case, before the payload.
 */
int gmt_page_begin(struct gmt_page **page, struct gmt_payload *payload,
                   const struct gmt_timeline *timeline, const struct gmt_report *report,
                   sqlite3 *beside, struct gmt_worker *before);
/* The rest, of an analysed trace; as gmt_page_fill. */
int gmt_page_finish(struct gmt_page *page, const struct gmt_model *model, const char *reproduce);
/* NULL: nothing happens. */
void gmt_page_free(struct gmt_page *page);

/*
 * Both: fills an empty payload from an analysed trace. reproduce: the command line that makes the page
 * again, NULL: unknown. 0, -ENOMEM, or -EIO with the reason in sqlite3_errmsg. To be freed with
 * gmt_payload_free in every case.
 */
int gmt_page_fill(struct gmt_payload *payload, const struct gmt_timeline *timeline,
                  const struct gmt_model *model, const struct gmt_report *report,
                  const char *reproduce);

#endif
