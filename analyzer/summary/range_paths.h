/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges by path: which ranges lie in which, and what is summed up of those that have one path of names. */
#ifndef GMT_ANALYZER_SUMMARY_RANGE_PATHS_H
#define GMT_ANALYZER_SUMMARY_RANGE_PATHS_H

#include "analyzer/trace/cover.h"
#include "analyzer/trace/named_ranges.h"

struct gmt_range_path {
    struct gmt_range_node sums; /* parent: index of a path; label: not set */
    int32_t group;
    int32_t wider;    /* its index in paths->wider; -1: it is not there */
    bool is_timed;    /* device_ns is known, or nothing was launched */
    int64_t thread;   /* of the range that was added last ... */
    int64_t until_ns; /* ... and how far the ranges of that thread reach so far */
    uint64_t visit;
    double cost_ns; /* of one finding; 0 in between */
};

/* A path whose range was open, and that range: the one that began last. */
struct gmt_range_visit {
    int32_t path, range;
};

struct gmt_range_paths {
    const struct gmt_named_ranges *all;
    const struct gmt_timeline *timeline;
    const struct gmt_cover *busy; /* while they are made; NULL: not known */
    struct gmt_range_path *rows;  /* each behind its parent */
    size_t count, room;
    int32_t *path_of; /* of each range */
    int32_t *up;      /* of each range: the nearest around it that has another path; -1: none */
    /* Of each range: the latest one that was open when it, or one around it, began, but ended before that; -1: none. */
    int32_t *crossing;
    int64_t *inside_until_ns; /* of each range: how far those inside of it reach so far */
    int32_t *slots;           /* rows by parent and group */
    struct gmt_range_visit *visited;
    uint64_t visit;
    bool knows_idle;
    /* While they are made: those of these paths that are taken are distinguished, and no others. NULL: all are. */
    const struct gmt_range_paths *wider;
    const bool *taken;
};

/*
 * A range lies in the latest one of its thread that was open when it began, and is still open when it ends. Fills what does not
 * depend on calls: count, threads, host_ns, host_self_ns, and idle_ns where it is known when devices are idle. 0 or -ENOMEM;
 * gmt_range_paths_free in any case, of zeros too.
 */
int gmt_range_paths_make(struct gmt_range_paths *paths, const struct gmt_named_ranges *all,
                         const struct gmt_timeline *timeline, bool knows_idle);
/* Makes them again, of those paths that are taken: all others are others of what they lie in. Sums of calls are zero then. 0 or -ENOMEM. */
int gmt_range_paths_narrow(struct gmt_range_paths *paths, const bool *taken);
void gmt_range_paths_free(struct gmt_range_paths *paths);

/* Puts into `visited` each path that a call of this thread at that time lies in, once, the innermost one first; those of
 * the process last. Returns how many. */
size_t gmt_range_paths_visit(struct gmt_range_paths *paths, int64_t thread, int64_t at_ns);

#endif
