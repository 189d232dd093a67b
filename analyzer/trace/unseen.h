/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace or an analysis leaves out of what the program did, for rules that conclude something
 * from what is not there: memory is unused, a copy is not read, nothing comes between two calls. Uses
 * are missing where recording or analysis was limited to ranges, where calls were lost, and where the
 * program called functions that are not recorded.
 */
#ifndef GMT_ANALYZER_TRACE_UNSEEN_H
#define GMT_ANALYZER_TRACE_UNSEEN_H

#include "analyzer/trace/timeline.h"

struct gmt_unseen {
    const char *uses;  /* why uses of memory may be missing, as a clause; NULL: none is */
    const char *calls; /* why calls may be missing beside those of the cuts */
    bool limited;      /* to ranges, in the recording or in the analysis */
    int64_t *cuts;     /* after these times calls were left out; ascending */
    size_t cut_count;
};

/* 0, -ENOMEM or -EIO; gmt_unseen_free in every case. */
int gmt_unseen_load(struct gmt_unseen *unseen, const struct gmt_timeline *timeline,
                    struct gmt_report *report);
void gmt_unseen_free(struct gmt_unseen *unseen);

/* Whether calls were left out between two times, of any thread. `unseen` may be NULL: none were. */
bool gmt_unseen_between(const struct gmt_unseen *unseen, int64_t from_ns, int64_t to_ns);

#endif
