/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges that the program names (NVTX, cudaProfilerStart): which call lies in which, and whose they are. */
#ifndef GMT_ANALYZER_TRACE_NAMED_RANGES_H
#define GMT_ANALYZER_TRACE_NAMED_RANGES_H

#include "analyzer/trace/timeline.h"

struct gmt_named_range {
    int64_t begin_ns, end_ns;
    int64_t thread; /* -1: of the whole process */
    int32_t group;
    int32_t parent; /* the latest one of the same thread that it began in; -1: none */
};

/* Ranges that are spoken of together: of one name, or of names that differ in numbers only. */
struct gmt_range_group {
    const char *name;   /* "step", "iteration #", "(unnamed)" */
    const char *domain; /* NULL: the default one */
    size_t count;
    double host_ns;
};

struct gmt_named_ranges {
    struct gmt_named_range *ranges; /* by thread, then by begin */
    size_t count;
    struct gmt_range_group *groups;
    size_t group_count;
    struct gmt_arena strings;
};

/* 0, -ENOMEM or -EIO; nothing in it where the trace has no ranges. gmt_named_ranges_free in any case. */
int gmt_named_ranges_load(struct gmt_named_ranges *all, const struct gmt_timeline *timeline);
void gmt_named_ranges_free(struct gmt_named_ranges *all);

/* Index of the innermost range that a call of this thread lies in; one of the process where it lies in
 * none of its thread. -1: none. */
int32_t gmt_named_ranges_at(const struct gmt_named_ranges *all, int64_t thread, int64_t begin_ns);

/* The next range outwards of that one that is open at that time, in its thread; -1: none. */
int32_t gmt_named_ranges_around(const struct gmt_named_ranges *all, int32_t range, int64_t at_ns);
/* The latest range of just that thread, or of the process for -1, that is open at that time; -1: none. */
int32_t gmt_named_ranges_open(const struct gmt_named_ranges *all, int64_t thread, int64_t at_ns);

/*
 * Limits what is read of an open trace to calls that begin in ranges of this name (NAME, NAME@DOMAIN),
 * in their thread or, for ranges of the process, in any. Memory stays. 0; -ENOENT with what there is in
 * message; -ENOMEM, -EIO.
 */
int gmt_range_limit(sqlite3 *db, const char *name, char *message, size_t bytes);
/* Whether that was done; SQL has gmt_in_range(thread_id, begin_ns) then. */
bool gmt_range_is_limited(sqlite3 *db);

#endif
